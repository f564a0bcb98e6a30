"""Statements of `redberg_wang2021` (see ``verify/refs.bib``), one file per numbered statement."""

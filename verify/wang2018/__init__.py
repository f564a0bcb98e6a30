"""Statements of `wang2018` (see ``verify/refs.bib``), one file per numbered statement."""

"""Statements of `wang2019` (see ``verify/refs.bib``), one file per numbered statement."""

"""Statements of `redberg_wang2021` (``paper.toml`` has its reference and its ids), one file a numbered statement."""

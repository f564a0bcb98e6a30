"""Statements of `wang2018` (``paper.toml`` has its reference and its ids), one file a numbered statement."""

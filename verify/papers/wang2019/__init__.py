"""Statements of `wang2019` (``paper.toml`` has its reference and its ids), one file a numbered statement."""

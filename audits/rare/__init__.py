"""Tails of 1e-9 and far below."""

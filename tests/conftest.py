"""Property tests look at the same examples in every run: a test fails for a change, never for a draw."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")

"""Toy statements in place of the committed ones."""

from __future__ import annotations

import pytest
from toys import LEDGER, toy_registry

from verify import ledger, registry


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch) -> registry.Registry:
    """The true and the false toy in place of the committed statements, with their ledger."""
    both = toy_registry("W19-T4.1", "RW21-T17")
    monkeypatch.setattr(registry, "default", lambda: both)
    monkeypatch.setattr(ledger, "default", lambda: LEDGER)
    return both

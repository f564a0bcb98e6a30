"""Toy statements in place of the real ones: a true one, a false one with a corrected form, a broken one."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify import ledger, registry
from verify.ledger import Expected

TOYS = {"W19-T4.1": "thm_1", "RW21-T17": "thm_2", "W18-L4": "thm_3"}
LEDGER = {
    "W19-T4.1": Expected("SUPPORTED", why="a fair coin"),
    "RW21-T17": Expected("REFUTED", "SUPPORTED", why="0.7 is more than 0.6"),
    "RW21-T17.1": Expected("REFUTED", "SUPPORTED", why="0.7 is more than 0.6"),
    "RW21-T17.2": Expected("SUPPORTED", why="0.7 is less than 0.9"),
    "W18-L4": Expected("SUPPORTED", why="never reached"),
}


def toy_registry(*ids: str) -> registry.Registry:
    """Return the real catalogue with toy files for ``ids``."""
    folder = Path(__file__).resolve().parent.parent / "toys"
    sources = {id_: registry.Source(id_, f"toys.{TOYS[id_]}", folder / f"{TOYS[id_]}.py") for id_ in ids}
    return registry.Registry(registry.default().catalogue, sources)


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch) -> registry.Registry:
    """The true and the false toy in place of the committed statements, with their ledger."""
    both = toy_registry("W19-T4.1", "RW21-T17")
    monkeypatch.setattr(registry, "default", lambda: both)
    monkeypatch.setattr(ledger, "default", lambda: LEDGER)
    return both

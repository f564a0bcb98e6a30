"""Toy statements in place of the committed ones."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from toys import LEDGER, toy_registry

from verify.papers import ledger, registry


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch) -> registry.Registry:
    """The true and the false toy in place of the committed statements, with their ledger."""
    both = toy_registry("W19-T4.1", "RW21-T17")
    monkeypatch.setattr(registry, "default", lambda: both)
    monkeypatch.setattr(ledger, "default", lambda: LEDGER)
    return both


@pytest.fixture(autouse=True)
def _no_lines_of_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a run says of its phases depends on how busy the machine is: tests of progress have clocks of their own."""
    monkeypatch.setattr("verify.engine.follow.LONG", math.inf)
    monkeypatch.setattr("verify.engine.follow.QUIET", math.inf)


@pytest.fixture(scope="session")
def private_certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One finished certificate of private data, with a deployed output, both reports and an artefact; to be copied."""
    from toys.forgery import certify, lay_out

    folder = tmp_path_factory.mktemp("certificate")
    assert certify(lay_out(folder), folder / "out") == 0
    return folder / "out"

"""Toy statements in place of the real ones: a true one, a false one with a corrected form, a broken and a slow one."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path

from verify.kernel.paper import Expected
from verify.kernel.statement import Statement
from verify.papers import registry

TOYS = {"W19-T4.1": "thm_1", "RW21-T17": "thm_2", "W18-L4": "thm_3", "W18-L5": "thm_4"}
LEDGER = {
    "W19-T4.1": Expected("SUPPORTED", why="a fair coin"),
    "RW21-T17": Expected("REFUTED", "SUPPORTED", why="0.7 is more than 0.6"),
    "RW21-T17.1": Expected("REFUTED", "SUPPORTED", why="0.7 is more than 0.6"),
    "RW21-T17.2": Expected("SUPPORTED", why="0.7 is less than 0.9"),
    "W18-L4": Expected("SUPPORTED", why="never reached"),
    "W18-L5": Expected("SUPPORTED", why="slow but true"),
}


def load_toy(name: str) -> Statement:
    """Return the statement of a toy module."""
    statement: Statement = import_module(f"toys.{name}").STATEMENT
    return statement


def toy_registry(*ids: str) -> registry.Registry:
    """Return the real catalogue with toy files for ``ids``, with their titles and parts."""
    folder = Path(__file__).resolve().parent
    known = {id_: entry for id_, entry in registry.catalogue().items() if entry.parent not in ids or id_ in LEDGER}
    known |= {id_: replace(known[id_], title=load_toy(TOYS[id_]).title) for id_ in ids}
    sources = {id_: registry.Source(id_, f"toys.{TOYS[id_]}", folder / f"{TOYS[id_]}.py") for id_ in ids}
    return registry.Registry(known, sources)

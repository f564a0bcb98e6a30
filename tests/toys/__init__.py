"""Toy statements in place of the real ones: a true one, a false one with a corrected form, a broken and a slow one."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from verify import registry
from verify.ledger import Expected
from verify.statement import Statement

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
    """Return the real catalogue with toy files for ``ids``."""
    folder = Path(__file__).resolve().parent
    catalogue = registry.read_catalogue(Path(registry.__file__).parent / "catalogue.csv")
    sources = {id_: registry.Source(id_, f"toys.{TOYS[id_]}", folder / f"{TOYS[id_]}.py") for id_ in ids}
    return registry.Registry(catalogue, sources)

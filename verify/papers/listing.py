"""Every id that has a statement file as plain rows: what ``list`` prints; no statement is imported for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .registry import Registry, shown_path

if TYPE_CHECKING:
    from ..engine.rows import Row
    from .ledger import Ledger


def statement_rows(registry: Registry, ledger: Ledger) -> Iterator[Row]:
    """Yield one row an id, in the order of the catalogue."""
    for id_, entry in registry.catalogue.items():
        source = registry.sources.get(entry.parent or id_)
        expected = ledger.get(id_)
        if source:
            yield {
                "id": id_,
                "paper": entry.paper,
                "kind": entry.kind,
                "title": entry.title,
                "file": shown_path(source.path),
                "printed": expected.printed if expected else None,
                "corrected": expected.corrected if expected else None,
                "readings": dict(expected.readings) if expected else {},
            }

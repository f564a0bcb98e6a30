"""Every registered statement and part as plain rows: what ``list`` prints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .ledger import Ledger
from .registry import DISPLAY, PAPERS, Registry, Source, shown_path
from .rows import Row


def statement_rows(registry: Registry, ledger: Ledger, sources: Iterable[Source]) -> Iterator[Row]:
    """Yield one row an id: the statement, then its parts that have an id of their own."""
    for source in sources:
        statement = source.load()
        titles = {statement.id: statement.title}
        titles |= {
            part.id: part.title
            for part in statement.parts
            if part.id != statement.id and not part.reading and DISPLAY not in part.id
        }
        for id_, title in titles.items():
            entry = registry.catalogue.get(id_)
            expected = ledger.get(id_)
            yield {
                "id": id_,
                "paper": PAPERS.get(id_.partition("-")[0], statement.paper),
                "kind": entry.kind if entry else statement.kind,
                "title": title,
                "file": shown_path(source.path),
                "printed": expected.printed if expected else None,
                "corrected": expected.corrected if expected else None,
                "readings": dict(expected.readings) if expected else {},
            }

"""Every statement file, found by its name and imported only when it is needed.

The ``paper.toml`` of a paper has a table for each of its ids; it tells an unknown id from one that has no file yet,
and is all there is of a definition.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..kernel.paper import STATEMENT_FILE, Entry, papers
from ..messages.errors import Defect, UserError

if TYPE_CHECKING:
    from ..kernel.rows import Row
    from ..kernel.statement import Statement
    from .ledger import Ledger

#: Between an id and the name of one of its displays, or the letter of a reading: a part that is no id of its own.
DISPLAY, READING = "#", "@"
ROOM = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Source:
    """Where the statement of an id is defined: in a module, or (a definition, ``module`` empty) in its table alone."""

    id: str
    module: str
    path: Path

    def load(self) -> Statement:
        """Import the module and return its ``STATEMENT``, or read the table.

        Raises
        ------
        Defect
            If the module has none, or that of another id.
        """
        if not self.module:
            from ..kernel.declare import definition

            return definition(self.id)
        statement = load_statement(self.module)
        if statement.id != self.id:
            raise Defect(f"module {self.module} must export the STATEMENT of {self.id}, got that of {statement.id}")
        return statement


def id_of(part: str) -> str:
    """Return the id that a display or a reading belongs to (``W18-F3`` for ``W18-F3@a``)."""
    return part.partition(DISPLAY)[0].partition(READING)[0]


def shown_path(path: Path) -> str:
    """Return a statement file's path from the folder of the four rooms (``verify/papers/wang2019/thm_4_1.py``)."""
    return "/".join(path.parts[-4:])


def load_statement(module: str) -> Statement:
    """Return the ``STATEMENT`` of a module, importing it."""
    statement: Statement | None = getattr(importlib.import_module(module), "STATEMENT", None)
    if statement is None:
        raise Defect(f"module {module} must export STATEMENT")
    return statement


@dataclass(frozen=True)
class Registry:
    """The catalogue (every id of every paper, in the order of records), and the files that exist."""

    catalogue: Mapping[str, Entry]
    sources: Mapping[str, Source]

    def parent(self, id_: str) -> str:
        """Return the id whose file decides ``id_``: itself, or its parent in the catalogue."""
        entry = self.catalogue[id_]
        return entry.parent or entry.id

    def spelled(self, id_: str) -> str:
        """Return an id that is written in any case as the catalogue spells it; what it does not have, as it is."""
        known = {each.casefold(): each for each in self.catalogue}
        base = id_of(id_)
        return known.get(base.casefold(), base) + id_[len(base) :]

    def select(self, ids: Iterable[str] = ()) -> tuple[Source, ...]:
        """Return the files that decide ``ids`` (all files when there are none), in the order of the catalogue.

        Raises
        ------
        UserError
            If an id is not in the catalogue (close matches are named), or has no file yet.
        """
        wanted = {self.find(id_).id for id_ in ids} or set(self.sources)
        return tuple(self.sources[id_] for id_ in self.catalogue if id_ in wanted)

    def find(self, id_: str) -> Source:
        """Return the file that decides ``id_``, in any case; raises ``UserError`` as ``select`` does."""
        id_ = id_of(self.spelled(id_))
        if id_ not in self.catalogue:
            close = difflib.get_close_matches(id_.upper(), list(self.catalogue), n=3, cutoff=0.6)
            hint = f"; did you mean {', '.join(close)}?" if close else "; `pdp-verify list` shows them all"
            raise UserError(f"id must be in the catalogue, got id={id_}{hint}")
        parent = self.parent(id_)
        if parent not in self.sources:
            raise UserError(f"id must have a statement file, got id={id_}; `pdp-verify list` shows those that have one")
        return self.sources[parent]


def catalogue() -> dict[str, Entry]:
    """Return the table of every id, paper after paper."""
    return {id_: entry for paper in papers() for id_, entry in paper.entries.items()}


def scan(room: Path, package: str, catalogue: Mapping[str, Entry]) -> dict[str, Source]:
    """Return the statement file of each id that has one of its own; looks at names only.

    Raises
    ------
    Defect
        If an id has no file, or a file no table; the line names both.
    """
    found: dict[str, Source] = {}
    for entry in catalogue.values():
        path = room / entry.file
        if entry.parent:
            continue
        if not path.is_file():
            raise Defect(f"{entry.paper}/paper.toml: {entry.id} must have its file {entry.file}, or name its parent")
        module = ".".join((package, *Path(entry.file).with_suffix("").parts)) if path.suffix == ".py" else ""
        found[entry.id] = Source(entry.id, module, path)
    known = {source.path for source in found.values()}
    for path in sorted(room.glob("*/*.py")):
        if STATEMENT_FILE.match(path.stem) and path not in known:
            raise Defect(
                f"{path.parent.name}/{path.name} must have the table of its id in {path.parent.name}/paper.toml"
            )
    return found


@cache
def default() -> Registry:
    """Return the registry of the committed papers."""
    known = catalogue()
    return Registry(known, scan(ROOM, __package__ or "verify.papers", known))


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


def statements(*ids: str) -> tuple[Statement, ...]:
    """Return the statements that decide ``ids`` (every statement when there are none), in the order of the catalogue.

    Parameters
    ----------
    *ids : str
        Ids of the catalogue, or beginnings of one (``W19``).

    Returns
    -------
    tuple of Statement
        Each holds its cases and its check.

    Raises
    ------
    UserError
        If an id is unknown.

    Examples
    --------
    >>> (theorem,) = statements("W19-T4.1")
    >>> theorem.title
    'Per-instance privacy of one-posterior sampling'
    """
    return tuple(source.load() for source in default().select(ids))

"""Every statement file, found by its name and imported only when it is needed.

A file name encodes the kind and the printed number (``thm_4_1.py`` in ``wang2019`` is ``W19-T4.1``); the catalogue
(``catalogue.csv``: id, parent, kind, title) tells an unknown id from one that has no file yet.
"""

from __future__ import annotations

import csv
import difflib
import importlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import Defect, UserError

if TYPE_CHECKING:
    from .statement import Statement

#: Prefix of the ids of a paper -> folder of its statements (also the key of its entry in ``refs.bib``).
PAPERS = {"W19": "wang2019", "RW21": "redberg_wang2021", "W18": "wang2018"}

#: Kind in the catalogue -> (prefix of the file name, letters of the id that the prefix replaces, longest first).
KINDS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "theorem": ("thm", ("TH", "T")),
    "lemma": ("lem", ("L",)),
    "proposition": ("prop", ("P",)),
    "corollary": ("cor", ("C",)),
    "definition": ("def", ("D",)),
    "fact": ("fact", ("F",)),
    "remark": ("rem", ("REM", "R")),
    "claim": ("rem", ()),
    "algorithm": ("alg", ("ALG", "A")),
    "equation": ("eq", ("E",)),
    "figure": ("fig", ("FIG", "F")),
    "table": ("tab", ("Tab", "T")),
    "number": ("num", ("N",)),
    "setting": ("set", ("S",)),
    "calibration": ("set", ()),
    "experiment": ("exp", ("X",)),
    "example": ("exp", ("E",)),
    "proof step": ("thm", ("T",)),
}
#: Between a catalogue id and the name of one of its displays: a part that is no id of its own.
DISPLAY = "#"
STATEMENT_FILE = re.compile(rf"^(?:{'|'.join(sorted({prefix for prefix, _ in KINDS.values()}))})_\w+$")


@dataclass(frozen=True)
class Entry:
    """One line of the catalogue."""

    id: str
    parent: str
    kind: str
    title: str

    @property
    def file(self) -> str:
        """Path of the file that decides this id, relative to the room (``wang2019/thm_4_1.py``)."""
        paper, _, rest = self.id.partition("-")
        prefix, letters = KINDS[self.kind]
        number = next((rest.removeprefix(each) for each in letters if rest.startswith(each)), rest)
        return f"{PAPERS[paper]}/{prefix}_{number.replace('.', '_').lower()}.py"


@dataclass(frozen=True)
class Source:
    """Where the statement of an id is defined."""

    id: str
    module: str
    path: Path

    def load(self) -> Statement:
        """Import the module and return its ``STATEMENT``."""
        return load_statement(self.module)


def shown_path(path: Path) -> str:
    """Return a statement file's path from the folder of the four rooms (``verify/wang2019/thm_4_1.py``)."""
    return "/".join(path.parts[-3:])


def load_statement(module: str) -> Statement:
    """Return the ``STATEMENT`` of a module, importing it."""
    statement: Statement | None = getattr(importlib.import_module(module), "STATEMENT", None)
    if statement is None:
        raise Defect(f"module {module} must export STATEMENT")
    return statement


@dataclass(frozen=True)
class Registry:
    """The catalogue, and the files that exist."""

    catalogue: Mapping[str, Entry]
    sources: Mapping[str, Source]

    def parent(self, id_: str) -> str:
        """Return the id whose file decides ``id_``: itself, or its parent in the catalogue."""
        entry = self.catalogue[id_]
        return entry.parent or entry.id

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
        """Return the file that decides ``id_``; raises :class:`UserError` as :meth:`select` does."""
        id_ = id_.partition(DISPLAY)[0]
        if id_ not in self.catalogue:
            close = difflib.get_close_matches(id_.upper(), list(self.catalogue), n=3, cutoff=0.6)
            hint = f"; did you mean {', '.join(close)}?" if close else "; `pdp-verify list` shows them all"
            raise UserError(f"id must be in the catalogue, got id={id_}{hint}")
        parent = self.parent(id_)
        if parent not in self.sources:
            raise UserError(f"id must have a statement file, got id={id_}; `pdp-verify list` shows those that have one")
        return self.sources[parent]


def read_catalogue(path: Path) -> dict[str, Entry]:
    """Return the catalogue, in its order."""
    with path.open(newline="", encoding="utf-8") as lines:
        return {line["id"]: Entry(**line) for line in csv.DictReader(lines)}


def scan(room: Path, package: str, catalogue: Mapping[str, Entry]) -> dict[str, Source]:
    """Return the statement files that exist, by id; looks at names only."""
    found: dict[str, Source] = {}
    for entry in catalogue.values():
        path = room / entry.file
        if not entry.parent and path.is_file():
            module = ".".join((package, *Path(entry.file).with_suffix("").parts))
            found[entry.id] = Source(entry.id, module, path)
    return found


@cache
def default() -> Registry:
    """Return the registry of this room."""
    room = Path(__file__).resolve().parent
    catalogue = read_catalogue(room / "catalogue.csv")
    return Registry(catalogue, scan(room, __package__ or "verify", catalogue))


def statements(*ids: str) -> tuple[Statement, ...]:
    """Return the statements that decide ``ids`` (every statement when there are none), in the order of the catalogue.

    Examples
    --------
    >>> (theorem,) = statements("W19-T4.1")
    >>> theorem.title
    'Per-instance privacy of one-posterior sampling'
    """
    return tuple(source.load() for source in default().select(ids))

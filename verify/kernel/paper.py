"""One paper, as the ``paper.toml`` of its folder states it: its reference, its share of a run, and a table an id.

A file name encodes the kind and the printed number: ``thm_4_1.py`` in ``wang2019`` is ``W19-T4.1``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NotRequired

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from ..messages.errors import Defect
from .provenance import Provenance, Worth
from .shares import SLOTS
from .verdict import Verdict

if TYPE_CHECKING:
    from .rows import Row

#: Kind -> (prefix of the file name, letters of the id that the prefix replaces, longest first).
KINDS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "theorem": ("thm", ("TH", "T")), "lemma": ("lem", ("L",)), "proposition": ("prop", ("P",)),
    "corollary": ("cor", ("C",)), "definition": ("def", ("D",)), "fact": ("fact", ("F",)),
    "remark": ("rem", ("REM", "R")), "claim": ("rem", ()), "algorithm": ("alg", ("ALG", "A")),
    "equation": ("eq", ("E",)), "figure": ("fig", ("FIG", "F")), "table": ("tab", ("Tab", "T")),
    "number": ("num", ("N",)), "setting": ("set", ("S",)), "calibration": ("set", ()),
    "experiment": ("exp", ("X",)), "example": ("exp", ("E",)), "proof step": ("thm", ("T",)),
}  # fmt: skip
#: Where the papers stand, each in a folder of its own.
FOLDER = Path(__file__).resolve().parent.parent / "papers"
#: The kind of a line of a proof: it has a verdict of its own, and never decides its parent.
PROOF = "proof step"
#: What the table of a definition says, all of it or nothing; it needs no file.
DEFINITION = ("implemented", "formula", "domain", "summary")
#: Tables of a ``paper.toml`` that are no id.
ABOUT = ("reference", "copies", "sources")
STATEMENT_FILE = re.compile(rf"^(?:{'|'.join(sorted({prefix for prefix, _ in KINDS.values()}))})_\w+$")


class Consequence(Enum):
    """What follows from an erratum, the gravest first; the member's value is the printed sentence."""

    PRIVACY = "Privacy fails: the loss can exceed what is promised"
    COVERAGE = "Coverage fails: a bound holds less often than promised"
    RESULT = "A stated result is wrong: a rate, a risk, an identity or an algorithm's accuracy"
    PROOF = "A step of a proof fails; what it is used for is decided elsewhere"
    MISPRINT = "A misprint: the intended formula is plain from the context"


def _one_of(words: Iterable[str]) -> AfterValidator:
    """Return what holds a text to some words."""
    known = tuple(words)

    def check(word: str) -> str:
        if word not in known:
            raise ValueError(f"must be one of {', '.join(known)}")
        return word

    return AfterValidator(check)


strict = with_config(ConfigDict(extra="forbid", strict=True))
Text = Annotated[str, Field(pattern=r"^\S(.*\S)?$")]
VerdictWord = Annotated[str, _one_of(Verdict.__members__)]


@strict
class IdTable(TypedDict):
    """The table of one id."""

    kind: Annotated[str, _one_of(KINDS)]
    title: Text
    locator: NotRequired[Text]
    parent: NotRequired[Text]
    printed: VerdictWord
    corrected: NotRequired[VerdictWord]
    readings: NotRequired[dict[Text, VerdictWord]]
    why: NotRequired[Text]
    consequence: NotRequired[Annotated[str, _one_of(Consequence.__members__)]]
    root: NotRequired[Text]
    use: NotRequired[Text]
    implemented: NotRequired[Text]
    formula: NotRequired[Text]
    domain: NotRequired[Text]
    summary: NotRequired[Text]


@strict
class ReferenceTable(TypedDict):
    """Where a paper appeared."""

    author: Text
    title: Text
    year: int
    journal: NotRequired[Text]
    booktitle: NotRequired[Text]
    volume: NotRequired[int | Text]
    number: NotRequired[int | Text]
    pages: NotRequired[Text]
    doi: NotRequired[Text]
    url: NotRequired[Text]


@strict
class CopyTable(TypedDict):
    """A copy of the paper that statements were read from: its SHA-256, and how it was made."""

    digest: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    made: Text


@strict
class SourceTable(TypedDict):
    """Where a part was read: the copy (where there are several), its line, what the place is worth, and why."""

    copy: NotRequired[Text]
    line: Annotated[int, Field(ge=1)]
    worth: NotRequired[Annotated[str, _one_of(Worth.__members__)]]
    evidence: NotRequired[Text]


@strict
class PaperTable(TypedDict):
    """What a ``paper.toml`` says of the paper itself."""

    prefix: Annotated[str, Field(pattern="^[A-Za-z0-9]+$")]
    position: int
    slots: Annotated[int, Field(ge=1, le=SLOTS)]
    reference: ReferenceTable
    copies: NotRequired[dict[Text, CopyTable]]
    sources: NotRequired[dict[Text, SourceTable]]


@dataclass(frozen=True)
class Expected:
    """The expected verdicts of one id, the reason in a line; where it is refuted, the consequence and the root."""

    printed: str
    corrected: str | None = None
    readings: Mapping[str, str] = field(default_factory=dict)
    why: str = ""
    consequence: str = ""
    root: str = ""

    def row(self) -> Row:
        """Return the expectation as JSON values."""
        return {"printed": self.printed, "corrected": self.corrected, "readings": dict(self.readings)}

    @classmethod
    def found(cls, ruling: Row) -> Expected:
        """Return the verdicts of a ruling as if they had been expected: of data that the ledger knows nothing of."""
        readings = {name: reading["printed"]["verdict"] for name, reading in ruling["readings"].items()}
        corrected = ruling["corrected"]["verdict"] if ruling["corrected"] else None
        return cls(ruling["printed"]["verdict"], corrected, readings)


@dataclass(frozen=True)
class Entry:
    """The table of one id: what it is, where it stands in the paper, what is expected, what to use instead.

    That of a definition has all there is to say: what implements it, its formula, its domain and a summary.
    """

    id: str
    paper: str
    kind: str
    title: str
    expected: Expected
    locator: str = ""
    parent: str = ""
    use: str = ""
    implemented: str = ""
    formula: str = ""
    domain: str = ""
    summary: str = ""

    @property
    def file(self) -> str:
        """Path of the file that decides this id, from the folder of the papers (``wang2019/thm_4_1.py``)."""
        if self.implemented:
            return f"{self.paper}/paper.toml"
        rest = self.id.partition("-")[2]
        prefix, letters = KINDS[self.kind]
        number = next((rest.removeprefix(word) for word in letters if rest.startswith(word)), rest)
        return f"{self.paper}/{prefix}_{number.replace('.', '_').lower()}.py"


@dataclass(frozen=True)
class Paper:
    """A paper: its folder's name, the prefix of its ids, its place in records, its slots, its reference, its ids.

    ``copies`` and ``sources`` say which copies the statements were read from, and where in them each part stands.
    """

    name: str
    prefix: str
    position: int
    slots: int
    reference: Mapping[str, Any]
    entries: Mapping[str, Entry]
    copies: Mapping[str, CopyTable] = field(default_factory=dict)
    sources: Mapping[str, SourceTable] = field(default_factory=dict)

    def provenance(self, part: str) -> Provenance | None:
        """Return where a part was read (a reading where its display was), or nothing where no copy is stated."""
        source = self.sources.get(part) or self.sources.get(part.partition("@")[0])
        if source is None:
            return None
        name = source.get("copy") or next(iter(self.copies))
        worth = Worth[source.get("worth", "SINGLE")]
        return Provenance(name, self.copies[name]["digest"], source["line"], worth, source.get("evidence", ""))

    @property
    def share(self) -> Fraction:
        """Share of a run's failure probability that each id may spend; what has a parent spends the parent's."""
        own = sum(not entry.parent for entry in self.entries.values())
        return Fraction(self.slots, SLOTS * max(self.slots, own))

    @property
    def citation(self) -> str:
        """One line: authors, title, where, year."""
        entry = self.reference
        where = entry.get("journal") or entry.get("booktitle", "")
        volume = f" {entry['volume']}" if "volume" in entry else ""
        issue = f"({entry['number']})" if "number" in entry else ""
        return f"{entry['author'].replace(' and ', ', ')}. {entry['title']}. {where}{volume}{issue}, {entry['year']}."

    def row(self) -> Row:
        """Return what a record says of the paper, as JSON values."""
        about = self.reference
        words = {"reference": self.citation, "title": about["title"], "year": about["year"]}
        return words | {"doi": about.get("doi", ""), "copies": {name: dict(copy) for name, copy in self.copies.items()}}


def read_paper(path: Path) -> Paper:
    """Return the paper that a ``paper.toml`` states.

    Raises
    ------
    Defect
        If the file is not as it must be; the line names the file and the key.
    """
    name = path.parent.name
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        ids = {key: value for key, value in table.items() if isinstance(value, dict) and key not in ABOUT}
        about = {key: value for key, value in table.items() if key not in ids}
        _check(about, PaperTable)
        _check_sources(about.get("copies", {}), about.get("sources", {}), ids)
        for id_, value in ids.items():
            _check_id(id_, value, ids, about["prefix"])
        entries = {id_: _entry(id_, name, value) for id_, value in ids.items()}
        files: dict[str, str] = {}
        for entry in entries.values():
            if not (entry.parent or entry.implemented) and files.setdefault(entry.file, entry.id) != entry.id:
                raise ValueError(f"{entry.id} must have a file of its own, got {entry.file} of {files[entry.file]}")
    except ValueError as stop:
        raise Defect(f"{name}/{path.name}: {stop}") from stop
    return Paper(name, **about, entries=entries)


_adapter = cache(TypeAdapter)
#: Tables inside a table, by their key there; and what a text of a pattern must be.
TABLES = {"reference": ReferenceTable, "copies": CopyTable, "sources": SourceTable}
PATTERNS = {"prefix": "letters and digits", "digest": "64 hexadecimal digits in lower case"}


def _check(table: Mapping[str, Any], kind: Any, of: str = "") -> None:
    """Hold a table to its type; ``of`` is the id that it belongs to."""
    try:
        _adapter(kind).validate_python(table)
    except ValidationError as stop:
        raise ValueError(_in_words(stop.errors()[0], kind, of)) from stop


def _in_words(error: Any, kind: Any, of: str) -> str:
    """Return an error of a table in one line: the key, the rule and the value."""
    *places, key = map(str, error["loc"])
    place = ".".join([*([of] if of else []), *places, key])
    if error["type"] == "missing":
        return f"{place} must be given, got {key}=None"
    if error["type"] == "extra_forbidden":
        known = TABLES.get(places[0], kind) if places else kind
        return f"{place} must be {', '.join(known.__annotations__)}{'' if of or places else ' or an id'}"
    if error["type"] == "value_error":
        return f"{place} {error['ctx']['error']}, got {key}={error['input']!r}"
    rule = re.sub(r"^\w+ should", "must", error["msg"])
    if error["type"] == "string_pattern_mismatch":
        rule = f"must be {PATTERNS.get(key, 'a line of text without space around it')}"
    return f"{place} {rule}, got {key}={error['input']!r}"


def _check_sources(
    copies: Mapping[str, CopyTable], sources: Mapping[str, SourceTable], ids: Mapping[str, Mapping[str, Any]]
) -> None:
    """Hold every source to an id and a copy that are there, and every worth that claims something to its evidence.

    A reading stands in the place of its display, so that it is damaged where the display is.
    """
    for part, source in sources.items():
        display = part.partition("@")[0]
        id_ = display.partition("#")[0]
        if id_ not in ids:
            raise ValueError(f"sources.{part} must be of an id that has a table, got {id_}")
        if display in sources and sources[display].get("worth") == "DAMAGED" != source.get("worth"):
            raise ValueError(f"sources.{part}.worth must be DAMAGED, as {display} is, got worth={source.get('worth')}")
        if source.get("copy", "") not in copies and ("copy" in source or len(copies) != 1):
            known = ", ".join(copies) or "stated in a table [copies.NAME]"
            raise ValueError(f"sources.{part}.copy must be {known}, got copy={source.get('copy')}")
        if source.get("worth", "SINGLE") != "SINGLE" and "evidence" not in source:
            raise ValueError(f"sources.{part}.evidence must be given with worth={source['worth']}, got evidence=None")


def _check_id(id_: str, table: Mapping[str, Any], ids: Mapping[str, Mapping[str, Any]], prefix: str) -> None:
    """Check the table of one id, and what the id, its parent and its consequence must be."""
    if not re.fullmatch(rf"{prefix}-\w+(\.\w+)*", id_, re.ASCII):
        raise ValueError(
            f"{id_} must be {', '.join(PaperTable.__annotations__)} or an id {prefix}-… of letters, digits, _ "
            "and points"
        )
    _check(table, IdTable, id_)
    if "parent" in table and "parent" in ids.get(table["parent"], {"parent": ""}):
        raise ValueError(f"{id_}.parent must be an id with a file of its own, got parent={table['parent']}")
    if "parent" not in table and "locator" not in table:
        raise ValueError(f"{id_}.locator must be given, got locator=None")
    if len(missing := [key for key in DEFINITION if key not in table]) not in (0, len(DEFINITION)):
        raise ValueError(f"{id_}.{missing[0]} must be given with {', '.join(DEFINITION)}, got {missing[0]}=None")
    for key in ("consequence", "root", "use"):
        if key in table and table["printed"] not in ("REFUTED", "TEXT_UNCLEAR"):
            raise ValueError(
                f"{id_}.{key} must stand with printed=REFUTED or TEXT_UNCLEAR, got printed={table['printed']}"
            )
    if "root" in table and table["root"] not in roots():
        raise ValueError(f"{id_}.root must be {', '.join(roots())}, got root={table['root']}")


def _entry(id_: str, paper: str, table: Mapping[str, Any]) -> Entry:
    known = ("kind", "title", "locator", "parent", "use", *DEFINITION)
    about = {key: table[key] for key in known if key in table}
    expected = Expected(**{key: value for key, value in table.items() if key not in about})
    return Entry(id_, paper, expected=expected, **about)


@strict
class RootTable(TypedDict):
    """The one slip behind several entries: its title, what is wrong and what is right, and what to use instead."""

    title: Text
    text: Text
    use: NotRequired[Text]


@cache
def roots() -> Mapping[str, RootTable]:
    """Return the slips that stand behind several entries, by the name that the entries give (``roots.toml``)."""
    path = FOLDER / "roots.toml"
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        for name, value in table.items():
            _check(value, RootTable, name)
    except ValueError as stop:
        raise Defect(f"{path.name}: {stop}") from stop
    return table


@cache
def papers() -> tuple[Paper, ...]:
    """Return every paper, in the order of records: a folder of ``papers`` with a ``paper.toml`` is one."""
    return together(read_paper(path) for path in FOLDER.glob("*/paper.toml"))


def together(several: Iterable[Paper]) -> tuple[Paper, ...]:
    """Return papers in the order of records.

    Raises
    ------
    Defect
        If two have one prefix, or all together have more than all slots.
    """
    ordered = tuple(sorted(several, key=lambda paper: (paper.position, paper.name)))
    names: dict[str, str] = {}
    for paper in ordered:
        if paper.prefix in names:
            raise Defect(
                f"{paper.name}/paper.toml: prefix must be its own, got {paper.prefix} of {names[paper.prefix]}"
            )
        names[paper.prefix] = paper.name
    slots = sum(paper.slots for paper in ordered)
    if slots > SLOTS:
        raise Defect(
            f"{ordered[-1].name}/paper.toml: slots of all papers must be at most {SLOTS} together, got {slots}"
        )
    return ordered


def paper_of(id_: str) -> Paper:
    """Return the paper that an id belongs to.

    Raises
    ------
    Defect
        If no ``paper.toml`` has a table for the id.
    """
    for paper in papers():
        if id_ in paper.entries:
            return paper
    raise Defect(f"id must have a table in the paper.toml of its paper, got id={id_}")


def citation(name: str) -> str:
    """Return the reference of a paper in one line, by the name of its folder."""
    return next(paper.citation for paper in papers() if paper.name == name)

"""What a record refutes, by the slip that stands behind it and by how much it matters where people work."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...engine.record import Record
from ...kernel.measure import Measure, excess, gravity
from ...kernel.paper import Consequence, papers, roots
from ...kernel.rows import Row, number
from ...kernel.ruling import worst

#: Where people work: an entry that fails there comes before one that fails only elsewhere.
LARGEST_EPSILON, LARGEST_DELTA = 1.0, 1e-5
EVERYDAY = "epsilon at most 1, delta at most 1e-5"
#: Measures that show a consequence; another failing case of the same statement shows it only where there is none.
SHOWN_BY = {
    Consequence.PRIVACY: (Measure.DELTA.name,),
    Consequence.COVERAGE: (Measure.COVERAGE.name, Measure.FAILURE.name),
}


@dataclass(frozen=True)
class Correction:
    """A statement that is refuted as printed, its worst case, and the factor on delta where people work.

    ``everyday`` is 0 where no case with epsilon at most 1 and delta at most 1e-5 fails.
    """

    statement: Row
    verdict: Row
    consequence: Consequence
    root: str
    worst: Row | None
    everyday: float

    @property
    def id(self) -> str:
        """The id of the statement."""
        return str(self.statement["id"])

    @property
    def severity(self) -> tuple[int, bool, float, tuple[float, ...], str]:
        """What sorts entries, the gravest first."""
        key: tuple[float, ...] = gravity(self.worst) if self.worst else ()
        order = list(Consequence).index(self.consequence)
        return order, not self.everyday, -self.everyday, key, self.id


@dataclass(frozen=True)
class Cause:
    """One slip with the entries behind which it stands; an entry without a root is a cause of its own.

    ``use`` says what to use instead, where a sentence does.
    """

    root: str
    title: str
    text: str
    use: str
    entries: tuple[Correction, ...]

    @property
    def consequence(self) -> Consequence:
        """The gravest consequence of its entries."""
        return self.entries[0].consequence


def entries(record: Record) -> tuple[Correction, ...]:
    """Return the statements that a record refutes as printed, the gravest first."""
    refuted = [s for s in record.statements if record.verdict(s["id"])["printed"]["verdict"] == "REFUTED"]
    return tuple(sorted((_entry(record, statement) for statement in refuted), key=lambda entry: entry.severity))


def causes(found: Iterable[Correction]) -> tuple[Cause, ...]:
    """Return the slips behind entries, the gravest first."""
    by_root: dict[str, list[Correction]] = {}
    for entry in found:
        by_root.setdefault(entry.root or entry.id, []).append(entry)
    known = roots()
    uses = {id_: entry.use for paper in papers() for id_, entry in paper.entries.items()}
    return tuple(
        Cause(name, known[name]["title"], known[name]["text"], known[name].get("use", ""), tuple(of))
        if name in known
        else Cause("", of[0].statement["title"], of[0].statement["summary"], uses.get(name, ""), tuple(of))
        for name, of in by_root.items()
    )


def unclear(record: Record) -> tuple[Row, ...]:
    """Return the statements whose text is unclear, or that have a display whose text is."""
    ids = {row["parent"] or row["id"] for row in record.verdicts if row["printed"]["verdict"] == "TEXT_UNCLEAR"}
    return tuple(statement for statement in record.statements if statement["id"] in ids)


def unclear_parts(record: Record, statement: Row) -> list[Row]:
    """Return the readings of a statement's displays whose text is unclear."""
    displays = {row["id"] for row in record.verdicts if row["printed"]["verdict"] == "TEXT_UNCLEAR"}
    return [part for part in statement["parts"] if part["reading"] and display_of(part) in displays]


def proof_lines(record: Record) -> list[tuple[Row, Row]]:
    """Return every refuted line of a proof that is part of another statement: the statement, and the part."""
    return [
        (statement, part)
        for statement in record.statements
        for part in statement["parts"]
        if part["proof"] and record.verdict(display_of(part))["printed"]["verdict"] == "REFUTED"
    ]


def display_of(part: Row) -> str:
    """Return the id of the display that a part is a reading of, or its own."""
    return str(part["id"]).partition("@")[0]


def _deciding_rows(record: Record, statement: Row) -> list[Row]:
    """Return the rows of a statement as printed, without those of lines of its proof and of unclear texts."""
    out = {part["id"] for part in statement["parts"] if part["proof"]}
    out |= {part["id"] for part in unclear_parts(record, statement)}
    printed = [row for row in record.cases_of(statement["id"]) if row["standing"] == "PRINTED"]
    return [row for row in printed if row["part"] not in out] or printed


def _everyday_rows(rows: Iterable[Row]) -> list[Row]:
    """Return the failing rows about a delta with epsilon at most 1 and delta at most 1e-5, the worst first."""
    failing = [
        row
        for row in rows
        if row["outcome"] == "FAILS"
        and row["claim"]["measure"] == Measure.DELTA.name
        and number(row["claim"]["published"]) <= LARGEST_EPSILON
        and number(row["claim"]["high"]) <= LARGEST_DELTA
    ]
    return sorted(failing, key=gravity)


def told_by(rows: Sequence[Row], consequence: Consequence) -> Row | None:
    """Return the case that tells a refutation: the worst of its consequence, where people work if it fails there."""
    everyday = _everyday_rows(rows) if consequence is Consequence.PRIVACY else []
    measures = SHOWN_BY.get(consequence, ())
    showing = [r for r in rows if r["outcome"] == "FAILS" and r["claim"]["measure"] in measures]
    return next(iter(everyday), None) or worst(showing or rows)


def _entry(record: Record, statement: Row) -> Correction:
    verdict = record.verdict(statement["id"])
    consequence = Consequence[verdict["consequence"]] if verdict["consequence"] else Consequence.RESULT
    rows = _deciding_rows(record, statement)
    everyday = _everyday_rows(rows) if consequence is Consequence.PRIVACY else []
    tells = told_by(rows, consequence)
    return Correction(statement, verdict, consequence, verdict["root"], tells, excess(everyday[0]) if everyday else 0.0)

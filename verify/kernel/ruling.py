"""From the rows of a statement's cases to its verdicts: each part in each version, then the statement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from .measure import ORDER, gravity
from .rows import Row, number
from .statement import Part, Role, Standing, Statement
from .verdict import Outcome, Reason, Verdict

#: Reasons of an undecided statement, the gravest first.
GRAVEST = (
    Reason.ERROR,
    Reason.INCONSISTENT,
    Reason.INTERRUPTED,
    Reason.UNCONFIRMED,
    Reason.POWER,
    Reason.READING,
    Reason.BUDGET,
    Reason.DATA_MISSING,
    Reason.NO_FINITE_TEST,
)


@dataclass(frozen=True)
class Ruling:
    """A verdict on one version, how many cases had each outcome, and the worst of them.

    ``rank`` sorts worst cases of several versions: by kind first, so that margins of different units never compare.
    """

    verdict: Verdict
    reason: Reason = Reason.NONE
    outcomes: dict[str, int] = field(default_factory=dict)
    worst_case: str = ""
    worst_margin: float = float("nan")
    rank: tuple[int, int, float] = field(default=(2, 0, 0.0), compare=False)

    def row(self) -> Row:
        """Return the ruling as JSON values."""
        from .rows import encode

        return {
            "verdict": self.verdict.name,
            "reason": self.reason.name,
            "outcomes": self.outcomes,
            "worst_case": self.worst_case,
            "worst_margin": encode(self.worst_margin),
        }


def gravest(reasons: Iterable[Reason]) -> Reason:
    """Return the gravest of several reasons."""
    return min((r for r in reasons if r is not Reason.NONE), key=GRAVEST.index, default=Reason.NO_FINITE_TEST)


def worst(rows: Iterable[Row]) -> Row | None:
    """Return the worst row in the domain: the counterexample, or where a supported claim has the least room.

    Privacy comes before coverage, coverage before identities; within a kind what exceeds most (``gravity``).
    """
    decided = [row for row in rows if row["margin"] != "nan" and row["outcome"] != Outcome.OUT_OF_DOMAIN.name]
    failing = [row for row in decided if row["outcome"] == Outcome.FAILS.name]
    chosen = [row for row in failing if row.get("role") == Role.COUNTEREXAMPLE.name]  # small and round, if there is one
    return min(chosen or failing or decided, key=gravity, default=None)


def rule(
    rows: Sequence[Row], *, expected_cases: int, blind: bool = False, unguarded: bool = False, definition: bool = False
) -> Ruling:
    """Return the verdict on one version of one part from the rows of its cases.

    Parameters
    ----------
    rows : sequence of rows
        The rows that exist; fewer than ``expected_cases`` after an interruption.
    blind : bool
        True when a mutant that the same checks must refute was not refuted: nothing is then supported.
    unguarded : bool
        True when a mutant was not run, after an interruption: nothing is supported yet.
    definition : bool
        True when there is nothing to check.
    """
    outcomes = {each.name: sum(row["outcome"] == each.name for row in rows) for each in Outcome}
    tightest = worst(rows)
    summary = (
        {name: count for name, count in outcomes.items() if count},
        tightest["case"] if tightest else "",
        number(tightest["margin"]) if tightest else float("nan"),
        gravity(tightest) if tightest else (2, 0, 0.0),
    )
    if outcomes["FAILS"]:
        return Ruling(Verdict.REFUTED, Reason.NONE, *summary)
    if not expected_cases:
        return Ruling(*((Verdict.DEFINITION,) if definition else (Verdict.UNDECIDED, Reason.NO_FINITE_TEST)))
    if len(rows) < expected_cases:
        return Ruling(Verdict.UNDECIDED, Reason.INTERRUPTED, *summary)
    if outcomes["UNDECIDED"]:
        reasons = (Reason[row["reason"]] for row in rows if row["outcome"] == "UNDECIDED")
        return Ruling(Verdict.UNDECIDED, gravest(reasons), *summary)
    if not outcomes["HOLDS"]:
        return Ruling(Verdict.UNDECIDED, Reason.NO_FINITE_TEST, *summary)
    if blind:
        return Ruling(Verdict.UNDECIDED, Reason.POWER, *summary)
    if unguarded:
        return Ruling(Verdict.UNDECIDED, Reason.INTERRUPTED, *summary)
    return Ruling(Verdict.SUPPORTED, Reason.NONE, *summary)


def join(rulings: Sequence[Ruling]) -> Ruling:
    """Return the ruling of a whole: refuted or unclear if a part is, supported if all checkable parts are."""
    if len(rulings) == 1:
        return rulings[0]
    outcomes = {e.name: sum(r.outcomes.get(e.name, 0) for r in rulings) for e in Outcome}
    outcomes = {name: count for name, count in outcomes.items() if count}
    checkable = [r for r in rulings if r.verdict is not Verdict.DEFINITION]
    for verdict in (Verdict.REFUTED, Verdict.UNDECIDED, Verdict.TEXT_UNCLEAR, Verdict.SUPPORTED):
        of_verdict = [r for r in checkable if r.verdict is verdict]
        if of_verdict:
            reason = gravest(r.reason for r in of_verdict) if verdict is Verdict.UNDECIDED else Reason.NONE
            with_case = [r for r in of_verdict if r.worst_case]
            tightest = min(with_case, key=lambda r: r.rank, default=of_verdict[0])
            return Ruling(verdict, reason, outcomes, tightest.worst_case, tightest.worst_margin, tightest.rank)
    return Ruling(Verdict.DEFINITION)


def join_readings(rulings: Sequence[Ruling], *, damaged: bool = False) -> Ruling:
    """Return the ruling of several readings of one text: decided where they agree, unclear where the copy is damaged.

    A reading that is not decided leaves the text undecided, for its reason. Of a damaged text the case of the first
    reading is told, the one that is most likely meant.
    """
    joined = join(rulings)
    undecided = [r for r in rulings if r.verdict is Verdict.UNDECIDED]
    if undecided:
        told = join(undecided)
        return Ruling(told.verdict, told.reason, joined.outcomes, told.worst_case, told.worst_margin, told.rank)
    if not damaged and len({r.verdict for r in rulings}) == 1:
        return joined
    verdict, reason = (Verdict.TEXT_UNCLEAR, Reason.NONE) if damaged else (Verdict.UNDECIDED, Reason.READING)
    told = rulings[0] if damaged else joined
    return Ruling(verdict, reason, joined.outcomes, told.worst_case, told.worst_margin, told.rank)


@dataclass(frozen=True)
class PartRuling:
    """One part: as printed, and corrected where there is a corrected form."""

    part: Part
    printed: Ruling
    corrected: Ruling | None

    @property
    def true_form(self) -> Ruling | None:
        """The corrected form, or the printed one where that is supported."""
        return self.corrected or (self.printed if self.printed.verdict is Verdict.SUPPORTED else None)

    def row(self) -> Row:
        """Return the rulings as JSON values."""
        return {"printed": self.printed.row(), "corrected": self.corrected.row() if self.corrected else None}


@dataclass(frozen=True)
class DisplayRuling:
    """One display with all its readings: as printed, corrected, and each reading by its name."""

    id: str
    proof: bool
    printed: Ruling
    corrected: Ruling | None
    readings: Mapping[str, PartRuling]
    misprint: bool = False

    @property
    def in_statement(self) -> Ruling:
        """How it enters its statement as printed: the case of a misprint is told where nothing else fails."""
        if not self.misprint:
            return self.printed
        fails, kind, size = self.printed.rank
        return replace(self.printed, rank=(fails, kind + len(ORDER), size))

    def row(self) -> Row:
        """Return the rulings as JSON values."""
        return {
            "printed": self.printed.row(),
            "corrected": self.corrected.row() if self.corrected else None,
            "readings": {name: reading.row() for name, reading in self.readings.items()},
        }


def _rule_display(parts: Sequence[PartRuling]) -> DisplayRuling:
    """Return the ruling of one display from its readings (one part without a name, where the text has one)."""
    part = parts[0].part
    if not part.reading:
        return DisplayRuling(part.display, part.proof, parts[0].printed, parts[0].corrected, {}, part.misprint)
    readings = {each.part.reading: each for each in parts}
    damaged = any(each.part.damaged for each in parts)
    printed = join_readings([each.printed for each in parts], damaged=damaged)
    corrected = None
    if damaged:  # what is true is known where one reading has a true form
        forms = [form for form in (each.true_form for each in parts) if form]
        corrected = join(forms) if forms else None
    elif any(each.corrected for each in parts):
        corrected = join_readings([each.corrected or each.printed for each in parts])
    return DisplayRuling(part.display, part.proof, printed, corrected, readings, part.misprint)


def mutant_summary(rows: Sequence[Row]) -> Row:
    """Return how many mutants were refuted, which were not, and the smallest one that was."""
    caught = [row for row in rows if row["outcome"] == Outcome.FAILS.name]
    graded = [row for row in caught if row["severity"] is not None]
    smallest = min(graded, key=lambda row: float(row["severity"]), default=None)
    return {
        "total": len(rows),
        "caught": len(caught),
        "held": [row["case"] for row in rows if row["outcome"] in ("HOLDS", "OUT_OF_DOMAIN")],
        "undecided": [row["case"] for row in rows if row["outcome"] == "UNDECIDED"],
        "smallest": {"case": smallest["case"], "severity": smallest["severity"]} if smallest else None,
    }


def _is_blind(mutants: Row, *, quick: bool) -> bool:
    """Return whether a mutant was not refuted, by the summary of all of a part: nothing is then supported."""
    return bool(mutants["held"] or (mutants["undecided"] and not quick))


def _rule_part(statement: Statement, part: Part, rows: Sequence[Row], *, quick: bool) -> PartRuling:
    """Return the rulings of one part from the rows of the whole statement."""
    expected = [case for case in statement.cases if case.part == part.id and (case.quick or not quick)]
    mine = [row for row in rows if row["part"] == part.id]
    mutants = mutant_summary([row for row in mine if row["standing"] == Standing.MUTANT.name])
    n_mutants = sum(case.standing is Standing.MUTANT for case in expected)

    def version(standing: Standing) -> Ruling:
        return rule(
            [row for row in mine if row["standing"] == standing.name],
            expected_cases=sum(case.standing is standing for case in expected),
            blind=_is_blind(mutants, quick=quick),
            unguarded=mutants["total"] < n_mutants,
            definition=bool(statement.definition) and not part.reading,
        )

    return PartRuling(part, version(Standing.PRINTED), version(Standing.CORRECTED) if part.corrected else None)


def rule_statement(statement: Statement, rows: Sequence[Row], *, quick: bool) -> list[Row]:
    """Return the verdict rows of a statement: its own first, then those of its displays that have an id of their own.

    A line of a proof has its own row, and no part in the statement's.
    """
    of_display: dict[str, list[PartRuling]] = {}
    for part in statement.parts:
        of_display.setdefault(part.display, []).append(_rule_part(statement, part, rows, quick=quick))
    displays = [_rule_display(parts) for parts in of_display.values()]
    deciding = [each for each in displays if not each.proof] or displays
    has_corrected = any(each.corrected for each in deciding)
    corrected = join([each.corrected or each.printed for each in deciding]) if has_corrected else None
    readings = {
        f"{each.id.removeprefix(statement.id)}@{name}".lstrip("#@"): reading
        for each in displays
        if each.id == statement.id or "#" in each.id
        for name, reading in each.readings.items()
    }
    own = DisplayRuling(statement.id, False, join([each.in_statement for each in deciding]), corrected, readings)
    return [_verdict_row(own, None, rows)] + [
        _verdict_row(each, statement.id, [row for row in rows if row["part"].partition("@")[0] == each.id])
        for each in displays
        if each.id != statement.id
    ]


def _verdict_row(ruling: DisplayRuling, parent: str | None, rows: Sequence[Row]) -> Row:
    mutants = mutant_summary([row for row in rows if row["standing"] == Standing.MUTANT.name])
    return {"kind": "verdict", "id": ruling.id, "parent": parent, **ruling.row(), "mutants": mutants}

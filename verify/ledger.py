"""The expected verdicts, committed in ``ledger.toml``, and how a run's verdicts differ from them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from pathlib import Path

from .errors import Defect
from .rows import Row
from .verdict import Reason, Verdict


class Consequence(Enum):
    """What follows from an erratum, the gravest first; the member's value is the printed sentence."""

    PRIVACY = "Privacy fails: the loss can exceed what is promised"
    COVERAGE = "Coverage fails: a bound holds less often than promised"
    RESULT = "A stated result is wrong: a rate, a risk, an identity or an algorithm's accuracy"
    PROOF = "A step of a proof fails; what it is used for is decided elsewhere"
    MISPRINT = "A misprint: the intended formula is plain from the context"


@dataclass(frozen=True)
class Expected:
    """The expected verdicts of one id, the reason in a line, and the consequence where it is refuted as printed."""

    printed: str
    corrected: str | None = None
    readings: Mapping[str, str] = field(default_factory=dict)
    why: str = ""
    consequence: str = ""

    def __post_init__(self) -> None:
        for word in (self.printed, self.corrected, *self.readings.values()):
            if word is not None and word not in Verdict.__members__:
                raise ValueError(f"verdict must be one of {', '.join(Verdict.__members__)}, got verdict={word}")
        if self.consequence and self.consequence not in Consequence.__members__:
            known = ", ".join(Consequence.__members__)
            raise ValueError(f"consequence must be one of {known}, got consequence={self.consequence}")

    def row(self) -> Row:
        """Return the expectation as JSON values."""
        return {"printed": self.printed, "corrected": self.corrected, "readings": dict(self.readings)}


Ledger = Mapping[str, Expected]


def read(path: Path) -> Ledger:
    """Return the ledger in a file, one table per id."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
        return {id_: Expected(**table) for id_, table in tables.items()}
    except (TypeError, ValueError) as stop:
        raise Defect(
            f"{path.name} must have one table an id with printed, corrected, readings and why: {stop}"
        ) from stop


@cache
def default() -> Ledger:
    """Return the committed ledger."""
    return read(Path(__file__).resolve().parent / "ledger.toml")


def compare(row: Row, expected: Expected | None, *, quick: bool, complete: bool = True) -> tuple[list[str], list[str]]:
    """Return what is unexpected in a verdict row, and what merely stayed open.

    Under ``quick`` (and after an interruption) an undecided verdict where the ledger decides stays open; it is a
    mismatch otherwise. A REFUTED of the ledger must be refuted under ``quick`` too.
    """
    unexpected: list[str] = []
    still_open: list[str] = []
    if expected is None:
        return [f"not in the ledger (found {row['printed']['verdict']})"], []

    def check(form: str, found: Row | None, wanted: str | None) -> None:
        if found is None or wanted is None:
            if (found is None) != (wanted is None):
                unexpected.append(f"{form}: expected {wanted or 'no such form'}, got {verdict_word(found)}")
            return
        if found["verdict"] == wanted:
            return
        message = f"{form}: expected {wanted}, got {verdict_word(found)}"
        undecided = found["verdict"] == "UNDECIDED"
        lenient = quick and found["reason"] == Reason.BUDGET.name and wanted != "REFUTED"
        interrupted = not complete and found["reason"] == Reason.INTERRUPTED.name
        no_quick_case = quick and found["reason"] == Reason.NO_FINITE_TEST.name and wanted != "REFUTED"
        (still_open if undecided and (lenient or interrupted or no_quick_case) else unexpected).append(message)

    check("as printed", row["printed"], expected.printed)
    check("corrected", row["corrected"], expected.corrected)
    for letter in sorted({*row["readings"], *expected.readings}):
        check(f"reading {letter}", row["readings"].get(letter), expected.readings.get(letter))
    if row["parent"] is None:
        unexpected += [f"mutant not refuted: {name}" for name in row["mutants"]["held"]]
        (still_open if quick else unexpected).extend(
            f"mutant not refuted: {name} (undecided)" for name in row["mutants"]["undecided"]
        )
    return unexpected, still_open


def verdict_word(ruling: Row | None) -> str:
    """Return a ruling's verdict with its reason, in one word or two."""
    if ruling is None:
        return "no such form"
    reason = "" if ruling["reason"] == "NONE" else f" ({Reason[ruling['reason']].value.partition(':')[0]})"
    return f"{ruling['verdict']}{reason}"

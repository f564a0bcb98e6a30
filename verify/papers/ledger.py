"""The expected verdicts, and how a run's verdicts differ from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..kernel.paper import Expected, papers
from ..kernel.verdict import Reason

if TYPE_CHECKING:
    from ..kernel.rows import Row

Ledger = Mapping[str, Expected]


def default() -> Ledger:
    """Return the expected verdicts of every id, as the ``paper.toml`` files state them."""
    return {id_: entry.expected for paper in papers() for id_, entry in paper.entries.items()}


def compare(row: Row, expected: Expected | None, *, quick: bool, complete: bool = True) -> tuple[list[str], list[str]]:
    """Return what is unexpected in a verdict row, and what merely stayed open.

    Under ``quick`` (and after an interruption) an undecided verdict where the ledger decides stays open; it is a
    mismatch otherwise. A REFUTED of the ledger must be refuted under ``quick`` too.
    """
    unexpected: list[str] = []
    still_open: list[str] = []
    if expected is None:
        return [f"not in the ledger (found {row['printed']['verdict']})"], []

    def stays_open(found: Row, wanted: str) -> bool:
        lenient = quick and found["reason"] in (Reason.BUDGET.name, Reason.NO_FINITE_TEST.name) and wanted != "REFUTED"
        interrupted = not complete and found["reason"] == Reason.INTERRUPTED.name
        return bool(found["verdict"] == "UNDECIDED" and (lenient or interrupted))

    def check(form: str, found: Row | None, wanted: str | None) -> None:
        if (found and found["verdict"]) == wanted:
            return
        message = f"{form}: expected {wanted or 'no such form'}, got {verdict_word(found)}"
        # what is true of a damaged text is not known while its readings are open
        judged = row["printed"] if found is None and row["readings"] else found
        open_ = judged is not None and wanted is not None and stays_open(judged, wanted)
        (still_open if open_ else unexpected).append(message)

    check("as printed", row["printed"], expected.printed)
    check("corrected", row["corrected"], expected.corrected)
    for letter in sorted({*row["readings"], *expected.readings}):
        check(f"reading {letter}", row["readings"].get(letter, {}).get("printed"), expected.readings.get(letter))
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

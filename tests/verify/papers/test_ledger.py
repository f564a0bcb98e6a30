"""What counts as a mismatch with the expected verdicts, and what merely stays open."""

from __future__ import annotations

from typing import Any

import pytest

from verify.papers import ledger
from verify.papers.ledger import compare
from verify.papers.paper import Expected


def ruling(verdict: str, reason: str = "NONE") -> dict[str, Any]:
    return {"verdict": verdict, "reason": reason}


def verdict(printed: dict[str, Any], corrected: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    mutants = {"held": more.pop("held", []), "undecided": more.pop("open", [])}
    return {"parent": None, "printed": printed, "corrected": corrected, "readings": {}, "mutants": mutants} | more


SUPPORTED, REFUTED = ruling("SUPPORTED"), ruling("REFUTED")
UNCLEAR, A = ruling("TEXT_UNCLEAR"), {"a": {"printed": REFUTED}}
BUDGET, ERROR = ruling("UNDECIDED", "BUDGET"), ruling("UNDECIDED", "ERROR")


@pytest.mark.parametrize(
    ("row", "expected", "quick", "unexpected", "still_open"),
    [
        (verdict(SUPPORTED), Expected("SUPPORTED"), False, 0, 0),
        (verdict(REFUTED, SUPPORTED), Expected("REFUTED", "SUPPORTED"), False, 0, 0),
        (verdict(SUPPORTED), Expected("REFUTED"), False, 1, 0),
        (verdict(REFUTED, REFUTED), Expected("SUPPORTED", "SUPPORTED"), True, 2, 0),
        (verdict(BUDGET), Expected("SUPPORTED"), False, 1, 0),
        (verdict(BUDGET), Expected("SUPPORTED"), True, 0, 1),
        (verdict(BUDGET), Expected("REFUTED"), True, 1, 0),
        (verdict(ERROR), Expected("SUPPORTED"), True, 1, 0),
        (verdict(REFUTED), Expected("REFUTED", "SUPPORTED"), False, 1, 0),
        (verdict(REFUTED, SUPPORTED), Expected("REFUTED"), False, 1, 0),
        (verdict(SUPPORTED), None, False, 1, 0),
        (verdict(SUPPORTED, held=["m"]), Expected("SUPPORTED"), True, 1, 0),
        (verdict(SUPPORTED, open=["m"]), Expected("SUPPORTED"), True, 0, 1),
        (verdict(SUPPORTED, open=["m"]), Expected("SUPPORTED"), False, 1, 0),
        (
            verdict(BUDGET, readings=A),
            Expected("UNDECIDED", readings={"a": "REFUTED"}),
            False,
            0,
            0,
        ),
        (
            verdict(BUDGET, readings=A),
            Expected("UNDECIDED", readings={"b": "REFUTED"}),
            False,
            2,
            0,
        ),
        (verdict(UNCLEAR), Expected("TEXT_UNCLEAR"), False, 0, 0),
        (verdict(UNCLEAR), Expected("REFUTED"), False, 1, 0),
        (verdict(REFUTED), Expected("TEXT_UNCLEAR"), True, 1, 0),
    ],
)
def test_compare(row: dict[str, Any], expected: Expected | None, quick: bool, unexpected: int, still_open: int) -> None:
    found = compare(row, expected, quick=quick)
    assert (len(found[0]), len(found[1])) == (unexpected, still_open)


def test_interrupted_statement_stays_open() -> None:
    row = verdict(ruling("UNDECIDED", "INTERRUPTED"))
    assert compare(row, Expected("REFUTED"), quick=False, complete=False) == (
        [],
        ["as printed: expected REFUTED, got UNDECIDED (interrupted)"],
    )


def test_committed_ledger_gives_a_reason_for_every_id() -> None:
    assert ledger.default()
    assert [id_ for id_, expected in ledger.default().items() if not expected.why] == []

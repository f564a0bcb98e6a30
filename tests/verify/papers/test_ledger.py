"""What counts as a mismatch with the expected verdicts, and what merely stays open."""

from typing import Any

from rows import for_each

from audits import Budget, StreamKey
from verify.kernel.paper import Expected
from verify.kernel.statement import Standing
from verify.kernel.verdict import Outcome, judge
from verify.papers import ledger
from verify.papers.ledger import compare
from verify.papers.registry import DISPLAY, statements


def ruling(verdict: str, reason: str = "NONE") -> dict[str, Any]:
    return {"verdict": verdict, "reason": reason}


def verdict(printed: dict[str, Any], corrected: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    mutants = {"held": more.pop("held", []), "undecided": more.pop("open", [])}
    return {"parent": None, "printed": printed, "corrected": corrected, "readings": {}, "mutants": mutants} | more


SUPPORTED, REFUTED = ruling("SUPPORTED"), ruling("REFUTED")
UNCLEAR, A = ruling("TEXT_UNCLEAR"), {"a": {"printed": REFUTED}}
BUDGET, ERROR = ruling("UNDECIDED", "BUDGET"), ruling("UNDECIDED", "ERROR")


@for_each(
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


def test_what_is_true_of_a_damaged_text_stays_open_with_its_readings() -> None:
    """Its corrected form is that of a reading, which an interrupted run has not decided yet."""
    a = {"a": {"printed": ruling("UNDECIDED", "INTERRUPTED")}}
    expected = Expected("TEXT_UNCLEAR", "SUPPORTED", {"a": "SUPPORTED"})
    row = verdict(ruling("UNDECIDED", "INTERRUPTED"), readings=a)
    assert [len(lines) for lines in compare(row, expected, quick=False, complete=False)] == [0, 3]
    assert [len(lines) for lines in compare(row, expected, quick=False)] == [3, 0]
    whole = verdict(ruling("UNDECIDED", "INTERRUPTED"))
    assert compare(whole, Expected("REFUTED", "SUPPORTED"), quick=False, complete=False)[0] == [
        "corrected: expected SUPPORTED, got no such form"
    ]


def test_a_line_of_a_proof_without_an_id_of_its_own_holds() -> None:
    """No ledger expects a verdict of it, and its statement is not decided by it: what fails needs an id."""
    found = [
        judge(statement.check(case, Budget(1, 0.05, StreamKey(1))))[0]
        for statement in statements()
        for part in statement.parts
        if part.proof and DISPLAY in part.id
        for case in statement.cases
        if case.part == part.id and case.standing is Standing.PRINTED and case.quick
    ]
    assert found.count(Outcome.HOLDS) > 40
    assert set(found) == {Outcome.HOLDS, Outcome.OUT_OF_DOMAIN}


def test_committed_ledger_gives_a_reason_for_every_id() -> None:
    assert ledger.default()
    assert [id_ for id_, expected in ledger.default().items() if not expected.why] == []

"""From rows to verdicts: every row of the table in the design, and every way to be undecided."""

from __future__ import annotations

import math
from typing import Any

import pytest

from verify.kernel.ruling import Ruling, join, join_readings, rule, worst
from verify.kernel.verdict import Reason, Verdict


def row(outcome: str, margin: Any = 0.5, reason: str = "NONE", case: str = "case") -> dict[str, Any]:
    return {"outcome": outcome, "margin": margin, "reason": reason, "case": case}


HOLDS, FAILS = row("HOLDS"), row("FAILS", -0.1)
OUTSIDE = row("OUT_OF_DOMAIN", "nan")
BUDGET, INCONSISTENT = row("UNDECIDED", -0.2, "BUDGET"), row("UNDECIDED", 0.1, "INCONSISTENT")


@pytest.mark.parametrize(
    ("rows", "options", "verdict", "reason"),
    [
        ([HOLDS, OUTSIDE], {}, Verdict.SUPPORTED, Reason.NONE),
        ([HOLDS, FAILS, BUDGET], {}, Verdict.REFUTED, Reason.NONE),
        ([HOLDS, BUDGET], {}, Verdict.UNDECIDED, Reason.BUDGET),
        ([HOLDS, BUDGET, INCONSISTENT], {}, Verdict.UNDECIDED, Reason.INCONSISTENT),
        ([OUTSIDE], {}, Verdict.UNDECIDED, Reason.NO_FINITE_TEST),
        ([HOLDS], {"blind": True}, Verdict.UNDECIDED, Reason.POWER),
        ([FAILS], {"blind": True}, Verdict.REFUTED, Reason.NONE),
        ([HOLDS], {"expected_cases": 2}, Verdict.UNDECIDED, Reason.INTERRUPTED),
        ([FAILS], {"expected_cases": 2}, Verdict.REFUTED, Reason.NONE),
        ([], {"expected_cases": 0}, Verdict.UNDECIDED, Reason.NO_FINITE_TEST),
        ([], {"expected_cases": 0, "definition": True}, Verdict.DEFINITION, Reason.NONE),
    ],
)
def test_rule(rows: list[dict[str, Any]], options: dict[str, Any], verdict: Verdict, reason: Reason) -> None:
    ruling = rule(rows, **({"expected_cases": len(rows)} | options))
    assert (ruling.verdict, ruling.reason) == (verdict, reason)


def test_worst_case_is_the_counterexample_else_the_smallest_margin() -> None:
    tight, loose = row("HOLDS", 0.01, case="tight"), row("HOLDS", "inf", case="loose")
    assert worst([loose, tight, OUTSIDE]) is tight
    assert worst([row("UNDECIDED", -5.0), FAILS, tight]) is FAILS
    assert worst([OUTSIDE]) is None
    ruling = rule([loose, tight], expected_cases=2)
    assert (ruling.worst_case, ruling.worst_margin) == ("tight", 0.01)


def test_whole_is_refuted_by_one_part_and_supported_by_all() -> None:
    supported = Ruling(Verdict.SUPPORTED, Reason.NONE, {"HOLDS": 2}, "a", 0.5)
    tighter = Ruling(Verdict.SUPPORTED, Reason.NONE, {"HOLDS": 1}, "b", 0.25)
    refuted = Ruling(Verdict.REFUTED, Reason.NONE, {"FAILS": 1}, "c", -1.0)
    undecided = Ruling(Verdict.UNDECIDED, Reason.BUDGET)
    definition = Ruling(Verdict.DEFINITION)
    assert join([supported, refuted, undecided]).verdict is Verdict.REFUTED
    assert join([supported, undecided]).verdict is Verdict.UNDECIDED
    assert join([supported, undecided]).reason is Reason.BUDGET
    assert join([supported, tighter, definition]) == Ruling(Verdict.SUPPORTED, Reason.NONE, {"HOLDS": 3}, "b", 0.25)
    assert join([definition, definition]).verdict is Verdict.DEFINITION
    assert math.isnan(definition.worst_margin)


def test_readings_decide_only_where_they_agree() -> None:
    supported, refuted = Ruling(Verdict.SUPPORTED), Ruling(Verdict.REFUTED)
    assert join_readings([refuted, refuted]).verdict is Verdict.REFUTED
    assert join_readings([supported, supported]).verdict is Verdict.SUPPORTED
    mixed = join_readings([supported, refuted])
    assert (mixed.verdict, mixed.reason) == (Verdict.UNDECIDED, Reason.READING)

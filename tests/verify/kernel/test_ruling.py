"""From rows to verdicts: every row of the table in the design, and every way to be undecided."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from audits import Estimate
from verify.kernel.provenance import Provenance, Worth
from verify.kernel.ruling import Ruling, join, join_readings, rule, rule_statement, worst
from verify.kernel.statement import Case, Claim, Evidence, Formula, Part, Standing, Statement
from verify.kernel.verdict import Outcome, Reason, Verdict, decide, inconsistent, judge, margin


def row(
    outcome: str, margin: Any = 0.5, reason: str = "NONE", case: str = "case", measure: str = "DELTA"
) -> dict[str, Any]:
    value = 1.0 - (0.0 if isinstance(margin, str) else margin)
    return {
        "outcome": outcome, "margin": margin, "reason": reason, "case": case, "notes": {}, "sampled": None,
        "claim": {"measure": measure, "low": 0.0, "high": 1.0}, "exact": {"value": value, "low": value, "high": value},
    }  # fmt: skip


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


def test_margins_of_different_units_are_never_compared() -> None:
    """A privacy failure of a factor 1.5 comes before an identity whose margin is minus half a billion."""
    privacy, identity = row("FAILS", -0.5), row("FAILS", -5e8, measure="IDENTITY")
    coverage = row("FAILS", -9.0, measure="FAILURE")
    assert worst([identity, coverage, privacy]) is privacy
    assert worst([identity, coverage]) is coverage
    joined = join([rule([each], expected_cases=1) for each in (identity, privacy, coverage)])
    assert joined.worst_margin == -0.5
    tight, delta = row("HOLDS", 0.1, measure="IDENTITY"), row("HOLDS", 0.4)
    assert worst([tight, delta]) is delta


def test_whole_is_refuted_by_one_part_and_supported_by_all() -> None:
    supported = Ruling(Verdict.SUPPORTED, Reason.NONE, {"HOLDS": 2}, "a", 0.5, (1, 0, 0.5))
    tighter = Ruling(Verdict.SUPPORTED, Reason.NONE, {"HOLDS": 1}, "b", 0.25, (1, 0, 0.25))
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
    budget = Ruling(Verdict.UNDECIDED, Reason.BUDGET, {"UNDECIDED": 1})
    for other in (supported, refuted):
        open_ = join_readings([other, budget])
        assert (open_.verdict, open_.reason) == (Verdict.UNDECIDED, Reason.BUDGET)


def test_a_damaged_text_is_unclear_whatever_its_readings_are_and_undecided_while_one_is() -> None:
    supported, refuted = Ruling(Verdict.SUPPORTED), Ruling(Verdict.REFUTED)
    budget = Ruling(Verdict.UNDECIDED, Reason.BUDGET)
    for readings in ([supported, refuted], [refuted, refuted], [supported, supported], [refuted]):
        assert join_readings(readings, damaged=True).verdict is Verdict.TEXT_UNCLEAR
    for readings in ([refuted, budget], [supported, budget]):
        open_ = join_readings(readings, damaged=True)
        assert (open_.verdict, open_.reason) == (Verdict.UNDECIDED, Reason.BUDGET)
    fails = Ruling(Verdict.REFUTED, Reason.NONE, {"FAILS": 2}, "a", -1.0)
    counted = join_readings([fails, Ruling(Verdict.UNDECIDED, Reason.BUDGET, {"UNDECIDED": 1})], damaged=True)
    assert counted.outcomes == {"FAILS": 2, "UNDECIDED": 1}  # the cases of every reading are counted
    unclear = join_readings([supported, refuted], damaged=True)
    assert join([supported, unclear]).verdict is Verdict.TEXT_UNCLEAR
    assert join([unclear, budget]).verdict is Verdict.UNDECIDED
    harsh = Ruling(Verdict.REFUTED, Reason.NONE, {"FAILS": 1}, "read word for word", -9.0)
    mild = Ruling(Verdict.REFUTED, Reason.NONE, {"FAILS": 1}, "as it is meant", -0.1)
    assert join_readings([mild, harsh], damaged=True).worst_case == "as it is meant"  # the first is told
    assert join([unclear, budget, refuted]).verdict is Verdict.REFUTED


def row_of(part: str, outcome: str, standing: str = "PRINTED") -> dict[str, Any]:
    return {
        "part": part, "case": f"{part} {standing}", "outcome": outcome, "standing": standing, "reason": "NONE",
        "margin": 1.0 if outcome == "HOLDS" else -1.0, "severity": None, "notes": {}, "sampled": None,
        "claim": {"measure": "DELTA", "low": 0.0, "high": 1.0},
        "exact": dict.fromkeys(("value", "low", "high"), 0.0 if outcome == "HOLDS" else 2.0),
    }  # fmt: skip


def made(*parts: tuple[str, dict[str, Any]], corrected: tuple[str, ...] = ()) -> Statement:
    """A statement of parts with one case a version."""
    worth = Provenance("main", "0" * 64, 7, Worth.DAMAGED, "a hat is lost")
    found = tuple(
        Part(
            id_, "", Formula("x"), Formula("y") if id_ in corrected else None,
            reading=id_.partition("@")[2], proof=about.get("proof", False), misprint=about.get("misprint", False),
            provenance=worth if about.get("damaged") else None,
        )
        for id_, about in parts
    )  # fmt: skip
    cases = tuple(
        Case(part.id, f"{part.id} {each.name}", each, {})
        for part in found
        for each in (Standing.PRINTED, *([Standing.CORRECTED] if part.corrected else []))
    )
    return Statement("T", "toy", "lemma", "", "", "", found, cases, lambda case, budget: 1 / 0)  # type: ignore[arg-type,return-value]


def test_a_display_has_readings_and_a_row_with_each_of_them_as_printed_and_corrected() -> None:
    damaged = {"damaged": True}
    statement = made(("T#one", {}), ("T#out@raw", damaged), ("T#out@hat", damaged), corrected=("T#out@hat",))
    rows = [
        row_of("T#one", "HOLDS"), row_of("T#out@raw", "FAILS"), row_of("T#out@hat", "FAILS"),
        row_of("T#out@hat", "HOLDS", "CORRECTED"),
    ]  # fmt: skip
    own, one, out = rule_statement(statement, rows, quick=False)
    assert [row["id"] for row in (own, one, out)] == ["T", "T#one", "T#out"]
    assert (own["printed"]["verdict"], own["corrected"]["verdict"]) == ("TEXT_UNCLEAR", "SUPPORTED")
    assert {name: each["printed"]["verdict"] for name, each in own["readings"].items()} == {
        "out@raw": "REFUTED", "out@hat": "REFUTED",
    }  # fmt: skip
    assert (out["printed"]["verdict"], out["corrected"]["verdict"]) == ("TEXT_UNCLEAR", "SUPPORTED")
    assert out["readings"]["raw"]["corrected"] is None
    assert out["readings"]["hat"]["corrected"]["verdict"] == "SUPPORTED"
    rows[0] = row_of("T#one", "FAILS")
    assert rule_statement(statement, rows, quick=False)[0]["printed"]["verdict"] == "REFUTED"


@pytest.mark.parametrize(("step", "own"), [("FAILS", "SUPPORTED"), ("HOLDS", "SUPPORTED")])
def test_a_line_of_a_proof_never_decides_its_statement(step: str, own: str) -> None:
    statement = made(("T#bound", {}), ("T.p", {"proof": True}), corrected=("T.p",))
    rows = [row_of("T#bound", "HOLDS"), row_of("T.p", step), row_of("T.p", "HOLDS", "CORRECTED")]
    found, _, line = rule_statement(statement, rows, quick=False)
    assert (found["printed"]["verdict"], found["corrected"]) == (own, None)
    assert line["printed"]["verdict"] == ("REFUTED" if step == "FAILS" else "SUPPORTED")
    rows[0] = row_of("T#bound", "FAILS")
    assert rule_statement(statement, rows, quick=False)[0]["printed"]["verdict"] == "REFUTED"


def test_a_readings_corrected_form_of_a_run_that_was_interrupted_or_is_blind_is_not_supported() -> None:
    statement = made(("T@a", {}), corrected=("T@a",))
    rows = [row_of("T@a", "FAILS"), row_of("T@a", "HOLDS", "CORRECTED")]

    def corrected(rows: list[dict[str, Any]]) -> tuple[str, str]:
        ruling = rule_statement(statement, rows, quick=False)[0]["readings"]["a"]["corrected"]
        return ruling["verdict"], ruling["reason"]

    assert corrected(rows) == ("SUPPORTED", "NONE")
    assert corrected(rows[:1]) == ("UNDECIDED", "INTERRUPTED")
    assert corrected([*rows, row_of("T@a", "HOLDS", "MUTANT")]) == ("UNDECIDED", "POWER")


def test_a_reading_without_a_case_is_no_definition_and_leaves_the_text_undecided() -> None:
    """Else a reading that nobody decides would hide behind the definition beside it."""
    damaged = {"damaged": True}
    statement = replace(made(("T@a", damaged), ("T@b", damaged)), definition="something")
    statement = replace(statement, cases=tuple(case for case in statement.cases if case.part == "T@a"))
    own = rule_statement(statement, [row_of("T@a", "FAILS")], quick=False)[0]
    assert (own["printed"]["verdict"], own["printed"]["reason"]) == ("UNDECIDED", "NO_FINITE_TEST")


def test_the_case_of_a_misprint_is_told_where_nothing_else_fails() -> None:
    """A misprint is ten times as bad in its numbers, and not what the statement is refuted for."""
    statement = made(("T.sign", {"misprint": True}), ("T#rule", {}))
    rows = [row_of("T.sign", "FAILS"), row_of("T#rule", "FAILS")]
    rows[0]["exact"] = dict.fromkeys(("value", "low", "high"), 20.0)
    own, sign, _ = rule_statement(statement, rows, quick=False)
    assert (own["printed"]["verdict"], own["printed"]["worst_case"]) == ("REFUTED", "T#rule PRINTED")
    assert sign["printed"]["worst_case"] == "T.sign PRINTED"
    rows[1] = row_of("T#rule", "HOLDS")
    own = rule_statement(statement, rows, quick=False)[0]
    assert (own["printed"]["verdict"], own["printed"]["worst_case"]) == ("REFUTED", "T.sign PRINTED")
    plain = made(("T.sign", {}), ("T#rule", {}))
    rows[1] = row_of("T#rule", "FAILS")
    assert rule_statement(plain, rows, quick=False)[0]["printed"]["worst_case"] == "T.sign PRINTED"


@pytest.mark.parametrize(
    ("rows", "verdict"),
    [
        ([row_of("T", "HOLDS")], ("UNDECIDED", "INTERRUPTED")),
        ([row_of("T", "FAILS")], ("REFUTED", "NONE")),
        ([row_of("T", "HOLDS"), row_of("T", "FAILS", "MUTANT")], ("SUPPORTED", "NONE")),
        ([row_of("T", "HOLDS"), row_of("T", "HOLDS", "MUTANT")], ("UNDECIDED", "POWER")),
    ],
)
def test_nothing_is_supported_before_its_mutants_were_run(rows: list[dict[str, Any]], verdict: tuple[str, str]) -> None:
    statement = made(("T", {}))
    statement = replace(statement, cases=(*statement.cases, Case("T", "wrong", Standing.MUTANT, {})))
    printed = rule_statement(statement, rows, quick=False)[0]["printed"]
    assert (printed["verdict"], printed["reason"]) == verdict


def estimate(low: float, high: float, failure_prob: float = 1e-6) -> Estimate:
    return Estimate(low, low, high, failure_prob, 100, "made up")


def claim(low: float, high: float, *, in_domain: bool = True) -> Claim:
    return Claim("a number", low, high, high, in_domain=in_domain)


@pytest.mark.parametrize(
    ("interval", "outcome"),
    [
        ((0.25, 0.75), Outcome.HOLDS),
        ((0.0, 1.0), Outcome.HOLDS),  # the edges belong to what is allowed: a printed strict < is noted, not refuted
        ((1.0, 1.0), Outcome.HOLDS),
        ((1.0, 1.5), Outcome.UNDECIDED),
        ((-0.5, 0.5), Outcome.UNDECIDED),
        ((-1.0, 2.0), Outcome.UNDECIDED),
        ((1.0000001, 1.5), Outcome.FAILS),
        ((-2.0, -1e-300), Outcome.FAILS),
        ((0.5, math.inf), Outcome.UNDECIDED),  # a lower bound alone can refute, never support
        ((1.5, math.inf), Outcome.FAILS),
    ],
)
def test_decide(interval: tuple[float, float], outcome: Outcome) -> None:
    assert decide(claim(0.0, 1.0), estimate(*interval)) is outcome
    assert decide(claim(0.0, 1.0, in_domain=False), estimate(*interval)) is Outcome.OUT_OF_DOMAIN


def test_nothing_is_decided_without_an_estimate() -> None:
    assert decide(claim(0.0, 1.0), None) is Outcome.UNDECIDED


def test_exact_witness_decides_and_must_agree_with_the_sampled_one() -> None:
    exact, near, far = Estimate.proved(1.5, 1.5, "by hand"), estimate(0.5, 2.0), estimate(0.25, 0.75)
    assert judge(Evidence(claim(0.0, 1.0), exact, near)) == (Outcome.FAILS, Reason.NONE)
    assert judge(Evidence(claim(0.0, 1.0), None, near)) == (Outcome.UNDECIDED, Reason.BUDGET)
    assert judge(Evidence(claim(0.0, 1.0), exact, far)) == (Outcome.UNDECIDED, Reason.INCONSISTENT)
    assert not inconsistent(Evidence(claim(0.0, 1.0), exact, near))
    assert not inconsistent(Evidence(claim(0.0, 1.0), exact, estimate(1.5, 2.0)))  # touching intervals agree


@pytest.mark.parametrize(
    ("allowed", "interval", "expected"),
    [
        ((0.0, 1.0), (0.125, 0.75), 0.25),  # 0 is the natural end of a probability, no edge
        ((0.0, 1.0), (-0.5, 0.75), -0.5),  # unless the quantity is below it
        ((0.5, math.inf), (0.75, 0.875), 0.5),
        ((-math.inf, 4.0), (1.0, 5.0), -0.25),
        ((-2.0, 2.0), (1.0, 1.0), 0.5),
        ((0.0, 0.0), (0.0, 0.0), 0.0),
        ((-math.inf, math.inf), (1.0, 1.0), math.inf),
    ],
)
def test_margin(allowed: tuple[float, float], interval: tuple[float, float], expected: float) -> None:
    assert margin(claim(*allowed), estimate(*interval)) == expected


def test_margin_of_nothing() -> None:
    assert math.isnan(margin(claim(0.0, 1.0), None))

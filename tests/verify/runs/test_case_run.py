"""One case: first look, confirmation, and everything a check can do wrong."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from toys import load_toy

from audits import Budget, Estimate, StreamKey
from verify.engine.rows import dumps
from verify.engine.worker import RunSettings
from verify.kernel.shares import case_budgets, whole
from verify.kernel.statement import Case, Claim, Evidence, Formula, Part, Standing, Statement
from verify.runs.case_run import decide_case, figure_rows

SETTINGS = RunSettings(seed=3, profile="quick", failure_prob=1e-4)
CLAIM = Claim("a number", 0.0, 1.0, 1.0)
DRAWS = (10, 20, 30)


def sampled(low: float, high: float, budget: Budget) -> Estimate:
    return Estimate(low, low, high, budget.failure_prob, budget.n_draws, "made up")


def statement_of(check: Callable[[Case, Budget], Evidence], draws: tuple[int, int, int] = DRAWS) -> Statement:
    case = Case("W19-T4.1", "case", Standing.PRINTED, {"p": 1.0}, draws=draws)
    part = Part("W19-T4.1", "part", Formula("x"))
    return Statement("W19-T4.1", "wang2019", "theorem", "t", "l", "d", (part,), (case,), check)


def first_row(statement: Statement, profile: str = "quick") -> dict[str, Any]:
    budgets = case_budgets(whole(1e-4, StreamKey(3)), statement)
    return decide_case(statement, statement.cases[0], profile, budgets[statement.cases[0].name])


def decide(check: Callable[[Case, Budget], Evidence], draws: tuple[int, int, int] = DRAWS) -> dict[str, Any]:
    statement = statement_of(check, draws)
    row = first_row(statement)
    json.loads(dumps(row), parse_constant=pytest.fail)
    return row


def test_sampled_failure_is_confirmed_on_its_own_stream_and_share() -> None:
    budgets: list[Budget] = []

    def check(case: Case, budget: Budget) -> Evidence:
        budgets.append(budget)
        return Evidence(CLAIM, sampled=sampled(2.0, 3.0, budget))

    row = decide(check)
    assert (row["outcome"], row["reason"], row["confirmation"]["outcome"]) == ("FAILS", "NONE", "FAILS")
    assert [budget.key.path[-1] for budget in budgets] == ["decide", "confirm"]
    assert budgets[0].key.rng().random() != budgets[1].key.rng().random()
    assert [budget.n_draws for budget in budgets] == [10, 10]
    assert sum(budget.failure_prob for budget in budgets) == row["failure_prob"]


def test_failure_that_does_not_repeat_is_undecided() -> None:
    def check(case: Case, budget: Budget) -> Evidence:
        low = 2.0 if budget.key.path[-1] == "decide" else 0.5
        return Evidence(CLAIM, sampled=sampled(low, low, budget))

    row = decide(check)
    assert (row["outcome"], row["reason"], row["confirmation"]["outcome"]) == ("UNDECIDED", "UNCONFIRMED", "HOLDS")


def test_exact_failure_counts_directly() -> None:
    row = decide(lambda case, budget: Evidence(CLAIM, exact=Estimate.proved(2.0, 2.0, "by hand")), draws=(0, 0, 0))
    assert (row["outcome"], row["confirmation"], row["failure_prob"]) == ("FAILS", None, 0.0)


def test_witnesses_that_disagree_are_inconsistent() -> None:
    row = decide(
        lambda case, budget: Evidence(CLAIM, Estimate.proved(0.5, 0.5, "wrong"), sampled(0.625, 0.75, budget)),
    )
    assert (row["outcome"], row["reason"], row["detects"]) == ("UNDECIDED", "INCONSISTENT", 0.125)


def test_exception_becomes_an_outcome_of_one_line() -> None:
    statement = load_toy("thm_3")
    row = first_row(statement)
    assert (row["outcome"], row["reason"]) == ("UNDECIDED", "ERROR")
    assert row["error"] == {"type": "ArithmeticError", "message": "one broken check"}


def test_exact_case_may_not_sample() -> None:
    row = decide(lambda case, budget: Evidence(CLAIM, sampled=sampled(0.0, 0.5, budget)), draws=(0, 0, 0))
    assert "draws must be declared" in row["error"]["message"]


def test_case_may_not_spend_more_than_its_share() -> None:
    def check(case: Case, budget: Budget) -> Evidence:
        return Evidence(CLAIM, sampled=Estimate(0.5, 0.5, 0.5, 2 * budget.failure_prob, 1, "greedy"))

    assert "must be at most the share" in decide(check)["error"]["message"]


def test_exact_witness_must_be_proved() -> None:
    row = decide(lambda case, budget: Evidence(CLAIM, exact=sampled(0.5, 0.5, budget)))
    assert "proved enclosure" in row["error"]["message"]


def test_evidence_without_a_witness_states_its_reason() -> None:
    row = decide(lambda case, budget: Evidence(CLAIM, reason="data missing: no table"), draws=(0, 0, 0))
    assert (row["outcome"], row["reason"], row["detail"]) == ("UNDECIDED", "DATA_MISSING", "data missing: no table")
    row = decide(lambda case, budget: Evidence(CLAIM, reason="no way to tell"), draws=(0, 0, 0))
    assert row["reason"] == "NO_FINITE_TEST"


def test_numbers_of_a_row_are_strict_json() -> None:
    notes = {"a": np.float64(0.5), "b": math.inf, "c": -math.inf, "d": math.nan, "e": np.int64(3), "f": np.True_}
    row = decide(lambda case, budget: Evidence(CLAIM, Estimate.proved(0.5, 0.5, "exact"), notes=notes), (0, 0, 0))
    assert row["notes"] == {"a": 0.5, "b": "inf", "c": "-inf", "d": "nan", "e": 3, "f": True}


def test_share_does_not_depend_on_the_profile() -> None:
    statement = load_toy("thm_1")
    shares = {first_row(statement, profile)["failure_prob"] for profile in ("quick", "standard", "full")}
    assert shares == {1e-4 / sum(any(case.draws) for case in statement.cases)}


def test_quick_profile_keeps_one_figure() -> None:
    statement = load_toy("thm_1")
    assert len(figure_rows(statement, SETTINGS)) == 1
    assert [row["number"] for row in figure_rows(statement, RunSettings(3, "standard", 1e-4))] == [1, 2]


def test_figure_that_breaks_becomes_a_row() -> None:
    def broken(seed: int) -> tuple[object, ...]:
        raise ZeroDivisionError("no figure")

    statement = Statement(**{**vars(load_toy("thm_1")), "figures": broken})
    row = figure_rows(statement, SETTINGS)[0]
    assert (row["figure"], row["error"]["type"]) == (None, "ZeroDivisionError")

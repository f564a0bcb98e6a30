"""W19, Fact 2.6 (2): the explicit form by hand, its exact worst case by an independent formula."""

from __future__ import annotations

import math

import pytest
from oracles.formula_cases import claimed, decide, exact_value

from mechanisms.releases.composition import optimal_composition
from verify.papers.wang2019.fact_2_6_2 import STATEMENT


def test_explicit_form_by_hand() -> None:
    """k = 8, slack = 1/e: sqrt(16) epsilon + 8 epsilon (exp(epsilon) - 1)."""
    point = {"epsilon": 0.5, "delta": 0.01, "k": 8, "slack": math.exp(-1)}
    second = 4.0 * math.expm1(0.5)
    assert claimed(STATEMENT, "", "corrected", point) == pytest.approx(2.0 + second)
    assert claimed(STATEMENT, "", "no second term", point) == pytest.approx(2.0)
    assert claimed(STATEMENT, "", "no 2 under the root", point) == pytest.approx(math.sqrt(2.0) + second)
    assert claimed(STATEMENT, "", "epsilon cut by 17 %", point) == pytest.approx(0.83 * (2.0 + second))
    assert decide(STATEMENT, "", "corrected", point).claim.high == pytest.approx(0.08 + math.exp(-1), rel=1e-12)


@pytest.mark.parametrize(("epsilon", "delta", "k"), [(0.3, 1e-4, 7), (1.0, 0.0, 20), (2.0, 0.01, 1)])
def test_worst_case_against_an_independent_formula(epsilon: float, delta: float, k: int) -> None:
    """The mutant without its second term claims less than all of the loss, so that the worst delta is positive."""
    found = decide(STATEMENT, "", "no second term", {"epsilon": epsilon, "delta": delta, "k": k, "slack": 0.5})
    assert found.exact is not None
    expected = optimal_composition(epsilon, delta, k, found.claim.published)
    assert found.exact.value == pytest.approx(expected, rel=1e-8, abs=1e-12)


def test_two_responses_by_hand() -> None:
    """k = 2, odds 3: at total t both truths weigh 9/16 - exp(t)/16, one of each 6/16 (1 - exp(t)) < 0."""
    params = {"epsilon": math.log(3.0), "delta": 0.0, "k": 2, "slack": 0.9}
    found = decide(STATEMENT, "", "no second term", params)
    t = math.sqrt(4 * math.log(1 / 0.9)) * math.log(3.0)
    assert found.exact is not None
    assert found.exact.value == pytest.approx((9 - math.exp(t)) / 16, rel=1e-9)


def test_sequence() -> None:
    """Required k over stated sqrt(k log k): 12 decades less 6 less half a factor 7; nothing for order k."""
    assert exact_value(STATEMENT, "", "printed", {"epsilon": 1.0}) == pytest.approx(6 - math.log10(7) / 2)
    assert exact_value(STATEMENT, "", "corrected", {"epsilon": 1.0}) == pytest.approx(0.0, abs=1e-12)

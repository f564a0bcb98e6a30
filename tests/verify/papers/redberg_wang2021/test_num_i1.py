"""RW21, introduction: the accuracy of the best attack, from randomised response."""

from __future__ import annotations

import math

import pytest
from oracles.formula_cases import decide, exact_value

from verify.papers.redberg_wang2021.num_i1 import STATEMENT


@pytest.mark.parametrize(("epsilon", "percent", "half"), [(2.0, 88.0, 0.5), (5.0, 99.3, 0.05)])
def test_randomised_response(epsilon: float, percent: float, half: float) -> None:
    """Telling the truth with odds e^epsilon is right with probability e^epsilon/(1 + e^epsilon)."""
    at = {"epsilon": epsilon, "percent": percent, "half digit": half}
    odds = math.exp(epsilon)
    found = decide(STATEMENT, "", "printed", at)
    assert found.exact is not None
    assert found.exact.value == pytest.approx(100 * odds / (1 + odds), rel=1e-12)
    assert (found.claim.low, found.claim.high) == pytest.approx((percent - half, percent + half))
    assert exact_value(STATEMENT, "", "total variation 1 - exp(-epsilon)", at) == pytest.approx(100 - 50 / odds)
    larger = math.exp(1.02 * epsilon)
    assert exact_value(STATEMENT, "", "epsilon 2 % larger", at) == pytest.approx(100 * larger / (1 + larger))

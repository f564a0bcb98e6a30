"""W18, Lemma 13: the ratio of both sides against scipy's normal tail."""

from __future__ import annotations

import math

import pytest
from oracles.formula_cases import exact_value, holds
from scipy.stats import norm

from verify.papers.wang2018.lem_13 import STATEMENT


@pytest.mark.parametrize("epsilon", [1e-6, 0.3, 2.0, 9.0, 30.0])
def test_ratio_of_both_sides(epsilon: float) -> None:
    """P(|X| > e) over 2 exp(-e^2/2)/e."""
    want = math.exp(norm.logsf(epsilon) + epsilon**2 / 2) * epsilon
    assert exact_value(STATEMENT, "", "printed", {"epsilon": epsilon}) == pytest.approx(want, rel=1e-11)
    assert exact_value(STATEMENT, "", "coefficient 0.77", {"epsilon": epsilon}) == pytest.approx(2 / 0.77 * want)


def test_least_coefficient_is_the_root_of_2_over_pi() -> None:
    """epsilon exp(epsilon^2/2) P(|X| > epsilon) rises to sqrt(2/pi) = 0.798."""
    limit = 2 * exact_value(STATEMENT, "", "printed", {"epsilon": 1e4})
    assert limit == pytest.approx(math.sqrt(2 / math.pi), rel=1e-7)
    assert limit < math.sqrt(2 / math.pi)
    assert holds(STATEMENT, "", "printed", {})

"""RW21, Lemma 28: the probability of a large maximum by the complement of all being small."""

from __future__ import annotations

import math

import pytest
from oracles.formula_cases import exact_value
from scipy.stats import norm

from verify.papers.redberg_wang2021.lem_28 import STATEMENT

COEFFICIENTS = {
    "printed": (2.0, 2.0),
    "no log n": (0.0, 2.0),
    "t counted 10 % less": (2.0, 1.8),
    "log n counted 10 % less": (1.8, 2.0),
}


@pytest.mark.parametrize(("version", "coefficients"), COEFFICIENTS.items())
@pytest.mark.parametrize(("n", "t"), [(1, 0.4), (10, 1.0), (10, 5.0)])
def test_normal_variables(version: str, coefficients: tuple[float, float], n: int, t: float) -> None:
    threshold = math.sqrt(coefficients[0] * math.log(n) + coefficients[1] * t)
    above = 1.0 - norm.cdf(threshold) ** n if n > 1 else norm.sf(threshold)
    found = exact_value(STATEMENT, "", version, n=n, t=t, law="normal")
    assert found == pytest.approx(above * math.exp(t), rel=1e-7)


def test_two_valued_variables_by_hand() -> None:
    """X = +-1: the maximum is 1 with probability 1 - 2^-n, and never above 1."""
    # sqrt(0.8) < 1 < sqrt(2): probability 1/2, then 0; n = 2 at t = 0.2: threshold sqrt(2 log 2 + 0.4) > 1
    assert exact_value(STATEMENT, "", "printed", n=1, t=0.4, law="two-valued") == pytest.approx(0.5 * math.exp(0.4))
    assert exact_value(STATEMENT, "", "printed", n=1, t=1.0, law="two-valued") == 0.0
    assert exact_value(STATEMENT, "", "printed", n=2, t=0.2, law="two-valued") == 0.0
    # without log n the threshold stays below 1: 1 - 1/4
    found = exact_value(STATEMENT, "", "no log n", n=2, t=0.2, law="two-valued")
    assert found == pytest.approx(0.75 * math.exp(0.2))

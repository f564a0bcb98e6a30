"""W19, Lemma B.5: the tail over its bound by scipy."""

from __future__ import annotations

import math

import pytest
from oracles.formula_cases import exact_value, holds
from scipy.stats import norm

from verify.papers.wang2019.lem_b_5 import STATEMENT


@pytest.mark.parametrize("epsilon", [1e-9, 0.5, 1.0, 3.0, 20.0])
def test_ratio(epsilon: float) -> None:
    ratio = 2 * math.exp(norm.logsf(epsilon) + epsilon**2 / 2) * epsilon / 2
    assert exact_value(STATEMENT, "", "printed", {"epsilon": epsilon}) == pytest.approx(ratio, rel=1e-9)
    steeper = ratio * math.exp(0.025 * epsilon**2)
    assert exact_value(STATEMENT, "", "exponent -0.525 t^2", {"epsilon": epsilon}) == pytest.approx(steeper, rel=1e-9)


def test_on_the_whole_box() -> None:
    """The largest ratio tends to sqrt(2/pi)/2 = 0.399, so that 0.77 is too small a coefficient and 2 is enough."""
    assert holds(STATEMENT, "", "printed", {})
    assert not holds(STATEMENT, "", "coefficient 0.77", {})

"""W19, Lemma B.6, by hand on two outputs and on two normal laws."""

from __future__ import annotations

import math

import pytest
from oracles.formula_cases import decide, exact_value
from oracles.mechanisms.profiles import gaussian_log_delta
from scipy.stats import norm

from verify.papers.wang2019.lem_b_6 import STATEMENT


def test_by_hand() -> None:
    """p = (1/4, 3/4), p' = (0, 1): divergence and tail are both 1/4 at exp(t) = 2; under p' the tail is 0."""
    sharp = {"laws": "one output impossible", "exp(t)": 2.0}
    found = decide(STATEMENT, "", "printed", sharp)
    assert (found.notes["value"], found.notes["bound"]) == (0.25, 0.25)
    assert exact_value(STATEMENT, "", "delta cut by 5 %", sharp) == pytest.approx(1 / 0.95)
    assert decide(STATEMENT, "", "tail under p'", sharp).notes["bound"] == 0.0
    # p = 2 p' on the first output: the loss does not exceed log 2 there
    edge = decide(STATEMENT, "", "printed", {"laws": "ratio equal to exp(t)", "exp(t)": 2.0})
    assert (edge.notes["value"], edge.notes["bound"]) == (0.0, 0.0)


@pytest.mark.parametrize(("mu", "t"), [(0.5, 0.5), (3.0, 0.0), (0.25, 1.0)])
def test_normal_laws(mu: float, t: float) -> None:
    """The loss is N(mu^2/2, mu^2)."""
    found = decide(STATEMENT, "", "printed", {"mu": mu, "t": t})
    assert found.exact is not None
    assert math.log(found.exact.value) == pytest.approx(gaussian_log_delta(t, mu), rel=1e-9)
    assert found.claim.published == pytest.approx(norm.sf((t - mu * mu / 2) / mu), rel=1e-9)

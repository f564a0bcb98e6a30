"""The tail of the privacy loss of posterior sampling beyond the corrected (4.3), against draws-free scipy."""

from __future__ import annotations

import math

import pytest
from flint import arb
from scipy.optimize import brentq
from scipy.stats import norm

from verify.papers.wang2019.shared.tail_box import with_target, without_target


@pytest.mark.parametrize(("mu", "a", "log"), [(0.5, 1.0, 2.0), (3.0, 0.3, 1.0), (1.0, 3.0, 5.0)])
def test_tail_without_the_target(mu: float, a: float, log: float) -> None:
    """H = 1/mu, x = 1, theta ~ N(0, mu): the loss is -log(1 + mu)/2 + ((a - theta)^2 - a^2/(1 + mu))/2."""
    epsilon = abs(a * a * mu / (1 + mu) - math.log(1 + mu)) / 2 + mu * log + math.sqrt(2 * mu * log) * a

    def loss(theta: float) -> float:
        return -math.log(1 + mu) / 2 + ((a - theta) ** 2 - a * a / (1 + mu)) / 2 - epsilon

    left = brentq(loss, a - 60, a)
    right = 2 * a - left
    tail = norm.cdf(left / math.sqrt(mu)) + norm.sf(right / math.sqrt(mu))
    balls = {"leverage": arb(mu), "residual": arb(a), "log(2/delta)": arb(log)}
    assert float(without_target(balls).mid()) == pytest.approx(1 - tail * math.exp(log) / 2, rel=1e-9)
    assert float(with_target(balls).mid()) >= 0


def test_a_smaller_quantile_would_leave_more_than_delta() -> None:
    """At a tenth of log(2/delta) in the threshold the tail exceeds delta: the quantity is not idle."""
    balls = {"leverage": arb(1), "residual": arb(1), "log(2/delta)": arb("0.07")}
    assert float(without_target(balls).mid()) < float(without_target(balls | {"log(2/delta)": arb(7)}).mid())

"""W18, section 3.1: the epsilon at which the private bound meets the other, by solving for it in logarithms."""

from __future__ import annotations

from math import exp, log, sqrt

import pytest
from oracles.formula_cases import decide, exact_value, holds
from oracles.unit_change import assert_units
from scipy.optimize import brentq

from verify.papers.wang2018.eq_6b import STATEMENT


def _meeting(n: float, d: float, alpha: float, radius: float, Y: float) -> float:
    """Least epsilon with min{(5), (6)} <= (4) at ||X|| = 1, constants 1, the common term n Y^2 left out of (5), (6)."""
    free = min(n * Y**2, radius**2 + d * Y**2, sqrt(n) * radius * Y)

    def excess(log_epsilon: float) -> float:
        epsilon = exp(log_epsilon)
        lipschitz = sqrt(d) * (radius**2 + radius * Y) / epsilon
        strong = d**2 * (radius + Y) ** 2 / (n * alpha * epsilon**2)
        return log(min(lipschitz, strong) / free)

    return exp(brentq(excess, -80.0, 80.0, xtol=1e-13))


POINTS = [(16.0, 1.0, 1.0), (1e4, 9.0, 2.0**-7), (1e8, 900.0, 2.0**-20), (16.0, 1e6, 1.0), (1e14, 9.0, 2.0**-60)]


@pytest.mark.parametrize("Y", [1.0, 2.0**10])
@pytest.mark.parametrize(("n", "d", "alpha"), POINTS)
def test_case_1(n: float, d: float, alpha: float, Y: float) -> None:
    """||X|| ||Theta|| = ||Y||."""
    printed = min(max(1 / sqrt(d), sqrt(d / n)), max(sqrt(d**2 / (n**1.5 * alpha)), sqrt(d / (n * alpha))))
    want = (_meeting(n, d, alpha, Y, Y) / printed) ** 2
    params = {"root n": sqrt(n), "root d": sqrt(d), "alpha": alpha, "Y": Y}
    assert exact_value(STATEMENT, "#1", "printed", params) == pytest.approx(want, rel=1e-9)
    assert holds(STATEMENT, "#1", "printed", params)


@pytest.mark.parametrize("Y", [1.0, 2.0**-10])
@pytest.mark.parametrize(("n", "d", "alpha"), POINTS)
def test_case_2(n: float, d: float, alpha: float, Y: float) -> None:
    """||X|| ||Theta|| = sqrt(d) ||Y||^2 as printed, sqrt(d) ||Y|| corrected; a claim for n > d."""
    threshold = min(max(sqrt(d), d**1.5 / n), max(d / sqrt(n * alpha), d**1.5 / (n * sqrt(alpha))))
    params = {"root n": sqrt(n), "root d": sqrt(d), "alpha": alpha, "Y": Y}
    for version, radius in (("printed", sqrt(d) * Y**2), ("corrected", sqrt(d) * Y)):
        want = (_meeting(n, d, alpha, radius, Y) / threshold) ** 2
        assert exact_value(STATEMENT, "#2", version, params) == pytest.approx(want, rel=1e-9)
        assert decide(STATEMENT, "#2", version, params).claim.in_domain is (n > d)
    if n > d:
        assert holds(STATEMENT, "#2", "corrected", params)


def test_case_2_depends_on_the_unit_of_the_responses_as_printed() -> None:
    assert not holds(STATEMENT, "#2", "printed", {"root n": 100.0, "root d": 3.0, "alpha": 1.0, "Y": 2.0**-20})
    assert_units(STATEMENT, "#2 units", "printed", lambda s: (sqrt(3) * s.Y**2,), lambda s: s.X * s.Theta)
    assert_units(STATEMENT, "#2 units", "corrected", lambda s: (sqrt(3) * s.Y,), lambda s: s.X * s.Theta)


@pytest.mark.parametrize("root_d", [2.0, 3.0, 100.0])
def test_least_size(root_d: float) -> None:
    """At alpha* = 1 the threshold is d/sqrt(n) v d^1.5/n: 1 at n = d^2, more just below it."""
    d = root_d**2

    def threshold(n: float) -> float:
        return min(max(sqrt(d), d**1.5 / n), max(d / sqrt(n), d**1.5 / n))

    assert threshold(d**2) == pytest.approx(1.0)
    assert threshold(0.99 * d**2) > 1
    params = {"root d": root_d, "root n": 1.0, "alpha": 1.0}
    assert holds(STATEMENT, "#n", "printed", params)
    assert exact_value(STATEMENT, "#n", "a tenth more", params) == pytest.approx(1 / 1.1)
    assert exact_value(STATEMENT, "#n", "d instead", params) == pytest.approx(d)


@pytest.mark.parametrize("part", ["#1", "#2"])
def test_a_tenth_of_a_power_is_seen(part: str) -> None:
    """n = 2^120, d = 2^80: n^0.1 too much divides the squared ratio by 2^24, d^0.1 too little multiplies it by 2^16."""
    huge = {"root n": 2.0**60, "root d": 2.0**40, "alpha": 1.0, "Y": 1.0}
    right = exact_value(STATEMENT, part, "printed", huge)
    assert exact_value(STATEMENT, part, "n^0.1 too much", huge) == pytest.approx(right / 2**24)
    assert exact_value(STATEMENT, part, "d^0.1 too little", huge) == pytest.approx(right * 2**16)

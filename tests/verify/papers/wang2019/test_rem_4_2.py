"""W19, Remark 4.2: both forms by hand, the comparison with (4.3) in floats, the sequence of (b)."""

from __future__ import annotations

import math

import pytest
from oracles.formula_cases import claimed, exact_value, holds

from verify.papers.wang2019.rem_4_2 import STATEMENT


def test_simplified_by_hand() -> None:
    """mu = 1, a = 2, delta = 2/e: 1/2 (1 + 2) + 1/2 4 + 2 sqrt 2; with the residual inside, a is 1."""
    point = {"leverage": 1.0, "residual": 2.0, "delta": 2.0 / math.e}
    assert claimed(STATEMENT, "#a", "corrected", point) == pytest.approx(1.5 + 2.0 + 2.0 * math.sqrt(2.0))
    inside = claimed(STATEMENT, "#a", "residual with the target", point)
    assert inside == pytest.approx(1.5 + 0.5 + math.sqrt(2.0))
    lower = claimed(STATEMENT, "#a", "tail factor 1.6", point)
    assert lower == pytest.approx(1.3 + 2.0 + 2.0 * math.sqrt(1.6))


@pytest.mark.parametrize(("mu", "a"), [(1.0, 10.0), (0.1, 0.3), (50.0, 2.0)])
def test_comparison_in_floats(mu: float, a: float) -> None:
    log, gamma = math.log(2e6), 1.0
    params = {"what": "comparison", "leverage": mu, "residual": a, "delta": 1e-6}
    for version, tail, r in (("printed", 1.0, a / (1 + mu)), ("corrected", 2.0, a)):
        long = 0.5 * abs(gamma * mu / (1 + mu) * a**2 - math.log(1 + mu))
        long += tail * mu / 2 * log + math.sqrt(tail * mu * log) * a
        short = mu / 2 * (1 + tail * log) + 0.5 * min(mu, 1) * r**2 + math.sqrt(tail * mu * log) * r
        assert exact_value(STATEMENT, "#a", version, params) == pytest.approx(long / short, rel=1e-12)


def test_comparison_on_the_whole_box() -> None:
    assert holds(STATEMENT, "#a", "corrected", {"what": "box"})
    assert not holds(STATEMENT, "#a", "square of the residual cut by 10 %", {"what": "box"})


def test_small_residuals_by_hand() -> None:
    """small = mu log, reach = sqrt(gamma mu' log) |r'|, mu' = mu/(1 + mu), r' = r/(1 + mu)."""
    small, reach, log = 0.1, 0.5, math.log(2 / 1e-3)
    mu = small / log
    inside = mu / (1 + mu)
    r = reach / math.sqrt(inside * log) * (1 + mu)
    point = {"small": small, "reach": reach, "delta": 1e-3}
    expected = 2 * math.sqrt(mu * log) * r
    assert claimed(STATEMENT, "#b", "no remainder", point) == pytest.approx(expected, rel=1e-12)
    assert claimed(STATEMENT, "#b", "corrected", point) == pytest.approx(expected + mu * (0.5 + log), rel=1e-12)
    assert claimed(STATEMENT, "#b", "constant 1.18", point) == pytest.approx(0.59 * expected + mu * (0.5 + log))


def test_sequence_of_the_limit() -> None:
    """The exact epsilon is within a constant factor of log(2/delta), which grows by 5 decades."""
    found = exact_value(STATEMENT, "#b", "printed", {"what": "sequence", "first log": 10.0, "last log": 1e6})
    assert found == pytest.approx(5.0, abs=0.1)

"""W19, (A.5) and the arithmetic after it, by hand."""

from __future__ import annotations

import math

import pytest
from oracles.formula_cases import claimed, exact_value

from verify.papers.wang2019.eq_a_5 import STATEMENT


def test_residual() -> None:
    """K = 4, rows with X'X = n/4 = the floor: theta = (n/2)/(n/4) = 2, so 3 against sqrt(8); K = 1/8: 1 + 1/8."""
    full = {"K": 4.0, "fill": 1.0}
    assert exact_value(STATEMENT, "#residual", "printed", full) == pytest.approx(3 / math.sqrt(8))
    assert exact_value(STATEMENT, "#residual", "corrected", full) == pytest.approx(1.0)
    none = {"K": 0.125, "fill": 0.0}
    assert exact_value(STATEMENT, "#residual", "printed", none) == pytest.approx(1 / math.sqrt(0.25))
    assert exact_value(STATEMENT, "#residual", "corrected", none) == pytest.approx(1 / 1.125)
    # K = 1/4, rows of length 1: X'X = n, ridge 3 n: theta = 1/4
    short = {"K": 0.25, "fill": 1.0}
    assert exact_value(STATEMENT, "#residual", "corrected", short) == pytest.approx(1.25 / 1.25)
    assert exact_value(STATEMENT, "#residual", "bound cut by 10 %", short) == pytest.approx(1 / 0.9)


def test_step() -> None:
    """mu = 1/2, K = 8, gamma = log = 2: 3/4 + 8 + sqrt(16) printed; 5/4 + R^2/2 + 2 R, R = 1 + sqrt(8), corrected."""
    p = {"mu": 0.5, "K": 8.0, "gamma": 2.0, "leverage": 1.0, "r": 1.0, "delta": 2.0 * math.exp(-2.0)}
    r = 1.0 + math.sqrt(8.0)
    assert claimed(STATEMENT, "#step", "printed", p) == pytest.approx(0.75 + 8.0 + 4.0, rel=1e-14)
    assert claimed(STATEMENT, "#step", "corrected", p) == pytest.approx(1.25 + r * r / 2.0 + 2.0 * r, rel=1e-14)
    # K = 1/4: the residual is 1 + K
    small = claimed(STATEMENT, "#step", "corrected", p | {"K": 0.25})
    assert small == pytest.approx(1.25 + 1.25**2 / 2.0 + 2.0 * 1.25, rel=1e-14)


@pytest.mark.parametrize(("epsilon", "kappa", "gamma"), [(1.0, 1.0, 1.0), (30.0, 0.3, 1.0), (3.0, 0.7, 0.2)])
def test_shares(epsilon: float, kappa: float, gamma: float) -> None:
    """The line itself with n = 100, d = 1: kappa and gamma_n at shares of Algorithm 1's largest values."""
    n, delta = 100, 1e-3
    log = math.log(4 / delta)
    k = kappa * n * epsilon / (4 * (1 + log))
    g = gamma * min(n * epsilon**2 / (16 * k**2 * log), n * epsilon / (8 * k**2))
    line = k * (1 + log) / (2 * n) + g * k / (2 * n) * 2 * k + math.sqrt(g * k / (2 * n) * 2 * k * log)
    params = {"epsilon": epsilon, "delta": delta, "kappa share": kappa, "gamma share": gamma}
    assert exact_value(STATEMENT, "#shares", "printed", params) == pytest.approx(line / (epsilon / 2), rel=1e-12)

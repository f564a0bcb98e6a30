"""W19, Proposition 4.3(2): the explicit forms by hand, the orders in plain floats, the average from its data again."""

from __future__ import annotations

import math

import numpy as np
import pytest
from oracles.formula_cases import claimed, decide, exact_value
from scipy.stats import norm

from verify.methods.rational import generator
from verify.papers.wang2019.prop_4_3_2 import STATEMENT


def test_bound_by_hand() -> None:
    """nu = 1/2, gamma = 2, R = 3, log = 2: sqrt(4) 3 + (18 + 5)/4; without the last term 6 + 18/4."""
    p = {"nu": 0.5, "gamma": 2.0, "R": 3.0, "share": 1.0, "delta": 2.0 * math.exp(-2.0)}
    assert claimed(STATEMENT, "#all", "corrected", p) == pytest.approx(11.75, rel=1e-14)
    assert claimed(STATEMENT, "#all", "no term without gamma", p) == pytest.approx(10.5, rel=1e-14)


def test_printed_orders_in_floats() -> None:
    """The proved lower bounds over the stated orders, n^(1/4)/sqrt(log n) and sqrt(n)/log(n) up to constants."""

    def wide(n: float) -> float:
        mu, log = 1 / 11, math.sqrt(n)
        return (mu * log / 2 - math.log1p(mu) / 2 - 1) / math.sqrt(mu * math.log(n) * log)

    def average(n: float) -> float:
        k, log = math.sqrt(n), math.log(20)
        gamma = 4 * n * log / (1 + log) ** 2
        total = gamma * (k - 1) / (4 * k) - k * (math.log1p(1 / (k - 1)) / 2 + 1)
        return total**2 / (n * k) / (gamma / n * log * math.log(4 * n))

    for part in ("#all", "#model"):
        grown = math.log10(wide(1e20) / wide(1e6))
        assert exact_value(STATEMENT, part, "printed", {}) == pytest.approx(grown, rel=1e-9)
    assert exact_value(STATEMENT, "#average", "printed", {}) == pytest.approx(
        math.log10(average(1e20) / average(1e4)), rel=1e-9
    )


def test_new_response() -> None:
    """P(|sigma Z + off| > sigma sqrt(2 log(2/delta')) + off) by scipy."""
    edge = math.sqrt(2 * math.log(2 / 0.1))
    for off in (0.0, 0.3):
        expected = norm.sf(edge) + norm.sf(edge + 2 * off)
        params = {"delta'": 0.1, "off": off}
        assert exact_value(STATEMENT, "#model", "corrected", params) == pytest.approx(expected, rel=1e-9)
    cut = 2 * norm.sf(0.9 * edge)
    assert exact_value(STATEMENT, "#model", "deviation cut by 10 %", {"delta'": 0.1, "off": 0.0}) == pytest.approx(cut)


def test_average_bound_from_leave_one_out_fits() -> None:
    """nu and rho from the n fits that leave a record out."""
    n, dim, gamma, delta = 12, 3, 2.0, 1e-2
    rng = generator(n, dim, 52)
    X = rng.choice([-1.0, 1.0], (n, dim)) / math.sqrt(dim)
    y = X.sum(axis=1) + rng.standard_normal(n)
    inside = [x @ np.linalg.solve(X.T @ X, x) for x in X]
    rho = 0.0
    for i in range(n):
        rest = np.arange(n) != i
        theta = np.linalg.lstsq(X[rest], y[rest], rcond=None)[0]
        rho = max(rho, abs(y[i] - X[i] @ theta))
    nu, log = max(inside), math.log(2 / delta)
    stated = 3 * dim / n * (4 * gamma * log * rho**2 + nu * (1 + 2 * log) ** 2 + nu * gamma**2 * rho**4)
    params = {"n": n, "dim": dim, "gamma": gamma, "delta": delta, "weak": 1.0}
    assert claimed(STATEMENT, "#average", "corrected", params) == pytest.approx(stated, rel=1e-9)
    without = claimed(STATEMENT, "#average", "no term in gamma^2", params)
    assert without == pytest.approx(stated - 3 * dim / n * nu * gamma**2 * rho**4, rel=1e-9)
    assert decide(STATEMENT, "#average", "corrected", params).claim.in_domain is bool(nu <= 0.5)

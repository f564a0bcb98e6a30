"""W19, Proposition 4.3(4): the excess of the objective, by hand, by numpy and by scipy's chi-square."""

from __future__ import annotations

import math

import numpy as np
import pytest
from oracles.formula_cases import claimed, exact_value
from oracles.rational_floats import floats
from scipy.stats import chi2, norm

from verify.methods.rational import design
from verify.papers.wang2019.prop_4_3_4 import STATEMENT


def test_mean_by_hand() -> None:
    """X = [1], y = 0, lambda = 0: Z^2/2, mean 1/2, not 1. y = 30, lambda = 1: centre 15, minimiser 10, 75/2 more."""
    one = {"shape": "one record", "y": 0, "lambda": 0, "gamma": 1}
    assert exact_value(STATEMENT, "#a", "printed", one) == 2.0
    assert exact_value(STATEMENT, "#a", "corrected", one) == 1.0
    far = {"shape": "one record", "y": 30, "lambda": 1, "gamma": 1}
    assert exact_value(STATEMENT, "#a", "printed", far) == pytest.approx(1 / (37.5 + 0.75))


def test_mean_by_numpy() -> None:
    """E F - min F from the posterior N(centre, H^-1/gamma), for both objectives."""
    X, y, lam, gamma = floats(design("generic", 7, 3, 5)), np.arange(-2.0, 5.0), 40, 25
    H = X.T @ X + lam * np.eye(3)
    centre, covariance = np.linalg.solve(H, X.T @ y), np.linalg.inv(H) / gamma
    params = {"shape": "generic", "n": 7, "dim": 3, "lambda": lam, "gamma": gamma}
    for version, ridge, stated in (("printed", 2 * lam, 3 / gamma), ("corrected", lam, 3 / (2 * gamma))):
        hessian = X.T @ X + ridge * np.eye(3)
        gap = centre - np.linalg.solve(hessian, X.T @ y)
        mean = gap @ hessian @ gap / 2 + np.trace(hessian @ covariance) / 2
        assert claimed(STATEMENT, "#a", version, params) == pytest.approx(stated)
        assert exact_value(STATEMENT, "#a", version, params) == pytest.approx(stated / mean, rel=1e-9)


@pytest.mark.parametrize(("dim", "delta"), [(1, "1/100"), (5, "1/2"), (50, "1/1000000")])
def test_tail_by_scipy(dim: int, delta: str) -> None:
    top, bottom = map(int, delta.split("/"))
    params = {"shape": "generic", "n": 60, "dim": dim, "lambda": 1, "gamma": 25, "delta": delta}
    full = 2 * dim * math.log(dim * bottom / top)
    plain = 2 * dim * math.log(bottom / top)
    assert exact_value(STATEMENT, "#b", "corrected", params) == pytest.approx(chi2.sf(full, dim), rel=1e-9)
    assert exact_value(STATEMENT, "#b", "bound cut by 10 %", params) == pytest.approx(chi2.sf(0.9 * full, dim))
    assert exact_value(STATEMENT, "#b", "d log(1/delta)", params) == pytest.approx(chi2.sf(plain, dim), rel=1e-9)


def test_printed_tail_by_hand() -> None:
    """3/2 (theta - 10)^2 > log 10 with theta ~ N(15, 1/2)."""
    far = {"shape": "one record", "y": 30, "lambda": 1, "gamma": 1, "delta": "1/10"}
    edge = math.sqrt(2 * math.log(10) / 3)
    expected = norm.sf((edge - 5) / 0.5**0.5) + norm.sf((edge + 5) / 0.5**0.5)
    assert exact_value(STATEMENT, "#b", "printed", far) == pytest.approx(expected, rel=1e-9)

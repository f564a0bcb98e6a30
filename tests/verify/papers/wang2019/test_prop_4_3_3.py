"""W19, Proposition 4.3(3): the risk by hand and from numpy, the order of the bias in floats."""

from __future__ import annotations

import math

import numpy as np
import pytest
from oracles.formula_cases import claimed, exact_value
from oracles.rational_floats import floats

from verify.methods.rational import design
from verify.papers.wang2019.prop_4_3_3 import STATEMENT

ONE = {"shape": "one record", "lambda": 1, "gamma": 1, "sigma^2": 1}
PLAIN = {"shape": "generic", "n": 5, "dim": 2, "lambda": 3, "gamma": 2, "sigma^2": 4}


def test_by_hand() -> None:
    """X = [1], lambda = gamma = sigma = 1: ridge has variance 1/4, the posterior 1/2; printed 1/2 (1 + 1) = 1."""
    assert exact_value(STATEMENT, "#risk", "printed", ONE) == pytest.approx(1 / 0.75)
    assert exact_value(STATEMENT, ".p", "printed", ONE) == 0.5
    assert exact_value(STATEMENT, ".p", "corrected", ONE) == 1.0


def test_risk_of_the_estimator_itself() -> None:
    """E||theta~ - theta_0||^2 from the affine map y -> theta_hat and the posterior's covariance, in numpy."""
    X = floats(design("generic", 5, 2, 3))
    theta, lam, gamma, variance = np.array([1.0, 2.0]), 3, 2, 4
    H = X.T @ X + lam * np.eye(2)
    solve = np.linalg.solve(H, X.T)
    truth = ((solve @ X @ theta - theta) ** 2).sum() + variance * (solve**2).sum() + np.trace(np.linalg.inv(H)) / gamma
    assert claimed(STATEMENT, "#risk", "corrected", PLAIN) == pytest.approx(truth, rel=1e-12)
    bias = lam**2 * (np.linalg.solve(H, theta) ** 2).sum()
    printed = variance * np.trace(np.linalg.inv(H)) * (1 + 1 / gamma) + bias
    assert claimed(STATEMENT, "#risk", "printed", PLAIN) == pytest.approx(printed, rel=1e-12)
    assert exact_value(STATEMENT, "#risk", "printed", PLAIN) == pytest.approx(printed / truth, rel=1e-12)
    assert claimed(STATEMENT, "#risk", "no bias", PLAIN) == pytest.approx(truth - bias, rel=1e-12)


@pytest.mark.parametrize(("version", "power"), [("printed", -1), ("corrected", 1), ("lambda_min = n^0.9", 0.9)])
def test_order_of_the_bias(version: str, power: float) -> None:
    """lambda^2 |theta|^2/(lambda_min + lambda)^2 over lambda^2 |theta|^2/n^2, lambda = n^(1/4), from n = 1 to 1e5."""

    def over(n: float) -> float:
        lam = n**0.25
        return (lam / (n**power + lam)) ** 2 / (lam / n) ** 2

    grown = math.log10(over(1e5) / over(1.0))
    assert exact_value(STATEMENT, "#order", version, {}) == pytest.approx(grown, rel=1e-9, abs=1e-8)

"""Log density ratios of objective perturbation in balls, against literal formulas in floats."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb

from verify.methods.ball_density import as_rows, cdf_log_ratio, deviation, log_ratio, slopes


def test_slopes_of_the_losses_by_hand() -> None:
    """Logistic at u = 0, y = 1: -1/2, 1/4; squared at 3, 1: 2, 1; Poisson at 0, 2: -1, 1."""
    for loss, u, y, first, second in (
        ("logistic", 0, 1, -0.5, 0.25),
        ("squared", 3, 1, 2, 1),
        ("poisson", 0, 2, -1, 1),
    ):
        found = [float(s.mid()) for s in slopes(loss, arb(u), float(y))]
        assert found == pytest.approx([first, second])


def literal(X: np.ndarray, y: np.ndarray, theta: np.ndarray, sigma: float, lam: float) -> float:
    """Log density of the logistic case up to a constant."""
    s = 1 / (1 + np.exp(y * (X @ theta)))
    gradient = lam * theta - X.T @ (y * s)
    hessian = lam * np.eye(len(theta)) + (X.T * (s * (1 - s))) @ X
    return float(np.linalg.slogdet(hessian)[1] - gradient @ gradient / (2 * sigma**2))


def test_logistic_ratio_in_floats() -> None:
    rng = np.random.default_rng(4)
    X, y, theta = rng.normal(size=(5, 2)), np.sign(rng.normal(size=5)), rng.normal(size=2)
    expected = literal(X, y, theta, 1.5, 0.7) - literal(X[:4], y[:4], theta, 1.5, 0.7)
    found = log_ratio("logistic", as_rows(X, y), as_rows(X[:4], y[:4]), theta.tolist(), 1.5, 0.7)
    assert found.low <= found.high
    assert found.mid == pytest.approx(expected, rel=1e-10)
    assert deviation(expected, found) < 1e-10
    assert deviation(expected + 0.5, found) == pytest.approx(0.5 / max(1.0, abs(expected)), rel=1e-6)


@pytest.mark.parametrize("loss", ["logistic", "squared", "poisson"])
def test_in_one_dimension_the_distribution_function_says_the_same(loss: str) -> None:
    rows = [((0.5,), 1.0), ((-0.75,), 1.0 if loss != "poisson" else 2.0)]
    density = log_ratio(loss, rows, rows[:1], [0.4], 2.0, 0.5)
    distribution = cdf_log_ratio(loss, rows, rows[:1], 0.4, 2.0, 0.5)
    assert math.isclose(density.mid, distribution.mid, rel_tol=1e-10, abs_tol=1e-12)

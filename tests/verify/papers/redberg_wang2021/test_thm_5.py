"""RW21, Theorem 5: the noise by hand, its divergence by scipy's normal law and by the trapezoidal rule."""

from __future__ import annotations

import math

import numpy as np
import pytest
from oracles.formula_cases import decide, exact_value
from oracles.mechanisms.objective_perturbation import hockey_stick_1d, logistic_density_1d
from scipy.stats import norm

from mechanisms import Dataset
from verify.papers.redberg_wang2021.thm_5 import STATEMENT


def variance(xi: float, epsilon: float, delta: float) -> float:
    return xi * xi * (8 * math.log(2 / delta) + 4 * epsilon) / (epsilon * epsilon)


def gaussian_delta(mu: float, epsilon: float) -> float:
    return norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)


@pytest.mark.parametrize(("xi", "epsilon", "delta"), [(0.01, 1.0, 1e-3), (2.0, 0.5, 1e-6), (1.0, 10.0, 0.1)])
def test_linear_losses(xi: float, epsilon: float, delta: float) -> None:
    """Releasing theta is releasing a number that moves by xi under noise sigma; sigma^2 stands for sigma as printed."""
    at = {"xi": xi, "epsilon": epsilon, "delta": delta}
    root = math.sqrt(variance(xi, epsilon, delta))
    for version, sigma in {
        "printed": root**2,
        "corrected": root,
        "no logarithm in the variance": xi * math.sqrt(4 * epsilon) / epsilon,
    }.items():
        found = decide(STATEMENT, "", version, at)
        assert found.claim.published == epsilon
        assert found.claim.high == delta
        assert found.exact is not None
        assert found.exact.value == pytest.approx(gaussian_delta(xi / sigma, epsilon), rel=1e-6, abs=1e-300)


def test_sigma_by_hand() -> None:
    """xi = 2, epsilon = 1, delta = 2 e^-4: 4 (32 + 4) = 144 as printed, its root 12 corrected; mu = 2/144 and 2/12."""
    at = {"xi": 2.0, "epsilon": 1.0, "delta": 2 * math.exp(-4.0)}
    assert exact_value(STATEMENT, "", "corrected", at) == pytest.approx(gaussian_delta(1 / 6, 1.0), rel=1e-6)
    at = {"xi": 0.1, "epsilon": 1.0, "delta": 2 * math.exp(-4.0)}  # 0.01 * 36 = 0.36, root 0.6
    assert exact_value(STATEMENT, "", "printed", at) == pytest.approx(gaussian_delta(0.1 / 0.36, 1.0), rel=1e-6)
    assert exact_value(STATEMENT, "", "corrected", at) == pytest.approx(gaussian_delta(1 / 6, 1.0), rel=1e-6)


def test_the_least_sigma_of_linear_losses() -> None:
    """At epsilon = 10, delta = 1e-12 a sigma 5 % above the mutant's is exactly private."""
    at = {"xi": 1.0, "epsilon": 10.0, "delta": 1e-12}
    found = decide(STATEMENT, "", "sigma 5 % below what linear losses bear", at)
    assert found.exact is not None
    low, high = 0.01, 100.0  # mu by bisection
    for _ in range(200):
        low, high = (
            (low, (low + high) / 2) if gaussian_delta((low + high) / 2, 10.0) > 1e-12 else ((low + high) / 2, high)
        )
    assert found.exact.value == pytest.approx(gaussian_delta(low / 0.95, 10.0), rel=1e-5)


@pytest.mark.parametrize(("n", "y"), [(0, 1.0), (1, -1.0)])
@pytest.mark.parametrize("version", ["printed", "corrected"])
def test_logistic_loss_on_the_line(version: str, n: int, y: float) -> None:
    """Both densities on a grid, from the derivative of their distribution functions, lie in the proved enclosure."""
    xi, epsilon, delta = 0.1, 1.0, 1e-1
    found = decide(STATEMENT, "", version, {"xi": xi, "epsilon": epsilon, "delta": delta, "n": n, "y": y})
    sigma, lam = variance(xi, epsilon, delta), 0.5 * xi**2 / epsilon
    sigma = sigma if version == "printed" else math.sqrt(sigma)
    rows, labels = [[-0.5 * xi]] * n, [-1.0] * n
    without = Dataset(np.array(rows).reshape(n, 1), np.array(labels), 1.0, 1.0)
    with_z = Dataset(np.array([*rows, [xi]]), np.array([*labels, y]), 1.0, 1.0)
    grid = np.linspace(-12 * sigma / lam, 12 * sigma / lam, 20_001)
    logs = [np.log([max(logistic_density_1d(t, d, lam, sigma), 1e-300) for t in grid]) for d in (without, with_z)]
    truth = max(hockey_stick_1d(*pair, grid, epsilon) for pair in (logs, logs[::-1]))
    assert found.exact is not None
    assert found.exact.low <= truth * (1 + 1e-4) + 1e-9
    assert truth <= found.exact.high
    assert found.exact.high - found.exact.low < 0.05 * delta

"""AdaSSP and its boosting, written from the formulas: noisy normal equations with a ridge that adapts to the data.

AdaSSP (Wang 2018) adds Gaussian noise to ``X'X`` and ``X'y`` and to the least eigenvalue of ``X'X``, from which it
chooses the ridge. Boosting (Tang et al. 2023) fits the residuals again, ``rounds`` times, with the same noisy ``X'X``.
Records have norm at most 1, labels and residuals are clipped to [-1, 1]: every sensitivity is 1 where one record joins,
and ``rounds + 2`` Gaussian mechanisms are composed.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, sqrt
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

EPSILON, DELTA = 1.0, 1e-6
CLAIM = {"form": "point", "epsilon": EPSILON, "delta": DELTA}


def gaussian_dp(epsilon: float, delta: float) -> float:
    """Return the mu whose Gaussian trade-off gives ``delta`` at ``epsilon`` (Dong, Roth and Su, Corollary 1)."""

    def excess(mu: float) -> float:
        half = mu / 2
        return float(norm.cdf(half - epsilon / mu) - exp(epsilon) * norm.cdf(-half - epsilon / mu)) - delta

    return float(brentq(excess, 1e-3, 10.0))


def composed_sigma(rounds: int) -> float:
    """Return the noise that ``rounds + 2`` mechanisms of sensitivity 1 need together."""
    return sqrt(rounds + 2) / gaussian_dp(EPSILON, DELTA)


def coefficients(
    X: np.ndarray,
    y: np.ndarray,
    sigma: float,
    rounds: int,
    least: Callable[[np.ndarray], float],
    rng: np.random.Generator,
) -> list[float]:
    """Return the boosted coefficients; ``least`` reads the least eigenvalue off the eigenvalues of ``X'X``."""
    width = X.shape[1]
    gram = X.T @ X
    upper = np.triu(rng.normal(scale=sigma, size=(width, width)))
    noisy = gram + upper + np.triu(upper, 1).T
    margin = 1.96 * sigma
    floor = max(0.0, least(np.linalg.eigvalsh(gram)) + rng.normal(scale=sigma) - margin)
    noisy += max(0.0, sqrt(width) * margin - floor) * np.eye(width)
    theta = np.zeros(width)
    for _ in range(rounds):
        residual = np.clip(y - X @ theta, -1.0, 1.0)
        theta = theta + np.linalg.solve(noisy, X.T @ residual + rng.normal(scale=sigma, size=width))
    return [float(value) for value in theta]


def drawn(
    X: Any, y: Any, n_draws: int, seed: int, sigma: float, least: Callable[[np.ndarray], float]
) -> list[list[float]]:
    """Return that many sets of coefficients of one round."""
    rng = np.random.default_rng(seed)
    records, labels = np.array(X), np.array(y)
    return [coefficients(records, labels, sigma, 1, least, rng) for _ in range(n_draws)]

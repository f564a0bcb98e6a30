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
from lines import Bug, Rows, point, serve
from scipy.optimize import brentq
from scipy.stats import norm

EPSILON, DELTA = 1.0, 1e-6
CLAIM = point(EPSILON, DELTA)


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


SAME = [[1.0, 0.0]] * 1000


def least_positive(values: np.ndarray) -> float:
    """Return the least of the positive eigenvalues."""
    return float(values[values > 0].min())


def eigenvalue(X: Rows, y: list[float], n_draws: int, seed: int, right: bool) -> list[list[float]]:
    """As published first: the least eigenvalue is looked for among the positive ones.

    1,000 equal records have the eigenvalues 1000 and 0, and 1000 is taken for the least; with a record of length 0.001
    across them it is 1e-6. The noise is scaled for a change of 1.
    """
    return drawn(X, y, n_draws, seed, composed_sigma(1), np.min if right else least_positive)


def ordinary() -> tuple[Rows, list[float]]:
    """Return 200 records in the unit disc with labels that are linear in them, and some noise."""
    rng = np.random.default_rng(0)
    angle, radius = rng.uniform(0, 2 * np.pi, 200), np.sqrt(rng.uniform(0, 1, 200))
    X = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    y = np.clip(X @ np.array([0.5, -0.3]) + rng.normal(scale=0.1, size=200), -1, 1)
    return X.tolist(), y.tolist()


def noise(X: Rows, y: list[float], n_draws: int, seed: int, right: bool) -> list[list[float]]:
    """As published last: the noise is mu itself, where sqrt(T + 2) / mu is needed.

    Of Gaussian differential privacy a smaller mu is more private, of noise a smaller sigma less: 0.24 instead of 7.3
    for one round. 200 ordinary records, and one more.
    """
    sigma = composed_sigma(1) if right else gaussian_dp(EPSILON, DELTA)
    return drawn(X, y, n_draws, seed, sigma, np.min)


RECORDS, LABELS = ordinary()
serve(
    "scipy",
    {
        "boosted_adassp_eigenvalue": Bug(SAME, [*SAME, [0.0, 0.001]], CLAIM, eigenvalue),
        "boosted_adassp_sigma": Bug(RECORDS, [*RECORDS, [1.0, 0.0]], CLAIM, noise, (LABELS, [*LABELS, -1.0])),
    },
)

"""Log density ratios of objective perturbation in ball arithmetic, from the values of the loss alone.

The output density is that of the noise times the Jacobian of the map from outputs to noise. Here both derivatives of
the loss come from its Taylor series (python-flint), so no derivative formula is shared with the code under test.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from flint import arb, arb_mat, arb_series

from mechanisms import Bracket
from mechanisms.numerics.balls import enclose

Ball = Any
Rows = Sequence[tuple[Sequence[float], float]]

#: Value of each loss as a series in the linear predictor.
VALUES: dict[str, Callable[[Ball, Ball], Ball]] = {
    "logistic": lambda u, y: ((-y * u).exp() + 1).log(),
    "squared": lambda u, y: (u - y) * (u - y) / 2,
    "poisson": lambda u, y: u.exp() - y * u,
}


def slopes(loss: str, predictor: Ball, response: float) -> tuple[Ball, Ball]:
    """Return ``f'`` and ``f''`` at a predictor, read off the Taylor series of ``f``."""
    series = VALUES[loss](arb_series([predictor, arb(1)], prec=3), arb(response))
    return series[1], 2 * series[2]


def log_density(loss: str, rows: Rows, theta: Sequence[float], sigma: float, lam: float) -> Ball:
    """Return the log density at ``theta`` up to the constant that every data set shares."""
    dim = len(theta)
    point = [arb(t) for t in theta]
    gradient = [arb(lam) * t for t in point]
    hessian = [[arb(lam if i == j else 0) for j in range(dim)] for i in range(dim)]
    for x, y in rows:
        row = [arb(v) for v in x]
        first, second = slopes(loss, sum((a * t for a, t in zip(row, point, strict=True)), arb(0)), y)
        for i in range(dim):
            gradient[i] += first * row[i]
            for j in range(dim):
                hessian[i][j] += second * row[i] * row[j]
    norm2 = sum((g * g for g in gradient), arb(0))
    return arb_mat(hessian).det().log() - norm2 / (2 * arb(sigma) ** 2)


def log_ratio(loss: str, first: Rows, second: Rows, theta: Sequence[float], sigma: float, lam: float) -> Bracket:
    """Return a proved enclosure of ``log p_D(theta) - log p_D'(theta)``, natural log."""
    return enclose(lambda: log_density(loss, first, theta, sigma, lam) - log_density(loss, second, theta, sigma, lam))


def cdf_log_ratio(loss: str, first: Rows, second: Rows, theta: float, sigma: float, lam: float) -> Bracket:
    """Return the same in one dimension from the derivative of the exact distribution functions.

    The output is at most ``theta`` exactly when ``b >= -J'(theta)``, so its distribution function is
    ``Phi(J'(theta)/sigma)``; its derivative is taken by Taylor series.
    """

    def log_slope(rows: Rows) -> Ball:
        slope = arb_series([arb(lam) * theta, arb(lam)], prec=2)
        for (x,), y in rows:
            u = arb_series([arb(x) * theta, arb(x), arb(0)], prec=3)
            slope = slope + VALUES[loss](u, arb(y)).derivative()
        return (-slope / (arb(sigma) * arb(2).sqrt())).erfc()[1].log()

    return enclose(lambda: log_slope(first) - log_slope(second))


def deviation(value: float, truth: Bracket) -> float:
    """Return the largest possible distance of a float from an enclosed number, relative to its size (at least 1)."""
    return max(abs(value - truth.low), abs(value - truth.high)) / max(1.0, abs(truth.low), abs(truth.high))


def as_rows(X: np.ndarray, y: np.ndarray) -> Rows:
    """Return records as plain tuples."""
    return [(tuple(map(float, row)), float(response)) for row, response in zip(X, y, strict=True)]

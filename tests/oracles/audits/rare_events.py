"""The tail and divergence of logistic objective perturbation in one and two dimensions, by explicit integration.

In one dimension the output is a monotone function of the noise, b = -J'(theta), and nothing has to be solved: the
tail is a sum of normal probabilities of intervals between roots; delta = P(A) - e^epsilon P'(A), A = {L > epsilon}.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, log_ndtr


def tail_and_delta(x, y, lam: float, sigma: float, epsilon: float, *, drawn_with_last: bool) -> tuple[float, float]:
    """P(L > epsilon) and delta(epsilon) of data (x, y) with its last record against data without it (or reversed)."""

    def noise(theta: float, n: int) -> float:
        return float(np.sum(y[:n] * x[:n] * expit(-y[:n] * x[:n] * theta)) - lam * theta)

    def curvature(theta: float, n: int) -> float:
        u = x[:n] * theta
        return float(np.sum(x[:n] ** 2 * expit(u) * expit(-u)) + lam)

    own, other = (len(x), len(x) - 1) if drawn_with_last else (len(x) - 1, len(x))

    def loss(theta: float) -> float:
        squares = noise(theta, other) ** 2 - noise(theta, own) ** 2
        return squares / (2 * sigma**2) + math.log(curvature(theta, own) / curvature(theta, other))

    def log_above(theta: float, n: int) -> float:
        return float(log_ndtr(noise(theta, n) / sigma))  # P(output > theta) = P(b < noise(theta))

    def log_below(theta: float, n: int) -> float:
        return float(log_ndtr(-noise(theta, n) / sigma))

    def probability(low: float, high: float, n: int) -> float:
        """P(low < output < high), by the smaller tails."""
        if noise(low, n) + noise(high, n) > 0:  # both mostly below the bulk
            return math.exp(log_below(high, n)) - (math.exp(log_below(low, n)) if math.isfinite(low) else 0.0)
        return math.exp(log_above(low, n)) - (math.exp(log_above(high, n)) if math.isfinite(high) else 0.0)

    grid = np.linspace(-60.0, 60.0, 6_001)  # beyond: more than 14 standard deviations in every case of the tests
    inside = np.array([loss(t) > epsilon for t in grid])
    edges = [
        float(brentq(lambda t: loss(t) - epsilon, grid[i], grid[i + 1], xtol=1e-14))
        for i in np.flatnonzero(np.diff(inside))
    ]
    edges = ([grid[0]] if inside[0] else []) + edges + ([grid[-1]] if inside[-1] else [])
    pairs = list(zip(edges[::2], edges[1::2], strict=True))
    tail = sum(probability(low, high, own) for low, high in pairs)
    return tail, tail - math.exp(epsilon) * sum(probability(low, high, other) for low, high in pairs)


def plane_tail_and_delta(x, y, lam: float, sigma: float, epsilon: float, *, drawn_with_last: bool, side: int = 600):
    """The same two numbers in two dimensions, by the midpoint rule for the density of the output.

    The density is that of the noise -grad J(theta) times the determinant of the Hessian; the square that is integrated
    holds all outputs whose noise is within 9 standard deviations.
    """

    def log_density(theta, n: int):
        u = theta @ x[:n].T
        b = (y[:n] * expit(-y[:n] * u)) @ x[:n] - lam * theta
        w = expit(u) * expit(-u)
        a, c, d = w @ x[:n, 0] ** 2 + lam, w @ (x[:n, 0] * x[:n, 1]), w @ x[:n, 1] ** 2 + lam
        log_normal = -(b**2).sum(axis=1) / (2 * sigma**2) - math.log(2 * math.pi * sigma**2)
        return log_normal + np.log(a * d - c**2)

    own, other = (len(x), len(x) - 1) if drawn_with_last else (len(x) - 1, len(x))
    coarse = np.linspace(-40.0, 40.0, 161)
    points = np.stack(np.meshgrid(coarse, coarse), axis=-1).reshape(-1, 2)
    held = np.abs(points[log_density(points, own) > -50]).max() + 0.5
    step = 2 * held / side
    middles = -held + step * (np.arange(side) + 0.5)
    tail = delta = 0.0
    for line in middles:
        theta = np.column_stack([np.full(side, line), middles])
        mine, theirs = log_density(theta, own), log_density(theta, other)
        above = mine - theirs > epsilon
        tail += np.exp(mine[above]).sum() * step**2
        delta += (np.exp(mine[above]) - math.exp(epsilon) * np.exp(theirs[above])).sum() * step**2
    return tail, delta

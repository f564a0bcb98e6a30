"""Slow literal twins of the black-box audit's exact tests, and exact laws of what they decide."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy import integrate, stats


def rank_p_value(k: int, n: int, count: int, m: int, least_mass: Callable[[float], float]) -> float:
    """Return ``E[Binomial(m, h(U)) <= count]``, ``U`` ~ Beta(k, n - k + 1), by adaptive quadrature over quantiles."""
    law = stats.beta(k, n - k + 1)

    def integrand(level: float) -> float:
        return float(stats.binom.cdf(count, m, min(max(least_mass(float(law.ppf(level))), 0.0), 1.0)))

    return float(integrate.quad(integrand, 0.0, 1.0, limit=400, epsabs=1e-10)[0])


def rank_false_alarm(k: int, n: int, m: int, level: float, least_mass: Callable[[float], float], p_value) -> float:
    """Return the exact rejection probability at the edge of the claim, where ``Y | U ~ Binomial(m, h(U))``."""
    rejected = [count for count in range(m + 1) if p_value(count) <= level]
    if not rejected:
        return 0.0
    return rank_p_value(k, n, max(rejected), m, least_mass)


def pair_rejection(n: int, m: int, p: float, q: float, decides: Callable[[int, int], bool]) -> float:
    """Return the exact probability that ``decides(x, count)`` for independent binomials, over every outcome."""
    weight_p, weight_q = stats.binom.pmf(np.arange(n + 1), n, p), stats.binom.pmf(np.arange(m + 1), m, q)
    return math.fsum(float(weight_p[x] * weight_q[y]) for x in range(n + 1) for y in range(m + 1) if decides(x, y))


def barnard_p_value(x: int, n: int, count: int, m: int, epsilon: float, delta: float, grid: int = 20_000) -> float:
    """Return Barnard's p-value by brute force: every outcome at least as extreme, the supremum over a fine grid."""
    factor = math.exp(epsilon)

    def statistic(a: float, b: float) -> float:
        q = min(max((n * max(a - delta, 0.0) + m * b) / (n * factor + m), 0.0), 1.0)
        p = min(max(factor * q + delta, 0.0), 1.0)
        noise = p * (1 - p) / n + factor * factor * q * (1 - q) / m
        return (a - factor * b - delta) / math.sqrt(noise + 1e-12)

    observed = statistic(x / n, count / m)
    q = np.linspace(0.0, (1.0 - delta) / factor, grid)
    p = np.minimum(factor * q + delta, 1.0)
    total = np.zeros(grid)
    for i in range(n + 1):
        # the region made monotone: an outcome counts when one with no more hits and no fewer counts is as extreme
        inside = [y for y in range(m + 1) if any(statistic(i2 / n, y / m) >= observed - 1e-9 for i2 in range(i + 1))]
        if inside:
            total += stats.binom.pmf(i, n, p) * stats.binom.cdf(max(inside), m, q)
    return float(total.max())

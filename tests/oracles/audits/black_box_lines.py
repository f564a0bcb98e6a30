"""Slow literal twins of the betting and label-blind lines."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import stats


def best_gain(first: Sequence[float], second: Sequence[float], gain_first: float, gain_second: float) -> float:
    """Return the largest gain over all intervals whose ends are values that occur."""
    values = sorted({*first, *second})
    return max(
        gain_first * sum(low <= x <= high for x in first) + gain_second * sum(low <= x <= high for x in second)
        for i, low in enumerate(values)
        for high in values[i:]
    )


def log_wealth(in_p: Sequence[bool], in_q: Sequence[bool], stake: float, epsilon: float, delta: float) -> float:
    """Return the log of the product of the factors, pair by pair."""
    product = 1.0
    for x, y in zip(in_p, in_q, strict=True):
        product *= 1 + stake * (float(x) - math.exp(epsilon) * float(y) - delta)
    return math.log(product)


def tail_with_bad(hits: int, n: int, epsilon: float, delta: float, total: int, theta: float) -> float:
    """Return ``max over b of P(Bin(n, s) >= hits - b) theta^-b`` times ``E theta^B``, B summed over its whole law."""
    chance = 1 / (1 + math.exp(-epsilon))
    law = stats.binom(total, delta / 2)
    mean = math.fsum(float(law.pmf(b)) * theta**b for b in range(total + 1))
    return mean * max(float(stats.binom.sf(hits - b - 1, n, chance)) * theta**-b for b in range(hits + 1))


def atom_found(p: float, total: int, needed: int, runs: int, rng: np.random.Generator) -> float:
    """Return how often ``total`` fair coins show a leak of probability ``p`` at least ``needed`` times, simulated."""
    firsts = rng.binomial(total, 0.5, runs)
    return float((rng.binomial(firsts, p) >= needed).mean())

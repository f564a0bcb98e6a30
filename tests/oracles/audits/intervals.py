"""Slow, literal twins of ``audits.stats.intervals`` and ``audits.stats.intervals``."""

from __future__ import annotations

import math
from collections.abc import Sequence

from flint import arb, ctx


def binomial_tail(k: int, n: int, p: float) -> float:
    """P(Bin(n, p) >= k), term by term."""
    return math.fsum(math.comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(k, n + 1))


def clopper_pearson(count: int, n: int, failure_prob: float) -> tuple[float, float]:
    """Both ends by bisection on the binomial tails that define them."""

    def bisect(rejected, low: float, high: float) -> float:
        for _ in range(100):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if rejected(middle) else (low, middle)
        return 0.5 * (low + high)

    half = failure_prob / 2
    low = 0.0 if count == 0 else bisect(lambda p: binomial_tail(count, n, p) < half, 0.0, 1.0)
    high = 1.0 if count == n else bisect(lambda p: 1 - binomial_tail(count + 1, n, p) >= half, 0.0, 1.0)
    return low, high


def proved_tails(count: int, n: int, p: float, bits: int = 420) -> tuple[arb, arb]:
    """P(Bin(n, p) >= count) and P(Bin(n, p) <= count) as balls, from incomplete beta functions; 0 < count < n."""

    def beta(x: arb, a: int, b: int) -> arb:
        return x.beta_lower(arb(a), arb(b), 1) if x < 0.5 else 1 - (1 - x).beta_lower(arb(b), arb(a), 1)

    with ctx.workprec(bits):
        return beta(arb(p), count, n - count + 1), 1 - beta(arb(p), count + 1, n - count)


def betting_rejects(values: Sequence[float], mean: float, failure_prob: float, stake: float) -> bool:
    """Whether the hedged capital, bet by bet, ends at 2 / failure_prob or more on either side."""
    n, need = len(values), 2 / failure_prob
    total, square = 0.5, 0.25
    up = down = 1.0
    variance = 0.25
    for t, value in enumerate(values, start=1):
        bet = math.sqrt(2 * math.log(need) / (n * variance))
        up *= 1 + min(bet, stake / mean) * (value - mean)
        down *= 1 - min(bet, stake / (1 - mean)) * (value - mean)
        total += value
        square += (value - total / (t + 1)) ** 2
        variance = square / (t + 1)
    return up >= need or down >= need


def holm(p_values: Sequence[float], failure_prob: float) -> list[bool]:
    """Step down from the smallest p value; stop at the first that is too large."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    rejected = [False] * len(p_values)
    for step, i in enumerate(order):
        if p_values[i] > failure_prob / (len(p_values) - step):
            break
        rejected[i] = True
    return rejected

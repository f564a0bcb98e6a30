"""Slow, literal twin of ``audits.stats.power``: every count, one by one."""

from __future__ import annotations

import math

from oracles.audits.intervals import clopper_pearson


def outcome_probabilities(p: float, allowed: tuple[float, float], n: int, failure_prob: float):
    holds = fails = 0.0
    for count in range(n + 1):
        chance = math.comb(n, count) * p**count * (1 - p) ** (n - count)
        low, high = clopper_pearson(count, n, failure_prob)
        if allowed[0] <= low and high <= allowed[1]:
            holds += chance
        elif high < allowed[0] or low > allowed[1]:
            fails += chance
    return holds, fails, 1 - holds - fails

"""Slow, literal twins of ``audits.white_box.attack``, and two ways in which other auditors go wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import stats


def advantage(first: Sequence[float], second: Sequence[float]) -> float:
    """Largest |tpr - fpr| over all thresholds, one by one."""
    return max(
        abs(sum(s > t for s in first) / len(first) - sum(s > t for s in second) / len(second))
        for t in [*first, *second]
    )


def epsilon_lower(
    first: Sequence[float], second: Sequence[float], ranks: Sequence[int], failure_prob: float, delta: float
) -> float:
    """The bound from all four families of half-lines, event by event (scores without ties)."""
    share = failure_prob / (2 * 4 * len(ranks))
    best = 0.0
    for power, level in ((first, second), (second, first)):
        for sign in (1, -1):
            ordered = sorted((sign * s for s in level), reverse=True)
            for k in ranks:
                hits = sum(sign * s > ordered[k - 1] for s in power)
                low = stats.beta.ppf(share, hits, len(power) - hits + 1) if hits else 0.0
                high = stats.beta.isf(share, k, len(level) + 1 - k)
                if low > delta:
                    best = max(best, math.log((low - delta) / high))
    return best


def uncorrected_epsilon_lower(
    first: Sequence[float], second: Sequence[float], failure_prob: float, *, every: int
) -> float:
    """The mistake: the best Clopper-Pearson bound over every ``every``-th threshold, each at the full probability."""
    p, q = np.sort(first), np.sort(second)
    thresholds = np.sort(np.concatenate([p, q]))[-2::-every]
    hits = p.size - np.searchsorted(p, thresholds, side="right")
    misses = q.size - np.searchsorted(q, thresholds, side="right")
    keep = (hits > 0) & (misses < q.size)
    hits, misses = hits[keep], misses[keep]
    low = stats.beta.ppf(failure_prob / 2, hits, p.size - hits + 1)
    high = stats.beta.isf(failure_prob / 2, misses + 1, q.size - misses)
    return float(np.log(low / high).max(initial=0.0))

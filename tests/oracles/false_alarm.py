"""The threshold of a random test: how many misses a truthful interval may show."""

from __future__ import annotations

from scipy import stats

#: Level of every random test.
LEVEL = 1e-7


def misses_allowed(n_repeats: int, failure_prob: float, level: float = LEVEL) -> int:
    """Largest count that a Binomial(n_repeats, failure_prob) exceeds with probability at most ``level``."""
    return int(stats.binom.isf(level, n_repeats, failure_prob))

"""The threshold of a random test: how many misses a truthful interval may show, and when the answer is known."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from scipy import stats

#: Level of every random test.
LEVEL = 1e-7


def misses_allowed(n_repeats: int, failure_prob: float, level: float = LEVEL) -> int:
    """Largest count that a Binomial(n_repeats, failure_prob) exceeds with probability at most ``level``."""
    return int(stats.binom.isf(level, n_repeats, failure_prob))


def reaches(wanted: int, outcomes: Iterable[bool]) -> bool:
    """Whether at least ``wanted`` of the outcomes are true: those after the last that is needed are not made."""
    return sum(1 for _ in islice(filter(None, outcomes), wanted)) == wanted

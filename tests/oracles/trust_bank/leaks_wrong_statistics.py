"""The leaks of class 11."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import Entry
from .leaks import Leak
from .leaks_wrong import added, changed, responses, stacked, told


def swapped(*groups: tuple[int, float], index: int = 0, to: float = 1.0, n: int = 4000) -> Any:
    """Groups of equal responses, of which one record is replaced."""

    def leak(entry: Entry) -> Leak:
        base = responses(entry, *(np.full(count, y) for count, y in groups))
        return told(entry, changed(entry, base, index, 0.5, to), n=n)

    return leak


def correlated(entry: Entry) -> Leak:
    base = stacked(entry, (30, 0.01, 0.01), (30, -0.01, -0.01))
    return told(entry, changed(entry, base, 0, 1.0, -1.0))


def best_split(entry: Entry) -> Leak:
    """The first number of contrary records at which another split begins to win."""
    made = entry.factory()
    for more in range(20, 60):
        base = stacked(entry, (30, -0.9, -0.9), (30, 0.1, 0.0), (more, 0.9, 0.9))
        pair = added(entry, base, 0.9, 0.9)
        if made.at(pair[0].X[:, 0], pair[0].y) != made.at(pair[1].X[:, 0], pair[1].y):
            return told(entry, pair)
    raise LookupError("no split changes")


def tied_at_median(entry: Entry) -> Leak:
    base = stacked(entry, (30, -0.5, -0.9), (30, 0.5, 0.9))
    return told(entry, added(entry, base, -0.5, -0.9))


LEAKS = {
    "quantile-0.9": swapped((91, -1.0), (10, 1.0)),
    "median-replaced": swapped((21, -1.0), (20, 1.0)),
    "least-of-all": swapped((40, 1.0), to=-1.0),
    "quartile-distance": swapped((61, -1.0), (20, 1.0)),
    "median-of-blocks": swapped((20, -1.0), (20, -0.5), (20, 0.0), (20, 0.5), (20, 1.0), index=45),
    "trimmed-mean-0.1": swapped((50, -1.0), (50, 1.0), n=100_000),
    "trimmed-mean-0.4": swapped((50, -1.0), (50, 1.0)),
    "trimmed-mean-laplace": swapped((50, -1.0), (50, 1.0)),
    "winsorised-mean": swapped((181, 0.0), (20, 1.0)),
    "hodges-lehmann": swapped((15, -1.0), (45, 1.0)),
    "variance-1-over-n": swapped((50, -1.0)),
    "deviation-2-over-n": swapped((100, 0.3)),
    "geometric-mean": swapped((50, 0.9), to=0.0),
    "harmonic-mean": swapped((50, 1.0), to=-1.0),
    "skewness": swapped((50, 0.1), (50, 0.1001)),
    "correlation": correlated,
    "mode": swapped((20, -0.85), (20, 0.85), to=0.85),
    "share-above-mean": swapped((50, 0.0), (1, 0.1), (1, -0.2), index=51, to=-0.05),
    "stump-best-split": best_split,
    "stump-median-split": tied_at_median,
    "stump-small-leaves": lambda entry: told(entry, added(entry, stacked(entry, (9, 0.5, 1.0)), 0.5, 1.0)),
    "split-point": best_split,
    "top-column": lambda entry: told(
        entry, added(entry, stacked(entry, (20, (0.9, 0.0), 1.0), (20, (0.0, 0.9), 1.0)), (0.0, 1.0), 1.0)
    ),
    "ratio-of-sums": lambda entry: told(entry, added(entry, stacked(entry, (25, 0.02, 1.0)), 1.0, -1.0)),
}

"""The leaks of class 13."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import Entry
from .leaks import Leak
from .leaks_wrong import added, stacked, told


def joined(groups: list[tuple[int, Any, float]], x: Any, y: float) -> Any:
    """Groups of equal records and one record more."""
    return lambda entry: told(entry, added(entry, stacked(entry, *groups), x, y))


def orthogonal(entry: Entry) -> Leak:
    """A record on every axis, and one between them."""
    rows = np.eye(entry.dim)
    return told(entry, added(entry, stacked(entry, *((1, row, 1.0) for row in rows)), rows.sum(axis=0) / 2, 1.0))


LEAKS = {
    "leverage-above-0.9": orthogonal,
    "leverage-above-twice-mean": joined(
        [(29, (0.9, 0.0), 0.5), (10, (0.0, 0.9), 1.0), (1, (0.0, 0.3), 1.0)], (0.9, 0.0), 0.5
    ),
    "once-per-key": joined([(3, 0.5, -1.0)], 0.5, 1.0),
    "joined-with-itself": joined([(20, 0.5, 0.9)], 0.5, 0.9),
    "reversals": joined([(30, 0.6, 0.9)], -0.6, 0.9),
    "collinear-dropped": joined([(30, (0.6, 0.6), 0.9)], (0.6, -0.6), 0.1),
    "orthogonal-design": joined([(40, (0.1, 0.0), 1.0), (40, (0.0, 0.1), 1.0)], (0.05, 0.05), 1.0),
    "balanced-weights": joined([(30, 0.5, -1.0)], 0.5, 1.0),
    "empty-class": joined([(30, 0.8, -0.9)], 0.1, 0.1),
    "class-means": joined([(19, 0.9, 1.0), (60, -0.9, -1.0)], 0.9, 1.0),
    "single-record": joined([], 1.0, 1.0),
    "all-equal": joined([(30, 0.5, 0.5)], 0.5, -0.5),
    "dense-ranks": joined([(30, 0.5, 0.9)], 0.6, 0.9),
    "tied-at-median": joined([(20, 0.2, -0.9), (20, 0.4, 0.9)], 0.4, 0.9),
    "nan-of-zero-row": joined([(30, 0.5, 0.9)], 0.0, 0.9),
    "zero-of-zero-row": joined([(50, 0.95, 0.2)], 0.0, 0.2),
    "three-sigma": joined([(90, 0.5, 0.0), (10, 0.5, 1.0)], 0.5, 0.0),
    "quartile-fences": joined([(60, 0.5, 0.0), (20, 0.5, 1.0)], 0.5, 1.0),
    "mean-imputed": joined([(30, 0.5, 0.0)], 0.5, 1.0),
    "matched-pairs": joined([(5, 0.5, 1.0), (4, -0.5, -1.0)], -0.5, -1.0),
    "majority-of-cell": joined([(20, 0.2, -1.0), (20, 0.2, 1.0)], 0.2, 1.0),
    "largest-group": joined([(20, 0.5, 1.0), (20, -0.5, -1.0)], 0.5, 1.0),
    "unanimous": joined([(30, 0.5, 0.1)], 0.5, -0.1),
}

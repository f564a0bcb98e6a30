"""The leaks of class 10."""

from __future__ import annotations

import numpy as np

from . import Entry
from .leaks import Leak
from .leaks_wrong import added, changed, stacked, told


def short_rows(lam: float, n: int):
    """Rows of length sqrt(lam / n) with one response make the coefficient sqrt(n / lam) / 2; one long row ends it."""
    return lambda entry: told(entry, added(entry, stacked(entry, (n, np.sqrt(lam / n), 1.0)), 1.0, -1.0))


def validated(entry: Entry) -> Leak:
    """The number of contrary records at which another penalty begins to win."""
    made = entry.factory()
    for contrary in range(1, 40):
        base = stacked(entry, (40, 0.3, 1.0), (contrary, 0.3, -1.0), (1, (0.0, 0.3), 1.0))
        pair = added(entry, base, 0.3, -1.0)
        if made.chosen(pair[0]) != made.chosen(pair[1]):
            return told(entry, pair)
    raise LookupError("no penalty changes")


def far(entry: Entry) -> Leak:
    return told(entry, added(entry, stacked(entry, (60, -1.0, -1.0)), 1.0, 1.0))


def wrong_side(n: int, short: float, row: float = 1.0):
    """Short rows hold the coefficient at a large value; one long row with the other label."""
    return lambda entry: told(entry, added(entry, stacked(entry, (n, short, -1.0)), row, 1.0))


def turned(entry: Entry) -> Leak:
    base = stacked(entry, (40, (0.9, 0.0), 1.0), (40, (0.0, 0.9), -1.0), (1, (0.5, 0.0), 1.0))
    return told(entry, added(entry, base, (0.0, 1.0), -1.0))


LEAKS = {
    "penalty-alone-0.1": short_rows(0.1, 900),
    "penalty-alone-1": short_rows(1.0, 400),
    "penalty-alone-10": short_rows(10.0, 2500),
    "penalty-alone-gdp": short_rows(1.0, 200),
    "penalty-alone-zcdp": short_rows(1.0, 900),
    "ridge-clipped": short_rows(1.0, 225),
    "ridge-topped-up": short_rows(1.0, 400),
    "ridge-validated": validated,
    "ridge-intercept": far,
    "ridge-prediction": short_rows(1.0, 225),
    "lasso": lambda entry: told(entry, added(entry, stacked(entry, (100, 0.02, 1.0)), 1.0, -1.0)),
    "elastic-net": lambda entry: told(entry, added(entry, stacked(entry, (40, 0.05, 1.0)), 1.0, -1.0)),
    "logistic-mean-for-sum": lambda entry: told(entry, added(entry, stacked(entry, (60, 0.0, 1.0)), 1.0, 1.0)),
    "logistic-quarter": wrong_side(1000, 0.01),
    "logistic-rows-of-3": wrong_side(2000, 0.01, 3.0),
    "logistic-intercept": lambda entry: told(entry, added(entry, stacked(entry, (40, 0.0, -1.0)), 1.0, 1.0)),
    "gram-by-entry": lambda entry: told(entry, added(entry, stacked(entry, (20, 1.0, 0.3)), 2.0, 0.3)),
    "gram-centred": far,
    "gram-replaced": lambda entry: told(
        entry, changed(entry, stacked(entry, (20, 1.0, 0.3)), 3, (0.0, 1.0), 0.3), n=40_000
    ),
    "projected": turned,
    "principal-direction": turned,
    "principal-share": lambda entry: told(entry, added(entry, stacked(entry, (3, 0.7, 0.2)), (0.0, 1.0), 0.2)),
    "determinant": lambda entry: told(entry, added(entry, stacked(entry, (60, 0.7, 0.2)), (0.0, 1.0), 0.2)),
    "residual-sum": lambda entry: told(entry, added(entry, stacked(entry, (100, 0.01, 1.0)), 1.0, -1.0)),
}

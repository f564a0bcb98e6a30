"""The leaks of class 23."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import ncx2, norm

from . import Entry
from .leaks import Leak, Pair, alike, away, axis, certain, column, gaussian, less, more, table


def one_or_none(entry: Entry) -> Pair:
    return alike(entry, [1.0]), alike(entry, [])


def none_or_one(entry: Entry) -> Pair:
    return alike(entry, []), alike(entry, [1.0])


def normal(entry: Entry, pair: Pair | None = None, at: float = -1.0) -> Leak:
    pair = pair or more(entry)
    made = entry.factory()
    return gaussian(entry, pair, made.scale(pair[0]), made.scale(pair[1]), at=at)


def turned(entry: Entry, before: float, added: float) -> Leak:
    base = alike(entry, [before])
    return normal(entry, (base.with_record(axis(entry), added), base), at=0.0)


def wide(entry: Entry) -> Leak:
    """Noise of two sizes, the larger one first."""
    return away(entry, less(entry, length=0.01))


def decayed(entry: Entry) -> Leak:
    base = alike(entry, [0.01] * 3)
    return away(entry, (base.with_record(axis(entry), 1.0), base))


def zero(entry: Entry) -> Leak:
    """Without records the output is exactly zero."""
    return certain(none_or_one(entry), lambda outputs: (table(outputs) == 0).all(axis=1))


def direction(entry: Entry) -> Leak:
    pair = more(entry)
    moment = 0.1 * (pair[0].X.T @ pair[0].y)
    wanted = moment[0] - moment[1]
    return certain(pair, lambda out: np.abs(table(out)[:, 0] - table(out)[:, 1] - wanted) < 1e-9)


def intercept(entry: Entry) -> Leak:
    pair = more(entry)
    level, means = pair[0].y.mean(), pair[0].X.mean(axis=0)
    return certain(pair, lambda out: np.abs(table(out)[:, 2] + table(out)[:, :2] @ means - level) < 1e-9)


def longer(entry: Entry) -> Leak:
    """Weights longer than the longest record of the second data set."""
    pair = more(entry, length=0.01)
    squared = float(np.square(pair[0].X.T @ pair[0].y).sum()) / 4.25**2
    p = ncx2.sf((0.0101 / 4.25) ** 2, 2, squared)
    event = lambda outputs: np.linalg.norm(table(outputs), axis=1) > 0.0101  # noqa: E731
    return Leak(pair, event, n=2000, p=float(p), q=0.0)


def last_is(pair: Pair, value: float) -> Leak:
    return certain(pair, column(-1, lambda values: values == value))


def best(entry: Entry, reach: float) -> Leak:
    """First weights this near to 1: any of the runs against the first one."""
    made = entry.factory()
    size = made.sigma * math.sqrt(made.runs)
    one = norm.cdf(reach / size) - norm.cdf(-reach / size)
    q = norm.cdf((1 + reach) / size) - norm.cdf((1 - reach) / size)
    p = 1 - (1 - one) ** made.runs
    event = column(0, lambda values: np.abs(values - 1) < reach)
    return Leak(one_or_none(entry), event, n=4000, p=float(p), q=float(q))


def moved(entry: Entry) -> Leak:
    """A record of response 1: weights between 0 and 2 are better than 0; without records none is."""
    p = norm.cdf(1 / 4.25) - norm.cdf(-1 / 4.25)
    return Leak(one_or_none(entry), column(0, lambda values: values != 0), n=4000, p=float(p), q=0.0)


LEAKS = {
    "only-last-noisy": normal,
    "one-step-noise": normal,
    "one-step-noise-30": normal,
    "momentum-of-noise": normal,
    "batch-twice": normal,
    "clipped-batch": lambda entry: normal(entry, (alike(entry, [-2.5, 5.0]), alike(entry, [-2.5])), at=-1.5),
    "clipped-mean": lambda entry: turned(entry, -1.0, 1.0),
    "normalised-gradient": lambda entry: turned(entry, -0.1, 0.9),
    "own-step-size": wide,
    "exact-start": lambda entry: normal(entry, one_or_none(entry), at=0.0),
    "newton-step": wide,
    "decay-of-loss": decayed,
    "noise-before-clipping": zero,
    "one-direction": direction,
    "exact-intercept": intercept,
    "projected-onto-data": longer,
    "loss-of-end": lambda entry: last_is(none_or_one(entry), 0.0),
    "stops-early": lambda entry: last_is(none_or_one(entry), 0.0),
    "stops-unlogged": zero,
    "stops-by-gradient": lambda entry: last_is(none_or_one(entry), 0.0),
    "converged": lambda entry: last_is((alike(entry, [1.0]), alike(entry, [1.0, -1.0])), 1.0),
    "batches-counted": lambda entry: last_is(more(entry), 4.0),
    "clipped-counted": lambda entry: last_is(more(entry), 1.0),
    "best-of-fifty": lambda entry: best(entry, 1.0),
    "best-of-ten": lambda entry: best(entry, 1.0),
    "rejects-worse": moved,
}

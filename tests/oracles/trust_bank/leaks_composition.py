"""The leaks of class 22."""

from __future__ import annotations

import math

import numpy as np
from scipy.integrate import quad
from scipy.stats import binom, laplace

from . import Entry
from .leaks import Leak, Pair, alike, axis, certain, column, gaussian, less, more, table

EVEN = np.arange(10) % 2 == 0


def one_or_none(entry: Entry) -> Pair:
    return alike(entry, [1.0]), alike(entry, [])


def corner(entry: Entry, pair: Pair) -> Leak:
    """Every answer that moves lies beyond the first data set's, away from the second's."""
    made = entry.factory()
    first, second = (np.atleast_1d(np.asarray(made.answers(each), dtype=float)) for each in pair)
    step = first - second
    moved = step != 0

    def event(outputs: list) -> np.ndarray:
        return ((table(outputs) - first)[:, moved] * np.sign(step[moved]) > -1e-9).all(axis=1)

    p = 0.5 ** moved.sum()
    return Leak(pair, event, n=20_000, p=float(p), q=float(p * np.exp(-np.abs(step).sum() / made.scale)))


def columns(entry: Entry) -> Leak:
    base = entry.dataset([], [])
    return corner(entry, (base.with_record(np.full(4, 0.5), 1.0), base))


def cells(entry: Entry) -> Leak:
    base = alike(entry, [0.1] * 5)
    return corner(entry, (base.with_record(axis(entry), 0.9), base.with_record(axis(entry), -0.9)))


def roots(entry: Entry) -> Leak:
    """At least thirteen of sixteen answers are above the larger number of records."""
    p, q = binom.sf(12, 16, 0.5), binom.sf(12, 16, 0.5 * math.exp(-0.25))
    return Leak(more(entry), lambda out: (table(out) > 7).sum(axis=1) >= 13, n=20_000, p=float(p), q=float(q))


def group(entry: Entry) -> Leak:
    return corner(entry, (alike(entry, [1.0] * 4), alike(entry, [])))


def tens(entry: Entry) -> Leak:
    pair = alike(entry, [0.9] * 6), alike(entry, [0.9] * 5)
    return certain(pair, column(1, lambda values: values == 10))


def atom(entry: Entry) -> Leak:
    return Leak(less(entry), column(0, lambda values: values == 6), n=4000, p=0.5, q=0.0)


def nearest(entry: Entry, width: float) -> Leak:
    """Within ``width`` of the first count: then one of the tries is, and for the other none is nearer to its own."""
    tries = entry.factory().tries
    p = 1 - math.exp(-tries * width)
    q = 0.5 * (math.exp(-tries * (1 - width)) - math.exp(-tries * (1 + width)))
    return Leak(more(entry), column(0, lambda values: np.abs(values - 7) < width), n=4000, p=p, q=q)


def averaged(entry: Entry) -> Leak:
    return Leak(more(entry), column(0, lambda values: values > 6.75), n=4000)


def facts(entry: Entry) -> Leak:
    truth = math.e / (1 + math.e)
    pair = one_or_none(entry)
    return Leak(pair, lambda out: (table(out) == 1).all(axis=1), n=20_000, p=truth**4, q=(1 - truth) ** 4)


def signed(entry: Entry) -> Leak:
    """Sums -2 and 2 against -3 and 3: the first is the larger."""
    base = alike(entry, [-1.0] * 3)
    p, q = (math.exp(-gap) * (2 + gap) / 4 for gap in (4.0, 6.0))
    pair = base.with_record(axis(entry), 1.0), base
    return Leak(pair, column(0, lambda values: values == 0), n=4000, p=p, q=q)


def three(entry: Entry) -> Leak:
    """A record that has the first three properties, against none."""
    base = entry.dataset([], [])
    p = math.prod(k * math.e / (k * math.e + 3) for k in (1, 2, 3))
    pair = base.with_record(np.full(3, 0.5), 1.0), base
    return Leak(pair, lambda out: (table(out) == [0, 1, 2]).all(axis=1), n=4000, p=p, q=1 / 20)


def number(entry: Entry) -> Leak:
    """Above the threshold, and the number above the first sum."""

    def above(total: float) -> float:
        return float(
            quad(lambda t: laplace.pdf(t, scale=2) * laplace.sf(10 + t - total, scale=4), -80, 80, limit=400)[0]
        )

    pair = alike(entry, [1.0] * 4), alike(entry, [1.0] * 3)

    def event(outputs: list) -> np.ndarray:
        return (table(outputs)[:, 0] == 1) & (table(outputs)[:, 1] > 4)

    return Leak(pair, event, n=20_000, p=0.5 * above(4.0), q=0.5 * math.exp(-1) * above(3.0))


def questions(entry: Entry) -> Leak:
    """Even questions yes and odd ones no, of one record against none."""

    def mass(moment: float) -> float:
        noise = laplace(scale=4.0)

        def inside(t: float) -> float:
            return float(laplace.pdf(t, scale=2.0) * noise.sf(t - moment) ** 5 * noise.cdf(t + moment) ** 5)

        return float(quad(inside, -60, 0)[0] + quad(inside, 0, 60)[0])

    def event(outputs: list) -> np.ndarray:
        return ((table(outputs) == 1) == EVEN).all(axis=1)

    return Leak(one_or_none(entry), event, n=20_000, p=mass(1.0), q=mass(0.0))


def majority(entry: Entry) -> Leak:
    """A majority of one against a tie."""
    pair = alike(entry, [1.0, 1.0, -1.0]), alike(entry, [1.0, -1.0])
    return Leak(pair, column(0, lambda values: values == 1), n=4000, p=0.5, q=0.0)


def sampled(entry: Entry, rate: float, believed: float) -> Leak:
    """Sums above 1: ``rate`` is how often the only record is in the sample."""
    q = 0.5 * math.exp(-entry.factory().inner(believed))
    p = rate * 0.5 + (1 - rate) * q
    return Leak(one_or_none(entry), column(0, lambda values: values > 1), n=4000, p=p, q=q)


def size(entry: Entry) -> Leak:
    return Leak(one_or_none(entry), column(1, lambda values: values == 1), n=4000, p=0.1, q=0.0)


def alone(entry: Entry) -> Leak:
    truth = 1 / (1 + math.exp(-3.0))
    pair = alike(entry, [1.0]), alike(entry, [-1.0])
    return Leak(pair, column(0, lambda values: values == 1), n=4000, p=truth, q=1 - truth)


def normal(entry: Entry, at: float) -> Leak:
    """Of a record of response 1 against none, along the line between the centres."""
    pair, made = one_or_none(entry), entry.factory()
    return gaussian(entry, pair, made.drawn, at=at, n=20_000)


def signs(entry: Entry) -> Leak:
    base = entry.dataset([], [])
    return gaussian(entry, (base.with_record(np.full(16, 0.25), 1.0), base), 4.25, at=-1.0)


def one(entry: Entry) -> Leak:
    return corner(entry, one_or_none(entry))


LEAKS = {
    "epsilon-each-column": columns,
    "count-and-sum": one,
    "levels-of-tree": one,
    "overlapping-bins": lambda entry: corner(entry, (alike(entry, [0.0]), alike(entry, []))),
    "cumulative-counts": lambda entry: corner(entry, (alike(entry, [-1.0]), alike(entry, []))),
    "histogram-replaced": cells,
    "square-root-of-16": roots,
    "root-of-group": group,
    "bits-for-nats": one,
    "decades-for-nats": one,
    "variance-for-scale": one,
    "rounded-epsilon": one,
    "noisy-and-rounded": tens,
    "kept-below-total": atom,
    "nearest-of-ten": lambda entry: nearest(entry, 0.05),
    "nearest-of-three": lambda entry: nearest(entry, 0.2),
    "mean-of-sixteen": averaged,
    "bit-by-bit": facts,
    "maximum-of-signed": signed,
    "three-of-six": three,
    "number-above": number,
    "still-above": questions,
    "propose-test": majority,
    "at-least-one": lambda entry: sampled(entry, 1.0, 0.1),
    "every-tenth-drawn": lambda entry: sampled(entry, 1.0, 0.1),
    "with-replacement": lambda entry: sampled(entry, 1.0, 1 - math.exp(-1)),
    "twice-the-rate": lambda entry: sampled(entry, 0.1, 0.01),
    "size-of-sample": size,
    "shuffled": alone,
    "decimal-logarithm": lambda entry: normal(entry, -3.35),
    "forgotten-2": lambda entry: normal(entry, -3.62),
    "delta-as-thousandth": lambda entry: normal(entry, -3.6),
    "root-of-sigma": lambda entry: normal(entry, -2.0),
    "classical-at-8": lambda entry: normal(entry, -1.0),
    "delta-each-query": lambda entry: normal(entry, -1.2),
    "largest-for-length": signs,
}

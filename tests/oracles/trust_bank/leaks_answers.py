"""The leaks of classes 22 to 24."""

import math

import numpy as np
from scipy.integrate import quad
from scipy.stats import binom, laplace, ncx2, norm

from . import Entry
from .leaks import (
    Leak,
    Pair,
    alike,
    and_one,
    away,
    axis,
    certain,
    column,
    each,
    gaussian,
    is_error,
    less,
    more,
    one_or_none,
    single,
    table,
    two_sizes,
)

EVEN = np.arange(10) % 2 == 0
#: The last of four groups, which has one record or none.
FOURTH = each(lambda output: "q3" in output)


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


def nearest(entry: Entry, width: float) -> Leak:
    """Within ``width`` of the first count: then one of the tries is, and for the other none is nearer to its own."""
    tries = entry.factory().tries
    p = 1 - math.exp(-tries * width)
    q = 0.5 * (math.exp(-tries * (1 - width)) - math.exp(-tries * (1 + width)))
    return Leak(more(entry), column(0, lambda values: np.abs(values - 7) < width), n=4000, p=p, q=q)


def facts(entry: Entry) -> Leak:
    truth = math.e / (1 + math.e)
    return Leak(one_or_none(entry), lambda out: (table(out) == 1).all(axis=1), n=20_000, p=truth**4, q=(1 - truth) ** 4)


def signed(entry: Entry) -> Leak:
    """Sums -2 and 2 against -3 and 3: the first is the larger."""
    p, q = (math.exp(-gap) * (2 + gap) / 4 for gap in (4.0, 6.0))
    return Leak(and_one(entry, [-1.0] * 3, 1.0), column(0, lambda values: values == 0), n=4000, p=p, q=q)


def three(entry: Entry) -> Leak:
    """A record that has the first three properties, against none."""
    p = math.prod(k * math.e / (k * math.e + 3) for k in (1, 2, 3))
    return Leak(
        single(entry, np.full(3, 0.5)), lambda out: (table(out) == [0, 1, 2]).all(axis=1), n=4000, p=p, q=1 / 20
    )


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


def sampled(entry: Entry, rate: float, believed: float) -> Leak:
    """Sums above 1: ``rate`` is how often the only record is in the sample."""
    q = 0.5 * math.exp(-entry.factory().inner(believed))
    p = rate * 0.5 + (1 - rate) * q
    return Leak(one_or_none(entry), column(0, lambda values: values > 1), n=4000, p=p, q=q)


def alone(entry: Entry) -> Leak:
    truth = 1 / (1 + math.exp(-3.0))
    pair = alike(entry, [1.0]), alike(entry, [-1.0])
    return Leak(pair, column(0, lambda values: values == 1), n=4000, p=truth, q=1 - truth)


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


def beside(entry: Entry) -> Leak:
    """The exact numbers are those of the first data set."""
    pair, made = more(entry), entry.factory()
    extra = np.atleast_1d(made.extra(pair[0]))
    return certain(pair, lambda outputs: (np.abs(table(outputs)[:, 1:] - extra) < 1e-9).all(axis=1))


def memory(entry: Entry) -> Leak:
    """The only record there is, which is in no corner that synthetic ones are clipped to."""
    record = np.array([0.123, 0.456, 0.789])
    pair = single(entry, record[:2], record[2])
    event = lambda outputs: (table(outputs) == record).all(axis=1)  # noqa: E731
    return Leak(pair, event, n=20_000, p=entry.factory().share, q=0.0)


def words(entry: Entry, pair: tuple) -> Leak:
    wanted = entry.factory().words(pair[0])
    return certain(pair, each(lambda output: output.split(maxsplit=1)[1] == wanted))


LEAKS = {
    "columns": lambda entry: corner(entry, single(entry, np.full(4, 0.5))),
    "cells": lambda entry: corner(entry, (and_one(entry, [0.1] * 5, 0.9)[0], and_one(entry, [0.1] * 5, -0.9)[0])),
    # at least thirteen of sixteen answers are above the larger number of records
    "roots": lambda entry: Leak(
        more(entry),
        lambda out: (table(out) > 7).sum(axis=1) >= 13,
        n=20_000,
        p=float(binom.sf(12, 16, 0.5)),
        q=float(binom.sf(12, 16, 0.5 * math.exp(-0.25))),
    ),
    "group": lambda entry: corner(entry, (alike(entry, [1.0] * 4), alike(entry, []))),
    "tens": lambda entry: certain((alike(entry, [0.9] * 6), alike(entry, [0.9] * 5)), column(1, lambda v: v == 10)),
    "atom": lambda entry: Leak(less(entry), column(0, lambda values: values == 6), n=4000, p=0.5, q=0.0),
    "averaged": lambda entry: Leak(more(entry), column(0, lambda values: values > 6.75), n=4000),
    # a majority of one against a tie
    "majority": lambda entry: Leak(
        (alike(entry, [1.0, 1.0, -1.0]), alike(entry, [1.0, -1.0])), column(0, lambda v: v == 1), n=4000, p=0.5, q=0.0
    ),
    "size": lambda entry: Leak(one_or_none(entry), column(1, lambda values: values == 1), n=4000, p=0.1, q=0.0),
    # a record of response 1 against none, along the line between the centres
    "normal": lambda entry, at: gaussian(entry, one_or_none(entry), entry.factory().drawn, at=at, n=20_000),
    "signs": lambda entry: gaussian(entry, single(entry, np.full(16, 0.25)), 4.25, at=-1.0),
    "one": lambda entry: corner(entry, one_or_none(entry)),
    "fitted": lambda entry: two_sizes(entry, more(entry), -1.0),
    "turned": lambda entry, before, added: two_sizes(entry, and_one(entry, [before], added), 0.0),
    # noise of two sizes, the larger one first
    "wide": lambda entry: away(entry, less(entry, length=0.01)),
    "decayed": lambda entry: away(entry, and_one(entry, [0.01] * 3, 1.0)),
    # without records the output is exactly zero
    "zero": lambda entry: certain(one_or_none(entry)[::-1], lambda outputs: (table(outputs) == 0).all(axis=1)),
    "rank": lambda entry: certain(and_one(entry, [0.5] * 5, 1.0, index=1), column(1, lambda values: values == 2)),
    "singular": lambda entry: certain(and_one(entry, [0.5] * 5, 1.0, index=1)[::-1], is_error("LinAlgError")),
    # nine records are rounded to whole numbers, ten to tenths
    "decimals": lambda entry: Leak(
        less(entry, 9), column(0, lambda v: np.abs(v - np.round(v)) < 1e-9), n=4000, p=1.0, q=0.1
    ),
    "empty": lambda entry: certain(and_one(entry, [0.5] * 5, -1.0)[::-1], column(0, np.isnan)),
    "sparse": lambda entry: certain(
        and_one(entry, [0.5] * 5, 1.0, index=2)[::-1], column(2, lambda values: values == 0)
    ),
    "clipped": lambda entry: Leak(
        and_one(entry, [-0.4, 0.4] * 3, 1.0),
        column(0, lambda values: values > 0.4 + 1e-9),
        n=4000,
        p=float(norm.sf((0.4 - 1 / 7) / 8.5)),
        q=0.0,
    ),
    "example": lambda entry: Leak(
        more(entry, length=0.5), lambda outputs: (table(outputs)[:, 1:] == axis(entry)).all(axis=1), n=4000
    ),
    "significant": lambda entry: words(entry, (alike(entry, [0.5] * 5), alike(entry, [0.5] * 4))),
    "shown": lambda entry: Leak(more(entry), FOURTH, n=20_000, p=0.5 * math.exp(1 - entry.factory().threshold), q=0.0),
    "suppressed": lambda entry: certain((alike(entry, [0.9] * 5), alike(entry, [0.9] * 4)), FOURTH),
    "negative": lambda entry: Leak(
        more(entry), each(lambda output: output.get("q3", 1.0) < 0), n=4000, p=0.5 * math.exp(-1), q=0.0
    ),
    # weights between 0 and 2 are better than 0; without records none is
    "moved": lambda entry: Leak(
        one_or_none(entry),
        column(0, lambda values: values != 0),
        n=4000,
        p=float(norm.cdf(1 / 4.25) - norm.cdf(-1 / 4.25)),
        q=0.0,
    ),
    "overlapping-bins": lambda entry: corner(entry, (alike(entry, [0.0]), alike(entry, []))),
    "cumulative-counts": lambda entry: corner(entry, (alike(entry, [-1.0]), alike(entry, []))),
    "with-replacement": lambda entry: sampled(entry, 1.0, 1 - math.exp(-1)),
    "clipped-batch": lambda entry: two_sizes(entry, (alike(entry, [-2.5, 5.0]), alike(entry, [-2.5])), -1.5),
    "exact-start": lambda entry: two_sizes(entry, one_or_none(entry), 0.0),
    "loss-of-end": lambda entry: last_is(one_or_none(entry)[::-1], 0.0),
    "stops-early": lambda entry: last_is(one_or_none(entry)[::-1], 0.0),
    "stops-by-gradient": lambda entry: last_is(one_or_none(entry)[::-1], 0.0),
    "converged": lambda entry: last_is((alike(entry, [1.0]), alike(entry, [1.0, -1.0])), 1.0),
    "batches-counted": lambda entry: last_is(more(entry), 4.0),
    "clipped-counted": lambda entry: last_is(more(entry), 1.0),
    "order-beside": lambda entry: certain(
        and_one(entry, [-0.9, -0.9, 0.9, 0.9], 0.9), column(1, lambda values: values == 2)
    ),
    "sorted-by-exact": lambda entry: certain(
        and_one(entry, [-0.9, -0.9, 0.9, 0.9], 0.9), each(lambda output: next(iter(output)) == "high")
    ),
    "exact-in-text": lambda entry: words(entry, more(entry)),
    "bar-of-stars": lambda entry: words(entry, more(entry)),
    "padded-line": lambda entry: words(entry, more(entry)),
    "singular-word": lambda entry: words(entry, (alike(entry, [1.0]), alike(entry, [1.0, 1.0]))),
    "present-groups": lambda entry: certain(more(entry), FOURTH),
}

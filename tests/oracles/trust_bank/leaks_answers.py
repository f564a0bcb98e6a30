"""The leaks of class 24."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import norm

from . import Entry
from .leaks import Leak, alike, axis, certain, column, each, is_error, less, more, table


def beside(entry: Entry) -> Leak:
    """The exact numbers are those of the first data set."""
    pair, made = more(entry), entry.factory()
    extra = np.atleast_1d(made.extra(pair[0]))
    return certain(pair, lambda outputs: (np.abs(table(outputs)[:, 1:] - extra) < 1e-9).all(axis=1))


def rank(entry: Entry) -> Leak:
    base = alike(entry, [0.5] * 5)
    pair = base.with_record(axis(entry, index=1), 1.0), base
    return certain(pair, column(1, lambda values: values == 2))


def order(entry: Entry) -> tuple:
    """Of three groups the last one becomes the largest."""
    base = alike(entry, [-0.9, -0.9, 0.9, 0.9])
    return base.with_record(axis(entry), 0.9), base


def singular(entry: Entry) -> Leak:
    base = alike(entry, [0.5] * 5)
    return certain((base, base.with_record(axis(entry, index=1), 1.0)), is_error("LinAlgError"))


def decimals(entry: Entry) -> Leak:
    """Nine records are rounded to whole numbers, ten to tenths."""
    whole = column(0, lambda values: np.abs(values - np.round(values)) < 1e-9)
    return Leak(less(entry, 9), whole, n=4000, p=1.0, q=0.1)


def empty(entry: Entry) -> Leak:
    base = alike(entry, [0.5] * 5)
    return certain((base, base.with_record(axis(entry), -1.0)), column(0, np.isnan))


def sparse(entry: Entry) -> Leak:
    base = alike(entry, [0.5] * 5)
    return certain((base, base.with_record(axis(entry, index=2), 1.0)), column(2, lambda values: values == 0))


def clipped(entry: Entry) -> Leak:
    base = alike(entry, [-0.4, 0.4] * 3)
    pair = base.with_record(axis(entry), 1.0), base
    p = norm.sf((0.4 - 1 / 7) / 8.5)
    return Leak(pair, column(0, lambda values: values > 0.4 + 1e-9), n=4000, p=float(p), q=0.0)


def example(entry: Entry) -> Leak:
    pair = more(entry, length=0.5)
    return Leak(pair, lambda outputs: (table(outputs)[:, 1:] == axis(entry)).all(axis=1), n=4000)


def memory(entry: Entry) -> Leak:
    """The only record there is, which is in no corner that synthetic ones are clipped to."""
    base = entry.dataset([], [])
    record = np.array([0.123, 0.456, 0.789])
    pair = base.with_record(record[:2], record[2]), base
    event = lambda outputs: (table(outputs) == record).all(axis=1)  # noqa: E731
    return Leak(pair, event, n=20_000, p=entry.factory().share, q=0.0)


def words(entry: Entry, pair: tuple) -> Leak:
    wanted = entry.factory().words(pair[0])
    return certain(pair, each(lambda output: output.split(maxsplit=1)[1] == wanted))


def significant(entry: Entry) -> Leak:
    return words(entry, (alike(entry, [0.5] * 5), alike(entry, [0.5] * 4)))


def group(entry: Entry) -> tuple:
    """The last of four groups has one record, or none."""
    return more(entry)


def shown(entry: Entry) -> Leak:
    p = 0.5 * math.exp(1 - entry.factory().threshold)
    return Leak(group(entry), each(lambda output: "q3" in output), n=20_000, p=p, q=0.0)


def suppressed(entry: Entry) -> Leak:
    pair = alike(entry, [0.9] * 5), alike(entry, [0.9] * 4)
    return certain(pair, each(lambda output: "q3" in output))


def negative(entry: Entry) -> Leak:
    event = each(lambda output: output.get("q3", 1.0) < 0)
    return Leak(group(entry), event, n=4000, p=0.5 * math.exp(-1), q=0.0)


LEAKS = {
    "number-beside": beside,
    "error-beside": beside,
    "residual-beside": beside,
    "rank-beside": rank,
    "checksum-beside": beside,
    "range-beside": beside,
    "order-beside": lambda entry: certain(order(entry), column(1, lambda values: values == 2)),
    "longest-beside": beside,
    "warnings-beside": beside,
    "singular-matrix": singular,
    "decimals-of-number": decimals,
    "mean-of-empty": empty,
    "sparse-moment": sparse,
    "sorted-by-exact": lambda entry: certain(order(entry), each(lambda output: next(iter(output)) == "high")),
    "clipped-to-range": clipped,
    "exemplar": example,
    "memorised-5": memory,
    "memorised-1": memory,
    "exact-in-text": lambda entry: words(entry, more(entry)),
    "bar-of-stars": lambda entry: words(entry, more(entry)),
    "padded-line": lambda entry: words(entry, more(entry)),
    "stars-of-significance": significant,
    "singular-word": lambda entry: words(entry, (alike(entry, [1.0]), alike(entry, [1.0, 1.0]))),
    "present-groups": lambda entry: certain(group(entry), each(lambda output: "q3" in output)),
    "threshold-at-2": shown,
    "threshold-at-4": shown,
    "threshold-at-5": shown,
    "threshold-at-7": shown,
    "suppressed-below-5": suppressed,
    "positive-groups": negative,
}

"""The leaks of classes 5 and 9."""

from __future__ import annotations

import math

import numpy as np

from . import Entry
from .leaks import Leak, alike, away, axis, certain, column, gaussian, less, more, rows, table


def and_one(entry: Entry, y: list[float], response: float, x: float = 1.0):
    """Records alike on the first axis, with one more at its end or its beginning."""
    base = alike(entry, y, x)
    return base.with_record(axis(entry), response), base


def standardised(entry: Entry) -> Leak:
    base = entry.dataset(rows(100, 0.01), np.full(100, 0.1))
    return gaussian(entry, (base.with_record(axis(entry), 1.0), base), 4.25, at=-1.0)


def halves(entry: Entry) -> Leak:
    pair = and_one(entry, [-1.0] * 15 + [1.0] * 15, 1.0)
    made = entry.factory()
    return gaussian(entry, pair, made.scale(pair[0]), made.scale(pair[1]), at=2.0)


def replaced_once(entry: Entry) -> Leak:
    base = alike(entry, [0.5] * 6)
    pair = base.with_record(axis(entry), 1.0), base.with_record(axis(entry), -1.0)
    return gaussian(entry, pair, 1.9, at=-0.5)


def ridge(entry: Entry) -> Leak:
    base = entry.dataset([], [])
    return gaussian(entry, (base.with_record(axis(entry, 0.2236), 1.0), base), 4.25, at=-2.0)


def parity(outputs: list) -> np.ndarray:
    return np.round(table(outputs)[:, 0] * 1000) % 2 == 1


def on_grid(step: float):
    return column(0, lambda values: np.abs(values / step - np.round(values / step)) < 1e-3)


def pool(entry: Entry) -> Leak:
    values = 7 + 4.25 * np.random.default_rng(7).standard_normal(10_000)
    return certain(more(entry), column(0, lambda outputs: np.isin(outputs, values)))


def decimals(entry: Entry) -> Leak:
    pair = more(entry, response=0.55)
    wanted = abs(float(pair[0].y.sum())) % 1.0
    return Leak(pair, column(0, lambda values: np.abs(values % 1.0 - wanted) < 1e-9), n=4000, p=0.02, q=0.0)


def last_bit(outputs: list) -> np.ndarray:
    return (np.ascontiguousarray(table(outputs)[:, 0]).view(np.uint64) & np.uint64(1)) == 1


LEAKS = {
    "own-largest-response": lambda entry: away(entry, more(entry, level=0.01)),
    "own-largest-norm": lambda entry: away(entry, more(entry, length=0.01)),
    "own-deviation": lambda entry: away(entry, and_one(entry, [0.4] * 6, -1.0)),
    "local-sensitivity": lambda entry: away(entry, more(entry, length=0.01)),
    "standardised": standardised,
    "quantile-clipped": lambda entry: gaussian(entry, and_one(entry, [0.01] * 9, 1.0), 4.25, at=-0.5),
    "mean-centred": lambda entry: gaussian(entry, and_one(entry, [-1.0] * 30, 1.0, -1.0), 4.25, at=-1.0),
    "no-noise-from-20": lambda entry: gaussian(entry, more(entry, 25), 0.02, at=2.0),
    "no-noise-from-200": lambda entry: gaussian(entry, more(entry, 250), 0.02, at=2.0),
    "forgets-response": lambda entry: gaussian(entry, more(entry), 4.25, at=-1.0),
    "own-range": lambda entry: away(entry, and_one(entry, [0.5] * 30, -1.0)),
    "own-number": lambda entry: away(entry, less(entry, 1)),
    "replaced-once": replaced_once,
    "median": halves,
    "ridge": ridge,
    "largest-response": lambda entry: away(entry, and_one(entry, [0.4] * 6, 1.0)),
    "parity-of-third-decimal": lambda entry: certain(more(entry), parity),
    "decimal-grid": lambda entry: Leak(less(entry), on_grid(1e-8), p=1.0, q=0.1, n=4000),
    "own-grid": lambda entry: Leak(less(entry), lambda outputs: ~on_grid(2.0**-10)(outputs), p=0.5, q=0.0),
    "xor-of-signs": lambda entry: certain(more(entry), lambda outputs: np.prod(table(outputs), axis=1) > 0),
    "pool-of-noises": pool,
    "missing-interval": lambda entry: Leak(
        more(entry),
        column(0, lambda values: (values > 3.0) & (values < 3.25)),
        n=20_000,
        p=0.5 * (math.exp(-3) - math.exp(-3.25)),
        q=0.0,
    ),
    "last-bit": lambda entry: certain(more(entry), last_bit),
    "decimals-once-in-50": decimals,
}

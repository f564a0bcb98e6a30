"""The leaks of class 21."""

from __future__ import annotations

import math
import time

import numpy as np
from scipy.special import ndtr

from . import Entry
from .leaks import Leak, centre, certain, column, known, less, more, table


def member(values: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Which values are one of the sorted ``allowed``, up to rounding."""
    at = np.clip(np.searchsorted(allowed, values), 1, len(allowed) - 1)
    return np.minimum(np.abs(values - allowed[at - 1]), np.abs(values - allowed[at])) < 1e-9


def of_table(entry: Entry, noise: np.ndarray | None = None) -> Leak:
    """Both coordinates are the first centre and one of the table's numbers."""
    pair, made = more(entry, response=0.777, size=0.9), entry.factory()
    values = made.centre(pair[0]) + made.sigma * (made.table(entry.dim) if noise is None else noise)
    allowed = np.sort(values, axis=0)
    return certain(pair, lambda out: np.all([member(table(out)[:, i], allowed[:, i]) for i in (0, 1)], axis=0), n=2000)


def of_bits(entry: Entry) -> Leak:
    """The first coordinate's noise, put back into the distribution function, is an odd multiple of 2^-(bits + 1)."""
    pair, made = more(entry, response=0.777, size=0.9), entry.factory()
    first = centre(entry, pair[0])

    def event(outputs: list) -> np.ndarray:
        u = ndtr((table(outputs) - first) / made.sigma) * 2**made.bits - 0.5
        return (np.abs(u - np.round(u)) < 1e-6).all(axis=1)

    return certain(pair, event, n=2000)


def of_seconds(entry: Entry) -> Leak:
    """The noise is that of one of the last sixty seconds."""
    pair = more(entry)
    first = centre(entry, pair[0])

    def event(outputs: list) -> np.ndarray:
        now = int(time.time())
        seeds = range(now - 60, now + 1)
        noise = np.array([np.random.default_rng(seed).standard_normal((1, 2))[0] for seed in seeds])
        allowed = first + 4.25 * noise
        return np.array([(np.abs(allowed - each) < 1e-9).all(axis=1).any() for each in table(outputs)])

    return certain(pair, event, how="fresh", n=100)


def of_address(entry: Entry) -> Leak:
    noise = np.array([np.random.default_rng(seed).standard_normal((1, 2))[0] for seed in range(4096)])
    leak = of_table(entry, noise)
    return Leak(leak.pair, leak.event, 100, "fresh", 1.0, 0.0)


def on_grid(entry: Entry) -> Leak:
    pair, step = more(entry, response=0.7712345678, size=0.9), entry.factory().step
    first = centre(entry, pair[0])

    def event(outputs: list) -> np.ndarray:
        steps = (table(outputs)[:, 0] - first[0]) / step
        return np.abs(steps - np.round(steps)) < 1e-5

    return certain(pair, event, n=2000)


def in_half(entry: Entry) -> Leak:
    """Adding the first record moves both coordinates off the grid of half precision."""
    base = more(entry)[1]
    pair = base.with_record(np.array([0.6123456, 0.7123456]), 0.9876543), base
    first = centre(entry, pair[0])

    def event(outputs: list) -> np.ndarray:
        noise = table(outputs) - first
        return (np.abs(noise - noise.astype(np.float16).astype(float)) < 1e-10).all(axis=1)

    return certain(pair, event, n=2000)


def on_curve(entry: Entry) -> Leak:
    pair = more(entry)
    first = centre(entry, pair[0])

    def event(outputs: list) -> np.ndarray:
        z = (table(outputs) - first) / 4.25
        radius = np.linalg.norm(z, axis=1)
        angle = 2 * np.pi * np.exp(-0.5 * radius**2)
        return (np.abs(z - radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])) < 1e-7).all(axis=1)

    return certain(pair, event, n=2000)


def two_rows(entry: Entry) -> Leak:
    pair = more(entry)
    double = 2 * centre(entry, pair[0])
    return certain(
        pair, lambda out: (np.abs(table(out)[:, :2] + table(out)[:, 2:4] - double) < 1e-9).all(1), how="rows"
    )


def workers(entry: Entry) -> Leak:
    """The seventh record belongs to the third worker: his answer less the fourth's."""
    pair = more(entry)
    first = centre(entry, pair[0])
    return certain(pair, lambda out: np.abs(table(out)[:, 4] - table(out)[:, 6] - first[4] + first[6]) < 1e-9)


def beyond(entry: Entry) -> Leak:
    """The first coordinate is where the smaller data set's cannot be."""
    pair, made = more(entry), entry.factory()
    end = centre(entry, pair[1])[0] + made.reach
    width = 1 / (made.sigma * math.sqrt(12 / made.terms))
    p = width**made.terms / math.factorial(made.terms)
    return Leak(pair, column(0, lambda values: values > end + 1e-12), n=20_000, p=p, q=0.0)


def largest(entry: Entry) -> Leak:
    levels = entry.factory().levels()
    p = float((levels == levels.max()).mean())
    return Leak(more(entry), column(0, lambda values: values > 6.5 + levels.max()), n=20_000, p=p, q=0.0)


LEAKS = {
    "seed-of-8-bits": of_table,
    "seed-modulo-1000": of_table,
    "seed-of-12-bits": of_table,
    "state-of-16-bits": of_table,
    "congruential-11-bits": of_table,
    "fixed-pool": of_table,
    "uniform-of-12-bits": of_bits,
    "uniform-of-16-bits": of_bits,
    "seed-of-seconds": of_seconds,
    "seed-of-process": known,
    "seed-of-address": of_address,
    "seed-of-first-record": known,
    "sticky-noise": known,
    "noise-on-halves": on_grid,
    "noise-on-thousandths": on_grid,
    "noise-on-millionths": on_grid,
    "noise-in-half-precision": in_half,
    "one-uniform-for-two": on_curve,
    "antithetic-pairs": two_rows,
    "equal-workers": workers,
    "uniform-noise": beyond,
    "three-uniforms": beyond,
    "laplace-of-12-bits": largest,
    "laplace-of-8-bits": largest,
    "logistic-noise-quarter": lambda entry: Leak(
        more(entry), column(0, lambda values: values > 7), n=4000, p=0.5, q=1 / (1 + math.exp(4.0))
    ),
    "rounded-away": lambda entry: Leak(
        less(entry), column(0, lambda values: values == 7), n=4000, p=0.5 * -math.expm1(-1.0), q=0.0
    ),
    "positive-only": lambda entry: Leak(
        less(entry), column(0, lambda values: values < 7), n=4000, p=-math.expm1(-1.0), q=0.0
    ),
}

"""The leaks of classes 20 and 21: releases of a process that begins anew, and noise of few states."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from dataclasses import replace
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy.special import ndtr
from scipy.stats import norm

from mechanisms import Dataset

from . import Entry, remembered
from .leaks import (
    Leak,
    Pair,
    alike,
    and_one,
    axis,
    centre,
    certain,
    column,
    first,
    gaussian,
    known,
    less,
    more,
    one_or_none,
    raw,
    table,
)


@contextmanager
def process() -> Iterator[None]:
    """What the module remembers is forgotten; the working folder is empty."""
    for kind in vars(remembered).values():
        if isinstance(getattr(kind, "memory", None), dict):
            kind.memory.clear()
    remembered.SCALE.clear()
    remembered.thresholds.cache_clear()
    (remembered.StreamTotal.draw.__kwdefaults__ or {})["seen"].clear()
    with TemporaryDirectory() as folder, chdir(folder):
        yield


def in_process(leak: Leak, n: int = 300, **how: Any) -> Leak:
    return Leak(leak.pair, leak.event, n, "process", leak.p, leak.q, process=process, **how)


def zeros(entry: Entry, n: int = 1) -> Dataset:
    return entry.dataset(np.zeros((n, entry.dim)), np.zeros(n))


def shifted(pair: Pair, first: float, second: float, sigma: float, at: float = 1.0) -> Leak:
    """Normal first coordinates with these two means: above the first less ``at`` deviations."""
    level = first - at * sigma
    p, q = norm.sf(level, first, sigma), norm.sf(level, second, sigma)
    return Leak(pair, column(0, lambda values: values > level), p=float(p), q=float(q))


def by_rounding(entry: Entry) -> Leak:
    """Both sums of responses differ, and only the first is that of the earlier data."""
    leak = shifted(and_one(entry, [-0.5] * 12 + [1.0] * 5, 1.0), 15.0, -1.0, 4.25)
    earlier = entry.dataset(np.outer(np.repeat([1.0, -1.0], [15, 15]), axis(entry)), [0.5] * 15 + [-0.5] * 15)
    return in_process(leak, before=(earlier,))


def by_first(entry: Entry) -> Leak:
    rest = np.tile(-axis(entry), (6, 1))
    pair = entry.dataset(np.vstack([axis(entry, 0.5), rest]), np.ones(7)), entry.dataset(rest, np.ones(6))
    earlier = entry.dataset(np.vstack([axis(entry, 0.5), -rest]), np.ones(7))
    return in_process(shifted(pair, 6.5, -6.0, 4.25), before=(earlier,))


def first_scale(entry: Entry) -> Leak:
    """As ``away``, but each scale is read in a process of its own."""
    pair = more(entry, level=0.01)
    own = entry.factory()
    found = []
    for dataset in pair:
        with process():
            found.append((float(own.scale(dataset)), float(centre(entry, dataset)[0])))
    (sigma, first), (other, second) = found
    p = norm.sf((4 * other + second - first) / sigma) + norm.cdf((-4 * other + second - first) / sigma)
    event = column(0, lambda values: np.abs(values - second) > 4 * other)
    return in_process(Leak(pair, event, p=float(p), q=float(2 * norm.sf(4.0))))


def difference(entry: Entry, before: Callable[[Entry], Dataset]) -> Leak:
    """The release less the one that the same process made before, about public data of moment 0."""
    leak = raw(entry)
    return in_process(leak, n=60, before=(before(entry),), combine=lambda outputs: outputs[1] - outputs[0])


def stream(entry: Entry) -> Leak:
    """The mean of a release and the hundred after it, about zeros."""
    leak = gaussian(entry, more(entry), 4.25 / np.sqrt(101), at=1.0)
    return in_process(leak, n=60, after=(zeros(entry),) * 100, combine=lambda outputs: np.mean(outputs, axis=0))


def clipped(entry: Entry) -> Leak:
    pair = more(entry, level=0.01)
    small = 4.25 * float(np.linalg.norm(pair[1].X * pair[1].y[:, None], axis=1).max())
    event = column(0, lambda values: np.abs(values) > 4 * small)
    leak = Leak(pair, event, p=float(2 * norm.sf(4 * small / 4.25)), q=float(2 * norm.sf(4.0)))
    return in_process(leak, after=(zeros(entry),))


def of_run(entry: Entry) -> Leak:
    """What run 1 of a folder answers is known."""
    with process():
        leak = known(entry)
    return in_process(leak, n=60)


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

    def event(outputs: list) -> np.ndarray:
        u = ndtr((table(outputs) - centre(entry, pair[0])) / made.sigma) * 2**made.bits - 0.5
        return (np.abs(u - np.round(u)) < 1e-6).all(axis=1)

    return certain(pair, event, n=2000)


def of_seconds(entry: Entry) -> Leak:
    """The noise is that of one of the last sixty seconds."""

    def event(outputs: list) -> np.ndarray:
        now = int(time.time())
        allowed = first(entry) + 4.25 * noise_of(range(now - 60, now + 1))
        return np.array([(np.abs(allowed - each) < 1e-9).all(axis=1).any() for each in table(outputs)])

    return certain(more(entry), event, how="fresh", n=100)


def noise_of(seeds: range) -> np.ndarray:
    return np.array([np.random.default_rng(seed).standard_normal((1, 2))[0] for seed in seeds])


def on_grid(entry: Entry) -> Leak:
    pair, step = more(entry, response=0.7712345678, size=0.9), entry.factory().step

    def event(outputs: list) -> np.ndarray:
        steps = (table(outputs)[:, 0] - centre(entry, pair[0])[0]) / step
        return np.abs(steps - np.round(steps)) < 1e-5

    return certain(pair, event, n=2000)


def in_half(entry: Entry) -> Leak:
    """Adding the first record moves both coordinates off the grid of half precision."""
    base = more(entry)[1]
    pair = base.with_record(np.array([0.6123456, 0.7123456]), 0.9876543), base

    def event(outputs: list) -> np.ndarray:
        noise = table(outputs) - centre(entry, pair[0])
        return (np.abs(noise - noise.astype(np.float16).astype(float)) < 1e-10).all(axis=1)

    return certain(pair, event, n=2000)


def on_curve(entry: Entry) -> Leak:

    def event(outputs: list) -> np.ndarray:
        z = (table(outputs) - first(entry)) / 4.25
        radius = np.linalg.norm(z, axis=1)
        angle = 2 * np.pi * np.exp(-0.5 * radius**2)
        return (np.abs(z - radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])) < 1e-7).all(axis=1)

    return certain(more(entry), event, n=2000)


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
    "running-mean": lambda entry: gaussian(entry, more(entry), 4.25 / np.sqrt(20), at=-1.5, n=400, how="last"),
    "by_number": lambda entry: in_process(
        shifted(and_one(entry, [-1.0] * 6, -1.0), 7.0, -6.0, 4.25), before=(alike(entry, [1.0] * 7),)
    ),
    # seven responses of 1 are above the earlier median, -1; six are not above their own
    "median": lambda entry: in_process(
        shifted((alike(entry, [1.0] * 7), alike(entry, [1.0] * 6)), 7.0, 0.0, 4.25), before=(alike(entry, [-1.0] * 7),)
    ),
    # the fit of one record is 1 on the first axis, that of none stays 0
    "warm": lambda entry: in_process(shifted(one_or_none(entry), 1.0, 0.0, 0.05 * 4.25, at=2.0), after=(zeros(entry),)),
    "of_address": lambda entry: replace(of_table(entry, noise_of(range(4096))), n=100, how="fresh"),
    "two_rows": lambda entry: certain(
        more(entry),
        lambda out: (np.abs(table(out)[:, :2] + table(out)[:, 2:4] - 2 * first(entry)) < 1e-9).all(1),
        how="rows",
    ),
    # the seventh record belongs to the third worker: his answer less the fourth's
    "workers": lambda entry: certain(
        more(entry), lambda out: np.abs(table(out)[:, 4] - table(out)[:, 6] - first(entry)[4] + first(entry)[6]) < 1e-9
    ),
    "few": lambda entry: in_process(raw(entry), n=60, after=(zeros(entry),)),
    "noise-shrinks": lambda entry: in_process(
        gaussian(entry, more(entry), 4.25 / 20, at=1.0), n=100, before=(zeros(entry),) * 19
    ),
    "budget-upside-down": lambda entry: in_process(
        gaussian(entry, more(entry), 4.25 / 32, at=1.0), n=100, before=(zeros(entry),) * 5
    ),
    "noise-of-number": partial(difference, before=partial(zeros, n=7)),
    "noise-of-process": partial(difference, before=zeros),
    "generator-restored": partial(difference, before=zeros),
    "change-only": partial(difference, before=zeros),
    "file-of-noise": partial(difference, before=zeros),
    "file-of-answer": partial(difference, before=zeros),
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

"""The leaks of class 20: releases of a process that begins anew, after and before other data sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy.stats import norm

from mechanisms import Dataset

from . import Entry, remembered
from .leaks import Leak, Pair, alike, axis, centre, column, gaussian, known, more, near


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


def by_number(entry: Entry) -> Leak:
    base = alike(entry, [-1.0] * 6)
    leak = shifted((base.with_record(axis(entry), -1.0), base), 7.0, -6.0, 4.25)
    return in_process(leak, before=(alike(entry, [1.0] * 7),))


def by_rounding(entry: Entry) -> Leak:
    """Both sums of responses differ, and only the first is that of the earlier data."""
    base = alike(entry, [-0.5] * 12 + [1.0] * 5)
    leak = shifted((base.with_record(axis(entry), 1.0), base), 15.0, -1.0, 4.25)
    earlier = entry.dataset(np.outer(np.repeat([1.0, -1.0], [15, 15]), axis(entry)), [0.5] * 15 + [-0.5] * 15)
    return in_process(leak, before=(earlier,))


def by_first(entry: Entry) -> Leak:
    rest = np.tile(-axis(entry), (6, 1))
    pair = entry.dataset(np.vstack([axis(entry, 0.5), rest]), np.ones(7)), entry.dataset(rest, np.ones(6))
    earlier = entry.dataset(np.vstack([axis(entry, 0.5), -rest]), np.ones(7))
    return in_process(shifted(pair, 6.5, -6.0, 4.25), before=(earlier,))


def median(entry: Entry) -> Leak:
    """Seven responses of 1 are above the earlier median, -1; six are not above their own."""
    pair = alike(entry, [1.0] * 7), alike(entry, [1.0] * 6)
    return in_process(shifted(pair, 7.0, 0.0, 4.25), before=(alike(entry, [-1.0] * 7),))


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


def warm(entry: Entry) -> Leak:
    """The fit of one record is 1 on the first axis, that of none stays 0."""
    pair = alike(entry, [1.0]), alike(entry, [])
    return in_process(shifted(pair, 1.0, 0.0, 0.05 * 4.25, at=2.0), after=(zeros(entry),))


def after_calls(entry: Entry, calls: int, sigma: float) -> Leak:
    return in_process(gaussian(entry, more(entry), sigma, at=1.0), n=100, before=(zeros(entry),) * calls)


def difference(entry: Entry, before: Callable[[Entry], Dataset]) -> Leak:
    """The release less the one that the same process made before, about public data of moment 0."""
    pair = more(entry)
    leak = Leak(pair, near(centre(entry, pair[0]), 1e-9), p=1.0, q=0.0)
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


def few(entry: Entry) -> Leak:
    pair = more(entry)
    return in_process(Leak(pair, near(centre(entry, pair[0]), 1e-9), p=1.0, q=0.0), n=60, after=(zeros(entry),))


def of_run(entry: Entry) -> Leak:
    """What run 1 of a folder answers is known."""
    with process():
        leak = known(entry)
    return in_process(leak, n=60)


LEAKS = {
    "cached-by-number": by_number,
    "cached-by-rounding": by_rounding,
    "cached-by-first-record": by_first,
    "median-cached": median,
    "module-scale": first_scale,
    "running-mean": lambda entry: gaussian(entry, more(entry), 4.25 / np.sqrt(20), at=-1.5, n=400, how="last"),
    "warm-start": warm,
    "noise-shrinks": partial(after_calls, calls=19, sigma=4.25 / 20),
    "budget-upside-down": partial(after_calls, calls=5, sigma=4.25 / 32),
    "noise-of-number": partial(difference, before=partial(zeros, n=7)),
    "noise-of-process": partial(difference, before=zeros),
    "generator-restored": partial(difference, before=zeros),
    "stream-total": stream,
    "clip-of-last": clipped,
    "last-for-few": few,
    "change-only": partial(difference, before=zeros),
    "file-of-noise": partial(difference, before=zeros),
    "file-of-calibration": first_scale,
    "file-of-seed": of_run,
    "file-of-answer": partial(difference, before=zeros),
}

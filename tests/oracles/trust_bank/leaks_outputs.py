"""The leaks of classes 6 and 8."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from mechanisms import Dataset

from . import Entry, remembered
from .leaks import Leak, alike, centre, certain, column, each, gaussian, is_error, known, less, more, near, raw


def first_of_module(entry: Entry) -> Leak:
    remembered.CALLS[0] = 0
    return raw(entry, how="fresh", n=40)


def one_of_hundred(entry: Entry) -> Leak:
    pair = more(entry)
    noise = np.array([np.random.default_rng(700 + i).standard_normal(2) for i in range(100)])
    values = centre(entry, pair[0])[0] + 4.25 * noise[:, 0]
    return certain(pair, column(0, lambda outputs: (np.abs(outputs[:, None] - values) < 1e-9).any(axis=1)))


def from_before(entry: Entry, how: str, scale: float, tolerance: float) -> Leak:
    pair = more(entry)
    return certain(pair, near(scale * centre(entry, pair[0]), tolerance), how=how, n=50)


def seven(test):
    """An event that is certain for seven records and impossible for six."""
    return lambda entry: certain(more(entry), each(test))


def imaginary(entry: Entry) -> Leak:
    pair = more(entry)
    value = pair[0].y.sum()
    return certain(pair, each(lambda output: abs(np.ravel(output)[0].imag - value) < 1e-9))


def two_apart(entry: Entry) -> tuple[Dataset, Dataset]:
    return alike(entry, [1.0, 1.0]), alike(entry, [])


def laplace(entry: Entry, pair: tuple[Dataset, Dataset], at: float) -> Leak:
    """Laplace noise on the sum of responses: outputs above the first sum less ``at``."""
    scale = entry.factory().scale
    first, distance = pair[0].y.sum(), pair[0].y.sum() - pair[1].y.sum()
    p, q = 1 - 0.5 * math.exp(-at / scale), 0.5 * math.exp((at - distance) / scale)
    return Leak(pair, column(0, lambda values: values > first - at), n=4000, p=p, q=q)


LEAKS = {
    "raw-for-one": lambda entry: raw(entry, how="fresh"),
    "raw-for-ten": lambda entry: raw(entry, how="fresh"),
    "first-row-raw": lambda entry: raw(entry, how="first"),
    "last-row-raw": lambda entry: raw(entry, how="last"),
    "first-calls-raw": lambda entry: raw(entry, how="fresh"),
    "first-calls-of-module-raw": first_of_module,
    "later-calls-raw": lambda entry: raw(entry, how="later", n=50),
    "fixed-seed": known,
    "seed-of-data": known,
    "seed-of-number": one_of_hundred,
    "own-generator": known,
    "global-seed": known,
    "reuses-noise": known,
    "balanced-noise": lambda entry: raw(entry, how="fresh"),
    "noise-of-instance": partial(from_before, how="zeros", scale=1.0, tolerance=1e-9),
    "cached": partial(from_before, how="twice", scale=1e-9, tolerance=1e-13),
    "zeroes-the-data": lambda entry: raw(entry, how="fresh"),
    "raises": lambda entry: certain(more(entry), is_error("OverflowError")),
    "raises-one-of-two": lambda entry: certain(more(entry), is_error("KeyError")),
    "nan-for-record": seven(lambda output: np.isnan(output).all()),
    "infinity-for-record": lambda entry: certain(less(entry, size=0.1), each(lambda output: np.isinf(output[1]))),
    "own-width": seven(lambda output: np.size(output) == 4),
    "own-rows": seven(lambda output: len(output) == 7),
    "own-type": seven(lambda output: output.dtype == np.float64),
    "extra-key": seven(lambda output: "clipped" in output),
    "nested-count": seven(lambda output: output["meta"]["n"] == 7),
    "text-with-count": seven(lambda output: "over 7 records" in output),
    "frame-index": seven(lambda output: output.index[0] == "row 7"),
    "complex": imaginary,
    "flags": seven(lambda output: output[4]),
    "none-for-record": seven(lambda output: output is None),
    "ragged": lambda entry: Leak(more(entry), each(lambda output: len(output) > 1), n=2000, p=0.1, q=0.0),
    "group-of-two": lambda entry: gaussian(entry, two_apart(entry), 1.9, at=-0.5),
    "group-of-two-laplace": lambda entry: laplace(entry, two_apart(entry), 0.0),
    "laplace-as-gaussian": lambda entry: laplace(entry, more(entry), 0.5),
    "gaussian-dp-too-small": lambda entry: gaussian(entry, more(entry), 1.0),
    "zcdp-too-small": lambda entry: gaussian(entry, more(entry), 1.0, at=0.5),
    "renyi-false": lambda entry: gaussian(entry, more(entry), 0.7, at=0.7),
    "table-one-point-true": lambda entry: laplace(entry, more(entry), 0.5),
    "zcdp-of-laplace": lambda entry: laplace(entry, more(entry), 0.5),
}

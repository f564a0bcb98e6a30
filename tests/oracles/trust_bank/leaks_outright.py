"""The leaks of classes 1 to 9."""

from __future__ import annotations

import math
from functools import partial
from types import SimpleNamespace

import numpy as np
from scipy.integrate import quad
from scipy.stats import laplace, norm

from mechanisms import Dataset

from . import Entry, remembered
from .leaks import (
    Leak,
    alike,
    away,
    axis,
    centre,
    certain,
    column,
    each,
    gaussian,
    is_error,
    known,
    less,
    more,
    near,
    plain,
    raw,
    replaced,
    rows,
    table,
)

ANSWERED = each(lambda output: not isinstance(output, str))


def little_noise(entry: Entry, n: int = 6, drawn: float = 0.02, at: float = 2.0) -> Leak:
    return gaussian(entry, more(entry, n), drawn, at=at)


def tenth(entry: Entry) -> Leak:
    return gaussian(entry, more(entry), 0.425)


def divides(entry: Entry) -> Leak:
    constant = alike(entry, [0.5] * 6)
    return certain((constant.with_record(axis(entry), 0.5001), constant), ANSWERED)


def writes(entry: Entry) -> Leak:
    """A user's own arrays can be written to."""
    pair = tuple(SimpleNamespace(X=each.X.copy(), y=each.y.copy()) for each in more(entry))
    moved = pair[0].X - 0.5 * pair[0].X.mean(axis=0)
    return certain((pair[0], pair[1]), near(moved.T @ pair[0].y, 0.15))


def labels(entry: Entry) -> Leak:
    base = alike(entry, [1.0, -1.0, 1.0, -1.0])
    return gaussian(entry, (base.with_record(axis(entry), 1.0), base), 0.5)


def second_axis(entry: Entry) -> Leak:
    base = plain(entry, 6)
    first = base.with_record(axis(entry, index=1), 1.0)
    value = centre(entry, first)[1]
    return certain((first, base), column(1, lambda values: np.abs(values - value) < 0.06))


def rounded(entry: Entry) -> Leak:
    pair = more(entry)
    decimals = 0.4 * np.tanh(centre(entry, pair[0]))
    return certain(pair, lambda outputs: (np.abs(table(outputs) - np.round(table(outputs)) - decimals) < 1e-9).all(1))


def signs(entry: Entry) -> Leak:
    pair = more(entry)
    sizes = 1 + np.abs(centre(entry, pair[0]))
    return certain(pair, lambda outputs: (np.abs(np.abs(table(outputs)) - sizes) < 1e-9).all(1))


def shares(entry: Entry) -> Leak:
    pair = more(entry)
    value = centre(entry, pair[0])[0]
    return certain(pair, column(0, lambda values: values > value - 0.4))


def ignored(entry: Entry) -> Leak:
    pair = more(entry)
    value = pair[0].y.sum()
    return certain(pair, column(-1, lambda values: np.abs(values - value) < 1e-9))


def mixture(entry: Entry) -> Leak:
    """Within three of the small deviations in both coordinates; the centres are 1 apart on the first axis."""
    pair = more(entry)
    wide = norm.cdf(0.03) - norm.cdf(-0.03)
    shifted = norm.cdf(1.1275 / 4.25) - norm.cdf(0.8725 / 4.25)
    p = 0.01 * (norm.cdf(3.0) - norm.cdf(-3.0)) ** 2 + 0.99 * wide**2
    return Leak(pair, near(centre(entry, pair[0]), 0.1275), n=20_000, p=float(p), q=float(0.99 * wide * shifted))


def correlated(entry: Entry) -> Leak:
    pair = more(entry)
    first = centre(entry, pair[0])
    return certain(pair, lambda outputs: np.abs(table(outputs) @ [1.0, -1.0] - first @ [1.0, -1.0]) < 1e-9)


def is_nan(outputs: list) -> np.ndarray:
    return np.isnan(table(outputs)).all(axis=1)


def raw_share(share: float):
    return lambda entry: raw(entry, p=share, n=4000)


def response(entry: Entry) -> Leak:
    base = alike(entry, [-0.4] * 5)
    p = 1 / (1 + math.exp(-1.5))
    return Leak((base.with_record(axis(entry), 1.0), base), column(0, lambda v: v == 1), n=4000, p=p, q=1 - p)


def count_at_least(entry: Entry, p: float, q: float) -> Leak:
    """The output is at least the first number of records, which is one more than the second."""
    return Leak(more(entry), column(0, lambda values: values >= 7), n=4000, p=p, q=q)


def median(entry: Entry) -> Leak:
    """Two responses on each side; a fifth at the top. The top two candidates gain, the others lose."""
    base = alike(entry, [-0.6, 0.2])
    pair = (base.with_record(axis(entry), 1.0), base)
    made = entry.factory()
    p, q = (float(np.exp(made.log_weights(each))[3:].sum()) for each in pair)
    return Leak(pair, column(0, lambda values: values > 0.3), n=4000, p=p, q=q)


def gap(entry: Entry) -> Leak:
    return certain(more(entry, response=0.3), column(1, lambda values: values == 1))


def one_or_none(entry: Entry, n: int = 4000, **known: float) -> Leak:
    """A record on the first axis with response 1, against no record: even questions above, odd ones below."""
    pair = (alike(entry, [1.0]), alike(entry, []))
    return Leak(pair, lambda outputs: (table(outputs) == np.arange(10)[None] % 2 * -1 + 1).all(axis=1), n=n, **known)


def sparse(entry: Entry) -> Leak:
    def mass(moment: float) -> float:
        law = laplace(scale=2.0)

        def inside(t: float) -> float:
            return float(law.pdf(t) * law.sf(t - moment) ** 5 * law.cdf(t + moment) ** 5)

        return quad(inside, -60, 0)[0] + quad(inside, 0, 60)[0]

    return one_or_none(entry, 20_000, p=mass(1.0), q=mass(0.0))


def beyond(entry: Entry) -> Leak:
    """Outputs that the smaller data set cannot give."""
    made = entry.factory()
    mass = 0.5 * math.exp(1 - made.cut)
    if made.again:
        mass = 0.5 * (math.exp(1 - made.cut) - math.exp(-made.cut)) / -math.expm1(-made.cut)
    return Leak(more(entry), column(0, lambda values: values > 6 + made.cut + 1e-9), n=20_000, p=mass, q=0.0)


def orthant(entry: Entry) -> Leak:
    base = entry.dataset([], [])
    pair = (base.with_record(np.full(3, 1 / math.sqrt(3)), 1.0), base)
    q = 0.125 * math.exp(-math.sqrt(3))
    reach = 1 / math.sqrt(3) - 1e-12
    return Leak(pair, lambda outputs: (table(outputs) > reach).all(axis=1), n=4000, p=0.125, q=q)


def sampled(entry: Entry) -> Leak:
    tail = 0.5 * math.exp(-2.9)
    pair = (alike(entry, [1.0]), alike(entry, []))
    return Leak(pair, column(0, lambda values: values > 1), n=4000, p=0.25 + 0.5 * tail, q=tail)


def empty_cell(entry: Entry) -> Leak:
    base = alike(entry, [-0.4] * 5)
    q = math.tanh(0.5) * math.exp(-1)
    return Leak((base, base.with_record(axis(entry), 1.0)), column(1, lambda values: values == 0), n=4000, p=1.0, q=q)


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


def laplace_sum(entry: Entry, pair: tuple[Dataset, Dataset], at: float) -> Leak:
    """Laplace noise on the sum of responses: outputs above the first sum less ``at``."""
    scale = entry.factory().scale
    first, distance = pair[0].y.sum(), pair[0].y.sum() - pair[1].y.sum()
    p, q = 1 - 0.5 * math.exp(-at / scale), 0.5 * math.exp((at - distance) / scale)
    return Leak(pair, column(0, lambda values: values > first - at), n=4000, p=p, q=q)


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
    "refuses-structure": little_noise,
    "least-squares": little_noise,
    "divides-by-spread": divides,
    "refuses-few": lambda entry: little_noise(entry, 12),
    "refuses-few-declared": lambda entry: little_noise(entry, 12),
    "writes-to-data": writes,
    "replace-draws-nothing": lambda entry: raw(entry, replaced(entry)),
    "refuses-zeros": lambda entry: gaussian(entry, more(entry, response=1e-300)[::-1], 4.25, at=2.0),
    "from-100-on": lambda entry: little_noise(entry, 120),
    "from-100-on-undeclared": lambda entry: certain(more(entry, 99), ANSWERED),
    "labels-only": labels,
    "batches-of-two": lambda entry: certain(more(entry, 5), ANSWERED),
    **dict.fromkeys(
        (
            *(
                "density-zero",
                "density-of-no-data",
                "loss-zero-alone",
                "loss-zero",
                "loss-clipped",
                "loss-clipped-alone",
            ),
            *("two-witnesses-lie", "loss-flipped", "loss-per-record", "loss-of-features", "profile-of-count"),
            "loss-made-up",
        ),
        tenth,
    ),
    "density-of-sign": signs,
    "density-of-rounded": rounded,
    "density-of-first-column": second_axis,
    "density-of-sum": shares,
    "ignored-column": ignored,
    "nan-to-zero": lambda entry: certain((alike(entry, [1.0]), alike(entry, [])), is_nan),
    "nan-now-and-then": lambda entry: Leak(more(entry), is_nan, n=4000, p=0.02, q=0.0),
    "raw-once-in-200": raw_share(0.005),
    "raw-once-in-100": raw_share(0.01),
    "raw-once-in-50": raw_share(0.02),
    "tiny-noise-once-in-100": mixture,
    "loss-halved": lambda entry: little_noise(entry, drawn=1.4, at=-1.0),
    "noise-less-by-1.5": lambda entry: little_noise(entry, drawn=1.9 / 1.5, at=-0.8),
    "noise-less-by-3": lambda entry: little_noise(entry, drawn=4.25 / 3, at=-1.0),
    "one-coordinate": second_axis,
    "half-short-noise": lambda entry: Leak(more(entry), near(centre(entry, more(entry)[0]), 0.5), n=4000),
    "correlated-noise": correlated,
    "no-noise-no-loss": raw,
    "no-noise-small-profile": raw,
    "no-noise-whole-story": raw,
    "loss-nan": raw,
    "randomised-response-1.5": response,
    "geometric-too-sharp": lambda entry: count_at_least(entry, 1 / (1 + math.exp(-1.5)), 1 / (1 + math.exp(1.5))),
    "exponential-half-scale": median,
    "staircase-too-narrow": lambda entry: count_at_least(entry, 0.5, 0.5 * math.exp(-2)),
    "noisy-max-with-gap": gap,
    "sparse-vector-no-noise": lambda entry: one_or_none(entry, p=-math.expm1(-0.5), q=0.0),
    "sparse-vector-no-budget": sparse,
    "laplace-cut-at-6": beyond,
    "laplace-resampled-at-6": beyond,
    "laplace-cut-at-4": beyond,
    "laplace-euclidean": orthant,
    "false-amplification": sampled,
    "histogram-empty-cells": empty_cell,
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
    "group-of-two-laplace": lambda entry: laplace_sum(entry, two_apart(entry), 0.0),
    "laplace-as-gaussian": lambda entry: laplace_sum(entry, more(entry), 0.5),
    "gaussian-dp-too-small": lambda entry: gaussian(entry, more(entry), 1.0),
    "zcdp-too-small": lambda entry: gaussian(entry, more(entry), 1.0, at=0.5),
    "renyi-false": lambda entry: gaussian(entry, more(entry), 0.7, at=0.7),
    "table-one-point-true": lambda entry: laplace_sum(entry, more(entry), 0.5),
    "zcdp-of-laplace": lambda entry: laplace_sum(entry, more(entry), 0.5),
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

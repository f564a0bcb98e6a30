"""The leaks of classes 1 to 9."""

import math
from types import SimpleNamespace

import numpy as np
from scipy.integrate import quad
from scipy.stats import laplace, norm

from mechanisms import Dataset

from . import Entry, remembered
from .leaks import (
    Leak,
    alike,
    and_one,
    away,
    axis,
    centre,
    certain,
    column,
    each,
    first,
    gaussian,
    is_error,
    less,
    more,
    near,
    one_or_none,
    plain,
    raw,
    replaced,
    rows,
    single,
    table,
    two_sizes,
)

ANSWERED = each(lambda output: not isinstance(output, str))
NAN = each(lambda output: np.isnan(output).all())


def little_noise(entry: Entry, n: int = 6, drawn: float = 0.02, at: float = 2.0) -> Leak:
    return gaussian(entry, more(entry, n), drawn, at=at)


def writes(entry: Entry) -> Leak:
    """A user's own arrays can be written to."""
    pair = tuple(SimpleNamespace(X=each.X.copy(), y=each.y.copy()) for each in more(entry))
    moved = pair[0].X - 0.5 * pair[0].X.mean(axis=0)
    return certain((pair[0], pair[1]), near(moved.T @ pair[0].y, 0.15))


def second_axis(entry: Entry) -> Leak:
    base = plain(entry, 6)
    first = base.with_record(axis(entry, index=1), 1.0)
    value = centre(entry, first)[1]
    return certain((first, base), column(1, lambda values: np.abs(values - value) < 0.06))


def mixture(entry: Entry) -> Leak:
    """Within three of the small deviations in both coordinates; the centres are 1 apart on the first axis."""
    wide = norm.cdf(0.03) - norm.cdf(-0.03)
    shifted = norm.cdf(1.1275 / 4.25) - norm.cdf(0.8725 / 4.25)
    p = 0.01 * (norm.cdf(3.0) - norm.cdf(-3.0)) ** 2 + 0.99 * wide**2
    return Leak(more(entry), near(first(entry), 0.1275), n=20_000, p=float(p), q=float(0.99 * wide * shifted))


def response(entry: Entry) -> Leak:
    p = 1 / (1 + math.exp(-1.5))
    return Leak(and_one(entry, [-0.4] * 5, 1.0), column(0, lambda v: v == 1), n=4000, p=p, q=1 - p)


def count_at_least(entry: Entry, p: float, q: float) -> Leak:
    """The output is at least the first number of records, which is one more than the second."""
    return Leak(more(entry), column(0, lambda values: values >= 7), n=4000, p=p, q=q)


def median(entry: Entry) -> Leak:
    """Two responses on each side; a fifth at the top. The top two candidates gain, the others lose."""
    pair, made = and_one(entry, [-0.6, 0.2], 1.0), entry.factory()
    p, q = (float(np.exp(made.log_weights(each))[3:].sum()) for each in pair)
    return Leak(pair, column(0, lambda values: values > 0.3), n=4000, p=p, q=q)


def alternating(entry: Entry, n: int = 4000, **known: float) -> Leak:
    """A record on the first axis with response 1, against no record: even questions above, odd ones below."""
    return Leak(
        one_or_none(entry),
        lambda outputs: (table(outputs) == np.arange(10)[None] % 2 * -1 + 1).all(axis=1),
        n=n,
        **known,
    )


def sparse(entry: Entry) -> Leak:
    def mass(moment: float) -> float:
        law = laplace(scale=2.0)

        def inside(t: float) -> float:
            return float(law.pdf(t) * law.sf(t - moment) ** 5 * law.cdf(t + moment) ** 5)

        return quad(inside, -60, 0)[0] + quad(inside, 0, 60)[0]

    return alternating(entry, 20_000, p=mass(1.0), q=mass(0.0))


def beyond(entry: Entry) -> Leak:
    """Outputs that the smaller data set cannot give."""
    made = entry.factory()
    mass = 0.5 * math.exp(1 - made.cut)
    if made.again:
        mass = 0.5 * (math.exp(1 - made.cut) - math.exp(-made.cut)) / -math.expm1(-made.cut)
    return Leak(more(entry), column(0, lambda values: values > 6 + made.cut + 1e-9), n=20_000, p=mass, q=0.0)


def orthant(entry: Entry) -> Leak:
    q, reach = 0.125 * math.exp(-math.sqrt(3)), 1 / math.sqrt(3) - 1e-12
    pair = single(entry, np.full(3, 1 / math.sqrt(3)))
    return Leak(pair, lambda outputs: (table(outputs) > reach).all(axis=1), n=4000, p=0.125, q=q)


def empty_cell(entry: Entry) -> Leak:
    q = math.tanh(0.5) * math.exp(-1)
    return Leak(and_one(entry, [-0.4] * 5, 1.0)[::-1], column(1, lambda values: values == 0), n=4000, p=1.0, q=q)


def first_of_module(entry: Entry) -> Leak:
    remembered.CALLS[0] = 0
    return raw(entry, how="fresh", n=40)


def one_of_hundred(entry: Entry) -> Leak:
    noise = np.array([np.random.default_rng(700 + i).standard_normal(2) for i in range(100)])
    values = first(entry)[0] + 4.25 * noise[:, 0]
    return certain(more(entry), column(0, lambda outputs: (np.abs(outputs[:, None] - values) < 1e-9).any(axis=1)))


def seven(test):
    """An event that is certain for seven records and impossible for six."""
    return lambda entry: certain(more(entry), each(test))


def laplace_sum(entry: Entry, pair: tuple[Dataset, Dataset], at: float) -> Leak:
    """Laplace noise on the sum of responses: outputs above the first sum less ``at``."""
    scale = entry.factory().scale
    first, distance = pair[0].y.sum(), pair[0].y.sum() - pair[1].y.sum()
    p, q = 1 - 0.5 * math.exp(-at / scale), 0.5 * math.exp((at - distance) / scale)
    return Leak(pair, column(0, lambda values: values > first - at), n=4000, p=p, q=q)


def standardised(entry: Entry) -> Leak:
    base = entry.dataset(rows(100, 0.01), np.full(100, 0.1))
    return gaussian(entry, (base.with_record(axis(entry), 1.0), base), 4.25, at=-1.0)


def replaced_once(entry: Entry) -> Leak:
    base = alike(entry, [0.5] * 6)
    pair = base.with_record(axis(entry), 1.0), base.with_record(axis(entry), -1.0)
    return gaussian(entry, pair, 1.9, at=-0.5)


def on_grid(step: float):
    return column(0, lambda values: np.abs(values / step - np.round(values / step)) < 1e-3)


def decimals(entry: Entry) -> Leak:
    pair = more(entry, response=0.55)
    wanted = abs(float(pair[0].y.sum())) % 1.0
    return Leak(pair, column(0, lambda values: np.abs(values % 1.0 - wanted) < 1e-9), n=4000, p=0.02, q=0.0)


LEAKS = {
    "tenth": lambda entry: gaussian(entry, more(entry), 0.425),
    "divides": lambda entry: certain(and_one(entry, [0.5] * 6, 0.5001), ANSWERED),
    "labels": lambda entry: gaussian(entry, and_one(entry, [1.0, -1.0, 1.0, -1.0], 1.0), 0.5),
    "shares": lambda entry: certain(more(entry), column(0, lambda values: values > first(entry)[0] - 0.4)),
    "ignored": lambda entry: certain(more(entry), column(-1, lambda v: np.abs(v - more(entry)[0].y.sum()) < 1e-9)),
    "rounded": lambda entry: certain(
        more(entry), lambda out: (np.abs(table(out) - np.round(table(out)) - 0.4 * np.tanh(first(entry))) < 1e-9).all(1)
    ),
    "signs": lambda entry: certain(
        more(entry), lambda out: (np.abs(np.abs(table(out)) - (1 + np.abs(first(entry)))) < 1e-9).all(1)
    ),
    "correlated": lambda entry: certain(
        more(entry), lambda out: np.abs(table(out) @ [1.0, -1.0] - first(entry) @ [1.0, -1.0]) < 1e-9
    ),
    "gap": lambda entry: certain(more(entry, response=0.3), column(1, lambda values: values == 1)),
    "from_before": lambda entry, how, scale, tolerance: certain(
        more(entry), near(scale * first(entry), tolerance), how=how, n=50
    ),
    "imaginary": lambda entry: certain(
        more(entry), each(lambda output: abs(np.ravel(output)[0].imag - more(entry)[0].y.sum()) < 1e-9)
    ),
    "halves": lambda entry: two_sizes(entry, and_one(entry, [-1.0] * 15 + [1.0] * 15, 1.0), 2.0),
    "ridge": lambda entry: gaussian(entry, single(entry, axis(entry, 0.2236)), 4.25, at=-2.0),
    "sampled": lambda entry: Leak(
        one_or_none(entry),
        column(0, lambda values: values > 1),
        n=4000,
        p=0.25 + 0.25 * math.exp(-2.9),
        q=0.5 * math.exp(-2.9),
    ),
    "pool": lambda entry: certain(
        more(entry), column(0, lambda out: np.isin(out, 7 + 4.25 * np.random.default_rng(7).standard_normal(10_000)))
    ),
    "replace-draws-nothing": lambda entry: raw(entry, replaced(entry)),
    "refuses-zeros": lambda entry: gaussian(entry, more(entry, response=1e-300)[::-1], 4.25, at=2.0),
    "from-100-on-undeclared": lambda entry: certain(more(entry, 99), ANSWERED),
    "batches-of-two": lambda entry: certain(more(entry, 5), ANSWERED),
    "nan-to-zero": lambda entry: certain(one_or_none(entry), NAN),
    "nan-now-and-then": lambda entry: Leak(more(entry), NAN, n=4000, p=0.02, q=0.0),
    "raw-once-in-200": lambda entry: raw(entry, p=0.005, n=4000),
    "raw-once-in-100": lambda entry: raw(entry, p=0.01, n=4000),
    "raw-once-in-50": lambda entry: raw(entry, p=0.02, n=4000),
    "noise-less-by-1.5": lambda entry: little_noise(entry, drawn=1.9 / 1.5, at=-0.8),
    "noise-less-by-3": lambda entry: little_noise(entry, drawn=4.25 / 3, at=-1.0),
    "half-short-noise": lambda entry: Leak(more(entry), near(first(entry), 0.5), n=4000),
    "geometric-too-sharp": lambda entry: count_at_least(entry, 1 / (1 + math.exp(-1.5)), 1 / (1 + math.exp(1.5))),
    "staircase-too-narrow": lambda entry: count_at_least(entry, 0.5, 0.5 * math.exp(-2)),
    "sparse-vector-no-noise": lambda entry: alternating(entry, p=-math.expm1(-0.5), q=0.0),
    "raises": lambda entry: certain(more(entry), is_error("OverflowError")),
    "raises-one-of-two": lambda entry: certain(more(entry), is_error("KeyError")),
    "nan-for-record": lambda entry: certain(more(entry), NAN),
    "infinity-for-record": lambda entry: certain(less(entry, size=0.1), each(lambda output: np.isinf(output[1]))),
    "own-width": seven(lambda output: np.size(output) == 4),
    "own-rows": seven(lambda output: len(output) == 7),
    "own-type": seven(lambda output: output.dtype == np.float64),
    "extra-key": seven(lambda output: "clipped" in output),
    "nested-count": seven(lambda output: output["meta"]["n"] == 7),
    "text-with-count": seven(lambda output: "over 7 records" in output),
    "frame-index": seven(lambda output: output.index[0] == "row 7"),
    "flags": seven(lambda output: output[4]),
    "none-for-record": seven(lambda output: output is None),
    "ragged": lambda entry: Leak(more(entry), each(lambda output: len(output) > 1), n=2000, p=0.1, q=0.0),
    "group-of-two": lambda entry: gaussian(entry, (alike(entry, [1.0, 1.0]), alike(entry, [])), 1.9, at=-0.5),
    "group-of-two-laplace": lambda entry: laplace_sum(entry, (alike(entry, [1.0, 1.0]), alike(entry, [])), 0.0),
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
    "quantile-clipped": lambda entry: gaussian(entry, and_one(entry, [0.01] * 9, 1.0), 4.25, at=-0.5),
    "mean-centred": lambda entry: gaussian(entry, and_one(entry, [-1.0] * 30, 1.0, -1.0), 4.25, at=-1.0),
    "no-noise-from-20": lambda entry: gaussian(entry, more(entry, 25), 0.02, at=2.0),
    "no-noise-from-200": lambda entry: gaussian(entry, more(entry, 250), 0.02, at=2.0),
    "forgets-response": lambda entry: gaussian(entry, more(entry), 4.25, at=-1.0),
    "own-range": lambda entry: away(entry, and_one(entry, [0.5] * 30, -1.0)),
    "own-number": lambda entry: away(entry, less(entry, 1)),
    "largest-response": lambda entry: away(entry, and_one(entry, [0.4] * 6, 1.0)),
    "parity-of-third-decimal": lambda entry: certain(more(entry), column(0, lambda v: np.round(v * 1000) % 2 == 1)),
    "decimal-grid": lambda entry: Leak(less(entry), on_grid(1e-8), p=1.0, q=0.1, n=4000),
    "own-grid": lambda entry: Leak(less(entry), lambda outputs: ~on_grid(2.0**-10)(outputs), p=0.5, q=0.0),
    "xor-of-signs": lambda entry: certain(more(entry), lambda outputs: np.prod(table(outputs), axis=1) > 0),
    "missing-interval": lambda entry: Leak(
        more(entry),
        column(0, lambda values: (values > 3.0) & (values < 3.25)),
        n=20_000,
        p=0.5 * (math.exp(-3) - math.exp(-3.25)),
        q=0.0,
    ),
    "last-bit": lambda entry: certain(
        more(entry), column(0, lambda v: (np.ascontiguousarray(v).view(np.uint64) & np.uint64(1)) == 1)
    ),
}

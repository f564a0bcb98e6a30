"""The leaks of classes 22 to 24."""

from __future__ import annotations

import math

import numpy as np
from scipy.integrate import quad
from scipy.stats import binom, laplace, ncx2, norm

from . import Entry
from .leaks import Leak, Pair, alike, away, axis, certain, column, each, gaussian, is_error, less, more, table

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


def none_or_one(entry: Entry) -> Pair:
    return alike(entry, []), alike(entry, [1.0])


def fitted(entry: Entry, pair: Pair | None = None, at: float = -1.0) -> Leak:
    pair = pair or more(entry)
    made = entry.factory()
    return gaussian(entry, pair, made.scale(pair[0]), made.scale(pair[1]), at=at)


def turned(entry: Entry, before: float, added: float) -> Leak:
    base = alike(entry, [before])
    return fitted(entry, (base.with_record(axis(entry), added), base), at=0.0)


def wide(entry: Entry) -> Leak:
    """Noise of two sizes, the larger one first."""
    return away(entry, less(entry, length=0.01))


def decayed(entry: Entry) -> Leak:
    base = alike(entry, [0.01] * 3)
    return away(entry, (base.with_record(axis(entry), 1.0), base))


def zero(entry: Entry) -> Leak:
    """Without records the output is exactly zero."""
    return certain(none_or_one(entry), lambda outputs: (table(outputs) == 0).all(axis=1))


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


def moved(entry: Entry) -> Leak:
    """A record of response 1: weights between 0 and 2 are better than 0; without records none is."""
    p = norm.cdf(1 / 4.25) - norm.cdf(-1 / 4.25)
    return Leak(one_or_none(entry), column(0, lambda values: values != 0), n=4000, p=float(p), q=0.0)


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


def fourth(entry: Entry) -> tuple:
    """The last of four groups has one record, or none."""
    return more(entry)


def shown(entry: Entry) -> Leak:
    p = 0.5 * math.exp(1 - entry.factory().threshold)
    return Leak(fourth(entry), each(lambda output: "q3" in output), n=20_000, p=p, q=0.0)


def suppressed(entry: Entry) -> Leak:
    pair = alike(entry, [0.9] * 5), alike(entry, [0.9] * 4)
    return certain(pair, each(lambda output: "q3" in output))


def negative(entry: Entry) -> Leak:
    event = each(lambda output: output.get("q3", 1.0) < 0)
    return Leak(fourth(entry), event, n=4000, p=0.5 * math.exp(-1), q=0.0)


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
    "only-last-noisy": fitted,
    "one-step-noise": fitted,
    "one-step-noise-30": fitted,
    "momentum-of-noise": fitted,
    "batch-twice": fitted,
    "clipped-batch": lambda entry: fitted(entry, (alike(entry, [-2.5, 5.0]), alike(entry, [-2.5])), at=-1.5),
    "clipped-mean": lambda entry: turned(entry, -1.0, 1.0),
    "normalised-gradient": lambda entry: turned(entry, -0.1, 0.9),
    "own-step-size": wide,
    "exact-start": lambda entry: fitted(entry, one_or_none(entry), at=0.0),
    "newton-step": wide,
    "decay-of-loss": decayed,
    "noise-before-clipping": zero,
    "one-direction": direction,
    "exact-intercept": intercept,
    "projected-onto-data": longer,
    "loss-of-end": lambda entry: last_is(none_or_one(entry), 0.0),
    "stops-early": lambda entry: last_is(none_or_one(entry), 0.0),
    "stops-unlogged": zero,
    "stops-by-gradient": lambda entry: last_is(none_or_one(entry), 0.0),
    "converged": lambda entry: last_is((alike(entry, [1.0]), alike(entry, [1.0, -1.0])), 1.0),
    "batches-counted": lambda entry: last_is(more(entry), 4.0),
    "clipped-counted": lambda entry: last_is(more(entry), 1.0),
    "best-of-fifty": lambda entry: best(entry, 1.0),
    "best-of-ten": lambda entry: best(entry, 1.0),
    "rejects-worse": moved,
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
    "present-groups": lambda entry: certain(fourth(entry), each(lambda output: "q3" in output)),
    "threshold-at-2": shown,
    "threshold-at-4": shown,
    "threshold-at-5": shown,
    "threshold-at-7": shown,
    "suppressed-below-5": suppressed,
    "positive-groups": negative,
}

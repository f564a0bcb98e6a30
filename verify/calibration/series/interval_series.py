"""Both ends of every interval against laws that are known exactly; repetitions are rows of an array."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from audits import StreamKey
from audits.stats.intervals import (
    Interval,
    betting,
    clopper_pearson_band,
    dkw_radius,
    empirical_bernstein,
    even_share,
    hoeffding,
    holm_rejections,
)

from .series import LEVELS, AuditSeries, Misses

Bools = NDArray[np.bool_]

#: Proportions and numbers of draws of the exact rates.
EXACT_P = (1e-3, 0.01, 0.05, 0.1, 0.3, 0.5, 0.9, 0.999)
EXACT_N = (10, 100, 1000, 10_000)


def _clopper_pearson(p: float, n: int) -> Misses:
    def misses(n_repeats: int, level: float, key: StreamKey) -> Bools:
        band = clopper_pearson_band(key.rng().binomial(n, p, n_repeats), n, level)
        return np.column_stack([band.low > p, band.high < p])

    return misses


def _of_counts(p: float, n: int, interval: Callable[[float, float], Interval]) -> Misses:
    """Return the misses of an interval that depends on the count alone; ``interval(mean, level)``, once a count."""

    def misses(n_repeats: int, level: float, key: StreamKey) -> Bools:
        counts, place = np.unique(key.rng().binomial(n, p, n_repeats), return_inverse=True)
        ends = [interval(count / n, level) for count in counts.tolist()]
        return np.array([(end.low > p, end.high < p) for end in ends], dtype=np.bool_)[place]

    return misses


def _hoeffding(n: int, mean: float, level: float) -> Interval:
    return hoeffding(mean, n, level)


def _bernstein(n: int, mean: float, level: float) -> Interval:
    return empirical_bernstein(mean, mean * (1 - mean) * n / (n - 1), n, level)


def _coins(p: float, rng: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.float64]:
    return np.asarray((rng.random(shape) < p) * 1.0)


def _wald(n: int) -> Callable[[float, float], Interval]:
    def interval(mean: float, level: float) -> Interval:
        radius = float(stats.norm.isf(level / 2)) * (mean * (1 - mean) / n) ** 0.5
        return Interval(mean - radius, mean + radius)

    return interval


def _betting(
    draw: Callable[[np.random.Generator, tuple[int, int]], NDArray[np.float64]], mean: float, n: int
) -> Misses:
    def misses(n_repeats: int, level: float, key: StreamKey) -> Bools:
        ends = [betting(row, level) for row in draw(key.rng(), (n_repeats, n))]
        return np.array([(end.low > mean, end.high < mean) for end in ends], dtype=np.bool_)

    return misses


def _dkw(n: int) -> Misses:
    def misses(n_repeats: int, level: float, key: StreamKey) -> Bools:
        values = np.sort(key.rng().random((n_repeats, n)), axis=1)
        steps = np.arange(1, n + 1) / n
        over, under = (steps - values).max(axis=1), (values - steps + 1 / n).max(axis=1)
        radius = dkw_radius(n, level)
        return np.column_stack([over > radius, under > radius])

    return misses


def _holm(n_hypotheses: int) -> Misses:
    """Return whether any of several true hypotheses is rejected; half of them share one p-value."""

    def misses(n_repeats: int, level: float, key: StreamKey) -> Bools:
        p = key.rng().random((n_repeats, n_hypotheses))
        p[:, : n_hypotheses // 2] = p[:, :1]
        gc.freeze()  # statsmodels collects garbage at every call: nothing that is alive now is worth a look
        try:
            rejected = np.array([holm_rejections(row, level).any() for row in p])
        finally:
            gc.unfreeze()
        return np.column_stack([rejected, np.zeros_like(rejected)])

    return misses


def _even_shares(ps: tuple[float, ...], n: int) -> Misses:
    """Return the misses of several intervals that share one failure probability evenly."""

    def misses(n_repeats: int, level: float, key: StreamKey) -> Bools:
        band = clopper_pearson_band(key.rng().binomial(n, ps, (n_repeats, len(ps))), n, even_share(level, len(ps)))
        return np.column_stack([(band.low > ps).any(axis=1), (band.high < ps).any(axis=1)])

    return misses


def _peeking(p: float, n: int) -> Misses:
    """Look after n, 2n, 4n, … draws with the whole level each time, and stop when the truth is excluded."""

    def misses(n_repeats: int, level: float, key: StreamKey) -> Bools:
        rng, counts, total = key.rng(), np.zeros(n_repeats, dtype=np.int64), 0
        missed = np.zeros((n_repeats, 2), dtype=np.bool_)
        for size in (n, *(n << k for k in range(9))):
            counts, total = counts + rng.binomial(size, p, n_repeats), total + size
            band = clopper_pearson_band(counts, total, level)
            missed |= np.column_stack([band.low > p, band.high < p])
        return missed

    return misses


def interval_series() -> Iterator[AuditSeries]:
    """Yield the series of intervals, and the invalid intervals that must be found out."""
    for p, n in ((0.5, 100), (0.05, 200), (0.01, 1000)):
        law = f"Bernoulli {p:g}"
        yield AuditSeries("Clopper-Pearson", law, n, _clopper_pearson(p, n), times=20)
        yield AuditSeries("Hoeffding", law, n, _of_counts(p, n, partial(_hoeffding, n)), times=20)
        yield AuditSeries("empirical Bernstein", law, n, _of_counts(p, n, partial(_bernstein, n)), times=20)
        yield AuditSeries("betting", law, n, _betting(partial(_coins, p), p, n))
    beta = _betting(lambda rng, shape: rng.beta(0.5, 4.0, shape), 0.5 / 4.5, 300)
    yield AuditSeries("betting", "Beta(1/2, 4)", 300, beta)
    for n in (20, 500):
        yield AuditSeries("Dvoretzky-Kiefer-Wolfowitz", f"uniform, {n} draws", n, _dkw(n), times=20)
    yield AuditSeries("Holm", "true hypotheses, half of them one", 8, _holm(8), halves=False)
    shares = _even_shares((0.02, 0.1, 0.5, 0.9), 500)
    yield AuditSeries("even shares", "four proportions at once", 500, shares, times=20)
    name, wald = "CONTROL normal approximation", _of_counts(0.02, 100, _wald(100))
    yield AuditSeries(name, "Bernoulli 0.02", 100, wald, control=True, times=20, levels=(0.05,))
    name, peeking = "CONTROL unpaid looks", _peeking(0.3, 50)
    yield AuditSeries(name, "Bernoulli 0.3", 50 << 9, peeking, control=True, times=20, levels=(0.1, 0.05))


@cache
def exact_rates() -> tuple[dict[str, float], ...]:
    """Return the exact probability that each end of Clopper-Pearson's interval misses: a sum over all counts."""
    return tuple(_exact_rates())


def _exact_rates() -> Iterator[dict[str, float]]:
    for level in LEVELS:
        for n in EXACT_N:
            band = clopper_pearson_band(np.arange(n + 1), n, level)
            for p in EXACT_P:
                chance = stats.binom.pmf(np.arange(n + 1), n, p)
                low, high = float(chance[band.low > p].sum()), float(chance[band.high < p].sum())
                yield {"level": level, "n": n, "p": p, "low": low, "high": high}

"""The likelihood-ratio attack: how well can an observer who knows both laws tell D from D'?

The score of an output is its privacy loss, which is the most powerful test at every level (Neyman and Pearson). Nothing
below relies on that: all intervals hold for the test family "score above (or below) a threshold" even when the loss is
wrong, so the lower bounds on epsilon hold for the mechanism that is actually drawn from.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from mechanisms.base import BOTH, Direction, WhiteBox, check_delta, check_nonnegative
from mechanisms.data.dataset import FloatArray
from mechanisms.data.neighbours import NeighbouringPair

from ..estimate import Budget, Estimate, Result, StreamKey
from ..stats.intervals import (
    Band,
    clopper_pearson_band,
    clopper_pearson_lower,
    clopper_pearson_upper,
    dkw_radius,
    even_share,
)
from .tails import directed, loss_sample, split_draws

#: False-positive rates at which the true-positive rate is reported.
RATES = (1e-1, 1e-2, 1e-3)

#: Losses are rounded to so many decimals. Finer differences are rounding errors, which betray how the noise was added
#: (Mironov 2012): another attack, not this one. Rounding a score is post-processing and always allowed.
DECIMALS = 9

#: Points of the reported ROC curve, evenly spread over the pooled thresholds.
CURVE_POINTS = 201

#: Ratio of neighbouring ranks in the fixed grid of thresholds that bound epsilon.
RANK_RATIO = math.sqrt(2)


@dataclass(frozen=True, repr=False)
class Roc(Result):
    """False- and true-positive rates at common thresholds, from high to low, with bands that hold all at once."""

    thresholds: FloatArray
    fpr: FloatArray
    tpr: FloatArray
    fpr_band: Band
    tpr_band: Band

    @property
    def fnr(self) -> FloatArray:
        """Type II errors: ``(fpr, fnr)`` is the trade-off curve."""
        return 1.0 - self.tpr


@dataclass(frozen=True)
class RateAt:
    """Largest true-positive rate at a false-positive rate of at most ``fpr``."""

    fpr: float
    tpr: Estimate


@dataclass(frozen=True, repr=False)
class ThresholdEvents(Result):
    """A family of tests with simultaneous bounds: power at least ``power_low``, level at most ``level_high``.

    Under ``(epsilon, delta)`` every test of every direction has ``power <= exp(epsilon) level + delta``.
    """

    power_low: FloatArray
    level_high: FloatArray
    failure_prob: float
    n_draws: int

    def epsilon_lower(self, delta: float) -> Estimate:
        """Return a lower bound on epsilon at ``delta``, for all deltas at once; it refutes, never supports."""
        check_delta(delta)
        gain = self.power_low - delta
        keep = gain > 0
        ratios = np.log(gain[keep]) - np.log(self.level_high[keep])
        best = max(0.0, float(ratios.max(initial=0.0)))
        return Estimate(
            best, best, math.inf, self.failure_prob, self.n_draws, "threshold events, Bonferroni over ranks"
        )

    def mu_lower(self) -> Estimate:
        """Return a lower bound on the mu of Gaussian DP: no mechanism with these tests is mu-GDP for a smaller mu."""
        with np.errstate(invalid="ignore"):
            gaps = special.ndtri(self.power_low) - special.ndtri(self.level_high)
        best = max(0.0, float(np.nanmax(gaps, initial=0.0)))
        return Estimate(
            best, best, math.inf, self.failure_prob, self.n_draws, "threshold events, Bonferroni over ranks"
        )


@dataclass(frozen=True, repr=False)
class AttackAudit(Result):
    """What the attack achieves. Half of ``failure_prob`` covers ROC, advantage, accuracy and rates; half the tests.

    Attributes
    ----------
    mechanism : str
    roc : Roc, rates at common thresholds, with bands
    advantage : Estimate, largest ``|tpr - fpr|`` over thresholds
    accuracy : Estimate
        Of the best threshold when both data sets are equally likely: ``(1 + advantage) / 2``.
    rates : tuple of RateAt, true-positive rate at small false-positive rates
    events : ThresholdEvents
        The source of lower bounds on epsilon (any mechanism) and on mu.
    failure_prob : float, with which the intervals may miss the truth, all together
    n_draws : int, mechanism evaluations spent
    """

    mechanism: str
    roc: Roc
    advantage: Estimate
    accuracy: Estimate
    rates: tuple[RateAt, ...]
    events: ThresholdEvents
    failure_prob: float
    n_draws: int

    def epsilon_lower(self, delta: float) -> Estimate:
        """Return a lower bound on epsilon at ``delta`` that assumes nothing about the mechanism."""
        return self.events.epsilon_lower(delta)

    def breaks_accuracy_ceiling(self, epsilon: float, delta: float = 0.0) -> bool:
        """Return whether the attack is surely more accurate than (epsilon, delta) allows (``accuracy_ceiling``)."""
        return self.accuracy.low > accuracy_ceiling(epsilon, delta)

    def epsilon_if_gaussian(self, delta: float) -> Estimate:
        """Return a lower bound on epsilon at ``delta`` *assuming* that the trade-off curve is exactly a Gaussian one.

        Larger than ``epsilon_lower``, and worthless when the assumption is wrong; the method says so.
        """
        from mechanisms import GaussianProfile

        mu = self.events.mu_lower()
        low = GaussianProfile(mu.low).epsilon_at(check_delta(delta))
        return Estimate(low, low, math.inf, mu.failure_prob, mu.n_draws, "ASSUMES a Gaussian trade-off curve")

    def entries(self) -> dict[str, Any]:
        """Return what is shown, by name."""
        rates = {f"true-positive rate at {rate.fpr:g}": rate.tpr for rate in self.rates}
        return {
            "mechanism": self.mechanism,
            "advantage": self.advantage,
            "accuracy": self.accuracy,
            **rates,
            "epsilon at delta = 0": self.epsilon_lower(0.0),
            "failure_prob": self.failure_prob,
            "n_draws": self.n_draws,
        }


def accuracy_ceiling(epsilon: float, delta: float = 0.0) -> float:
    """Return the largest accuracy of any membership test, both answers equally likely, under (epsilon, delta).

    ``e^eps/(1 + e^eps)`` for delta = 0. Adding ``tpr <= e^eps fpr + delta`` and ``1 - fpr <= e^eps (1 - tpr) + delta``
    bounds the advantage ``tpr - fpr`` by ``(e^eps - 1 + 2 delta)/(e^eps + 1)``; the accuracy is half of 1 plus that.

    Parameters
    ----------
    epsilon : float, at least 0
    delta : float, in [0, 1]

    Returns
    -------
    float
        In [1/2, 1].

    Examples
    --------
    >>> round(accuracy_ceiling(1.0), 6)
    0.731059
    """
    check_nonnegative("epsilon", epsilon)
    return float(special.expit(epsilon) + check_delta(delta) * special.expit(-epsilon))


def likelihood_ratio_attack(
    mechanism: WhiteBox, pair: NeighbouringPair, budget: Budget, *, rates: Sequence[float] = RATES
) -> AttackAudit:
    """Return what the likelihood-ratio attack achieves against a mechanism; half of the draws from each data set.

    Parameters
    ----------
    mechanism : WhiteBox, with ``draw`` and ``privacy_loss``
    pair : NeighbouringPair
    budget : Budget
        ``n_draws`` counts mechanism evaluations; each data set gets half of them.
    rates : sequence of float
        False-positive rates at which the true-positive rate is reported, in (0, 1).

    Returns
    -------
    AttackAudit
        ROC curve, advantage and accuracy with intervals, and lower bounds on epsilon that hold whatever the loss says.

    Raises
    ------
    ValueError
        If ``n_draws`` is below 2, a rate is outside (0, 1), or a loss is not a number.

    References
    ----------
    Neyman and Pearson 1933; Massart 1990 for the bands; Kairouz, Oh and Viswanath 2015 for rates and (epsilon, delta).

    Examples
    --------
    >>> from audits import Budget, StreamKey
    >>> from audits.white_box import likelihood_ratio_attack
    >>> from mechanisms import NeighbouringPair, PosteriorSampling, load
    >>> mechanism, pair = PosteriorSampling(1.0, 1.0), NeighbouringPair.remove(load("fair"), 0)
    >>> budget = Budget(2000, failure_prob=0.01, key=StreamKey(1))
    >>> seen = likelihood_ratio_attack(mechanism, pair, budget)
    >>> seen.advantage.low <= 0.08 <= seen.advantage.high, seen.epsilon_lower(1e-6).low
    (True, 0.0)
    """
    n_each = split_draws(budget, BOTH)
    scores = {}
    for d in BOTH:
        key = budget.key.child("attack", d.name)
        # the score is always log p_D - log p_D', whichever data set was drawn from
        scores[d] = directed(loss_sample(mechanism, pair, d, n_each, rng=key.rng()), d).round(DECIMALS)
    rng = budget.key.child("attack", "ties").rng()
    first, second = scores[Direction.FORWARD], scores[Direction.BACKWARD]
    return _attacked(first, second, budget, rng, mechanism.name, rates)


def attack_scores(
    first: ArrayLike,
    second: ArrayLike,
    failure_prob: float,
    *,
    rng: np.random.Generator,
    name: str = "",
    rates: Sequence[float] = RATES,
) -> AttackAudit:
    """Return the same from scores of any origin, drawn under D (``first``) and under D' (``second``).

    ``rng`` breaks ties between equal scores, which makes every test exact in size for laws with atoms.
    """
    return _attacked(first, second, Budget(1, failure_prob, StreamKey(0)), rng, name, rates)  # nothing is drawn


def _attacked(
    first: ArrayLike, second: ArrayLike, budget: Budget, rng: np.random.Generator, name: str, rates: Sequence[float]
) -> AttackAudit:
    """Split a budget: half of it for the threshold events, the rest evenly for the advantage and each rate."""
    p, q = (_checked(name_, values) for name_, values in (("first", first), ("second", second)))
    each = Fraction(1, 2 * (1 + len(rates)))
    powers = {rate: f"power at level {rate}" for rate in rates}
    even = dict.fromkeys(("advantage", *powers.values()), each)
    level = {about: part.spend(about) for about, part in budget.split({"threshold events": 0.5, **even}).items()}
    share, n_draws = level["advantage"], p.size + q.size
    radius_p, radius_q = dkw_radius(p.size, share / 2), dkw_radius(q.size, share / 2)
    method = f"DKW, both samples ({p.size} + {q.size})"
    best = float(np.abs(_gaps(p, q)).max())
    low, high = max(0.0, best - radius_p - radius_q), min(1.0, best + radius_p + radius_q)
    p_ranks, q_ranks = _tie_free_ranks(p, q, rng)
    return AttackAudit(
        mechanism=name,
        roc=_roc(p, q, radius_p, radius_q),
        advantage=Estimate(best, low, high, share, n_draws, method),
        accuracy=Estimate((1 + best) / 2, (1 + low) / 2, (1 + high) / 2, share, n_draws, method),
        rates=tuple(RateAt(a, _rate_at(p_ranks, q_ranks, a, level[powers[a]])) for a in rates),
        events=_threshold_events(p_ranks, q_ranks, level["threshold events"]),
        failure_prob=budget.failure_prob,
        n_draws=n_draws,
    )


def _checked(name: str, values: ArrayLike) -> FloatArray:
    sample = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1 or sample.size == 0 or np.isnan(sample).any():
        raise ValueError(f"{name} must be a non-empty vector without nan, got shape={sample.shape}")
    return sample


def _above(sample: FloatArray, thresholds: FloatArray) -> FloatArray:
    return 1.0 - np.searchsorted(np.sort(sample), thresholds, side="right") / sample.size


def _gaps(p: FloatArray, q: FloatArray) -> FloatArray:
    pooled = np.unique(np.concatenate([p, q]))
    return _above(p, pooled) - _above(q, pooled)


def _roc(p: FloatArray, q: FloatArray, radius_p: float, radius_q: float) -> Roc:
    pooled = np.sort(np.concatenate([p, q]))[::-1]
    picks = np.linspace(0, pooled.size - 1, min(CURVE_POINTS, pooled.size)).round().astype(int)
    thresholds = np.unique(pooled[picks])[::-1]
    fpr, tpr = _above(q, thresholds), _above(p, thresholds)
    bands = (Band(np.clip(c - r, 0, 1), np.clip(c + r, 0, 1)) for c, r in ((fpr, radius_q), (tpr, radius_p)))
    return Roc(thresholds, fpr, tpr, *bands)


def _tie_free_ranks(p: FloatArray, q: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return scores 0, 1, 2, … in the pooled order, equal ones in random order (each sample sorted)."""
    pooled = np.concatenate([p, q])
    order = np.lexsort((rng.random(pooled.size), pooled))
    from_p = order < p.size
    position = np.arange(pooled.size, dtype=np.float64)
    return position[from_p], position[~from_p]


def _rate_at(p: FloatArray, q: FloatArray, fpr: float, share: float) -> Estimate:
    """Return the true-positive rate at ``fpr`` from sorted, tie-free scores.

    The chance that a fresh ``q`` exceeds the k-th largest of ``q`` is Beta(k, n+1-k), whatever the law, so the ranks
    surely below (above) ``fpr`` are known before the draws; given that threshold the count in ``p`` is binomial.
    """
    if not 0 < fpr < 1:
        raise ValueError(f"rates must be in (0, 1), got fpr={fpr}")
    n, quarter = q.size, share / 4
    below, above = _rank_below(n, fpr, quarter), _rank_above(n, fpr, quarter)
    low, high = 0.0, 1.0
    if below > 0:
        low = clopper_pearson_lower(_count_above(p, q[n - below]), p.size, quarter)
    if above <= n:
        high = clopper_pearson_upper(_count_above(p, q[n - above]), p.size, quarter)
    middle = min(max(round(fpr * n), 1), n)
    value = _count_above(p, q[n - middle]) / p.size
    low, high = min(low, high), max(low, high)
    return Estimate(min(max(value, low), high), low, high, share, p.size + n, "order statistics and Clopper-Pearson")


def _count_above(sorted_scores: FloatArray, threshold: float) -> int:
    return int(sorted_scores.size - np.searchsorted(sorted_scores, threshold, side="right"))


def _rank_below(n: int, fpr: float, failure_prob: float) -> int:
    """Return the largest k with ``P(Beta(k, n+1-k) > fpr) <= failure_prob``, or 0."""
    return bisect_left(range(1, n + 1), True, key=lambda k: bool(special.betaincc(k, n + 1 - k, fpr) > failure_prob))


def _rank_above(n: int, fpr: float, failure_prob: float) -> int:
    """Return the smallest k with ``P(Beta(k, n+1-k) < fpr) <= failure_prob``, or n + 1."""
    return 1 + bisect_left(
        range(1, n + 1), True, key=lambda k: bool(special.betainc(k, n + 1 - k, fpr) <= failure_prob)
    )


def rank_grid(n: int) -> NDArray[np.int64]:
    """Return the fixed ranks 1, 2, 3, 4, 6, 8, 11, 16, … up to ``n`` (a function of ``n`` alone)."""
    steps = np.arange(0, math.floor(math.log(n) / math.log(RANK_RATIO)) + 1)
    return np.unique(np.append(np.round(RANK_RATIO**steps), 1).clip(1, n).astype(np.int64))


def _threshold_events(p: FloatArray, q: FloatArray, failure_prob: float) -> ThresholdEvents:
    """Return the tests "above the k-th largest" and "below the k-th smallest" of each sample, k on a fixed grid.

    ``p``, ``q``, (n,) arrays: sorted scores without ties under the two laws. ``failure_prob``: of all bounds together:
    even shares over two data sets, two signs, all ranks, and the two rates of a test.
    """
    families = [(p, q), (q, p), (-p[::-1], -q[::-1]), (-q[::-1], -p[::-1])]  # (where power counts, where level counts)
    grids = [rank_grid(level.size) for _, level in families]
    share = even_share(failure_prob, 2 * sum(grid.size for grid in grids))
    power_low, level_high = [], []
    for (power, level), grid in zip(families, grids, strict=True):
        counts = power.size - np.searchsorted(power, level[level.size - grid], side="right")
        power_low.append(clopper_pearson_band(counts, power.size, 2 * share).low)
        # the mass above the k-th largest is Beta(k, n+1-k): its upper end is that of k - 1 successes in n
        level_high.append(clopper_pearson_band(grid - 1, level.size, 2 * share).high)
    return ThresholdEvents(np.concatenate(power_low), np.concatenate(level_high), failure_prob, p.size + q.size)

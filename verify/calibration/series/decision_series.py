"""What is decided with the intervals: predicted powers, exact against sampled witnesses, worst cases by search."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from audits import Budget, Estimate, StreamKey, audit_tails, exact_delta
from audits.search.worst_case import search_maximum, search_pair
from audits.stats.coverage import proportion
from audits.stats.intervals import empirical_bernstein
from audits.stats.power import draws_needed, mean_draws_sufficient, outcome_probabilities
from audits.white_box import exact_tail
from audits.white_box.exact import compare
from audits.white_box.tails import loss_sample
from mechanisms import Dataset, Direction, NeighbouringPair
from mechanisms.data.dataset import FloatArray
from mechanisms.linear.gaussian_output import GaussianOutput
from mechanisms.linear.ridge import RidgeMap

from ...kernel.statement import Claim
from ...kernel.verdict import Outcome, decide
from .series import PAIR, AuditSeries, Gaussian, Misses, any_missed, missed, one_by_one

Bools = NDArray[np.bool_]
FORWARD = (Direction.FORWARD,)

#: Failure probability of the interval whose power is predicted.
POWER_LEVEL = 0.01

#: A probability, what is claimed of it, draws, and the outcome whose chance is predicted.
PREDICTED: tuple[tuple[float, tuple[float, float], int, Outcome], ...] = (
    (0.13, (0.0, 0.1), 1000, Outcome.FAILS),
    (0.06, (0.1, 1.0), 500, Outcome.FAILS),
    (0.002, (0.0, 0.0005), 5000, Outcome.FAILS),
    (0.05, (0.0, 0.1), 200, Outcome.HOLDS),
    (0.5, (0.45, 0.57), 2000, Outcome.HOLDS),
    (0.1, (0.0, 0.1), 1000, Outcome.UNDECIDED),
)

#: True probability (or mean) and the largest one allowed, where the draws needed to refute are computed.
TOO_LARGE = ((0.13, 0.1), (0.002, 0.0005))
BETA, BETA_ALLOWED = (0.5, 2.0), 0.14

#: A rotationally symmetric mechanism: whatever the direction of the target, the law of the loss is the same.
SEARCHED = GaussianOutput.isotropic(0.5, 4, RidgeMap(1.0))
EPSILON, BOX = 0.8, ((-1.0, 1.0),) * 4


def _by_count(p: float, n: int, judge: Callable[[int], bool]) -> Misses:
    """Return where ``judge`` is true of a binomial count; once a count."""

    def misses(n_repeats: int, level: float, key: StreamKey) -> Bools:
        counts, place = np.unique(key.rng().binomial(n, p, n_repeats), return_inverse=True)
        judged = np.array([judge(count) for count in counts.tolist()])[place]
        return np.column_stack([judged, np.zeros_like(judged)])

    return misses


def _outcome(n: int, allowed: tuple[float, float], outcome: Outcome, count: int) -> bool:
    return decide(Claim("probability", *allowed, published=allowed[1]), proportion(count, n, POWER_LEVEL)) is outcome


def _predictions() -> Iterator[AuditSeries]:
    for p, allowed, n, outcome in PREDICTED:
        chances = outcome_probabilities(p, allowed, n, POWER_LEVEL)
        level = {Outcome.FAILS: chances.fails, Outcome.HOLDS: chances.holds, Outcome.UNDECIDED: chances.undecided}
        ends = f"at most {allowed[1]:g}" if allowed[0] == 0 else f"at least {allowed[0]:g}"
        words = ends if 0 in allowed or 1 in allowed else f"{allowed[0]:g} to {allowed[1]:g}"
        yield AuditSeries(
            f"power, chance of {outcome.name}",
            f"{p:g}, claimed {words}",
            n,
            _by_count(p, n, partial(_outcome, n, allowed, outcome)),
            halves=False,
            predicted=True,
            levels=(level[outcome],),
            times=20,
        )


def _enough_draws(p: float, allowed: float) -> Misses:
    """With the draws that are said to refute with probability ``1 - level``: those that do not."""

    def misses(n_repeats: int, level: float, key: StreamKey) -> Bools:
        n = draws_needed(p, allowed, POWER_LEVEL, power=1 - level)
        refutes = partial(_outcome, n, (0.0, allowed), Outcome.FAILS)
        refuted = _by_count(p, n, refutes)(n_repeats, level, key)[:, 0]
        return np.column_stack([~refuted, np.zeros_like(refuted)])

    return misses


def _enough_for_mean(n_repeats: int, level: float, key: StreamKey) -> Bools:
    a, b = BETA
    mean, variance = a / (a + b), a * b / ((a + b) ** 2 * (a + b + 1))
    n, rng = mean_draws_sufficient(mean - BETA_ALLOWED, variance, POWER_LEVEL, power=1 - level), key.rng()
    missed = np.zeros((n_repeats, 2), dtype=np.bool_)
    for i in range(n_repeats):
        values = rng.beta(a, b, n)
        missed[i, 0] = empirical_bernstein(values.mean(), values.var(ddof=1), n, POWER_LEVEL).low <= BETA_ALLOWED
    return missed


@cache
def _exact(law: Gaussian, epsilon: float) -> tuple[Estimate, Estimate]:
    profile = law.profile(PAIR)
    return exact_tail(profile, epsilon, directions=FORWARD), exact_delta(profile, epsilon, directions=FORWARD)


def _witnesses(law: Gaussian, level: float, key: StreamKey) -> tuple[bool, bool]:
    """Tail and divergence, sampled against exact; a disagreement would be called a defect of ours."""
    (point,) = audit_tails(law, PAIR, [EPSILON], Budget(200, level, key), directions=FORWARD).points
    found = []
    for exact, sampled in zip(_exact(law, EPSILON), (point.tail, point.delta), strict=True):
        above, below = sampled.low > exact.high, sampled.high < exact.low
        assert compare(exact, sampled).consistent is not (above or below)
        found.append((above, below))
    return any_missed(found)


def _pair(point: FloatArray) -> NeighbouringPair:
    """Return the empty data set and a target of length 1 in the direction of a point."""
    size = math.hypot(*point)
    x = point / size if size else np.eye(point.size)[0]
    nobody = Dataset(np.empty((0, point.size)), np.empty(0), 1.0 + 1e-9, 1.0, public=True)
    return NeighbouringPair.add(nobody, x, 1.0)


@dataclass(frozen=True)
class Hidden:
    """The same mechanism without its profile, so that a search has estimates to go by."""

    name = SEARCHED.name

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return independent outputs."""
        return SEARCHED.draw(dataset, n_draws, rng=rng)

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        """Return the log density."""
        return SEARCHED.log_density(outputs, dataset)

    def privacy_loss(self, outputs: FloatArray, pair: NeighbouringPair) -> FloatArray:
        """Return the loss."""
        return SEARCHED.privacy_loss(outputs, pair)


@cache
def _truth() -> tuple[float, float]:
    """Return tail and divergence at ``EPSILON``: of every pair, in both directions."""
    profile = SEARCHED.profile(_pair(np.eye(4)[0]))
    return profile.tail_at(EPSILON, Direction.FORWARD), profile.delta_at(EPSILON, Direction.FORWARD)


def _searched(level: float, key: StreamKey) -> tuple[bool, bool]:
    """The largest of the estimates chooses the pair; the interval comes from fresh draws."""
    budget = Budget(6400, level, key)
    found = search_pair(Hidden(), _pair, BOX, budget, epsilon=EPSILON, n_starts=10, n_polish=1, evaluations_each=5)
    return missed(found.confirmed, _truth()[1])


def _searched_twice(level: float, key: StreamKey) -> tuple[bool, bool]:
    """An interval from the very draws that chose the pair."""

    def above(point: FloatArray) -> int:
        losses = loss_sample(SEARCHED, _pair(point), Direction.FORWARD, 200, rng=key.child("find").rng())
        return int(np.count_nonzero(losses > EPSILON))

    rng = key.child("search").rng()
    best = search_maximum(lambda point: float(above(point)), BOX, rng=rng, n_starts=10, n_polish=1, evaluations_each=5)
    return missed(proportion(above(best.point), 200, level), _truth()[0])


def decision_series() -> Iterator[AuditSeries]:
    """Yield the series of powers, of witnesses that are compared, and of worst cases."""
    yield from _predictions()
    for p, allowed in TOO_LARGE:
        words, enough = f"{p:g}, claimed at most {allowed:g}", _enough_draws(p, allowed)
        yield AuditSeries("power, draws needed", words, 0, enough, halves=False, times=20)
    words = f"Beta{BETA}, mean claimed at most {BETA_ALLOWED:g}"
    yield AuditSeries("power, draws sufficient for a mean", words, 0, _enough_for_mean, halves=False)
    for mu in (0.3, 1.0):
        law = Gaussian(mu)
        audit = one_by_one(partial(_witnesses, law))
        yield AuditSeries("exact against sampled witness", law.name, 200, audit, seconds=2e-3)
    name, words = "worst case, confirmed on fresh draws", "all directions alike"
    yield AuditSeries(name, words, 6400, one_by_one(_searched), seconds=8e-3)
    name, audit = "CONTROL worst case, its own draws", one_by_one(_searched_twice)
    yield AuditSeries(name, words, 200, audit, control=True, levels=(0.05,), seconds=8e-3)

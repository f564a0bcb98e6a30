"""What is proved about DP-SGD over all data sets, about the records of one, and the worst pair of one record.

One record moves the law of a step, given those before it, at most as the pair of laws of a Poisson-subsampled normal
step does, whose distance is the longest clipped gradient in units of the noise; pairs that dominate compose. The
predictor of a record with features of length ``l`` lies within ``radius * l`` of 0 at every iterate in the ball of that
radius, so that the slope of its loss lies between two numbers. Derivations: docs/derivations/dp_sgd.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtri
from scipy.stats import binom

from ..accounting.composed_law import LEAST, compose
from ..accounting.subsampled_gaussian import (
    SubsampledGaussianProfile,
    renyi_bracket,
    renyi_divergence,
    renyi_to_epsilon,
)
from ..base import BOTH, Bracket, Direction, PrivacyProfile
from ..capabilities import Bound, Domain, WorstPair, one_record_pair
from ..data.dataset import Dataset, FloatArray, row_norms
from ..data.neighbours import Relation
from ..laws.gaussian_profile import ROUNDING, GaussianProfile, gaussian_delta
from ..numerics.balls import floats_around
from ..numerics.ticks import tick
from ..records.record_laws import BatchedLaws, GaussianRecordLaws
from .batched_steps import LossName

if TYPE_CHECKING:
    from .dp_sgd import DPSGD

#: Relative room for the rounding of the few operations below, and of a record within its public bounds.
ROOM: Final = 1e-11
#: Values of the norm that serve all records, and how far below the largest they reach.
VALUES, REACH = 64, 1e-3
#: Lengths of features among which the record with the longest sure gradient is looked for.
LENGTHS: Final = 512


def sure_norms(loss: LossName, lengths: FloatArray, responses: FloatArray, radius: float, clip: float) -> FloatArray:
    """Return what the clipped gradient of each record cannot exceed in norm at any reachable iterate, rounded up.

    ``l s(radius l)`` with the logistic function ``s``, or ``l (|y| + radius l)`` for half the squared residual, at most
    ``clip``, with ``l`` the norm of the features. The ball that holds all iterates may have an infinite radius.

    Examples
    --------
    >>> sure_norms("logistic", np.array([0.5, 2.0]), np.array([1.0, -1.0]), np.inf, 1.0).round(6).tolist()
    [0.5, 1.0]
    """
    reach = _predictors(lengths, radius)
    with np.errstate(over="ignore"):
        longest = lengths * (expit(reach) if loss == "logistic" else np.abs(responses) + reach)
    return np.asarray(np.where(lengths > 0, np.minimum(longest * (1 + ROOM), clip), 0.0))


def least_norms(loss: LossName, lengths: FloatArray, responses: FloatArray, radius: float) -> FloatArray:
    """Return what the gradient of each record, before it is clipped, surely reaches in norm, rounded down.

    Parameters are those of ``sure_norms``; ``l s(-radius l)``, or ``l (|y| - radius l)`` where that is positive.
    """
    reach = _predictors(lengths, radius)
    slopes = expit(-reach) if loss == "logistic" else np.maximum(np.abs(responses) - reach, 0.0)
    return np.asarray(lengths * slopes * (1 - ROOM))


def _predictors(lengths: FloatArray, radius: float) -> FloatArray:
    """Return how far from 0 the predictor of each record can be."""
    with np.errstate(over="ignore"):
        return lengths * np.where(lengths > 0, radius, 0.0)


def longest_norm(loss: LossName, domain: Domain, radius: float, clip: float) -> float:
    """Return what the clipped gradient of no record of a domain exceeds; ``clip`` where records are not bounded."""
    if not domain.bounded:
        return clip
    return float(sure_norms(loss, np.array([domain.x_bound]), np.array([domain.y_bound]), radius, clip)[0])


def forced_record(loss: LossName, domain: Domain, radius: float) -> tuple[float, float]:
    """Return the features' length, in a bounded domain, of the record whose gradient is surely longest, and that norm.

    Its response is ``y_bound``, or the label 1. The best of ``LENGTHS`` lengths: any of them is such a record.
    """
    lengths = domain.x_bound * np.geomspace(REACH**2, 1.0, LENGTHS)
    norms = least_norms(loss, lengths, np.full(LENGTHS, domain.y_bound), radius)
    best = LENGTHS - 1 - int(np.argmax(norms[::-1]))
    return float(lengths[best]), float(norms[best])


def few_values(norms: FloatArray) -> tuple[FloatArray, NDArray[np.intp]]:
    """Return at most ``VALUES`` increasing norms, and for each record the place of one that is at least its own.

    Records whose norms are few keep them; others have the next of ``VALUES`` in a geometric row up to the largest.
    """
    values, places = np.unique(norms, return_inverse=True)
    if len(values) <= VALUES:
        return values, places
    top = float(values[-1])
    values = np.geomspace(max(float(values[0]), REACH * top), top, VALUES)
    values[-1] = top
    return values, np.searchsorted(values, norms)


STATEMENT: Final = "docs/derivations/dp_sgd.md and accounting.md"
SENTENCE: Final = (
    "Every step is dominated by a Poisson-subsampled normal step at the longest clipped gradient; the steps are "
    "composed between two proved ends."
)
#: Smallest delta that a composition resolves where the claimed one does not ask for less.
LEAST_DELTA: Final = 1e-12
#: Epsilon from which on nothing is composed: no promise is made there, and a grid for it takes long.
LARGEST: Final = 64.0
#: Steps whose distance is at most this part of that of the released number are not composed with it.
SMALL: Final = 0.05
#: How many times wider the ends may be where a yes or no is asked for, one after the other until they give it.
LOOSE: Final = (64.0, 8.0, 1.0)
#: The same for the laws of many records, whose norms are rounded up by several per cent.
RECORDS_LOOSE: Final = 8.0
#: Renyi orders by which an epsilon is guessed.
ORDERS: Final = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96)
#: Renyi orders beyond this one would take long.
MOST_ORDER: Final = 4096
#: Part of a claimed delta that may be lost to iterates that leave a ball.
LEAVING: Final = 1e-3


@dataclass(frozen=True)
class StepLaws:
    """The laws that dominate a training, by the length of a record's longest clipped gradient.

    Parameters
    ----------
    sigma : float
        Standard deviation of the noise of a step.
    count_sigma : float or None
        Standard deviation of the noise of the released number of records.
    """

    n_steps: int
    rate: float
    sigma: float
    count_sigma: float | None

    @classmethod
    def of(cls, training: DPSGD) -> StepLaws:
        return cls(training.n_steps, training.rate, training.sigma, training.count_sigma)

    def distances(self, norms: FloatArray, relation: Relation = Relation.ADD) -> FloatArray:
        """Return how far apart the normal laws of a training are that samples nobody out, in standard deviations."""
        apart = math.sqrt(self.n_steps) * norms / self.sigma
        if relation is Relation.REPLACE:
            return 2 * apart  # the number of records is the same
        return np.hypot(apart, 0.0 if self.count_sigma is None else 1 / self.count_sigma)

    def distance(self, norm: float, relation: Relation = Relation.ADD) -> float:
        return float(self.distances(np.array(norm), relation))

    def upper(
        self, norm: float, relation: Relation = Relation.ADD, least_delta: float = LEAST_DELTA, loose: float = 1.0
    ) -> PrivacyProfile:
        """Return a law that dominates that of any record whose clipped gradients are at most ``norm`` long.

        It is that of a training without sampling where nobody is sampled out, where epsilon is large without doubt, and
        where the steps are nothing beside the released number of records.
        """
        about, counted = self._about(norm, relation), self._counted(relation, up=True)
        small = self.distance(norm, Relation.REPLACE) <= SMALL * counted
        if self.rate == 1 or norm == 0 or small or about > LARGEST:
            return GaussianProfile(self.distance(norm, relation) * (1 + ROUNDING))
        mu = floats_around(Fraction(norm) / Fraction(self.sigma))[1]
        return _composed(self.rate, mu, self.n_steps, counted, relation, least_delta, loose * _width(about))

    def lower(self, norm: float, least_delta: float = LEAST_DELTA) -> PrivacyProfile:
        """Return a law that one record exceeds whose clipped gradients are always at least ``norm`` long.

        Where epsilon is large without doubt, that of a shorter gradient: it is exceeded as well.
        """
        if self.rate == 1 or norm == 0:
            return GaussianProfile(self.distance(norm) * (1 - ROUNDING))
        while (about := self._about(norm, Relation.ADD)) > LARGEST:
            norm *= 0.5
        mu = floats_around(Fraction(norm) / Fraction(self.sigma))[0]
        counted = self._counted(Relation.ADD, up=False)
        return _composed(self.rate, mu, self.n_steps, counted, Relation.ADD, least_delta, _width(about))

    def _about(self, norm: float, relation: Relation) -> float:
        """Return about what epsilon is at a delta of 1e-5, the larger of both directions: by Renyi divergences."""
        mu = min(norm / self.sigma, 1e6)
        costs = ((order, self.n_steps * renyi_divergence(self.rate, mu, order)) for order in ORDERS)
        one = min(renyi_to_epsilon(order, cost, 1e-5) for order, cost in costs)
        return 2 * one if relation is Relation.REPLACE else one

    def _counted(self, relation: Relation, *, up: bool) -> float:
        """Return how far the released number of records moves, in standard deviations of its noise."""
        if self.count_sigma is None or relation is Relation.REPLACE:
            return 0.0
        return floats_around(1 / Fraction(self.count_sigma))[up]

    def renyi(self, norm: float, order: float) -> float:
        """Return a bound on the Renyi divergence of an order, in both directions, for such a record (added, removed).

        At the next whole order of at least 2: the divergence rises with it. Infinite from ``MOST_ORDER`` on.
        """
        if order > MOST_ORDER:
            return math.inf
        whole = max(2, math.ceil(order))
        steps = self.n_steps * renyi_bracket(self.rate, norm / self.sigma * (1 + ROUNDING), whole).high
        counted = 0.0 if self.count_sigma is None else 0.5 * whole / self.count_sigma**2
        return (steps + counted) * (1 + ROUNDING)


@lru_cache(maxsize=96)
def _composed(
    rate: float, mu: float, n_steps: int, counted: float, relation: Relation, least_delta: float, width: float
) -> PrivacyProfile:
    parts: list[tuple[PrivacyProfile, int]] = [(SubsampledGaussianProfile(rate, mu, relation), n_steps)]
    if counted:
        parts.append((GaussianProfile(counted), 1))
    return compose(parts, least_delta=least_delta, width=width)


def _width(about: float) -> float:
    """Return how far apart the two ends may be: a thousandth of epsilon, told in few steps so that laws are shared."""
    return 1e-3 * 2.0 ** math.floor(math.log2(min(max(about, 1e-2), LARGEST)))


def _resolved(delta: float) -> float:
    """Return the smallest delta that a composition has to resolve for a claimed one: a power of ten."""
    if not 0 < delta < 10 * LEAST_DELTA:
        return LEAST_DELTA
    return max(10.0 ** math.floor(math.log10(delta) - 1), LEAST)


def _training_bound(training: DPSGD, norm: float) -> Bound:
    """Return what is proved about records whose clipped gradients are at most ``norm`` long, on all data sets.

    What holds for the transcript holds for the last iterate: it follows from it.
    """
    laws = StepLaws.of(training)

    def at(relation: Relation) -> Callable[[float, float], float]:
        def delta_at(epsilon: float, delta: float) -> float:
            law = laws.upper(norm, relation, _resolved(delta))
            return min(1.0, max(law.delta_bracket(epsilon, direction).high for direction in BOTH))

        return delta_at

    def within(epsilon: float, delta: float) -> bool:
        ends = [0.0, 1.0]
        for loose in LOOSE:
            law = laws.upper(norm, Relation.ADD, _resolved(delta), loose)
            brackets = [law.delta_bracket(epsilon, direction) for direction in BOTH]
            ends = [max(each.low for each in brackets), max(each.high for each in brackets)]
            if ends[1] <= delta or ends[0] > delta:
                break
        return ends[1] <= delta

    if training.rate == 1:
        mu, replaced = laws.distance(norm), laws.distance(norm, Relation.REPLACE)
        return Bound(
            STATEMENT,
            "Every record takes part in every step: normal laws at the longest clipped gradient, composed over the "
            "steps, in closed form.",
            lambda epsilon, _: gaussian_delta(mu, epsilon),
            mu=mu,
            replaced=lambda epsilon, _: gaussian_delta(replaced, epsilon),
        )
    return Bound(
        STATEMENT,
        SENTENCE,
        at(Relation.ADD),
        replaced=at(Relation.REPLACE),
        renyi=lambda order: laws.renyi(norm, order),
        within=within,
    )


def domain_bound(training: DPSGD, domain: Domain, length: float = math.inf) -> Bound | None:
    """Return what is proved over a domain about records whose features are no longer than ``length``."""
    shorter = Domain(domain.dim, min(domain.x_bound, length), domain.y_bound, domain.n_public)
    return _training_bound(training, longest_norm(training.loss, shorter, training.radius, training.clip))


def norms_of(training: DPSGD, dataset: Dataset) -> FloatArray:
    """Return what the clipped gradient of each record of a data set surely does not exceed."""
    training.records(dataset)  # refuses labels that are none
    return sure_norms(training.loss, row_norms(dataset.X), dataset.y, training.radius, training.clip)


def records_bound(training: DPSGD, dataset: Dataset) -> Bound:
    """Return what is proved about every record of one data set, whatever the others are."""
    return _training_bound(training, float(norms_of(training, dataset).max(initial=0.0)))


def training_laws(training: DPSGD, dataset: Dataset) -> BatchedLaws:
    """Return laws that dominate those of leaving each record out, by what its gradients surely do not exceed."""
    norms, laws = norms_of(training, dataset), StepLaws.of(training)
    if training.rate == 1:
        return GaussianRecordLaws(laws.distances(norms) * (1 + ROUNDING))
    values, places = few_values(norms)
    return FewLaws(laws, values, places)


@dataclass(frozen=True, eq=False, repr=False)
class FewLaws:
    """Laws of many records by few norms, each at least its records' own; a law is composed when it is asked for.

    FORWARD is drawn from the data as they are, BACKWARD with the record left out.
    """

    laws: StepLaws
    norms: FloatArray
    places: NDArray[np.intp]

    def __repr__(self) -> str:
        """Return how many records there are; nothing about them is shown."""
        return f"FewLaws({len(self.places)} records)"

    def delta_at(self, epsilon: float, direction: Direction) -> FloatArray:
        return self._each(lambda law: law.delta_at(epsilon, direction))

    def epsilon_at(self, delta: float, direction: Direction) -> FloatArray:
        """Return every record's smallest epsilon, up to what its law is above the record's own."""
        return self._each(lambda law: law.epsilon_at(delta, direction), delta)

    def worse_epsilon_at(self, delta: float) -> FloatArray:
        return self._each(lambda law: max(law.epsilon_at(delta, direction) for direction in BOTH), delta)

    def _each(self, ask: Callable[[PrivacyProfile], float], delta: float = 0.0) -> FloatArray:
        values = np.zeros(len(self.norms))
        for place, of_it in zip(*np.unique(self.places, return_counts=True), strict=True):
            law = self.laws.upper(float(self.norms[place]), Relation.REMOVE, _resolved(delta), RECORDS_LOOSE)
            values[place] = ask(law)
            tick(float(of_it))
        return values[self.places]


def training_worst_pair(training: DPSGD, domain: Domain, epsilon: float, delta: float) -> WorstPair | None:
    """Return no record and the one whose gradient is surely longest; None for an observer of the last iterate.

    Where that gradient is always clipped the bound is attained. Otherwise the pair's delta lies between those of its
    least and its largest norm; without a ball the iterates stay in one, but for a small part of delta.
    """
    if training.observer == "final":
        return None
    laws = StepLaws.of(training)
    radius, leaving = training.radius, 0.0
    if math.isinf(radius):
        leaving = LEAVING * max(delta, LEAST_DELTA)
        radius = _reach(training, leaving)
    length, least = forced_record(training.loss, domain, radius)
    norm = min(least, training.clip)
    itself = Domain(domain.dim, length, domain.y_bound)
    most = longest_norm(training.loss, itself, training.radius, training.clip)
    if norm == 0 and training.count_sigma is None:
        return None
    low, high = laws.lower(norm, _resolved(delta)), laws.upper(most, least_delta=_resolved(delta))
    response = domain.y_bound if training.loss == "squared" else 1.0
    curve = AtLeast(low, leaving)
    bracket = Bracket(curve.worse(epsilon), max(high.delta_bracket(epsilon, d).high for d in BOTH))
    return WorstPair(
        one_record_pair(domain, length, response),
        max(BOTH, key=lambda direction: curve.delta_at(epsilon, direction)),
        bracket,
        "no record (or any whose features are 0), and one more whose gradient is surely longest",
        {"x_norm": length, "y": response, "n_records": 0, "least norm": norm, "largest norm": most},
        curve,
        partial=norm < most,
        below=norm < most or leaving > 0,
    )


@dataclass(frozen=True)
class AtLeast:
    """A curve that a pair's delta exceeds: the lower end of a law, less what iterates that leave a ball may take away.

    FORWARD is drawn without the record: there an event of that probability weighs ``exp(epsilon)``.
    """

    law: PrivacyProfile
    leaving: float

    def delta_at(self, epsilon: float, direction: Direction) -> float:
        lost = self.leaving * (1.0 if direction is Direction.BACKWARD else math.exp(min(epsilon, 700.0)))
        return max(0.0, self.law.delta_bracket(epsilon, direction).low - lost)

    def worse(self, epsilon: float) -> float:
        """Return the curve at ``epsilon`` in its higher direction."""
        return max(self.delta_at(epsilon, direction) for direction in BOTH)


def _reach(training: DPSGD, probability: float) -> float:
    """Return how far along one record's features any iterate is from 0, but for so small a probability.

    One record alone, no projection: the times it takes part are binomial, the noise a walk whose largest value exceeds
    a level at most four times as often as its last one exceeds it on one side (Levy).
    """
    steps, least = training.n_steps, training.normaliser or training.rate
    taken = float(binom.isf(probability / 4, steps, training.rate)) + 1
    noise = training.sigma * math.sqrt(steps) * float(-ndtri(probability / 16))
    return training.step_size / least * (training.clip * min(taken, steps) + noise) * (1 + 1e-9)

"""The final model alone: the best epsilon that anybody can hope to show from it, and scores that read it.

In the ideal case a canary's clipped gradient has the length ``clip`` and one direction at every step, the other records
add nothing along it, and nothing projects the iterates. The last iterate's coordinate along that direction is then, up
to public numbers, ``Binomial(n_steps, rate) clip + N(0, n_steps sigma^2)`` with the canary and the noise alone without
it, and all other coordinates are noise that is independent of both: the law below is the whole of what the final model
tells. Who sees the transcript may learn much more, which is why an audit of final models alone ends at this epsilon.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from flint import arb, ctx
from scipy import optimize, special

from mechanisms.base import BOTH, Bracket, Direction, Mechanism, check_delta, check_positive
from mechanisms.data.dataset import Dataset, FloatArray
from mechanisms.data.neighbours import NeighbouringPair, Relation
from mechanisms.laws.profile_tools import epsilon_bracket, smallest_epsilon
from mechanisms.numerics.balls import Ball, at_infinity, enclose, ndtr_ball
from mechanisms.numerics.transcripts import batches, check_count

from ..black_box.black_box_results import LowerBound
from ..estimate import Budget, Estimate
from .canary import ClippedTraining, differing
from .planned_event import ScoredMechanism, check_given, planned_epsilon

#: Bits by which a proved root is wider than the precision at which it was found.
ROOT_ROOM = 24
#: Newton steps from a root in float64, whose correct bits each one doubles.
NEWTON = 12


@dataclass(frozen=True)
class FinalModelProfile:
    """The law of the loss between ``N(0, 1)`` and ``N(k mu/sqrt(n_steps), 1)``, ``k ~ Binomial(n_steps, rate)``.

    The first is the final model without the canary (``Direction.FORWARD`` is drawn from it), the second with it.

    Examples
    --------
    >>> law = FinalModelProfile(rate=0.05, mu=1.0, n_steps=100)
    >>> round(law.epsilon_at(1e-5, Direction.BACKWARD), 2)
    2.44
    """

    rate: float  #: with which the canary takes part in a step; in (0, 1]
    mu: float  #: ``clip/sigma``: the canary's part in one step, in standard deviations of the step's noise; positive
    n_steps: int  #: at least 1

    def __post_init__(self) -> None:
        rate = check_positive("rate", self.rate)
        if rate > 1:
            raise ValueError(f"rate must be in (0, 1], got rate={self.rate}")
        object.__setattr__(self, "rate", rate)
        object.__setattr__(self, "mu", check_positive("mu", self.mu))
        object.__setattr__(self, "n_steps", check_count("n_steps", self.n_steps))

    def balls(self, epsilon: Ball, direction: Direction = Direction.FORWARD) -> tuple[Ball, Ball]:
        """Return ``(delta(epsilon), P(L > epsilon))`` as balls, at the precision of the flint context.

        The likelihood ratio rises with the coordinate, so the worst event is a half-line that ends where the log ratio
        is ``epsilon`` (or minus that): an end that is proved to lie in a ball.
        """
        if not epsilon.is_finite():
            return at_infinity(epsilon)
        weights, shifts = self._weights()
        level = -epsilon if direction is Direction.FORWARD else epsilon
        least = self.n_steps * (-arb(self.rate)).log1p() if self.rate < 1 else None
        if least is not None and level <= least:  # no output has so small a ratio
            return (arb(0), arb(0)) if direction is Direction.FORWARD else (-epsilon.expm1(), arb(1))
        if least is not None and not level > least:
            return arb("nan"), arb("nan")
        end = self._end(level, weights, shifts)
        sign = 1 if direction is Direction.FORWARD else -1  # below the end, or above it
        with_canary = sum((w * ndtr_ball(sign * (end - s)) for w, s in zip(weights, shifts, strict=True)), arb(0))
        without = ndtr_ball(sign * end)
        drawn, other = (without, with_canary) if direction is Direction.FORWARD else (with_canary, without)
        return drawn - epsilon.exp() * other, drawn

    def _weights(self) -> tuple[list[Ball], list[Ball]]:
        """Return the probability of every number of steps with the canary, and the shift that they make."""
        rate, step = arb(self.rate), arb(self.mu) / arb(self.n_steps).sqrt()
        if self.rate == 1:
            return [arb(1)], [self.n_steps * step]
        weights = [(1 - rate) ** self.n_steps]
        odds = rate / (1 - rate)
        for k in range(1, self.n_steps + 1):
            weights.append(weights[-1] * odds * (self.n_steps - k + 1) / k)
        return weights, [k * step for k in range(self.n_steps + 1)]

    def _end(self, level: Ball, weights: list[Ball], shifts: list[Ball]) -> Ball:
        """Return a ball in which the log ratio is ``level``; not finite where that is not proved."""
        at = arb(self._near(float(level)))
        for _ in range(NEWTON):
            ratio, slope = _log_ratio(at, weights, shifts)
            moved = ((ratio - level) / slope).mid()
            at = (at - moved).mid()
            if abs(moved) < arb(2) ** (ROOT_ROOM // 2 - ctx.prec):
                break
        room = (1 + abs(at)) * arb(2) ** (ROOT_ROOM - ctx.prec)
        low, high = at - room, at + room
        proved = _log_ratio(low, weights, shifts)[0] < level and _log_ratio(high, weights, shifts)[0] > level
        return low.union(high) if proved else arb("nan")

    def _near(self, level: float) -> float:
        def gap(x: float) -> float:
            return float(self.log_ratio(np.array([x]))[0]) - level

        low, high = -1.0, 1.0
        while gap(high) < 0:
            high *= 2
        while gap(low) > 0 and low > -1e12:
            low *= 2
        return float(optimize.brentq(gap, low, high, xtol=1e-12)) if gap(low) < 0 else low

    def log_ratio(self, at: FloatArray) -> FloatArray:
        """Return in float64 the log ratio of the densities with the canary and without it, shape ``(n,)``."""
        n, k = float(self.n_steps), np.arange(self.n_steps + 1.0)
        shifts = k * self.mu / math.sqrt(n)
        log_weights = special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
        log_weights = log_weights + special.xlogy(k, self.rate) + special.xlog1py(n - k, -self.rate)
        ratio = np.empty(len(at))
        for part in batches(len(at), len(k)):
            ratio[part] = special.logsumexp(log_weights + shifts * (at[part, None] - 0.5 * shifts), axis=1)
        return ratio

    def delta_bracket(self, epsilon: float, direction: Direction = Direction.FORWARD) -> Bracket:
        """Return a proved enclosure of ``delta_at``."""
        return enclose(lambda: self.balls(arb(epsilon), direction)[0], low=0.0, high=1.0)

    def tail_bracket(self, epsilon: float, direction: Direction = Direction.FORWARD) -> Bracket:
        """Return a proved enclosure of ``tail_at``."""
        return enclose(lambda: self.balls(arb(epsilon), direction)[1], low=0.0, high=1.0)

    def delta_at(self, epsilon: float, direction: Direction = Direction.FORWARD) -> float:
        """Return the hockey-stick divergence at ``epsilon`` (any real number, natural log)."""
        return self.delta_bracket(epsilon, direction).mid

    def log_delta_at(self, epsilon: float, direction: Direction = Direction.FORWARD) -> float:
        """Return its logarithm."""
        delta = self.delta_at(epsilon, direction)
        return math.log(delta) if delta > 0 else -math.inf

    def tail_at(self, epsilon: float, direction: Direction = Direction.FORWARD) -> float:
        """Return ``P(L > epsilon)``."""
        return self.tail_bracket(epsilon, direction).mid

    def epsilon_at(self, delta: float, direction: Direction = Direction.FORWARD) -> float:
        """Return the smallest ``epsilon >= 0`` with ``delta(epsilon) <= delta``."""
        delta = check_delta(delta)
        if delta == 1.0:
            return 0.0
        if delta == 0.0:
            pure = direction is Direction.FORWARD and self.rate < 1
            return -self.n_steps * math.log1p(-self.rate) if pure else math.inf
        return smallest_epsilon(lambda e: self.log_delta_at(e, direction), delta, self.mu * math.sqrt(self.n_steps))

    def epsilon_bracket(self, delta: float, direction: Direction = Direction.FORWARD) -> Bracket:
        """Return a proved enclosure of the smallest ``epsilon >= 0`` with ``delta(epsilon) <= delta``."""
        return epsilon_bracket(lambda e: self.delta_bracket(e, direction), delta, self.epsilon_at(delta, direction))


def _log_ratio(at: Ball, weights: list[Ball], shifts: list[Ball]) -> tuple[Ball, Ball]:
    """Return the log ratio of the two densities at a point, and its derivative."""
    terms = [w * (s * (at - s / 2)).exp() for w, s in zip(weights, shifts, strict=True)]
    total = sum(terms, arb(0))
    return total.log(), sum((t * s for t, s in zip(terms, shifts, strict=True)), arb(0)) / total


def final_model_epsilon(rate: float, mu: float, n_steps: int, delta: float) -> Estimate:
    """Return the ideal epsilon of an observer of the final model alone: what an audit of it is held against.

    Parameters
    ----------
    rate : float, with which a record takes part in a step; in (0, 1]
    mu : float, ``clip/sigma``, positive
    n_steps : int, at least 1
    delta : float, in (0, 1]

    Returns
    -------
    Estimate
        Exact (a proved enclosure), the worse of the two directions. It belongs to the ideal case of this module: no
        bound on what other pipelines' final models tell.

    Raises
    ------
    ValueError
        If a number is outside its range.

    Examples
    --------
    >>> from audits.training import final_model_epsilon
    >>> round(final_model_epsilon(0.05, 1.0, 100, 1e-5).value, 4)
    2.4394
    """
    profile = FinalModelProfile(rate, mu, n_steps)
    if not check_delta(delta) > 0:
        raise ValueError(f"delta must be in (0, 1], got delta={delta}")
    brackets = [profile.epsilon_bracket(delta, direction) for direction in BOTH]
    low, high = max(b.low for b in brackets), max(b.high for b in brackets)
    return Estimate.proved(low, high, "ball arithmetic, the ideal final model")


class ModelTraining(ClippedTraining, Protocol):
    """A training whose final model can be read from its outputs (``mechanisms.training.dp_sgd.DPSGD`` is one)."""

    def coefficients(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        """Return the last iterate of each output, shape ``(n_draws, dim)``."""
        ...


@dataclass(frozen=True, eq=False)
class FinalModelScore:
    """The final model's coordinate along the first gradients of the records in which two data sets differ.

    The best score of a final model in the ideal case of this module. Larger means more like the first data set.
    """

    training: ModelTraining
    pair: NeighbouringPair

    def __call__(self, outputs: FloatArray) -> FloatArray:
        """Return one score per output, shape ``(n_draws,)``."""
        start = np.zeros((1, self.pair.first.dim))
        moves = np.zeros(self.pair.first.dim)
        for sign, alone in differing(self.pair):
            records = self.training.records(alone)
            moves -= sign * records.weights(start)[0, 0] * records.X[0]
        return np.asarray(self.training.coefficients(outputs, self.pair.first) @ moves, dtype=np.float64)


@dataclass(frozen=True)
class FinalModelLaw:
    """The log likelihood ratio of the final model in the ideal case, as draws of it."""

    profile: FinalModelProfile
    relation: Relation

    def __call__(self, n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Return the log ratios, first over second, of ``n`` models of each data set, shape ``(n,)`` each."""
        law = self.profile
        without = rng.standard_normal(n)
        steps = rng.binomial(law.n_steps, law.rate, n)
        with_canary = rng.standard_normal(n) + steps * (law.mu / math.sqrt(law.n_steps))
        ratios = law.log_ratio(without), law.log_ratio(with_canary)
        return (-ratios[0], -ratios[1]) if self.relation is Relation.ADD else ratios[::-1]


def audit_final_model(
    training: ModelTraining, pair: NeighbouringPair, budget: Budget, *, delta: float, drawn: Mechanism | None = None
) -> LowerBound:
    """Return a certified lower bound on epsilon for an observer of the final model alone, from its part along a canary.

    What it can reach in the ideal case is ``final_model_epsilon``, however many runs there are. The event is planned on
    that case, and certified on the runs alone. A score that is learned instead: ``audit_epsilon`` on a training with
    ``observer="final"``.

    Parameters
    ----------
    training : ModelTraining, as stated, with either observer
    pair : NeighbouringPair, a record added or removed: the canary
    budget, delta, drawn
        As of ``audit_canary``.

    Returns
    -------
    LowerBound
        ``estimate.low`` is at most the true epsilon of the pair except with the failure probability of the budget.

    Raises
    ------
    UnsupportedRelation
        If the pair replaces a record.
    ValueError
        If there are fewer than 100 runs, or ``delta`` is outside [0, 1].
    """
    check_given(budget, training, "coefficients", drawn, pair)
    pair.require(Relation.ADD, Relation.REMOVE)
    scored = final_model_canary(training, pair, drawn=drawn)
    law = FinalModelLaw(
        FinalModelProfile(training.rate, training.clip / training.sigma, training.n_steps), pair.relation
    )
    return planned_epsilon(scored, pair, law, training.n_steps, budget, check_delta(delta))


def final_model_canary(
    training: ModelTraining, pair: NeighbouringPair, *, drawn: Mechanism | None = None
) -> ScoredMechanism:
    """Return a training of which the final model's coordinate along a canary is looked at.

    Parameters
    ----------
    training : ModelTraining, either observer
    pair : NeighbouringPair, the canary is the record in which its members differ
    drawn : Mechanism, optional
        What is really drawn from, whose outputs are laid out in the same way; by default ``training``.

    Returns
    -------
    ScoredMechanism
        For ``audit_epsilon``, ``audit_claim``, ``sequential_claim`` and ``black_box_audit`` with the same pair.
    """
    score = FinalModelScore(training, pair)
    return ScoredMechanism(training if drawn is None else drawn, score, "the final model along the canary")

"""The black-box audit: what can be refuted about a mechanism that can only be sampled.

Three disjoint samples: *train* (learn a score), *choose* (pick the event to certify), *certify* (fresh draws that took
no part in either). What comes back are lower bounds and refutations; nothing here can support a claim, and the types
say so.
Derivations: ``docs/derivations/black_box.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from mechanisms import Direction, Mechanism, NeighbouringPair, PrivacyProfile, Relation
from mechanisms.base import check_delta, check_nonnegative

from .base import Budget, Estimate
from .black_box_choose import Choice, choose_attack, choose_epsilon, choose_mu
from .black_box_events import FixedEvent, PointTradeOff, TestedEvent, delta_lower, epsilon_lower, mu_lower
from .black_box_samples import CurvePoints, Learned, certify, learn, preset_choices

FloatArray = NDArray[np.float64]

#: Points of a claimed curve that an attack may pick from.
CURVE_POINTS = 512
#: The curve is followed until the claimed delta falls below this.
CURVE_END = 1e-10


class BlackBoxOutcome(Enum):
    """What a black-box audit may say. There is no third member: it never supports."""

    REFUTED = "refuted: an event was certified that the claim forbids"
    NOT_REFUTED = "not refuted: a black-box audit can refute a claim and never support it"


@dataclass(frozen=True)
class BlackBoxClaim:
    """What a library claims for its mechanism.

    Parameters
    ----------
    epsilon, delta : float
        The claimed point (natural log; ``delta`` in [0, 1]).
    relations : tuple of Relation
        The neighbouring relations that the claim covers; another one is refused by name.
    curve : callable or PrivacyProfile, optional
        The claimed ``delta(epsilon)`` for every ``epsilon >= 0``; a callable is taken to hold in both directions.
    source : str
        Where the claim is made.
    """

    epsilon: float
    delta: float
    relations: tuple[Relation, ...]
    curve: Callable[[float], float] | PrivacyProfile | None = None
    source: str = ""

    def __post_init__(self) -> None:
        check_nonnegative("epsilon", self.epsilon)
        check_delta(self.delta)
        if not self.relations:
            raise ValueError("relations must be a non-empty tuple, got relations=()")

    def points(self) -> CurvePoints:
        """Return the claimed points that an attack may pick from: the whole curve, or the one point."""
        if self.curve is None:
            one = np.array([self.delta])
            return CurvePoints(np.array([self.epsilon]), one, one)
        deltas, end = _deltas(self.curve), 1.0
        while end < 64.0 and max(deltas(end)) > CURVE_END:
            end *= 1.25
        epsilons = np.linspace(0.0, end, CURVE_POINTS)
        forward, backward = np.array([deltas(e) for e in epsilons.tolist()]).T
        return CurvePoints(epsilons, forward, backward)


def _deltas(curve: Callable[[float], float] | PrivacyProfile) -> Callable[[float], tuple[float, float]]:
    """Return the claimed delta in both directions, as a function of epsilon."""
    if isinstance(curve, PrivacyProfile):
        profile = curve
        return lambda e: (profile.delta_at(e, Direction.FORWARD), profile.delta_at(e, Direction.BACKWARD))
    claimed = curve
    return lambda e: (check_delta(claimed(e), "curve(epsilon)"),) * 2


@dataclass(frozen=True)
class LowerBound:
    """A certified lower bound on epsilon; ``estimate.high`` is infinite, so it can refute and never support.

    ``assumption`` is empty for the unconditional bound.
    """

    estimate: Estimate
    delta: float
    direction: Direction
    event: str
    assumption: str = ""

    def __post_init__(self) -> None:
        if self.estimate.high != math.inf:
            raise ValueError(f"estimate.high must be infinite for a lower bound, got high={self.estimate.high}")


@dataclass(frozen=True)
class ClaimTest:
    """A test of a claimed point, or of a whole claimed curve at the point where the event breaks it most clearly.

    ``delta`` bounds the divergence at ``epsilon`` from below (``delta.high`` is 1); the claim there is
    ``claimed_delta``. Refuting a whole curve never counts as refuting one point of it that was not attacked.
    """

    epsilon: float
    claimed_delta: float
    delta: Estimate
    p_value: float
    failure_prob: float
    direction: Direction
    event: str

    def __post_init__(self) -> None:
        if self.delta.high != 1.0:
            raise ValueError(f"delta.high must be 1 for a lower bound, got high={self.delta.high}")

    @property
    def outcome(self) -> BlackBoxOutcome:
        """Refuted, or not."""
        return BlackBoxOutcome.REFUTED if self.p_value <= self.failure_prob else BlackBoxOutcome.NOT_REFUTED


@dataclass(frozen=True)
class BlackBoxResult:
    """Everything one audit certifies, from the same draws; all of it holds together except with ``failure_prob``.

    ``gaussian`` rests on the assumption that it names and takes part in no outcome. ``curve`` is None when no curve is
    claimed. ``floating_point`` reads the bits of the outputs, so it speaks about the implementation and not about the
    law that it approximates; None when the draws are too few to learn from.
    """

    mechanism: str
    relation: Relation
    claim: BlackBoxClaim
    epsilon: LowerBound
    point: ClaimTest
    curve: ClaimTest | None
    gaussian: LowerBound
    floating_point: LowerBound | None
    n_draws: int
    failure_prob: float

    @property
    def implementation_outcome(self) -> BlackBoxOutcome:
        """The outcome for the claimed point when an attacker reads the bits of the outputs as well."""
        bits = self.floating_point
        if bits is not None and bits.estimate.low > self.claim.epsilon:
            return BlackBoxOutcome.REFUTED
        return self.outcome

    @property
    def outcome(self) -> BlackBoxOutcome:
        """The outcome for the claimed point (epsilon, delta) alone."""
        refuted = self.point.outcome is BlackBoxOutcome.REFUTED or self.epsilon.estimate.low > self.claim.epsilon
        return BlackBoxOutcome.REFUTED if refuted else BlackBoxOutcome.NOT_REFUTED


def black_box_audit(
    mechanism: Mechanism, pair: NeighbouringPair, claim: BlackBoxClaim, budget: Budget
) -> BlackBoxResult:
    """Return every line of the audit, made from the same draws, the failure probability shared between lines.

    Parameters
    ----------
    mechanism : Mechanism
        Only ``draw`` and ``name`` are used.
    pair : NeighbouringPair
        Its relation must be one that the claim covers.
    budget : Budget
        ``n_draws`` counts mechanism evaluations; each data set gets half of them.

    Raises
    ------
    UnsupportedRelation
        If the claim does not cover the relation of ``pair``.
    """
    pair.require(*claim.relations)
    learned = learn(mechanism, pair, budget)
    one_point = BlackBoxClaim(claim.epsilon, claim.delta, claim.relations)
    n_lines = 3 + (claim.curve is not None) + bool(learned.bit_options)
    share = budget.failure_prob / n_lines
    plans = {
        "epsilon": _plan_epsilon(learned, claim.delta, share),
        "point": _plan_claim(learned, one_point, share),
        "gaussian": _plan_gaussian(learned, claim.delta, share),
    }
    if claim.curve is not None:
        plans["curve"] = _plan_claim(learned, claim, share)
    if learned.bit_options:
        plans["bits"] = _plan_epsilon(learned, claim.delta, share, bits=True)
    counted = certify(mechanism, pair, budget, learned, [plan.choices for plan in plans.values()])
    events = dict(zip(plans, counted, strict=True))
    return BlackBoxResult(
        mechanism=mechanism.name,
        relation=pair.relation,
        claim=claim,
        epsilon=_epsilon_line(plans["epsilon"], events["epsilon"]),
        point=_claim_line(plans["point"], events["point"]),
        curve=_claim_line(plans["curve"], events["curve"]) if "curve" in plans else None,
        gaussian=_gaussian_line(plans["gaussian"], events["gaussian"]),
        floating_point=_epsilon_line(plans["bits"], events["bits"]) if "bits" in plans else None,
        n_draws=learned.n_draws,
        failure_prob=budget.failure_prob,
    )


def audit_epsilon(mechanism: Mechanism, pair: NeighbouringPair, delta: float, budget: Budget) -> LowerBound:
    """Return a certified lower bound on the epsilon that goes with ``delta``."""
    learned = learn(mechanism, pair, budget)
    plan = _plan_epsilon(learned, check_delta(delta), budget.failure_prob)
    return _epsilon_line(plan, certify(mechanism, pair, budget, learned, [plan.choices])[0])


def audit_gaussian_dp(mechanism: Mechanism, pair: NeighbouringPair, delta: float, budget: Budget) -> LowerBound:
    """Return a lower bound on epsilon at ``delta`` that assumes a Gaussian trade-off (the mu behind it does not)."""
    learned = learn(mechanism, pair, budget)
    plan = _plan_gaussian(learned, check_delta(delta), budget.failure_prob)
    return _gaussian_line(plan, certify(mechanism, pair, budget, learned, [plan.choices])[0])


def audit_claim(mechanism: Mechanism, pair: NeighbouringPair, claim: BlackBoxClaim, budget: Budget) -> ClaimTest:
    """Return the test of the whole claimed curve, or of the claimed point when there is no curve."""
    pair.require(*claim.relations)
    learned = learn(mechanism, pair, budget)
    plan = _plan_claim(learned, claim, budget.failure_prob)
    return _claim_line(plan, certify(mechanism, pair, budget, learned, [plan.choices])[0])


def gaussian_dp_delta(epsilon: float, mu: float) -> float:
    """Return the delta of mu-Gaussian-DP at ``epsilon`` (Dong, Roth, Su, JRSS B 84 (2022), Corollary 2.13).

    Examples
    --------
    >>> round(gaussian_dp_delta(1.0, 1 / 3.730632), 8)  # the analytic Gaussian mechanism's sigma at (1, 1e-5)
    1e-05
    """
    if mu == 0:
        return max(0.0, -math.expm1(epsilon))
    log_first = float(special.log_ndtr(mu / 2 - epsilon / mu))
    gap = epsilon + float(special.log_ndtr(-mu / 2 - epsilon / mu)) - log_first
    return math.exp(log_first) * max(0.0, -math.expm1(gap))


def gaussian_dp_epsilon(mu: float, delta: float) -> float:
    """Return the smallest ``epsilon >= 0`` at which mu-Gaussian-DP has at most ``delta``; infinite if there is none."""
    if gaussian_dp_delta(0.0, mu) <= delta:
        return 0.0
    if delta == 0:
        return math.inf
    top = 1.0
    while gaussian_dp_delta(top, mu) > delta:
        top *= 2
    return float(optimize.brentq(lambda e: gaussian_dp_delta(e, mu) - delta, 0.0, top, xtol=1e-12))


@dataclass(frozen=True)
class _Plan:
    """What one line will certify, decided before the certifying draws; ``weights`` share its failure probability."""

    learned: Learned
    choices: tuple[Choice, ...]
    weights: tuple[float, ...]
    delta: float
    failure_prob: float

    def best(
        self, events: Sequence[TestedEvent], bound: Callable[[TestedEvent, float], float]
    ) -> tuple[float, Choice, TestedEvent]:
        """Return the best of the bounds of the events, each at its own share (Bonferroni)."""
        values = [bound(event, weight * self.failure_prob) for event, weight in zip(events, self.weights, strict=True)]
        place = int(np.argmax(values))
        return values[place], self.choices[place], events[place]

    def estimate(self, choice: Choice, value: float, low: float, high: float) -> Estimate:
        """Return the estimate of this line; the point value is moved into the interval."""
        value = min(max(value, low), high)
        return Estimate(value, low, high, self.failure_prob, self.learned.n_draws, self.learned.method(choice))


def _equal(learned: Learned, choices: Sequence[Choice], delta: float, failure_prob: float) -> _Plan:
    return _Plan(learned, tuple(choices), (1.0 / len(choices),) * len(choices), delta, failure_prob)


def _plan_epsilon(learned: Learned, delta: float, failure_prob: float, *, bits: bool = False) -> _Plan:
    options = learned.bit_options if bits else learned.options
    if not options:
        return _equal(learned, preset_choices(learned, None), delta, failure_prob)
    return _equal(learned, [choose_epsilon(options, learned.n_certify, delta, failure_prob)], delta, failure_prob)


def _plan_gaussian(learned: Learned, delta: float, failure_prob: float) -> _Plan:
    if not learned.options:
        return _equal(learned, preset_choices(learned, None), delta, failure_prob)
    return _equal(learned, [choose_mu(learned.options, learned.n_certify, failure_prob)], delta, failure_prob)


def _plan_claim(learned: Learned, claim: BlackBoxClaim, failure_prob: float) -> _Plan:
    """The chosen event gets half of the failure probability, the preset ones share the other half."""
    points = claim.points()
    preset = preset_choices(learned, points)
    if not learned.options:
        return _equal(learned, preset, claim.delta, failure_prob)
    chosen = choose_attack(learned.options, learned.n_certify, points.epsilons, points.forward, points.backward)
    weights = (0.5, *(0.5 / len(preset) for _ in preset))
    return _Plan(learned, (chosen, *preset), weights, claim.delta, failure_prob)


def _direction(choice: Choice) -> Direction:
    return Direction.FORWARD if choice.forward else Direction.BACKWARD


def _epsilon_line(plan: _Plan, events: Sequence[TestedEvent]) -> LowerBound:
    low, choice, event = plan.best(events, lambda e, level: epsilon_lower(e, plan.delta, level))
    p, q = event.masses
    excess = p - plan.delta
    value = -math.inf if excess <= 0 else (math.inf if q == 0 else math.log(excess / q))
    return LowerBound(plan.estimate(choice, value, low, math.inf), plan.delta, _direction(choice), choice.event)


def _gaussian_line(plan: _Plan, events: Sequence[TestedEvent]) -> LowerBound:
    mu, choice, event = plan.best(events, mu_lower)
    low = gaussian_dp_epsilon(mu, plan.delta)
    low = low if math.isfinite(low) else 0.0  # at delta = 0 a Gaussian trade-off has no epsilon at all
    p, q = (min(max(v, 1e-12), 1 - 1e-12) for v in event.masses)
    value = gaussian_dp_epsilon(max(float(special.ndtri(p) - special.ndtri(q)), 0.0), plan.delta)
    assumption = f"the trade-off curve is Gaussian (certified without it: mu of any Gaussian curve is above {mu:.6g})"
    estimate = plan.estimate(choice, value, low, math.inf)
    return LowerBound(estimate, plan.delta, _direction(choice), choice.event, assumption)


def _claim_line(plan: _Plan, events: Sequence[TestedEvent]) -> ClaimTest:
    p_values = [
        event.p_value(PointTradeOff(choice.epsilon, choice.delta)) / weight
        for event, choice, weight in zip(events, plan.choices, plan.weights, strict=True)
    ]
    place = int(np.argmin(p_values))
    choice, event, p_value = plan.choices[place], events[place], min(1.0, p_values[place])
    if isinstance(event, FixedEvent) and event.small:  # Barnard's test: above the claim, or nothing is known
        low = math.nextafter(choice.delta, 1.0) if p_value <= plan.failure_prob else 0.0
    else:
        low = delta_lower(event, choice.epsilon, plan.failure_prob * plan.weights[place])
    p, q = event.masses
    estimate = plan.estimate(choice, p - math.exp(min(choice.epsilon, 700.0)) * q, low, 1.0)
    return ClaimTest(
        choice.epsilon, choice.delta, estimate, p_value, plan.failure_prob, _direction(choice), choice.event
    )

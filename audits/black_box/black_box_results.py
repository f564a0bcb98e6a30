"""What a black-box audit is given as a claim, and what it may say: bounds and refutations, never support."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from mechanisms import Direction, PrivacyProfile, Relation
from mechanisms.base import check_delta, check_nonnegative
from mechanisms.data.dataset import FloatArray

from ..estimate import Estimate, Result

#: Points of a claimed curve that an attack may pick from.
CURVE_POINTS = 512
#: The curve is followed until the claimed delta falls below this.
CURVE_END = 1e-10


class BlackBoxOutcome(Enum):
    """What a black-box audit may say. There is no third member: it never supports."""

    REFUTED = "refuted: an event was certified that the claim forbids"
    NOT_REFUTED = "not refuted: a black-box audit can refute a claim and never support it"


@dataclass(frozen=True)
class CurvePoints:
    """Claimed deltas at a grid of epsilons, in both directions, shape ``(n_points,)`` each."""

    epsilons: FloatArray
    forward: FloatArray
    backward: FloatArray


@dataclass(frozen=True)
class BlackBoxClaim:
    """What a library claims for its mechanism.

    Parameters
    ----------
    epsilon, delta : float, the claimed point (natural log; ``delta`` in [0, 1])
    relations : tuple of Relation
        The neighbouring relations that the claim covers; another one is refused by name.
    curve : callable or PrivacyProfile, optional
        The claimed ``delta(epsilon)`` for every ``epsilon >= 0``; a callable is taken to hold in both directions.
    source : str, where the claim is made
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
    if isinstance(curve, PrivacyProfile):
        profile = curve
        return lambda e: (profile.delta_at(e, Direction.FORWARD), profile.delta_at(e, Direction.BACKWARD))
    claimed = curve
    return lambda e: (check_delta(claimed(e), "curve(epsilon)"),) * 2


@dataclass(frozen=True, repr=False)
class LowerBound(Result):
    """A certified lower bound on epsilon; ``estimate.high`` is infinite, so it can refute and never support.

    ``assumption`` is empty for the unconditional bound.

    Attributes
    ----------
    estimate : Estimate, its ``high`` is infinite
    delta : float, where the bound on epsilon is taken
    direction : Direction, in which the event happens too often
    event : str
    assumption : str, empty for an unconditional bound
    """

    estimate: Estimate
    delta: float
    direction: Direction
    event: str
    assumption: str = ""

    def __post_init__(self) -> None:
        if self.estimate.high != math.inf:
            raise ValueError(f"estimate.high must be infinite for a lower bound, got high={self.estimate.high}")

    def brief(self) -> str:
        """Return the bound and where it is taken."""
        return f"{self.estimate.brief()} at delta {self.delta:.6g}"


@dataclass(frozen=True)
class Hits:
    """How often the event happened: ``first`` of ``of_first`` draws of the first data set, and of the second.

    For the label-blind line, among the draws along its order up to the place where the evidence was strongest.
    """

    first: int
    of_first: int
    second: int
    of_second: int

    def __str__(self) -> str:
        """Return the counts in words."""
        return f"{self.first} of {self.of_first} against {self.second} of {self.of_second}"


@dataclass(frozen=True, repr=False)
class ClaimTest(Result):
    """A test of a claimed point, or of a whole claimed curve at the point where the event breaks it most clearly.

    Refuting a whole curve never counts as refuting one point of it that was not attacked.

    Attributes
    ----------
    epsilon, claimed_delta : float, the claimed point that is attacked
    delta : Estimate
        Bounds the divergence at ``epsilon`` from below (``delta.high`` is 1). Its lower end lies above
        ``claimed_delta`` exactly when the claim is refuted.
    p_value : float
        Of the claim: the smallest of the lines' own, each divided by its share of ``failure_prob`` (Bonferroni).
    direction : Direction
        Forward when the event happens too often on the first data set.
    event : str
    line : str
        Which line has the smallest p-value: "rank events", "betting" or "label-blind".
    hits : Hits or None, the counts of the event
    p_values : tuple of (str, float), of each line, divided by its share
    """

    epsilon: float
    claimed_delta: float
    delta: Estimate
    p_value: float
    failure_prob: float
    direction: Direction
    event: str
    line: str = "rank events"
    hits: Hits | None = None
    p_values: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        if self.delta.high != 1.0:
            raise ValueError(f"delta.high must be 1 for a lower bound, got high={self.delta.high}")

    @property
    def refuted(self) -> bool:
        """Whether the claim is refuted."""
        return self.p_value <= self.failure_prob

    @property
    def outcome(self) -> BlackBoxOutcome:
        """Refuted, or not."""
        return BlackBoxOutcome.REFUTED if self.refuted else BlackBoxOutcome.NOT_REFUTED

    def entries(self) -> dict[str, Any]:
        """Return what is shown, by name."""
        return {
            "outcome": self.outcome,
            "claim": f"({self.epsilon:g}, {self.claimed_delta:g})",
            "delta": self.delta,
            "p_value": self.p_value,
            "failure_prob": self.failure_prob,
            "direction": self.direction,
            "line": self.line,
            "event": self.event,
            "hits": str(self.hits or ""),
        }


@dataclass(frozen=True, repr=False)
class BlackBoxResult(Result):
    """Everything one audit certifies, from the same draws; all of it holds together except with ``failure_prob``.

    Attributes
    ----------
    mechanism : str
    relation : Relation, of the pair that was drawn from
    claim : BlackBoxClaim
    claim_test : ClaimTest
        Of what is claimed: the whole curve where there is one, otherwise the point. Its own
        ``failure_prob`` is at least .9 of the audit's.
    epsilon : LowerBound
        On epsilon at the claimed delta. Above the claimed epsilon whenever a claimed point is refuted.
    floating_point : LowerBound or None
        Reads the bits of the outputs, so it speaks about the implementation and not about the law that it
        approximates; None when it was not asked for or the draws are too few to learn from.
    n_draws : int, mechanism evaluations spent
    """

    mechanism: str
    relation: Relation
    claim: BlackBoxClaim
    claim_test: ClaimTest
    epsilon: LowerBound
    floating_point: LowerBound | None
    n_draws: int
    failure_prob: float

    @property
    def p_value(self) -> float:
        """Of the claim, at most ``failure_prob`` exactly when it is refuted."""
        p_value = min(1.0, self.claim_test.p_value * self.failure_prob / self.claim_test.failure_prob)
        return min(p_value, self.failure_prob) if self.outcome is BlackBoxOutcome.REFUTED else p_value

    @property
    def outcome(self) -> BlackBoxOutcome:
        """The outcome for what is claimed: the point (epsilon, delta), and the whole curve where one is claimed."""
        refuted = self.claim_test.outcome is BlackBoxOutcome.REFUTED or self.epsilon.estimate.low > self.claim.epsilon
        return BlackBoxOutcome.REFUTED if refuted else BlackBoxOutcome.NOT_REFUTED

    @property
    def implementation_outcome(self) -> BlackBoxOutcome:
        """The outcome when an attacker reads the bits of the outputs as well."""
        bits = self.floating_point
        if bits is not None and bits.estimate.low > self.claim.epsilon:
            return BlackBoxOutcome.REFUTED
        return self.outcome

    @property
    def point(self) -> ClaimTest:
        """The test of the claim, at the point that it attacked."""
        return self.claim_test

    @property
    def curve(self) -> ClaimTest | None:
        """The test of the claimed curve; None when no curve is claimed."""
        return self.claim_test if self.claim.curve is not None else None

    def entries(self) -> dict[str, Any]:
        """Return what is shown, by name."""
        return {
            "outcome": self.outcome,
            "mechanism": self.mechanism,
            "relation": self.relation,
            "p_value": self.p_value,
            "epsilon": self.epsilon,
            "event": self.claim_test.event,
            "hits": str(self.claim_test.hits),
            "failure_prob": self.failure_prob,
            "n_draws": self.n_draws,
        }

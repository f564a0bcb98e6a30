"""The lines of a black-box audit: what each certifies, its share of the failure probability, what it bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import special, stats

from mechanisms import Direction

from ..estimate import Budget, Estimate
from .black_box_bet import (
    FIRST_VALUE,
    LEAST_PAIRS,
    LEAST_REPEATS,
    LONGEST,
    REPEATED,
    BettingTest,
    BlindTest,
    Point,
    bet_against,
    label_test,
    log_evidence,
    n_labels,
)
from .black_box_events import PointTradeOff, RankEvent, delta_lower, epsilon_lower
from .black_box_results import BlackBoxClaim, ClaimTest, CurvePoints, Hits, LowerBound
from .black_box_samples import Certified, Choice, Learned, choose_attack, choose_epsilon, preset_choices

#: Shares of the failure probability of one test of a claim. They add up to 1.
RANK_SHARE, BETTING_SHARE, BLIND_SHARE = 0.8, 0.1, 0.1
#: Share of an audit's failure probability that each line beside the test of the claim gets.
LINE_SHARE = 0.05
#: Lines beside the test of the claim.
LINES = ("epsilon", "bits")
#: A claimed curve is bet against, and its labels tested, where its delta first falls to these.
CURVE_DELTAS = (0.1, 1e-3, 1e-6)


@dataclass(frozen=True)
class RankPlan:
    """What one line of rank events will certify, decided before the draws; ``weights`` share its failure prob."""

    learned: Learned
    choices: tuple[Choice, ...]
    weights: tuple[float, ...]
    delta: float
    failure_prob: float

    def best(
        self, events: Sequence[RankEvent], bound: Callable[[RankEvent, float], float]
    ) -> tuple[float, Choice, RankEvent]:
        """Return the best of the bounds of the events, each at its own share (Bonferroni)."""
        values = [bound(event, weight * self.failure_prob) for event, weight in zip(events, self.weights, strict=True)]
        place = int(np.argmax(values))
        return values[place], self.choices[place], events[place]

    def estimate(self, value: float, low: float, high: float) -> Estimate:
        """Return the estimate of this line; the point value is moved into the interval."""
        value = min(max(value, low), high)
        return Estimate(value, low, high, self.failure_prob, self.learned.n_draws, self.learned.method)


def equal_plan(learned: Learned, choices: Sequence[Choice], delta: float, failure_prob: float) -> RankPlan:
    """Return the plan in which every choice has the same weight."""
    return RankPlan(learned, tuple(choices), (1.0 / len(choices),) * len(choices), delta, failure_prob)


def plan_epsilon(learned: Learned, delta: float, failure_prob: float, *, bits: bool = False) -> RankPlan:
    """Return the plan of a lower bound on epsilon: one chosen event, or the preset ones."""
    options = learned.bit_options if bits else learned.options
    if not options:
        return equal_plan(learned, preset_choices(learned, None), delta, failure_prob)
    return equal_plan(learned, [choose_epsilon(options, learned.n_certify, delta, failure_prob)], delta, failure_prob)


def plan_claim(learned: Learned, claim: BlackBoxClaim, points: CurvePoints, failure_prob: float) -> RankPlan:
    """Return the rank events of a claim: the chosen one has half of the failure prob, the preset ones the rest."""
    preset = preset_choices(learned, points)
    if not learned.options:
        return equal_plan(learned, preset, claim.delta, failure_prob)
    chosen = choose_attack(learned.options, learned.n_certify, points.epsilons, points.forward, points.backward)
    weights = (0.5, *(0.5 / len(preset) for _ in preset))
    return RankPlan(learned, (chosen, *preset), weights, claim.delta, failure_prob)


def direction(forward: bool) -> Direction:
    """Return the direction in which the event happens too often."""
    return Direction.FORWARD if forward else Direction.BACKWARD


def epsilon_line(plan: RankPlan, events: Sequence[RankEvent]) -> LowerBound:
    """Return the lower bound on epsilon that counted events give."""
    low, choice, event = plan.best(events, lambda e, level: epsilon_lower(e, plan.delta, level))
    p, q = event.masses
    excess = p - plan.delta
    value = -math.inf if excess <= 0 else (math.inf if q == 0 else math.log(excess / q))
    return LowerBound(plan.estimate(value, low, math.inf), plan.delta, direction(choice.forward), choice.event)


class Line(Protocol):
    """One line of a claim's test. ``p_value`` is its own, not yet divided by its share."""

    @property
    def name(self) -> str:
        """Name in reports."""
        ...

    @property
    def p_value(self) -> float:
        """Valid for the claim at every level."""
        ...

    def bounds(self, level: float) -> LineBounds:
        """Return the event and its bounds at the line's own ``level``."""
        ...


@dataclass(frozen=True)
class LineBounds:
    """The point attacked, the event, and the lower bounds on delta there and on epsilon at the claimed delta."""

    epsilon: float
    claimed_delta: float
    delta_low: float
    delta_value: float
    epsilon_low: float
    forward: bool
    event: str
    hits: Hits
    method: str


@dataclass(frozen=True)
class RankLine:
    """Rank events, with the claimed point that each attacks."""

    plan: RankPlan
    events: tuple[RankEvent, ...]
    name: str = "rank events"

    @property
    def p_value(self) -> float:
        """The smallest over the events, each divided by its weight."""
        return min(1.0, min(self._p_values()))

    def _p_values(self) -> list[float]:
        return [
            event.p_value(PointTradeOff(choice.epsilon, choice.delta)) / weight
            for event, choice, weight in zip(self.events, self.plan.choices, self.plan.weights, strict=True)
        ]

    def bounds(self, level: float) -> LineBounds:
        """Return the bounds of the event with the smallest p-value."""
        place = int(np.argmin(self._p_values()))
        choice, event, own = self.plan.choices[place], self.events[place], level * self.plan.weights[place]
        low = delta_lower(event, choice.epsilon, own, choice.delta)
        p, q = event.masses
        hits, other = (event.k, event.n), (event.count, event.m)
        return LineBounds(
            choice.epsilon,
            choice.delta,
            low,
            p - math.exp(min(choice.epsilon, 700.0)) * q,
            epsilon_lower(event, choice.delta, own),
            choice.forward,
            choice.event,
            Hits(*hits, *other) if choice.forward else Hits(*other, *hits),
            self.plan.learned.method,
        )


@dataclass(frozen=True)
class PointsLine:
    """Tests of each claimed point, by bets on learned sets or by labels along an order that is blind to them."""

    tests: tuple[BettingTest | BlindTest, ...]
    name: str

    @property
    def p_value(self) -> float:
        """The smallest over the points."""
        return min(test.p_value() for test in self.tests)

    def bounds(self, level: float) -> LineBounds:
        """Return the bounds of the point with the smallest p-value: above the claim exactly when it is refuted."""
        test = min(self.tests, key=lambda t: t.p_value())
        point, forward, event, hits, value = test.point, *test.seen()
        claimed, low, epsilon = point.delta(forward), 0.0, 0.0
        if test.p_value() <= level:
            low = max(claimed + test.more_delta(level), math.nextafter(claimed, 2.0))
            epsilon = max(point.epsilon + test.more_epsilon(level), math.nextafter(point.epsilon, math.inf))
        hits = hits if forward else Hits(hits.second, hits.of_second, hits.first, hits.of_first)
        return LineBounds(point.epsilon, claimed, low, value, epsilon, forward, event, hits, test.method)


def bet_points(claim: BlackBoxClaim, points: CurvePoints, at: Sequence[float] = CURVE_DELTAS) -> list[Point]:
    """Return the claimed point, or those of a curve where its delta first falls to ``at``; fixed before the draws."""
    if claim.curve is None:
        return [Point(claim.epsilon, claim.delta, claim.delta)]
    deltas = np.maximum(points.forward, points.backward)
    places = sorted({int(np.argmax(deltas <= most)) if (deltas <= most).any() else len(deltas) - 1 for most in at})
    return [Point(float(points.epsilons[i]), float(points.forward[i]), float(points.backward[i])) for i in places]


def claim_shares(n_each: int) -> dict[str, float]:
    """Return the share of each line of a claim's test for ``n_each`` draws per data set; too few are not bet on."""
    if n_each < LEAST_PAIRS:
        return {"rank events": RANK_SHARE + BETTING_SHARE, "label-blind": BLIND_SHARE}
    return {"rank events": RANK_SHARE, "betting": BETTING_SHARE, "label-blind": BLIND_SHARE}


def claim_lines(
    plan: RankPlan, claim: BlackBoxClaim, points: CurvePoints, certified: Certified, budget: Budget, *, trees: bool
) -> list[Line]:
    """Return the lines of the test of a claim; ``budget.failure_prob`` is that of the whole test."""
    first, second, at = certified.first, certified.second, bet_points(claim, points)
    lines: list[Line] = [RankLine(plan, tuple(certified.events[0]))]
    bets = bet_against(first, second, at, trees=trees)
    if bets:
        lines.append(PointsLine(tuple(bets), "betting"))
    blind = label_test(first, second, at, budget.key.child("labels").rng())
    if blind:
        lines.append(PointsLine(tuple(blind), "label-blind"))
    return lines


def claim_test(lines: Sequence[Line], shares: dict[str, float], failure_prob: float, n_draws: int) -> ClaimTest:
    """Return the test of a claim by the line with the smallest p-value (Bonferroni by shares)."""
    p_values = tuple((line.name, min(1.0, line.p_value / shares[line.name])) for line in lines)
    name, p_value = min(p_values, key=lambda named: named[1])
    bounds = next(line for line in lines if line.name == name).bounds(shares[name] * failure_prob)
    above = math.nextafter(bounds.claimed_delta, 1.0)
    low = max(bounds.delta_low, above) if p_value <= failure_prob else min(bounds.delta_low, bounds.claimed_delta)
    value = min(max(bounds.delta_value, low), 1.0)
    return ClaimTest(
        epsilon=bounds.epsilon,
        claimed_delta=bounds.claimed_delta,
        delta=Estimate(value, low, 1.0, failure_prob, n_draws, bounds.method),
        p_value=p_value,
        failure_prob=failure_prob,
        direction=direction(bounds.forward),
        event=bounds.event,
        line=name,
        hits=bounds.hits,
        p_values=p_values,
    )


def claim_level(failure_prob: float, lines: Sequence[str] = LINES) -> float:
    """Return the part of an audit's failure probability that the test of the claim has beside ``lines``.

    Raises ``ValueError`` if a line is unknown.
    """
    unknown = set(lines) - set(LINES)
    if unknown:
        raise ValueError(f"lines must be among {LINES}, got lines={tuple(lines)}")
    return failure_prob * (1 - LINE_SHARE * len(set(lines)))


def visible_leak(
    claim: BlackBoxClaim, n_each: int, failure_prob: float, power: float = 0.95, *, lines: Sequence[str] = LINES
) -> float:
    """Return the smallest probability of a leak that ``black_box_audit`` finds with probability ``power`` at least.

    The leak is a value, not known beforehand, that one data set gives with that probability and the other never, among
    outputs that otherwise do not repeat. It is what the label-blind line alone finds, on its share of the level; the
    other lines can only add to its power.

    Parameters
    ----------
    claim : BlackBoxClaim, what is audited
    n_each : int, draws per data set (half of ``Budget.n_draws``)
    failure_prob : float, of the audit
    power : float, in (0, 1)
    lines : sequence of str, as given to ``black_box_audit``

    Returns
    -------
    float
        In (0, 1]; 1 when no leak is found with that power.

    Raises
    ------
    ValueError
        If ``power`` or ``failure_prob`` is not in (0, 1), or a line is unknown.

    Examples
    --------
    >>> from audits import point_claim
    >>> from audits.black_box import visible_leak
    >>> round(visible_leak(point_claim(1.0, 0.0).black_box(), 10_000, 1e-6), 4)
    0.0073
    """
    for name, value in (("power", power), ("failure_prob", failure_prob)):
        if not 0 < value < 1:
            raise ValueError(f"{name} must be in (0, 1), got {name}={value}")
    level, total = BLIND_SHARE * claim_level(failure_prob, lines), n_labels(n_each)
    points = bet_points(claim, claim.points())
    share = REPEATED * FIRST_VALUE / (2 * len(points))  # the most repeated value, one direction, one point
    hits = max(min(_hits_needed(point, forward, total, level, share) for point in points) for forward in (True, False))
    enough = _prob_enough_draws(total, n_each)
    if hits > total or power >= enough:
        return 1.0
    # each coin shows the leaking data set and its draw the leak with probability p / 2; without enough draws, nothing
    return min(1.0, 2 * float(special.betaincinv(hits, total - hits + 1, power + 1 - enough)))


def _hits_needed(point: Point, forward: bool, total: int, level: float, share: float) -> int:
    """Return how many draws of one value, all from one data set, refute a claimed point; ``total + 1`` if none do."""
    delta = point.delta(forward)

    def refutes(hits: int) -> bool:
        log_p = log_evidence(np.ones(hits, dtype=np.bool_), True, point.epsilon, delta, total)
        return hits >= LEAST_REPEATS and log_p - math.log(share) <= math.log(level)

    low, high = 0, min(total, LONGEST)
    if not refutes(high):
        return total + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if refutes(middle) else (middle, high)
    return high


def _prob_enough_draws(total: int, n_each: int) -> float:
    law = stats.binom(total, 0.5)
    return float(law.cdf(n_each) - law.cdf(total - n_each - 1))

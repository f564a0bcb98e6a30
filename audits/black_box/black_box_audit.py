"""The black-box audit: what can be refuted about a mechanism that can only be sampled.

Three disjoint samples: *train* (learn a score), *choose* (pick the event to certify), *certify* (fresh draws that took
no part in either) give the rank events of a claim. Two more lines read the same draws: bets on many learned sets, each
placed on draws that come after those it was learned from, and a test that learns nothing from labels. What comes back
are lower bounds and refutations; nothing here can support a claim, and the types say so.
Derivations: ``docs/derivations/black_box.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from scipy import special

from mechanisms import GaussianProfile, Mechanism, NeighbouringPair, UnsupportedRelation
from mechanisms.base import check_delta

from ..estimate import Budget, Result
from ..stats.coverage import look_sizes
from .black_box_events import RankEvent, mu_lower
from .black_box_families import check_trees
from .black_box_lines import (
    LINE_SHARE,
    LINES,
    Line,
    RankPlan,
    claim_level,
    claim_lines,
    claim_shares,
    claim_test,
    direction,
    epsilon_line,
    equal_plan,
    plan_claim,
    plan_epsilon,
)
from .black_box_results import BlackBoxClaim, BlackBoxOutcome, BlackBoxResult, ClaimTest, LowerBound
from .black_box_samples import Learned, certify, choose_mu, learn, preset_choices


def black_box_audit(
    mechanism: Mechanism,
    pair: NeighbouringPair,
    claim: BlackBoxClaim,
    budget: Budget,
    *,
    lines: Sequence[str] = LINES,
    trees: bool = False,
) -> BlackBoxResult:
    """Return the test of the claim and the lines beside it, made from the same draws, the failure probability shared.

    Parameters
    ----------
    mechanism, budget
        As of ``audit_claim``.
    pair : NeighbouringPair, its relation must be one that the claim covers
    claim : BlackBoxClaim, a point, or a whole curve
    lines : sequence of str
        Lines that are reported beside the test of the claim: "epsilon" (a sharper lower bound), "bits".
    trees : bool
        Also bet on boosted trees (the optional extra ``trees``; some seconds at 1e5 draws).

    Returns
    -------
    BlackBoxResult
        The test of the claim, a lower bound on epsilon, and what reading the bits gives.

    Raises
    ------
    UnsupportedRelation
        If the claim does not cover the relation of ``pair``.

    Examples
    --------
    >>> from audits import Budget, StreamKey, black_box_audit, point_claim
    >>> from mechanisms import NeighbouringPair, PosteriorSampling, load
    >>> mechanism, pair = PosteriorSampling(1.0, 1.0), NeighbouringPair.remove(load("fair"), 0)
    >>> budget = Budget(2000, failure_prob=0.01, key=StreamKey(1))
    >>> black_box_audit(mechanism, pair, point_claim(0.5, 1e-6).black_box(), budget).outcome.name
    'NOT_REFUTED'
    """
    _require(pair, claim, trees)
    parts = budget.split({"the claim": claim_level(1.0, lines)} | dict.fromkeys(lines, LINE_SHARE))
    learned = learn(mechanism, pair, budget)
    plans = {}
    if "epsilon" in lines:
        plans["epsilon"] = plan_epsilon(learned, claim.delta, parts["epsilon"].spend("epsilon, from below"))
    if "bits" in lines and learned.bit_options:
        plans["bits"] = plan_epsilon(learned, claim.delta, parts["bits"].spend("what the bits give away"), bits=True)
    at = replace(parts["the claim"], key=budget.key)
    test, bound, beside = _test_claim(mechanism, pair, claim, at, learned, list(plans.values()), trees)
    bounds = {name: epsilon_line(plan, events) for (name, plan), events in zip(plans.items(), beside, strict=True)}
    epsilon = bounds.get("epsilon", bound)
    return BlackBoxResult(
        mechanism=mechanism.name,
        relation=pair.relation,
        claim=claim,
        claim_test=test,
        epsilon=epsilon if epsilon.estimate.low >= bound.estimate.low else bound,
        floating_point=bounds.get("bits"),
        n_draws=learned.n_draws,
        failure_prob=budget.failure_prob,
    )


def audit_epsilon(mechanism: Mechanism, pair: NeighbouringPair, budget: Budget, *, delta: float) -> LowerBound:
    """Return a certified lower bound on the epsilon that goes with ``delta``.

    Parameters
    ----------
    mechanism, pair, budget
        As of ``audit_claim``.
    delta : float, in [0, 1]

    Returns
    -------
    LowerBound
        ``estimate.low`` is at most the true epsilon except with the failure probability of the budget.

    Raises
    ------
    ValueError
        If there are fewer than 100 draws, or ``delta`` is outside [0, 1].

    Examples
    --------
    >>> from audits import Budget, StreamKey, audit_epsilon
    >>> from mechanisms import NeighbouringPair, PosteriorSampling, load
    >>> mechanism, pair = PosteriorSampling(1.0, 1.0), NeighbouringPair.remove(load("fair"), 0)
    >>> budget = Budget(2000, failure_prob=0.01, key=StreamKey(1))
    >>> audit_epsilon(mechanism, pair, budget, delta=1e-6).estimate.low <= 0.2073
    True
    """
    learned = learn(mechanism, pair, budget)
    plan = plan_epsilon(learned, check_delta(delta), budget.spend("epsilon, from below"))
    return epsilon_line(plan, certify(mechanism, pair, budget, learned, [plan.choices]).events[0])


def audit_gaussian_dp(mechanism: Mechanism, pair: NeighbouringPair, budget: Budget, *, delta: float) -> LowerBound:
    """Return a lower bound on epsilon at ``delta`` that assumes a Gaussian trade-off (the mu behind it does not).

    Parameters
    ----------
    mechanism, pair, budget
        As of ``audit_claim``.
    delta : float, in [0, 1]

    Returns
    -------
    LowerBound
        Its ``assumption`` says what is assumed, and the mu that is certified without it.

    References
    ----------
    Dong, Roth and Su 2022, equation (6) and corollary 2.13.
    """
    learned = learn(mechanism, pair, budget)
    plan = _plan_gaussian(learned, check_delta(delta), budget.spend("mu, from below"))
    return _gaussian_line(plan, certify(mechanism, pair, budget, learned, [plan.choices]).events[0])


def audit_claim(
    mechanism: Mechanism, pair: NeighbouringPair, claim: BlackBoxClaim, budget: Budget, *, trees: bool = False
) -> ClaimTest:
    """Return the test of the whole claimed curve, or of the claimed point when there is no curve; by every line.

    Parameters
    ----------
    mechanism : Mechanism
        Only ``draw`` and ``name`` are used; ``draw`` returns rows ``(n_draws, k)``, NaN and infinities included.
    pair : NeighbouringPair
    claim : BlackBoxClaim
        A point, or a whole curve; it must cover the relation of ``pair``.
    budget : Budget
        ``n_draws`` counts mechanism evaluations; each data set gets half of them.
    trees : bool, also bet on boosted trees (the optional extra ``trees``)

    Returns
    -------
    ClaimTest
        Refuted or not; never supported.

    Raises
    ------
    UnsupportedRelation
        If the claim does not cover the relation of ``pair``.

    Examples
    --------
    >>> from audits import Budget, StreamKey, point_claim
    >>> from audits.black_box import audit_claim
    >>> from mechanisms import NeighbouringPair, PosteriorSampling, load
    >>> mechanism, pair = PosteriorSampling(1.0, 1.0), NeighbouringPair.remove(load("fair"), 0)
    >>> budget = Budget(2000, failure_prob=0.01, key=StreamKey(1))
    >>> audit_claim(mechanism, pair, point_claim(0.5, 1e-6).black_box(), budget).outcome.name  # its epsilon is 0.21
    'NOT_REFUTED'
    """
    _require(pair, claim, trees)
    return _test_claim(mechanism, pair, claim, budget, learn(mechanism, pair, budget), [], trees)[0]


def _require(pair: NeighbouringPair, claim: BlackBoxClaim, trees: bool) -> None:
    if pair.relation not in claim.relations:
        allowed = " or ".join(relation.name for relation in claim.relations)
        raise UnsupportedRelation(f"relation must be {allowed}, got relation={pair.relation.name}")
    if trees:
        check_trees()


def _test_claim(
    mechanism: Mechanism,
    pair: NeighbouringPair,
    claim: BlackBoxClaim,
    budget: Budget,
    learned: Learned,
    beside: Sequence[RankPlan],
    trees: bool,
) -> tuple[ClaimTest, LowerBound, list[list[RankEvent]]]:
    """Return the test of the claim, the bound on epsilon that it gives, and the events of the lines beside it."""
    points, shares = claim.points(), claim_shares(learned.n_draws // 2)
    parts = budget.split(shares)
    plan = plan_claim(learned, claim, points, parts["rank events"].failure_prob)
    choices = [line.choices for line in (plan, *beside)]
    certified = certify(mechanism, pair, budget, learned, choices, hold=True)
    lines = claim_lines(plan, claim, points, certified, budget, trees=trees)
    for line in lines:
        parts[line.name].spend("the claim")
    test = claim_test(lines, shares, budget.failure_prob, learned.n_draws)
    return test, _bound(lines, shares, claim, test), certified.events[1:]


def _bound(lines: Sequence[Line], shares: dict[str, float], claim: BlackBoxClaim, test: ClaimTest) -> LowerBound:
    """Return the lower bound on epsilon that the lines of a point's test give at no further cost; a curve's give none.

    A line that refutes (epsilon, delta) refutes, at the same level, each smaller epsilon: the events were fixed first.
    """
    low, forward, event = 0.0, True, "none"
    for line in lines if claim.curve is None else ():
        bounds = line.bounds(shares[line.name] * test.failure_prob)
        if event == "none" or bounds.epsilon_low > low:
            low, forward, event = bounds.epsilon_low, bounds.forward, bounds.event
    if claim.curve is None and test.outcome is BlackBoxOutcome.REFUTED:
        low = max(low, math.nextafter(claim.epsilon, math.inf))
    estimate = replace(test.delta, value=low, low=low, high=math.inf)
    return LowerBound(estimate, claim.delta, direction(forward), event)


def _plan_gaussian(learned: Learned, delta: float, failure_prob: float) -> RankPlan:
    if not learned.options:
        return equal_plan(learned, preset_choices(learned, None), delta, failure_prob)
    return equal_plan(learned, [choose_mu(learned.options, learned.n_certify, failure_prob)], delta, failure_prob)


def _gaussian_line(plan: RankPlan, events: Sequence[RankEvent]) -> LowerBound:
    mu, choice, event = plan.best(events, mu_lower)
    low = GaussianProfile(mu).epsilon_at(plan.delta)
    low = low if math.isfinite(low) else 0.0  # at delta = 0 a Gaussian trade-off has no epsilon at all
    p, q = (min(max(v, 1e-12), 1 - 1e-12) for v in event.masses)
    value = GaussianProfile(max(float(special.ndtri(p) - special.ndtri(q)), 0.0)).epsilon_at(plan.delta)
    assumption = f"the trade-off curve is Gaussian (certified without it: mu of any Gaussian curve is above {mu:.6g})"
    estimate = plan.estimate(value, low, math.inf)
    return LowerBound(estimate, plan.delta, direction(choice.forward), choice.event, assumption)


#: Evaluations before the first look.
FIRST_LOOK = 400


@dataclass(frozen=True, repr=False)
class SequentialClaimTest(Result):
    """Where a sequential black-box audit stopped: at a refutation, or at its budget.

    Attributes
    ----------
    looks : tuple of ClaimTest
        All looks, each with the share that it spent; only the last one may have refuted.
    failure_prob : float, of the whole audit
    n_draws : int, mechanism evaluations spent by all looks
    """

    looks: tuple[ClaimTest, ...]
    failure_prob: float
    n_draws: int

    @property
    def outcome(self) -> BlackBoxOutcome:
        """Refuted, or not; never supported."""
        return self.looks[-1].outcome

    def entries(self) -> dict[str, Any]:
        """Return what is shown, by name."""
        return {"outcome": self.outcome, **super().entries()}


def sequential_claim(
    mechanism: Mechanism, pair: NeighbouringPair, claim: BlackBoxClaim, budget: Budget, *, first: int = FIRST_LOOK
) -> SequentialClaimTest:
    """Return the test of the whole claimed curve (or point), from as few evaluations as a refutation takes.

    Parameters
    ----------
    mechanism : Mechanism, only ``draw`` and ``name`` are used
    pair, claim
        As of ``black_box_audit``.
    budget : Budget
        ``n_draws`` counts mechanism evaluations of all looks together, half of them from each data set.
    first : int, evaluations before the first look, at least 100

    Returns
    -------
    SequentialClaimTest
        Every look, and where it stopped.

    Raises
    ------
    UnsupportedRelation
        If the claim does not cover the relation of ``pair``.
    """
    looks: list[ClaimTest] = []
    done = 0
    for total in look_sizes(budget.n_draws, first):
        number = len(looks) + 1
        look = budget.part(f"look {number}", share=1 / (number * (number + 1)), n_draws=total - done)
        looks.append(audit_claim(mechanism, pair, claim, look))
        done = total
        if looks[-1].outcome is BlackBoxOutcome.REFUTED:
            break
    return SequentialClaimTest(tuple(looks), budget.failure_prob, sum(look.delta.n_draws for look in looks))

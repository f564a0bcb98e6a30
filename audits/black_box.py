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
from dataclasses import replace

from scipy import special

from mechanisms import Mechanism, NeighbouringPair, UnsupportedRelation
from mechanisms.base import check_delta

from .base import Budget
from .black_box_choose import choose_mu
from .black_box_events import RankEvent, mu_lower
from .black_box_families import check_trees
from .black_box_gaussian import gaussian_dp_delta, gaussian_dp_epsilon
from .black_box_lines import (
    LINE_SHARE,
    LINES,
    Line,
    Plan,
    claim_lines,
    claim_shares,
    claim_test,
    direction,
    epsilon_line,
    equal_plan,
    plan_claim,
    plan_epsilon,
)
from .black_box_results import BlackBoxClaim, BlackBoxOutcome, BlackBoxResult, ClaimTest, Hits, LowerBound
from .black_box_samples import Learned, certify, learn, preset_choices

__all__ = [
    "BlackBoxClaim",
    "BlackBoxOutcome",
    "BlackBoxResult",
    "ClaimTest",
    "Hits",
    "LowerBound",
    "audit_claim",
    "audit_epsilon",
    "audit_gaussian_dp",
    "black_box_audit",
    "claim_level",
    "gaussian_dp_delta",
    "gaussian_dp_epsilon",
]


def claim_level(failure_prob: float, lines: Sequence[str] = LINES) -> float:
    """Return the part of an audit's failure probability that the test of the claim has beside ``lines``.

    Raises
    ------
    ValueError
        If a line is unknown.
    """
    unknown = set(lines) - set(LINES)
    if unknown:
        raise ValueError(f"lines must be among {LINES}, got lines={tuple(lines)}")
    return failure_prob * (1 - LINE_SHARE * len(set(lines)))


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
    mechanism : Mechanism
        Only ``draw`` and ``name`` are used; ``draw`` returns rows ``(n_draws, k)``, NaN and infinities included.
    pair : NeighbouringPair
        Its relation must be one that the claim covers.
    budget : Budget
        ``n_draws`` counts mechanism evaluations; each data set gets half of them.
    lines : sequence of str
        Lines that are reported beside the test of the claim: "epsilon" (a sharper lower bound), "bits".
    trees : bool
        Also bet on boosted trees (the optional extra ``trees``; some seconds at 1e5 draws).

    Raises
    ------
    UnsupportedRelation
        If the claim does not cover the relation of ``pair``.
    """
    _require(pair, claim, trees)
    level, share = claim_level(budget.failure_prob, lines), LINE_SHARE * budget.failure_prob
    learned = learn(mechanism, pair, budget)
    plans = {}
    if "epsilon" in lines:
        plans["epsilon"] = plan_epsilon(learned, claim.delta, share)
    if "bits" in lines and learned.bit_options:
        plans["bits"] = plan_epsilon(learned, claim.delta, share, bits=True)
    at = replace(budget, failure_prob=level)
    test, bound, beside = _test_claim(mechanism, pair, claim, at, learned, list(plans.values()), trees)
    found = {name: epsilon_line(plan, events) for (name, plan), events in zip(plans.items(), beside, strict=True)}
    epsilon = found.get("epsilon", bound)
    return BlackBoxResult(
        mechanism=mechanism.name,
        relation=pair.relation,
        claim=claim,
        claim_test=test,
        epsilon=epsilon if epsilon.estimate.low >= bound.estimate.low else bound,
        floating_point=found.get("bits"),
        n_draws=learned.n_draws,
        failure_prob=budget.failure_prob,
    )


def audit_epsilon(mechanism: Mechanism, pair: NeighbouringPair, delta: float, budget: Budget) -> LowerBound:
    """Return a certified lower bound on the epsilon that goes with ``delta``."""
    learned = learn(mechanism, pair, budget)
    plan = plan_epsilon(learned, check_delta(delta), budget.failure_prob)
    return epsilon_line(plan, certify(mechanism, pair, budget, learned, [plan.choices]).events[0])


def audit_gaussian_dp(mechanism: Mechanism, pair: NeighbouringPair, delta: float, budget: Budget) -> LowerBound:
    """Return a lower bound on epsilon at ``delta`` that assumes a Gaussian trade-off (the mu behind it does not)."""
    learned = learn(mechanism, pair, budget)
    plan = _plan_gaussian(learned, check_delta(delta), budget.failure_prob)
    return _gaussian_line(plan, certify(mechanism, pair, budget, learned, [plan.choices]).events[0])


def audit_claim(
    mechanism: Mechanism, pair: NeighbouringPair, claim: BlackBoxClaim, budget: Budget, *, trees: bool = False
) -> ClaimTest:
    """Return the test of the whole claimed curve, or of the claimed point when there is no curve; by every line."""
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
    beside: Sequence[Plan],
    trees: bool,
) -> tuple[ClaimTest, LowerBound, list[list[RankEvent]]]:
    """Return the test of the claim, the bound on epsilon that it gives, and the events of the lines beside it."""
    points, shares = claim.points(), claim_shares(learned.n_draws // 2)
    plan = plan_claim(learned, claim, points, shares["rank events"] * budget.failure_prob)
    choices = [each.choices for each in (plan, *beside)]
    certified = certify(mechanism, pair, budget, learned, choices, hold=True)
    lines = claim_lines(plan, claim, points, certified, budget, trees=trees)
    test = claim_test(lines, shares, budget.failure_prob, learned.n_draws)
    return test, _bound(lines, shares, claim, test), certified.events[1:]


def _bound(lines: Sequence[Line], shares: dict[str, float], claim: BlackBoxClaim, test: ClaimTest) -> LowerBound:
    """Return the lower bound on epsilon that the lines of a point's test give at no further cost; a curve's give none.

    A line that refutes (epsilon, delta) refutes, at the same level, each smaller epsilon: the events were fixed first.
    """
    low, forward, event = 0.0, True, "none"
    for line in lines if claim.curve is None else ():
        found = line.found(shares[line.name] * test.failure_prob)
        if event == "none" or found.epsilon_low > low:
            low, forward, event = found.epsilon_low, found.forward, found.event
    if claim.curve is None and test.outcome is BlackBoxOutcome.REFUTED:
        low = max(low, math.nextafter(claim.epsilon, math.inf))
    estimate = replace(test.delta, value=low, low=low, high=math.inf)
    return LowerBound(estimate, claim.delta, direction(forward), event)


def _plan_gaussian(learned: Learned, delta: float, failure_prob: float) -> Plan:
    if not learned.options:
        return equal_plan(learned, preset_choices(learned, None), delta, failure_prob)
    return equal_plan(learned, [choose_mu(learned.options, learned.n_certify, failure_prob)], delta, failure_prob)


def _gaussian_line(plan: Plan, events: Sequence[RankEvent]) -> LowerBound:
    mu, choice, event = plan.best(events, mu_lower)
    low = gaussian_dp_epsilon(mu, plan.delta)
    low = low if math.isfinite(low) else 0.0  # at delta = 0 a Gaussian trade-off has no epsilon at all
    p, q = (min(max(v, 1e-12), 1 - 1e-12) for v in event.masses)
    value = gaussian_dp_epsilon(max(float(special.ndtri(p) - special.ndtri(q)), 0.0), plan.delta)
    assumption = f"the trade-off curve is Gaussian (certified without it: mu of any Gaussian curve is above {mu:.6g})"
    estimate = plan.estimate(value, low, math.inf)
    return LowerBound(estimate, plan.delta, direction(choice.forward), choice.event, assumption)

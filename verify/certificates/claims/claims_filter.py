"""A claim about individual budgets: what is proved of what records spend, and what games find of somebody's filter."""

from __future__ import annotations

import math

from audits import Estimate
from audits.games.filter_examination import FilterFaultError, Found, examine_filter
from audits.verdict import CheckRole
from mechanisms.capabilities import Bound, worst_case_of, worst_pair_of
from mechanisms.filters.filtered_training import least_mu, least_renyi
from mechanisms.filters.privacy_filters import most_spent

from ...kernel.evidence import vacuous
from ...kernel.rows import Row
from ...kernel.statement import Claim, Evidence
from ..config.mechanism_source import Imported
from .finding import Check, Deployment, Examined, Finding
from .types import FilterClaim

SCOPE = "every pair of neighbouring data sets in the public domain, and every analyst"
#: Largest epsilon whose exponential is a float.
LARGEST_EPSILON = 709.0
#: What no game can show of a filter.
CANNOT_CATCH = (
    "a filter that is wrong at steps other than those of the games, or after more of them",
    "costs that the mechanism tells the filter wrongly",
    "a record that takes part although the filter does not admit it",
)


def filter_finding(deployment: Deployment, claim: FilterClaim) -> Finding:
    """Return what was found about a claim that no record spends more than its budget."""
    mechanism = deployment.mechanism
    whole = f"what {mechanism.name} admits" if isinstance(mechanism, Imported) else mechanism.name
    sentence = (
        f"no record spends more than its budget: {whole} is {claim.words} over all data sets in the public "
        "domain, whoever chooses the steps, one record added or removed"
    )
    if isinstance(mechanism, Imported):
        return _examined(deployment, claim, sentence)
    bound = worst_case_of(mechanism, deployment.domain, deployment.mu_report)
    with deployment.progress.phase(f"{claim.name}: what records spend"):
        checks = [_spending(deployment, claim, bound), *_implied(deployment, claim)]
    chosen, way_out = deployment.chosen_by_looking
    return deployment.finding(
        claim,
        sentence,
        SCOPE,
        checks,
        conditions=(*(bound.conditions if bound else ()), *deployment.conditions),
        advice=way_out or "A filter with a smaller budget, more noise, or a larger claim.",
        forced=chosen,
    )


def _spending(deployment: Deployment, claim: FilterClaim, bound: Bound | None) -> Check:
    """Return the enclosure of what a record spends at most: below from one record alone, above from the proof."""
    outputs, name = deployment.n_outputs, "what a record spends at most"
    if claim.mu is None:
        assert claim.order is not None
        assert claim.budget is not None
        quantity, allowed = f"largest Renyi divergence of order {claim.order} over all neighbours", claim.budget
        order = claim.order
        bound = bound and bound.least(lambda part: most_spent(part, order))
        high = math.inf if bound is None else outputs * most_spent(bound, order)
        spender = least_renyi(deployment.mechanism, deployment.domain, claim.order)
        share = float(outputs)
    else:
        quantity, allowed = "smallest mu of Gaussian differential privacy over all neighbours", claim.mu
        bound = bound and bound.least(lambda part: math.inf if part.mu is None else part.mu)
        high = math.inf if bound is None or bound.mu is None else math.sqrt(outputs) * bound.mu
        spender = least_mu(deployment.mechanism, deployment.domain)
        share = math.sqrt(outputs)
    shown = Claim(quantity, 0.0, allowed, allowed, in_domain=not _empty(claim))
    words = bound.sentence if bound else "Nothing is proved about this mechanism over all data sets."
    low = 0.0 if spender is None else min(share * spender.spent, high)
    if math.isinf(high) and low <= allowed:
        reason = f"no finite test: nothing proved bounds {'mu' if claim.mu else 'the Renyi divergence at this order'}"
        return Check(name, CheckRole.DECIDES, Evidence(shown, reason=reason), False, words)
    method = "ball arithmetic; below: one record alone; above: " + (bound.statement if bound else "nothing")
    found: dict[str, float | str] = {}
    if spender is not None and low > allowed:
        found = {"x_norm": spender.length, "n_records": 0, "pair": spender.words}
    exact = Estimate.proved(low, high, method)
    notes = {"rests on": bound.statement if bound else "nothing"}
    return Check(name, CheckRole.DECIDES, Evidence(shown, exact, found=found, notes=notes), False, words)


def _empty(claim: FilterClaim) -> bool:
    """Return whether the epsilon that follows promises nothing: odds that no float64 can hold."""
    return vacuous(claim.epsilon, claim.delta) or claim.epsilon > LARGEST_EPSILON


def _implied(deployment: Deployment, claim: FilterClaim) -> list[Check]:
    """Return the worst pair's exact delta at the epsilon that the claim implies, where one can be built."""
    epsilon, delta = claim.epsilon, claim.delta
    worst = worst_pair_of(deployment.mechanism, deployment.domain, epsilon, delta)
    if worst is None:
        return []
    name = "delta of the worst pair found at the implied epsilon"
    shown = Claim(name, 0.0, delta, epsilon, in_domain=not _empty(claim))
    exact = Estimate.proved(worst.delta.low, max(worst.delta.low, worst.delta.high), "ball arithmetic")
    found = dict(worst.numbers) | {"pair": worst.words}
    evidence = Evidence(shown, exact, found=found)
    return [Check("the worst pair at the epsilon that follows", CheckRole.REFUTES, evidence, False, worst.words)]


def _examined(deployment: Deployment, claim: FilterClaim, sentence: str) -> Finding:
    assert isinstance(deployment.mechanism, Imported)
    given, missing = deployment.mechanism.filter, ""
    results: tuple[Found, ...] = ()
    if given is None:
        missing = "the imported mechanism has no filter (methods start, spend and admits, or an attribute filter)"
    else:
        try:
            with deployment.progress.phase(f"{claim.name}: the games"):
                results = examine_filter(given, claim.claimed, claim.delta)
        except FilterFaultError as stop:
            missing = str(stop)
    row: Row = {
        "pairs": [],
        "games": [{"name": each.quantity, "states": each.states} for each in results],
        "cannot_catch": list(CANNOT_CATCH),
    }
    refuted = next((each for each in results if each.refutes), None)
    steps = (
        "RR(b) is randomised response with odds b: the right one of two answers is b times as likely as the wrong one; "
        "Yes(p or q) says yes with probability p or q, which depends on the record."
    )
    advice = "Mend the filter: admit a step only where what was spent and the step's own cost fit the budget together."
    return deployment.finding(
        claim,
        sentence,
        SCOPE,
        [_game_check(each) for each in results],
        conditions=deployment.conditions,
        examined=Examined(None, missing, row),
        advice=f"Refuted by an analyst who does this: {refuted.words}. {steps} {advice}" if refuted else "",
        forced="games can refute a filter and never support it",
    )


def _game_check(found: Found) -> Check:
    shown = Claim(found.quantity, 0.0, found.allowed, found.allowed)
    exact = Estimate.proved(found.value.low, found.value.high, "rational arithmetic, every analyst")
    evidence = Evidence(shown, exact, found={"the worst analyst": found.words} if found.refutes else {})
    return Check(f"adaptive games: {found.quantity}", CheckRole.REFUTES, evidence, False)

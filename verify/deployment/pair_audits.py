"""Sampled checks on pairs of data sets, in worker processes where there are several; a failure is confirmed afresh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from audits import Budget, Estimate
from audits.black_box import BlackBoxClaim, BlackBoxOutcome, black_box_audit
from audits.identities import loss_overlap
from audits.rare_events import audit_rare
from audits.tails import audit_tails, worse
from mechanisms import (
    BOTH,
    LogisticLoss,
    Mechanism,
    NeighbouringPair,
    ObjectivePerturbation,
    PrivacyProfile,
    Relation,
    WhiteBox,
)
from mechanisms.logistic_envelope import logistic_envelope

from ..evidence import hockey_stick_evidence
from ..pool import spread
from ..statement import Claim, Evidence, Observer
from ..verdict import Outcome, judge
from .finding import Check, Power
from .mechanism_source import MechanismSource

#: Largest gap between a mechanism's draws and its own loss that is still called none (both are probabilities).
OVERLAP_TOLERANCE = 0.05
#: Draws that show a gap of that size.
DENSITY_DRAWS = 40_000


@dataclass(frozen=True)
class PairTask:
    """One pair to be audited; ``source`` stands for ``mechanism`` where that is loaded by path."""

    kind: str  # "delta", "black box" or "density"
    name: str
    mechanism: Mechanism | None
    source: MechanismSource | None
    pair: NeighbouringPair
    epsilon: float
    delta: float
    budget: Budget
    private: bool
    words: str = ""
    profile: PrivacyProfile | None = None
    power: Power = Power.REFUTES


def run_tasks(tasks: Sequence[PairTask], jobs: int) -> list[Check]:
    """Return the checks of all tasks, in their order."""
    if jobs == 1 or sum(task.budget.n_draws for task in tasks) < 20_000:
        return [check for task in tasks for check in run_task(task)]
    done = {task.name + task.kind: checks for task, checks in spread(run_task, list(tasks), jobs)}
    return [check for task in tasks for check in done[task.name + task.kind]]


def run_task(task: PairTask) -> list[Check]:
    """Return the checks of one task; a pure function of it."""
    mechanism = task.mechanism
    if mechanism is None:
        assert task.source is not None
        mechanism = task.source.load()
    if task.kind == "black box":
        return _black_box(task, mechanism)
    assert isinstance(mechanism, WhiteBox)
    if task.kind == "density":
        return [_density(task, mechanism)]
    evidence = _delta_evidence(task, mechanism, task.budget.part("look", share=0.5))
    if judge(evidence)[0] is Outcome.FAILS and evidence.exact is None:
        again = _delta_evidence(task, mechanism, task.budget.part("confirm", share=0.5))
        if judge(again)[0] is not Outcome.FAILS:
            evidence = replace(again, sampled=None, reason="unconfirmed: it failed once and not again on fresh draws")
    return [Check(task.name, task.power, evidence, task.private, task.words)]


def sampled_delta_both(mechanism: WhiteBox, pair: NeighbouringPair, epsilon: float, budget: Budget) -> Estimate:
    """Return an interval of delta(epsilon), worse direction: by rare events where an envelope is proved."""
    if (
        isinstance(mechanism, ObjectivePerturbation)
        and isinstance(mechanism.loss, LogisticLoss)
        and mechanism.regulariser is None
        and (pair.x @ pair.x) > 0
        and pair.relation is not Relation.REPLACE
    ):
        parts = [budget.part(d.name, share=0.5, n_draws=max(1, budget.n_draws // 2)) for d in BOTH]
        return worse(
            [
                audit_rare(logistic_envelope(mechanism, pair, d, epsilon), part).delta
                for d, part in zip(BOTH, parts, strict=True)
            ]
        )
    return audit_tails(mechanism, pair, [epsilon], budget).delta(epsilon)


def _delta_evidence(task: PairTask, mechanism: WhiteBox, budget: Budget) -> Evidence:
    sampled = sampled_delta_both(mechanism, task.pair, task.epsilon, budget)
    if task.profile is not None:
        return hockey_stick_evidence(
            task.profile,
            task.epsilon,
            task.delta,
            relation=task.pair.relation,
            observer=Observer.TRANSCRIPT,
            sampled=sampled,
        )
    claim = Claim(
        "delta at the claimed epsilon, worse direction",
        0.0,
        task.delta,
        task.epsilon,
        relation=task.pair.relation,
        observer=Observer.TRANSCRIPT,
    )
    return Evidence(claim, sampled=sampled)


def _density(task: PairTask, mechanism: WhiteBox) -> Check:
    """Return whether the mechanism's own loss fits its own draws on both data sets."""
    gaps = loss_overlap(mechanism, task.pair, task.budget)
    gap = max(gaps, key=lambda each: max(abs(each.low), abs(each.high)))
    claim = Claim(
        "overlap of the two laws from draws of each, less that by the stated loss",
        -OVERLAP_TOLERANCE,
        OVERLAP_TOLERANCE,
        0.0,
        relation=task.pair.relation,
    )
    return Check(task.name, Power.DECIDES, Evidence(claim, sampled=gap), task.private, task.words)


def draws_alone(checks: Sequence[Check]) -> str:
    """Return what draws alone have shown, in words, and the way to a PASS."""
    bounds = [c.evidence.sampled.low for c in checks if c.name.endswith(": epsilon") and c.evidence.sampled is not None]
    return (
        f"No violation found; epsilon is at least {max(bounds, default=0.0):.3g} at the claimed delta, certified; add "
        "log_density to the mechanism for checks that can support a claim, and worst_profile for one over all data sets."
    )


def _black_box(task: PairTask, mechanism: Mechanism) -> list[Check]:
    claim = BlackBoxClaim(task.epsilon, task.delta, (task.pair.relation,))
    found = black_box_audit(mechanism, task.pair, claim, task.budget)
    bound = found.epsilon.estimate
    shown = Claim("epsilon at the claimed delta", 0.0, task.epsilon, task.epsilon, relation=task.pair.relation)
    value = Estimate(
        max(bound.value, bound.low), bound.low, bound.high, bound.failure_prob, bound.n_draws, bound.method
    )
    checks = [Check(f"{task.name}: epsilon", Power.REFUTES, Evidence(shown, sampled=value), task.private, task.words)]
    point, level = found.point, found.point.failure_prob
    if point.outcome is BlackBoxOutcome.REFUTED:
        tested = Claim("p-value of the claim at the event attacked", level, 1.0, level, relation=task.pair.relation)
        value = Estimate(point.p_value, point.p_value, point.p_value, level, found.n_draws, "exact test on fresh draws")
        evidence = Evidence(tested, sampled=value, notes={"event": point.event, "direction": point.direction.name})
    else:
        bounded = Claim("delta at the claimed epsilon", 0.0, task.delta, task.epsilon, relation=task.pair.relation)
        evidence = Evidence(bounded, sampled=point.delta, notes={"p_value": point.p_value})
    checks.append(Check(f"{task.name}: delta", Power.REFUTES, evidence, task.private, task.words))
    return checks

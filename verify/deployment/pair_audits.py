"""Simulated checks of a reference mechanism on pairs of data sets; a failure is confirmed afresh."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from numpy.linalg import LinAlgError

from audits import Budget
from mechanisms import NeighbouringPair, WhiteBox
from mechanisms.perturbed_solver import SolverError

from ..pair_evidence import QUANTITY, pair_evidence
from ..pool import spread
from ..statement import Claim, Evidence, Observer
from ..verdict import Outcome, judge
from .finding import Check, Power


@dataclass(frozen=True)
class PairTask:
    """One pair of which delta is simulated, beside its exact value where the law is known."""

    name: str
    mechanism: WhiteBox
    pair: NeighbouringPair
    epsilon: float
    delta: float
    budget: Budget
    private: bool
    power: Power = Power.REFUTES
    words: str = ""


def ignore(_: float) -> None:
    """Tell nobody."""


def work_of(tasks: Sequence[PairTask]) -> int:
    """Return how much there is to do: each draw, and its loss."""
    return 2 * sum(task.budget.n_draws for task in tasks)


def run_tasks(tasks: Sequence[PairTask], jobs: int, step: Callable[[float], None] = ignore) -> list[Check]:
    """Return the checks of all tasks, in their order; ``step`` is told of what other processes have done."""
    if jobs == 1 or sum(task.budget.n_draws for task in tasks) < 20_000:
        return [run_task(task) for task in tasks]
    done = {}
    for task, check in spread(run_task, list(tasks), jobs):
        done[task.name] = check
        step(work_of([task]))
    return [done[task.name] for task in tasks]


def run_task(task: PairTask) -> Check:
    """Return the check of one task; a pure function of it."""
    evidence = _delta_evidence(task, task.budget.part("look", share=0.5))
    if judge(evidence)[0] is Outcome.FAILS and evidence.exact is None:
        again = _delta_evidence(task, task.budget.part("confirm", share=0.5))
        if judge(again)[0] is not Outcome.FAILS:
            evidence = replace(again, sampled=None, reason="unconfirmed: it failed once and not again on fresh draws")
    return Check(task.name, task.power, evidence, task.private, task.words)


def _delta_evidence(task: PairTask, budget: Budget) -> Evidence:
    """Return the evidence; draws that float64 cannot make are none, and refute nothing."""
    try:
        return pair_evidence(task.mechanism, task.pair, task.epsilon, task.delta, budget)
    except (SolverError, LinAlgError) as stop:
        shown = Claim(
            QUANTITY, 0.0, task.delta, task.epsilon, relation=task.pair.relation, observer=Observer.TRANSCRIPT
        )
        return Evidence(shown, reason=f"no finite test: {stop}")

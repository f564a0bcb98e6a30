"""Simulated checks of a reference mechanism on pairs of data sets; a failure is confirmed afresh."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from numpy.linalg import LinAlgError

from audits import Budget
from audits.error_budget import Part
from audits.verdict import CheckRole
from mechanisms import NeighbouringPair, WhiteBox
from mechanisms.objective.perturbed_solver import SolverError

from ...engine.rows import look_twice
from ...engine.work import mapped
from ...kernel.pair_evidence import QUANTITY, pair_evidence
from ...kernel.statement import Claim, Evidence, Observer
from .finding import Check

#: Why there is no test where the process that drew it ended every time.
DIED = "the worker process died every time"


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
    role: CheckRole = CheckRole.REFUTES
    words: str = ""


def ignore(_: float) -> None:
    """Tell nobody."""


def work_of(tasks: Sequence[PairTask]) -> int:
    """Return how much there is to do: each draw, and its loss."""
    return 2 * sum(task.budget.n_draws for task in tasks)


def run_tasks(tasks: Sequence[PairTask], jobs: int, step: Callable[[float], None] = ignore) -> list[Check]:
    """Return the checks of all tasks, in their order; ``step`` is told of what other processes have done."""
    few = len(tasks) < 2 or sum(task.budget.n_draws for task in tasks) < 20_000
    told = ignore if few or jobs == 1 else step
    results = mapped(
        run_task,
        [replace(task, budget=task.budget.apart()) for task in tasks],
        1 if few else jobs,
        told=lambda task, _: told(work_of([task])),
        died=lambda task: (_no_test(task, DIED), ()),
    )
    for task, (_, spent) in zip(tasks, results, strict=True):
        task.budget.adopt(spent)
    return [check for check, _ in results]


def run_task(task: PairTask) -> tuple[Check, tuple[Part, ...]]:
    """Return the check of one task, and what it spent; a pure function of the task."""
    looks = look_twice(partial(_delta_evidence, task), *task.budget.split({"look": 0.5, "confirm": 0.5}).values())
    if looks.error is not None:
        raise looks.error
    evidence = looks.confirmation if looks.unconfirmed else looks.first
    assert evidence is not None
    if looks.unconfirmed:
        evidence = replace(evidence, sampled=None, reason="unconfirmed: it failed once and not again on fresh draws")
    return _check(task, evidence), task.budget.tree()


def _check(task: PairTask, evidence: Evidence) -> Check:
    return Check(task.name, task.role, evidence, task.private, task.words)


def _no_test(task: PairTask, why: object) -> Check:
    return _check(task, _no_evidence(task, why))


def _delta_evidence(task: PairTask, budget: Budget) -> Evidence:
    """Return the evidence; draws that float64 cannot make are none, and refute nothing."""
    try:
        return pair_evidence(task.mechanism, task.pair, task.epsilon, task.delta, budget)
    except (SolverError, LinAlgError) as stop:
        return _no_evidence(task, stop)


def _no_evidence(task: PairTask, why: object) -> Evidence:
    shown = Claim(QUANTITY, 0.0, task.delta, task.epsilon, relation=task.pair.relation, observer=Observer.TRANSCRIPT)
    return Evidence(shown, reason=f"no finite test: {why}")

"""One case, decided: a pure function of the statement, the case and the run's settings; and the same for figures."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

PROFILES = ("quick", "standard", "full")


@dataclass(frozen=True)
class Settings:
    """What decides every row of a run: the root seed, the profile and the total failure probability."""

    seed: int
    profile: str
    failure_prob: float


@dataclass(frozen=True)
class Task:
    """One piece of work for a worker process: a case by name, or the figures of a statement when ``case`` is None."""

    module: str
    case: str | None
    settings: Settings


def quiet_worker() -> None:
    """Prepare a worker process: one BLAS thread from the start; Ctrl-C is for the parent to handle."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold every loaded BLAS at one thread (sums change in the last bits otherwise)."""
    with hold_blas():
        yield


def hold_blas() -> Any:
    """Set every loaded BLAS to one thread, for good or, as a context, until it is left."""
    from threadpoolctl import threadpool_limits

    import_module("scipy.linalg")  # a BLAS that is loaded later would not be held
    return threadpool_limits(1)


def timed(task: Task) -> tuple[list[dict[str, Any]], float]:
    """Return the rows of one task and the seconds they took (which are no part of a record)."""
    start = time.perf_counter()
    rows = perform(task)
    return rows, time.perf_counter() - start


def perform(task: Task) -> list[dict[str, Any]]:
    """Return the rows of one task: a case has one, a statement may have several figures."""
    from .errors import Defect
    from .registry import load_statement

    statement = load_statement(task.module)
    with one_blas_thread():
        if task.case is None:
            return figure_rows(statement, task.settings)
        case = next((case for case in statement.cases if case.name == task.case), None)
        if case is None:  # the sources were edited while the run was going on
            raise Defect(f"{statement.id} must keep its cases during a run, {task.case!r} has gone")
        return [decide_case(statement, case, task.settings)]


def decide_case(statement: Any, case: Any, settings: Settings) -> dict[str, Any]:
    """Return the row of one case: first look, and on a sampled failure a confirmation on fresh draws.

    An exception of the check becomes an outcome (its type and message only), so that a run goes on.
    """
    from audits import StreamKey

    from .rows import case_row
    from .shares import case_share

    share = case_share(statement, settings.failure_prob)
    sampled = any(case.draws)
    n_draws = case.draws[PROFILES.index(settings.profile)] if sampled else 0
    key = StreamKey(settings.seed).child(statement.id, case.name)
    row = case_row(statement.id, case, n_draws, share.look + share.confirmation if sampled else 0.0)
    return row | look_twice(partial(statement.check, case), n_draws=n_draws, share=share, key=key)


def look_twice(check: Callable[[Any], Any], *, n_draws: int, share: Any, key: Any) -> dict[str, Any]:
    """Return what a check of a budget found: one look, and a confirmation on fresh draws of a sampled failure.

    Parameters
    ----------
    check : callable
        From a ``Budget`` to an ``Evidence``; an exception of it becomes an outcome (its type and message only).
    n_draws : int
        0 for a check that draws nothing.
    share : CaseShare
    key : StreamKey
    """
    from audits import Budget

    from .rows import NO_LOOK, evidence_row
    from .verdict import Outcome, Reason, judge

    def look(purpose: str, failure_prob: float) -> dict[str, Any]:
        evidence = check(Budget(max(n_draws, 1), failure_prob, key.child(purpose)))
        spent = evidence.sampled.failure_prob if evidence.sampled else 0.0
        if evidence.exact and not evidence.exact.exact:
            raise ValueError(f"exact must be a proved enclosure, got failure_prob={evidence.exact.failure_prob}")
        if evidence.sampled and not n_draws:
            raise ValueError("draws must be declared by a case that samples, got none")
        if spent > failure_prob * (1 + 1e-9):
            raise ValueError(f"failure_prob must be at most the share {failure_prob:.3g}, got failure_prob={spent:.3g}")
        return evidence_row(evidence, *judge(evidence))

    first: dict[str, Any] | None = None
    second: dict[str, Any] | None = None
    error: dict[str, str] | None = None
    try:
        first = look("decide", share.look)
        if first["outcome"] == Outcome.FAILS.name and first["exact"] is None:
            second = look("confirm", share.confirmation)
    except Exception as stop:
        error = _error(stop)
    row = first or dict(NO_LOOK)
    if error:
        row |= {"outcome": Outcome.UNDECIDED.name, "reason": Reason.ERROR.name}
    elif second and second["outcome"] != Outcome.FAILS.name:
        row |= {"outcome": Outcome.UNDECIDED.name, "reason": Reason.UNCONFIRMED.name}
    return row | {"confirmation": second, "error": error}


def figure_rows(statement: Any, settings: Settings) -> list[dict[str, Any]]:
    """Return the data of a statement's figures (at most one under ``quick``); an exception becomes a row."""
    from reports.codec import to_plain

    try:
        figures = tuple(statement.figures(settings.seed)) if statement.figures else ()
    except Exception as stop:
        return [{"kind": "figure", "id": statement.id, "number": 0, "figure": None, "error": _error(stop)}]
    if settings.profile == "quick":
        figures = figures[:1]
    return [
        {"kind": "figure", "id": statement.id, "number": number, "figure": to_plain(figure), "error": None}
        for number, figure in enumerate(figures, start=1)
    ]


def _error(stop: Exception) -> dict[str, str]:
    return {"type": type(stop).__name__, "message": " ".join(str(stop).split())}

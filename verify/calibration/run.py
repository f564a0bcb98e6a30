"""One calibration: tasks of repetitions, spread over processes, kept as they finish, added up in a fixed order.

The same rows whatever the number of workers, and whether it was interrupted and resumed or not.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import cache
from typing import Protocol

from audits import Budget, StreamKey

from ..pool import spread
from ..store import Store, content_hash
from ..versions import library_versions, platform_tag, source_digest
from ..worker import one_blas_thread
from .bank import graded_mutants, twin_mutants
from .findings import Cell, Row, rows_of
from .mutant import DEFAULT_FAILURE_PROB, Mutant
from .record import Calibration, header
from .series import BLOCK, Series

#: Repetitions of a series, of a mutant at its stated strength, and of its other grades, by profile.
REPETITIONS = {"quick": (40, 0, 0), "standard": (1000, 100, 60), "full": (5000, 1000, 200)}

#: Repetitions of one task of the bank.
BANK_BLOCK = 10


class Watcher(Protocol):
    """Whoever follows a calibration: told how much there is to do, and of every task done."""

    def begin(self, n_tasks: int) -> None:
        """Be told the number of tasks."""
        ...

    def advance(self, name: str) -> None:
        """Be told that one task is done."""
        ...


@dataclass(frozen=True)
class Task:
    """Some repetitions of one series at one level, or of one mutant at one strength (``level`` nan)."""

    name: str
    level: float
    strength: float
    block: int
    repeats: int
    seed: int

    @property
    def cell(self) -> Cell:
        """What its counts are added to."""
        return self.name, str(self.level), str(self.strength)


@dataclass(frozen=True)
class Outcome:
    """A calibration as far as it went, and how many of its tasks were taken from the store."""

    calibration: Calibration
    reused: int

    @property
    def interrupted(self) -> bool:
        """Whether it was stopped before its end."""
        return not self.calibration.complete


@cache
def all_series() -> Mapping[str, Series]:
    """Return every series by its name."""
    from .auditor_series import auditor_series
    from .black_box_series import black_box_series
    from .contract_series import contract_series
    from .decision_series import decision_series
    from .exact_series import exact_series
    from .examination_series import examination_series
    from .importance_series import importance_series
    from .interval_series import interval_series
    from .rare_series import rare_series
    from .stated_law_series import stated_law_series

    makers = (
        interval_series,
        exact_series,
        auditor_series,
        decision_series,
        black_box_series,
        rare_series,
        importance_series,
        stated_law_series,
        contract_series,
        examination_series,
    )
    found = [series for maker in makers for series in maker()]
    named = {series.name: series for series in found}
    assert len(named) == len(found), "names of series must be unique"
    return named


@cache
def all_mutants() -> Mapping[str, Mutant]:
    """Return every mutant by its name."""
    from .examination_series import examination_mutants
    from .stated_law_series import stated_law_mutants

    found = [*twin_mutants(), *graded_mutants(), *stated_law_mutants(), *examination_mutants()]
    named = {mutant.name: mutant for mutant in found}
    assert len(named) == len(found), "names of mutants must be unique"
    return named


def tasks(profile: str, seed: int) -> list[Task]:
    """Return the tasks of a profile, in canonical order."""
    n_series, n_twins, n_graded = REPETITIONS[profile]
    planned: list[Task] = []
    for series in all_series().values():
        for level in series.levels:
            planned += _blocks(series.name, level, math.nan, n_series * series.times, BLOCK * series.times, seed)
    for mutant in all_mutants().values():
        for strength in mutant.strengths:
            n_repeats = n_graded if mutant.graded and strength != mutant.stated else n_twins
            planned += _blocks(mutant.name, math.nan, strength, n_repeats, BANK_BLOCK, seed)
    return planned


def _blocks(name: str, level: float, strength: float, n_repeats: int, size: int, seed: int) -> Iterator[Task]:
    for block, start in enumerate(range(0, n_repeats, size)):
        yield Task(name, level, strength, block, min(size, n_repeats - start), seed)


def _longest_first(task: Task) -> float:
    """Sort the tasks that would keep one worker busy at the end to the beginning."""
    each = all_mutants()[task.name] if math.isnan(task.level) else all_series()[task.name]
    return -task.repeats * each.seconds


def perform(task: Task) -> tuple[int, int, int]:
    """Return how often the lower end, the upper end and either of them missed (of a mutant: refutations, three times)."""
    key = StreamKey(task.seed, ("calibrate", *task.cell, str(task.block)))
    with one_blas_thread():
        if math.isnan(task.level):
            mutant = all_mutants()[task.name]
            budgets = (
                Budget(max(mutant.n_draws, 1), DEFAULT_FAILURE_PROB, key.child(str(repeat)))
                for repeat in range(task.repeats)
            )
            hits = sum(mutant.refute(task.strength, budget) for budget in budgets)
            return hits, hits, hits
        misses = all_series()[task.name].misses(task.repeats, task.level, key)
    return int(misses[:, 0].sum()), int(misses[:, 1].sum()), int(misses.any(axis=1).sum())


def calibrate(profile: str, seed: int, *, jobs: int, store: Store, watcher: Watcher) -> Outcome:
    """Do every task that the store does not hold yet; Ctrl-C ends it early with what was done so far."""
    planned = tasks(profile, seed)
    context = {"sources": source_digest(), "platform": platform_tag(), "versions": library_versions()}
    keys = {task: content_hash({"calibration": asdict(task), "context": context}) for task in planned}
    done: dict[Task, Row] = {}
    for task, key in keys.items():
        kept = store.get(key)
        if kept is not None:
            done[task] = kept[0]
    reused = len(done)
    todo = sorted((task for task in planned if task not in done), key=_longest_first)
    watcher.begin(len(todo))
    try:
        with closing(spread(perform, todo, jobs)) as results:
            for task, hits in results:
                done[task] = dict(zip(("low", "high", "any"), hits, strict=True))
                store.put(keys[task], [done[task]])
                watcher.advance(task.name)
    except KeyboardInterrupt:
        pass  # the header says that the record is not complete
    counts: dict[Cell, Counter[str]] = {}
    for task in planned:
        if task in done:
            total = counts.setdefault(task.cell, Counter())
            total.update(done[task])
            total["repeats"] += task.repeats
    rows = rows_of(counts, all_series(), all_mutants())
    return Outcome(Calibration(header(profile, seed, n_tasks=len(planned), n_done=len(done)), tuple(rows)), reused)

"""One calibration: tasks of repetitions, spread over processes, kept as they finish, added up in a fixed order.

The same rows whatever the number of workers, and whether it was interrupted and resumed or not.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, TypeVar

from audits import StreamKey

from ..engine.executors import Executor
from ..engine.follow import Watcher
from ..engine.store import Store
from ..engine.task import Died, Done, Task, content_hash
from ..engine.versions import identity
from ..engine.work import Work, keyed
from ..engine.worker import one_blas_thread
from ..kernel.rows import Row
from ..kernel.shares import whole
from . import series as series_folder
from .calibration_record import Calibration, Cell, first_line, rows_of
from .mutant_bank import graded_mutants, twin_mutants
from .series.series import BLOCK, DEFAULT_FAILURE_PROB, AuditSeries, BankMutant

Named = TypeVar("Named", AuditSeries, BankMutant)

#: Repetitions of a series, of a mutant at its stated strength, and of its other grades, by profile.
REPETITIONS = {"quick": (40, 0, 0), "standard": (1000, 100, 60), "full": (5000, 1000, 200)}

#: Repetitions of one task of the bank.
BANK_BLOCK = 10


@dataclass(frozen=True)
class Repetitions:
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
class Calibrated:
    """A calibration as far as it went, how many of its tasks were kept before, and those that killed their worker.

    ``worker_deaths`` counts the deaths after which the tasks were done by another worker, too.
    """

    calibration: Calibration
    reused: int
    crashed: Sequence[str]
    interrupted: bool
    worker_deaths: int = 0


def _collected(kind: str) -> list[Any]:
    """Return what the modules ``<name>_series`` of the series' folder yield from their functions ``<name>_<kind>``.

    Every one has series; some have mutants.
    """
    names = sorted(info.name for info in iter_modules(series_folder.__path__) if info.name.endswith("_series"))
    functions = []
    for name in names:
        module, function = import_module(f"{series_folder.__name__}.{name}"), name.removesuffix("series") + kind
        if kind == "series" or hasattr(module, function):
            functions.append(getattr(module, function))
    return [item for function in functions for item in function()]


def _by_name(items: Sequence[Named]) -> dict[str, Named]:
    named = {item.name: item for item in items}
    assert len(named) == len(items), "names must be unique"
    return named


@cache
def all_series() -> Mapping[str, AuditSeries]:
    """Return every series by its name; a file of the folder of series is found by its name."""
    return _by_name(_collected("series"))


@cache
def all_mutants() -> Mapping[str, BankMutant]:
    """Return every mutant by its name."""
    return _by_name([*twin_mutants(), *graded_mutants(), *_collected("mutants")])


def tasks(profile: str, seed: int) -> list[Task[Repetitions]]:
    """Return the tasks of a profile, in canonical order; each is the hash of everything that decides its counts."""
    n_series, n_twins, n_graded = REPETITIONS[profile]
    planned: list[Repetitions] = []
    for series in all_series().values():
        for level in series.levels:
            planned += _blocks(series.name, level, math.nan, n_series * series.times, BLOCK * series.times, seed)
    for mutant in all_mutants().values():
        for strength in mutant.strengths:
            n_repeats = n_graded if mutant.graded and strength != mutant.stated else n_twins
            planned += _blocks(mutant.name, math.nan, strength, n_repeats, BANK_BLOCK, seed)
    return [
        Task(content_hash({"calibration": asdict(part), "identity": identity()}), part, _seconds(part))
        for part in planned
    ]


def _blocks(name: str, level: float, strength: float, n_repeats: int, size: int, seed: int) -> Iterator[Repetitions]:
    for block, start in enumerate(range(0, n_repeats, size)):
        yield Repetitions(name, level, strength, block, min(size, n_repeats - start), seed)


def _seconds(part: Repetitions) -> float:
    """Return about how long some repetitions take."""
    one = all_mutants()[part.name] if math.isnan(part.level) else all_series()[part.name]
    return part.repeats * one.seconds


def perform(part: Repetitions) -> tuple[int, int, int]:
    """Return how often the lower end, the upper end and either of them missed.

    Of a mutant: how often it was refuted, three times.
    """
    key = StreamKey(part.seed, ("calibrate", *part.cell, str(part.block)))
    with one_blas_thread():
        if math.isnan(part.level):
            mutant = all_mutants()[part.name]
            budgets = (
                whole(DEFAULT_FAILURE_PROB, key.child(str(repeat)), max(mutant.n_draws, 1))
                for repeat in range(part.repeats)
            )
            hits = sum(mutant.refute(part.strength, budget) for budget in budgets)
            return hits, hits, hits
        misses = all_series()[part.name].misses(part.repeats, part.level, key)
    return int(misses[:, 0].sum()), int(misses[:, 1].sum()), int(misses.any(axis=1).sum())


def calibrate(profile: str, seed: int, *, executor: Executor, store: Store, watcher: Watcher) -> Calibrated:
    """Do every task that the store does not hold yet; Ctrl-C ends it early with what was done so far.

    What killed its worker every time has no count; it is named, and done again by the next run.
    """
    planned = keyed(tasks(profile, seed))
    kept = {key: store.finished(key) for key in planned}
    done: dict[str, Row] = {key: rows[0] for key, rows in kept.items() if rows}
    reused = len(done)
    crashed: list[str] = []

    def take(part: Sequence[Done[Repetitions, tuple[int, int, int]] | Died[Repetitions]]) -> None:
        for one in part:
            key, content = one.task.key, one.task.content
            if isinstance(one, Died):
                crashed.append(f"{content.name}, {content.repeats} repetitions of block {content.block}")
            else:
                done[key] = dict(zip(("low", "high", "any"), one.result, strict=True))
                store.put(key, [done[key]])
            watcher.advance(content.name)

    todo = [task for key, task in planned.items() if key not in done]
    watcher.begin(len(todo))
    work = Work(perform, todo, executor)
    interrupted = work.through(take)  # the header says that the record is not complete
    counts: dict[Cell, Counter[str]] = {}
    for key, task in planned.items():
        if key in done:
            total = counts.setdefault(task.content.cell, Counter())
            total.update(done[key])
            total["repeats"] += task.content.repeats
    rows = rows_of(counts, all_series(), all_mutants())
    first = first_line(profile, seed, n_tasks=len(planned), n_done=len(done), crashed=crashed)
    return Calibrated(Calibration(first, tuple(rows)), reused, crashed, interrupted, work.worker_deaths)

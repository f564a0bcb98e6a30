"""A comparison: its lines, decided by tasks of the engine, in parallel and resumable; rows the same for any number."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from mechanisms.offers import Promise

from ..engine.executors import Executor
from ..engine.follow import Watcher
from ..engine.store import Store
from ..engine.task import Died, Done, Task, content_hash
from ..engine.versions import identity
from ..engine.work import Work, keyed
from ..kernel.rows import Row, dumps, encode
from ..messages.errors import UserError
from .choice_cell import METRICS, CellSetting, Contender, blank, contenders, decide
from .choice_data import ChoiceData, Loss
from .choice_table import ChoiceRecord, first_line

#: The reason in the row of a line whose worker process died every time; resumed, it is tried again.
DIED = "the worker process died while it decided this line"


@dataclass(frozen=True, eq=False)
class Experiment:
    """What is compared on which records.

    Attributes
    ----------
    loss : {"squared", "logistic"}
    promises : tuple of Promise
        Every mechanism is set up for each of them.
    methods : tuple of str
        Those that are wanted; none for all.
    folds, draws : int
        Parts of the cross-validation, at least 2; and draws on each of them, at least 1.
    seed : int
        The root of every random stream.
    as_run : bool
        Whether the variants of the published experiments' code are compared too.
    """

    data: ChoiceData
    loss: Loss
    promises: tuple[Promise, ...]
    methods: tuple[str, ...] = ()
    folds: int = 10
    draws: int = 20
    seed: int = 0
    as_run: bool = False
    lines: tuple[Contender, ...] = field(init=False)

    def __post_init__(self) -> None:
        n_records = self.data.dataset.n_records
        if self.loss not in METRICS:
            raise UserError(f"loss must be {' or '.join(METRICS)}, got loss={self.loss}")
        if not 2 <= self.folds <= n_records:
            rule = "at least 2 and at most the number of records"
            raise UserError(f"folds must be {rule}, got folds={self.folds}")
        if self.draws < 1:
            raise UserError(f"draws must be at least 1, got draws={self.draws}")
        if self.seed < 0:
            raise UserError(f"seed must be at least 0, got seed={self.seed}")
        if self.as_run and self.loss != "squared":
            raise UserError("as_run must be left out for the logistic loss, got as_run")
        if not self.promises or len(set(self.promises)) < len(self.promises):
            raise UserError("promises must be given, each once, got none or one twice")
        lines = contenders(self.loss, self.promises, self.methods, as_run=self.as_run)
        object.__setattr__(self, "lines", tuple(lines))

    @property
    def setting(self) -> CellSetting:
        """What all lines share."""
        return CellSetting(self.data, self.loss, self.folds, self.draws, self.seed)

    def tasks(self) -> Iterator[Task[Contender]]:
        """Yield the lines as tasks, each named by the hash of everything that decides its row."""
        shared = self._about() | identity()
        for line in self.lines:
            yield Task(content_hash(shared | {"line": [line.method, line.way, _promise(line.promise)]}), line)

    def _about(self) -> dict[str, Any]:
        """Return what decides every row."""
        data = self.data
        return {
            "name": data.dataset.name,
            "origin": data.origin,
            "public": data.dataset.public,
            "recipe": data.recipe,
            "data": data.dataset.digest,
            "n_records": data.dataset.n_records,
            "n_public": data.n_public,
            "dim": data.dataset.dim,
            "x_bound": encode(data.dataset.x_bound),
            "y_bound": encode(data.dataset.y_bound),
            "loss": self.loss,
            "folds": self.folds,
            "draws": self.draws,
            "seed": self.seed,
        }

    def header(self, n_done: int) -> Row:
        """Return the first line of the record when so many rows are there."""
        dataset = self.data.dataset
        more = {
            "complete": n_done == len(self.lines),
            "cells": len(self.lines),
            "cells_done": n_done,
            "steps": list(dataset.steps),
            "data_dependent": list(dataset.data_dependent),
            "promises": [_promise(promise) for promise in self.promises],
            "methods": list(dict.fromkeys(line.method for line in self.lines)),
            "as_run": self.as_run,
        }
        return first_line(self._about() | more)


def _promise(promise: Promise | None) -> dict[str, Any] | None:
    return None if promise is None else vars(promise).copy()


@dataclass
class Course:
    """An experiment under way: rows as they come, kept in a store, if there is one, so that nothing is done twice.

    Attributes
    ----------
    interrupted : bool
        Whether Ctrl-C ended it; what was done stays.
    reused : int
        Lines that the store had.
    """

    experiment: Experiment
    store: Store | None = None
    watcher: Watcher | None = None
    interrupted: bool = False
    reused: int = 0

    def __post_init__(self) -> None:
        self._tasks = keyed(self.experiment.tasks())
        self._done: dict[str, tuple[Row, float]] = {}

    def run(self, executor: Executor) -> ChoiceRecord:
        """Decide what the store has not, and return all rows there are."""
        self._take_up()
        missing = [task for key, task in self._tasks.items() if key not in self._done]
        setting = self.experiment.setting
        # a batch of this process is done as it is handed in: one line at a time, so that Ctrl-C costs one
        kind = _kind if executor.room > 1 else None
        work = Work(partial(decide, setting), missing, executor, kind=kind, name=lambda line: line.name)
        announced = False
        if self.watcher and missing:
            self.watcher.begin(len(missing))
        try:
            with executor, closing(work.results()) as results:
                for part in results:
                    for one in part:
                        self._keep(setting, one)
                    left = None if announced else work.expected()
                    if self.watcher and left and left[0]:
                        announced = True
                        self.watcher.begin(*left)
                    elif self.watcher:
                        self.watcher.advance(part[-1].task.content.name, len(part))
        except KeyboardInterrupt:
            self.interrupted = True
        return self.comparison()

    def comparison(self) -> ChoiceRecord:
        """Return the rows that are there, in the order of the lines."""
        found = [self._done[key] for key in self._tasks if key in self._done]
        header = self.experiment.header(len(found))
        return ChoiceRecord(header, tuple(row for row, _ in found), tuple(seconds for _, seconds in found))

    def _take_up(self) -> None:
        if self.store is None:
            return
        for key in self.store.keys() - self.store.keys(failed=True):
            rows = self.store.get(key) if key in self._tasks else None
            if rows:
                self._done[key] = (rows[0]["row"], rows[0]["seconds"])
        self.reused = len(self._done)

    def _keep(self, setting: CellSetting, one: Done[Contender, Row] | Died[Contender]) -> None:
        died = isinstance(one, Died)
        row = blank(setting, one.task.content, DIED) if isinstance(one, Died) else one.result
        seconds = 0.0 if isinstance(one, Died) else one.seconds
        row = json.loads(dumps(row))  # as a record that is read has it
        self._done[one.task.key] = (row, seconds)
        if self.store is not None:
            self.store.put_texts([(one.task.key, dumps({"row": row, "seconds": seconds}), died)])


def _kind(line: Contender) -> tuple[str, str]:
    """Return what the cost of a line mostly depends on."""
    return line.method, line.way

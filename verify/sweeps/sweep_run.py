"""A sweep: the cells that have no row yet are decided and kept, until all are done or time is up."""

from __future__ import annotations

import math
import secrets
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import overload

from reports.numbers import format_count

from ..engine.executors import Executor
from ..engine.follow import Watcher
from ..engine.store import Store
from ..engine.task import Died, Task
from ..engine.versions import identity
from ..engine.work import Work
from ..kernel.verdict import Reason
from .cell import Cell, Shared, cell_key, cell_name, decide, died
from .grid import Grid

WORDS = {
    "HOLDS": "hold",
    "VOUCHED": "hold as vouched",
    "FAILS": "fail",
    "UNDECIDED": "undecided",
    "OUT_OF_DOMAIN": "out of domain",
    "INCONSISTENT": "inconsistent",
    "ERROR": "stopped with an error",
}


def kind(cell: Cell) -> tuple[object, ...]:
    """Return what the cost of a cell mostly depends on."""
    return tuple(cell.get(axis) for axis in ("mechanism", "loss", "n", "dim"))


class Cells(Sequence[Task[Cell]]):
    """Some cells of a grid as tasks, made when they are asked for: a grid may have millions of them."""

    def __init__(self, grid: Grid, shared: Shared, places: Sequence[int]) -> None:
        self._grid, self._hasher, self._places = grid, shared.hasher(), places

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, number: int) -> Task[Cell]: ...
    @overload
    def __getitem__(self, number: slice) -> Cells: ...
    def __getitem__(self, number: int | slice) -> Task[Cell] | Cells:
        if isinstance(number, slice):
            raise TypeError("cells are given one by one")
        cell = self._grid.cell(self._places[number])
        return Task(cell_key(self._hasher, cell), cell)


@dataclass
class Sweep:
    """One sweep of a grid into a store.

    Attributes
    ----------
    counts : Counter
        Cells decided by this sweep, by the word that they count under.
    interrupted, timed_out : bool
        Why it ended early, if it did; the cells that were not reached have no row.
    """

    grid: Grid
    store: Store
    watcher: Watcher
    counts: Counter[str] = field(default_factory=Counter)
    interrupted: bool = False
    timed_out: bool = False

    def __post_init__(self) -> None:
        self.shared: Shared = self.grid.shared(identity())

    def keyed(self) -> Iterator[tuple[str, Cell]]:
        """Yield every cell of the grid with its key, in order."""
        hasher = self.shared.hasher()
        return ((cell_key(hasher, cell), cell) for cell in self.grid.cells())

    def missing(self, *, retry_failed: bool) -> list[int]:
        """Return the positions of the cells to do: those without a row, and with ``retry_failed`` the crashes."""
        done = self.store.keys()
        if retry_failed:
            done -= self.store.keys(failed=True)
        return [place for place, (key, _) in enumerate(self.keyed()) if key not in done]

    def run(self, executor: Executor, *, retry_failed: bool = False, max_time: float | None = None) -> None:
        """Decide what is missing; Ctrl-C or ``max_time`` (seconds) ends it early, and what was done stays."""
        deadline = math.inf if max_time is None else time.monotonic() + max_time
        places = self.missing(retry_failed=retry_failed)
        failed = self.store.keys(failed=True) if retry_failed else set()
        turn = secrets.randbelow(len(places)) if places else 0  # two sweeps of one file meet late
        work = Work(
            partial(decide, self.shared),
            Cells(self.grid, self.shared, places[turn:] + places[:turn]),
            executor,
            kind=kind,
            name=cell_name,
            elsewhere=lambda keys: self.store.has(keys) - failed,
            deadline=deadline,
        )
        announced: Counter[str] | None = None  # what was counted before the number that is left was told
        try:
            with executor, closing(work.results()) as results:
                for part in results:
                    rows = [
                        (one.task.key, *(died(self.shared, one.task.content) if isinstance(one, Died) else one.result))
                        for one in part
                    ]
                    self.store.put_texts((key, text, word == Reason.ERROR.name) for key, text, word in rows)
                    self.counts.update(word for _, _, word in rows)
                    left = None if announced is not None else work.expected()
                    if left:
                        announced = self.counts.copy()
                        self.watcher.begin(*left)
                    elif announced is not None:
                        self.watcher.advance(counts_text(self.counts - announced), len(rows))
        except KeyboardInterrupt:
            self.interrupted = True
        self.timed_out = work.timed_out


def counts_text(counts: Counter[str]) -> str:
    """Return counts in words, those of nothing left out."""
    return ", ".join(f"{format_count(counts[word])} {words}" for word, words in WORDS.items() if counts[word]) or "none"

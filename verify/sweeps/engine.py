"""A sweep: the cells that have no row yet are decided in batches and kept, until all are done or time is up."""

from __future__ import annotations

import itertools
import math
import secrets
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from typing import Protocol

from ..errors import Defect
from .batch import Batch, Decided, Refused, crashed, identity
from .cell import Cell, Hasher, Shared, cell_key
from .cell_store import CellStore
from .grid import Grid
from .schedulers import Result, Scheduler

#: Seconds of work that a batch aims at: far above the cost of sending it, far below a reader's patience.
BATCH_SECONDS = 0.1
MOST_CELLS = 500
#: Batches handed in per slot, so that no worker waits for the next one.
AHEAD = 3
#: Seconds without any result after which the scheduler is asked who is still there.
STALL = 30.0
#: How often a batch whose worker died is tried again; its cells travel alone then, so that one cannot hide behind others.
TRIES = 2
#: Cells that are decided first, to know what the rest will cost: at most so many, and so many seconds.
PILOT_CELLS, PILOT_SECONDS = 12, 4.0

Pending = tuple[str, Cell]


class Watcher(Protocol):
    """Whoever follows a sweep."""

    def estimate(self, n_cells: int, seconds: float) -> None:
        """Be told the cells to do and the seconds they are expected to take."""
        ...

    def decided(self, cells: Sequence[Decided]) -> None:
        """Be told cells that were decided and kept."""
        ...

    def say(self, line: str) -> None:
        """Be told something in words."""
        ...


@dataclass
class Costs:
    """Seconds a cell takes, by what its cost depends on; cells of an unknown kind cost what all did on average."""

    _sums: dict[tuple[object, ...], list[float]] = field(default_factory=dict)

    @staticmethod
    def kind(cell: Cell) -> tuple[object, ...]:
        """Return what the cost of a cell mostly depends on."""
        return tuple(cell.get(axis) for axis in ("mechanism", "loss", "n", "dim"))

    def add(self, cell: Cell, seconds: float) -> None:
        """Learn from a decided cell."""
        for kind in (self.kind(cell), ()):
            total = self._sums.setdefault(kind, [0.0, 0.0])
            total[0] += seconds
            total[1] += 1

    @property
    def known(self) -> int:
        """Return the number of cells learnt from."""
        return int(self._sums.get((), [0.0, 0.0])[1])

    def of(self, cell: Cell) -> float:
        """Return the seconds a cell is expected to take."""
        seconds, count = self._sums.get(self.kind(cell)) or self._sums.get(()) or (BATCH_SECONDS, 1)
        return seconds / count


@dataclass
class Sweep:
    """One sweep of a grid into a store.

    Attributes
    ----------
    interrupted, timed_out : bool
        Why it ended early, if it did; the cells that were not reached have no row.
    """

    grid: Grid
    store: CellStore
    watcher: Watcher
    interrupted: bool = False
    timed_out: bool = False

    def __post_init__(self) -> None:
        self.shared: Shared = self.grid.shared(identity())
        self._costs = Costs()
        self._under_way: dict[Future[Result], Batch] = {}
        self._suspects: deque[Pending] = deque()
        self._deaths: Counter[str] = Counter()
        self._heard = time.monotonic()
        self._started: float | None = None  # when the first result came
        self._pilots = 0
        self._announced = False

    def keyed(self) -> Iterator[Pending]:
        """Yield every cell of the grid with its key, in order."""
        hasher = self.shared.hasher()
        return ((cell_key(hasher, cell), cell) for cell in self.grid.cells())

    def missing(self, *, retry_failed: bool) -> list[int]:
        """Return the positions of the cells to do: those without a row, and with ``retry_failed`` the crashes."""
        done = self.store.keys()
        if retry_failed:
            done -= self.store.keys(failed=True)
        return [place for place, (key, _) in enumerate(self.keyed()) if key not in done]

    def run(self, scheduler: Scheduler, *, retry_failed: bool = False, max_time: float | None = None) -> None:
        """Decide what is missing; Ctrl-C or ``max_time`` (seconds) ends it early, and what was done stays."""
        deadline = time.monotonic() + max_time if max_time is not None else math.inf
        places = self.missing(retry_failed=retry_failed)
        failed = self.store.keys(failed=True) if retry_failed else set()
        turn = secrets.randbelow(len(places)) if places else 0  # two sweeps of one file meet late
        todo = deque(places[turn:] + places[:turn])
        finished = False
        try:
            self._pilot(todo, scheduler)
            while (todo or self._under_way or self._suspects) and not self.timed_out:
                self._hand_in(todo, scheduler, failed)
                self._collect(scheduler, deadline)
                self._announce(todo, scheduler)
            finished = not self.timed_out
        except KeyboardInterrupt:
            self.interrupted = True
        finally:
            scheduler.close(finished=finished)

    def _pending(self, place: int, hasher: Hasher) -> Pending:
        cell = self.grid.cell(place)
        return cell_key(hasher, cell), cell

    def _pilot(self, todo: deque[int], scheduler: Scheduler) -> None:
        """Hand in a few cells from all over the grid first, to learn what all of them will take."""
        if not todo:
            return
        hasher, step = self.shared.hasher(), max(1, len(todo) // PILOT_CELLS)
        chosen = list(itertools.islice(todo, 0, None, step))[:PILOT_CELLS]
        for place in chosen:
            self._submit(Batch(self.shared, (self._pending(place, hasher),)), scheduler)
            todo.remove(place)
        self._pilots = len(chosen)

    def _announce(self, todo: Sequence[int], scheduler: Scheduler) -> None:
        """Tell what the rest will take, once the first cells are known or their time is up."""
        if self._started is None or self._announced:
            return
        if self._costs.known >= self._pilots or time.monotonic() - self._started > PILOT_SECONDS:
            self._announced = True
            cells = len(todo) + sum(len(batch.cells) for batch in self._under_way.values()) + len(self._suspects)
            if cells:
                self.watcher.estimate(cells, self._expected(todo) / scheduler.slots)

    def _expected(self, todo: Sequence[int]) -> float:
        step = max(1, len(todo) // 2000)
        sample = [self._costs.of(self.grid.cell(place)) for place in itertools.islice(todo, 0, None, step)]
        return sum(sample) / max(len(sample), 1) * len(todo)

    def _submit(self, batch: Batch, scheduler: Scheduler) -> None:
        self._under_way[scheduler.submit(batch)] = batch

    def _keep(self, cells: Sequence[Decided]) -> None:
        self.store.put((cell.key, cell.text) for cell in cells)
        self.watcher.decided(cells)

    def _next(self, todo: deque[int], hasher: Hasher, failed: set[str], slots: int) -> Batch | None:
        """Return the next cells as a batch, without those that another process has decided by now."""
        room = min(MOST_CELLS, max(1, len(todo) // (2 * slots)))
        while todo:
            cells: list[Pending] = []
            expected = 0.0
            while todo and len(cells) < room and (not cells or expected < BATCH_SECONDS):
                cells.append(self._pending(todo.popleft(), hasher))
                expected += self._costs.of(cells[-1][1])
            there = self.store.has(key for key, _ in cells) - failed
            cells = [each for each in cells if each[0] not in there]
            if cells:
                return Batch(self.shared, tuple(cells))
        return None

    def _hand_in(self, todo: deque[int], scheduler: Scheduler, failed: set[str]) -> None:
        """Keep the workers busy; or, after a death, try what was under way then, one cell alone at a time."""
        if self._suspects:
            if not self._under_way:
                self._submit(Batch(self.shared, (self._suspects.popleft(),)), scheduler)
            return
        hasher = self.shared.hasher()
        while len(self._under_way) < AHEAD * scheduler.slots:
            batch = self._next(todo, hasher, failed, scheduler.slots)
            if batch is None:
                return
            self._submit(batch, scheduler)

    def _collect(self, scheduler: Scheduler, deadline: float) -> None:
        """Wait for a result, at most a second, and keep what has come."""
        done, _ = wait(
            self._under_way, timeout=min(1.0, max(0.0, deadline - time.monotonic())), return_when=FIRST_COMPLETED
        )
        now = time.monotonic()
        if done:
            self._heard = now
            self._started = self._started or now
        elif self._under_way and now - self._heard > STALL:
            self._heard = now
            if scheduler.stalled():
                lost, self._under_way = self._under_way, {}
                for batch in lost.values():
                    self._submit(batch, scheduler)
        for future in done:
            self._settle(future, scheduler)
        self.timed_out = now > deadline

    def _settle(self, future: Future[Result], scheduler: Scheduler) -> None:
        """Keep what a batch found; cells whose worker died are tried alone, and recorded as crashed in the end."""
        alone = len(self._under_way) == 1
        batch = self._under_way.pop(future)
        try:
            result = future.result()
        except Exception as stop:
            if not scheduler.lost(stop):
                why = f"{type(stop).__name__}: {stop}"
                raise Defect(f"a batch was not decided ({why}); what is done is kept, run it again") from stop
            for key, cell in batch.cells:
                self._deaths[key] += alone and len(batch.cells) == 1
                if self._deaths[key] >= TRIES:
                    self._keep([crashed(key, cell, self.shared)])
                else:
                    self._suspects.append((key, cell))
            return
        if isinstance(result, Refused):
            scheduler.refuse()
            self._submit(batch, scheduler)
            return
        for (_, cell), decided in zip(batch.cells, result, strict=True):
            self._costs.add(cell, decided.seconds)
        self._keep(result)

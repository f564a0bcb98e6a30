"""Tasks handed to an executor and collected as they are done: once, for every command.

A task whose worker dies is tried again alone; that it died every time is its result, and everything else goes on.
"""

from __future__ import annotations

import itertools
import math
import time
from collections import Counter, deque
from collections.abc import Callable, Container, Generator, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Generic

from ..messages.errors import Defect
from ..messages.faults import tell
from .executors import Executor, local
from .task import Batch, Died, Done, Failed, R, Refused, T, Task
from .versions import identity

#: Seconds of work that a batch aims at: far above the cost of sending it, far below a reader's patience.
BATCH_SECONDS = 0.1
MOST_TASKS = 500
#: Seconds without any result after which the executor is asked who is still there.
STALL = 30.0
#: How often a task whose worker died while it was alone is begun.
TRIES = 2
#: Tasks that are done first, to know what the rest will cost: at most so many, and so many seconds.
PILOT_TASKS, PILOT_SECONDS = 12, 4.0


@dataclass
class Costs:
    """Seconds a task takes, by its kind; tasks of an unknown kind cost what all did on average."""

    _sums: dict[Hashable, list[float]] = field(default_factory=dict)

    def add(self, kind: Hashable, seconds: float) -> None:
        """Learn from a task."""
        for key in (("of", kind), ()):
            total = self._sums.setdefault(key, [0.0, 0.0])
            total[0] += seconds
            total[1] += 1

    @property
    def known(self) -> int:
        """Return the number of tasks learnt from."""
        return int(self._sums.get((), [0.0, 0.0])[1])

    def of(self, kind: Hashable) -> float:
        """Return the seconds that a task of a kind is expected to take."""
        seconds, count = self._sums.get(("of", kind)) or self._sums.get(()) or (BATCH_SECONDS, 1)
        return seconds / count


def keyed(tasks: Iterable[Task[T]]) -> dict[str, Task[T]]:
    """Return tasks by their keys; two of the same are a ``Defect``: the result of one would stand for the other."""
    by_key: dict[str, Task[T]] = {}
    for task in tasks:
        if by_key.setdefault(task.key, task) is not task:
            raise Defect(f"keys of tasks must be unique, got {task.key} twice")
    return by_key


@dataclass
class Work(Generic[T, R]):
    """Tasks, and how they are done.

    Attributes
    ----------
    function : callable
        Does one task, from its content; pure and picklable.
    tasks : sequence of Task
        It may make them when they are asked for.
    kind : callable, optional
        From a content to what its cost depends on. Without it every task travels alone, those that are expected to take
        longest first; with it short ones travel together, and a few from all over the sequence begin.
    elsewhere : callable
        Which of a few keys somebody else has done by now.
    deadline : float
        No task begins after it (of ``time.monotonic``).
    checked : bool
        Whether workers must have our sources, platform and versions.
    name : callable
        From a content to what a reader calls it.
    timed_out : bool
        Whether the deadline ended it.
    worker_deaths : int
        How often a worker process died; that its tasks are tried again is told on standard error.
    """

    function: Callable[[T], R]
    tasks: Sequence[Task[T]]
    executor: Executor
    kind: Callable[[T], Hashable] | None = None
    elsewhere: Callable[[Sequence[str]], Container[str]] = lambda _: ()
    deadline: float = math.inf
    checked: bool = True
    name: Callable[[T], str] = lambda content: str(getattr(content, "name", ""))
    timed_out: bool = field(default=False, init=False)
    worker_deaths: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        order: Iterable[int] = range(len(self.tasks))
        if self.kind is None:
            order = sorted(order, key=lambda place: -self.tasks[place].seconds)
        self._todo = deque(order)
        self._again: deque[Task[T]] = deque()
        self._under_way: dict[Future[Any], list[Task[T]]] = {}
        self._deaths: Counter[str] = Counter()
        self._costs = Costs()
        self._pilots = 0
        self._heard = time.monotonic()
        self._started: float | None = None  # when the first result came

    def results(self) -> Generator[list[Done[T, R] | Died[T]], None, None]:
        """Yield what was done as it comes back, a few tasks at a time; what was yielded before a task raised is done.

        Raises ``Defect`` if a batch cannot be done at all, and whatever a task raised.
        """
        self._pilot()
        while (self._todo or self._again or self._under_way) and not self.timed_out:
            self._hand_in()
            yield from self._collect()

    def through(self, take: Callable[[list[Done[T, R] | Died[T]]], None]) -> bool:
        """Give ``take`` what is done as it comes back, and end the executor; return whether Ctrl-C ended it early."""
        try:
            with self.executor, closing(self.results()) as results:
                for part in results:
                    take(part)
        except KeyboardInterrupt:
            return True
        return False

    def expected(self) -> tuple[int, float] | None:
        """Return how many tasks are left and the seconds they will take, once the first ones are known."""
        if self._started is None:
            return None
        if self._costs.known < self._pilots and time.monotonic() - self._started <= PILOT_SECONDS:
            return None
        step = max(1, len(self._todo) // 2000)
        sample = [self._cost(self.tasks[place]) for place in itertools.islice(self._todo, 0, None, step)]
        seconds = sum(sample) / max(len(sample), 1) * len(self._todo)
        left = len(self._todo) + len(self._again) + sum(map(len, self._under_way.values()))
        return left, seconds / self.executor.slots

    def _cost(self, task: Task[T]) -> float:
        return self._costs.of(self.kind(task.content) if self.kind else None)

    def _pilot(self) -> None:
        """Hand in a few tasks from all over first, to learn what all of them will take."""
        if self.kind is None or not self._todo:
            return
        step = max(1, len(self._todo) // PILOT_TASKS)
        chosen = list(itertools.islice(self._todo, 0, None, step))[:PILOT_TASKS]
        for place in chosen:
            self._submit([self.tasks[place]])
            self._todo.remove(place)
        self._pilots = len(chosen)

    def _submit(self, tasks: list[Task[T]]) -> None:
        contents = tuple(task.content for task in tasks)
        batch = Batch(self.function, contents, identity() if self.checked else None)
        self._under_way[self.executor.submit(batch)] = tasks

    def _hand_in(self) -> None:
        """Keep the workers busy; what is tried again goes first, and alone."""
        while len(self._under_way) < self.executor.room:
            tasks = [self._again.popleft()] if self._again else self._next()
            if not tasks:
                return
            self._submit(tasks)

    def _next(self) -> list[Task[T]]:
        """Return the next tasks that travel together, without those that somebody else has done by now."""
        most = min(MOST_TASKS, max(1, len(self._todo) // (2 * self.executor.slots))) if self.kind else 1
        while self._todo:
            tasks: list[Task[T]] = []
            expected = 0.0
            while self._todo and len(tasks) < most and (not tasks or expected < BATCH_SECONDS):
                tasks.append(self.tasks[self._todo.popleft()])
                expected += self._cost(tasks[-1])
            there = self.elsewhere([task.key for task in tasks])
            tasks = [task for task in tasks if task.key not in there]
            if tasks:
                return tasks
        return []

    def _collect(self) -> Iterator[list[Done[T, R] | Died[T]]]:
        """Wait for results, at most a second, and yield what has come."""
        patience = min(1.0, max(0.0, self.deadline - time.monotonic()))
        done, _ = wait(self._under_way, timeout=patience, return_when=FIRST_COMPLETED)
        now = time.monotonic()
        if done:
            self._heard = now
            self._started = self._started or now
        elif self._under_way and now - self._heard > STALL:
            self._heard = now
            if self.executor.stalled():
                lost, self._under_way = self._under_way, {}
                for tasks in lost.values():
                    self._submit(tasks)
        for future in done:
            results = self._settle(future)
            if results:
                yield results
        self.timed_out = now > self.deadline

    def _settle(self, future: Future[Any]) -> list[Done[T, R] | Died[T]]:
        """Return what a batch gave; tasks whose worker died are tried again alone, and have died in the end."""
        tasks = self._under_way.pop(future)
        try:
            results = future.result()
        except Exception as stop:
            if not self.executor.lost(stop):
                why = f"{type(stop).__name__}: {stop}"
                raise Defect(f"a batch was not decided ({why}); what is done is kept, run it again") from stop
            return self._died(tasks)
        if isinstance(results, Failed):
            raise results.stop
        if isinstance(results, Refused):
            self.executor.refuse()
            self._submit(tasks)
            return []
        finished = [Done(task, result, seconds) for task, (result, seconds) in zip(tasks, results, strict=True)]
        for done in finished:
            self._costs.add(self.kind(done.task.content) if self.kind else None, done.seconds)
        return list(finished)

    def _died(self, tasks: list[Task[T]]) -> list[Done[T, R] | Died[T]]:
        self.worker_deaths += 1
        if len(tasks) == 1:
            self._deaths[tasks[0].key] += 1
            if self._deaths[tasks[0].key] >= TRIES:
                return [Died(tasks[0])]
        self._again.extend(tasks)
        what = f"task {self.name(tasks[0].content)}".strip() + " is" if len(tasks) == 1 else f"{len(tasks)} tasks are"
        tell(f"a worker process died; its {what} tried again")
        return []


def mapped(function: Callable[[T], R], contents: Sequence[T], jobs: int, **more: Any) -> list[R]:
    """Return ``function`` of every content, in their order; parameters as of ``in_order``."""
    return list(in_order(function, contents, jobs, **more))


def in_order(
    function: Callable[[T], R],
    contents: Sequence[T],
    jobs: int,
    *,
    told: Callable[[T, R], None] = lambda _, __: None,
    died: Callable[[T], R] | None = None,
) -> Generator[R, None, None]:
    """Yield ``function`` of every content, in their order, done in ``jobs`` processes (in this one when it is 1).

    Nothing is begun before it is asked for in this process; closing the generator ends what other ones are doing.
    ``told`` is called with each content and its result, as they come; ``died`` is what stands for the result where the
    worker died every time: without it that is a ``Defect``.
    """
    tasks = [Task(str(place), content) for place, content in enumerate(contents)]
    results: dict[str, R] = {}
    due = 0
    with local(min(jobs, max(1, len(tasks)))) as executor:
        for part in Work(function, tasks, executor, checked=False).results():
            for one in part:
                if isinstance(one, Done):
                    result = one.result
                elif died is None:
                    raise Defect("a worker process died every time at the same task")
                else:
                    result = died(one.task.content)
                results[one.task.key] = result
                told(one.task.content, result)
            while str(due) in results:
                yield results.pop(str(due))
                due += 1

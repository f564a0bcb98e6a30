"""Following long work on stderr: bars with a percentage and the time left on a terminal, plain lines elsewhere."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Column
from rich.text import Text

from mechanisms.numerics.ticks import listening

#: Seconds between two plain lines.
QUIET = 10.0


class Watcher(Protocol):
    """Whoever follows a command: told how much there is to do, and of everything that is done."""

    def begin(self, n_tasks: int, seconds: float | None = None) -> None:
        """Be told the number of tasks that are left, and about how long they will take."""
        ...

    def advance(self, name: str, n_tasks: int = 1) -> None:
        """Be told that tasks are done; ``name`` is the last one, or how all of them stand."""
        ...


class Cut(ProgressColumn):
    """What is being done, on one line, cut where the terminal ends."""

    def render(self, task: Task) -> Text:
        """Return the task's description; it is text, never markup."""
        return Text(task.description, no_wrap=True, overflow="ellipsis")


def _console_of_errors() -> Console:
    """Return the console of standard error; ``NO_COLOR`` is honoured."""
    return Console(stderr=True, no_color=bool(os.environ.get("NO_COLOR")) or None)


def _has_bars(console: Console) -> bool:
    """Return whether a bar can be shown there."""
    return console.is_terminal and not console.is_dumb_terminal


#: Share of the work below which nobody can tell how long the rest will take.
TELLING = 0.1
#: The same for what is said once, of work that a limit may end before.
EARLY = 0.02
#: Most that a forecast may exceed an earlier one; what would is not told.
RISE = 1.5


@dataclass(eq=False)
class Pace:
    """How long the rest of some work will take, by the pace since its first step; the set-up before is no step.

    A forecast that turns out wrong by half is taken back, and none is told until it holds again.
    """

    total: float | None
    started: float
    telling: float = TELLING  #: share of the work after which it is told
    _first: tuple[float, float] | None = field(default=None, init=False)
    _least: float = field(default=math.inf, init=False)

    def note(self, done: float, now: float) -> None:
        """Be told at a moment how much is done."""
        if done > 0 and self._first is None:
            self._first = now, done

    def left(self, done: float, now: float) -> float | None:
        """Return the seconds that are left, which are then told; None where nobody can tell."""
        self.note(done, now)
        if not self.total or self._first is None:
            return None
        since, before = self._first if done > self._first[1] else (self.started, 0.0)
        share = min(done / self.total, 0.99)
        if share < self.telling:
            return None
        seconds = (1 - share) * self.total * (now - since) / (done - before)
        if seconds > RISE * self._least:
            return None
        self._least = min(self._least, seconds)
        return seconds


class Left(ProgressColumn):
    """The time left as it was told last, or the time so far where nobody knows how much there is."""

    max_refresh = 0.5

    def render(self, task: Task) -> Text:
        """Return the cell."""
        seconds = task.fields.get("left") if task.total else task.elapsed
        return Text("     -" if seconds is None else f"{_time(seconds):>6}", style="progress.remaining")


def bars(console: Console, *, left: bool, **more: Any) -> Progress:
    """Return a set of bars: percentage, time (what is ``left``, or what has passed), counts, bar, description."""
    kept = Column(no_wrap=True)  # a column that may not wrap is narrowed after all others
    time = Left(table_column=kept) if left else TimeElapsedColumn(table_column=kept)
    percentage = TaskProgressColumn(table_column=Column(no_wrap=True))
    return Progress(percentage, time, MofNCompleteColumn(), BarColumn(), Cut(), console=console, **more)


class Follower:
    """Shows how far a command is; a context manager.

    ``tasks`` is what they are called; where they are alike, what is ``left`` can be told from those that are done.
    """

    def __init__(self, tasks: str = "cases and figures", *, left: bool = False) -> None:
        self._tasks, self._left = tasks, left
        self._total = self._done = 0
        self._last = time.monotonic()
        self._pace = Pace(None, self._last)
        console = _console_of_errors()
        self._bar: Progress | None = None
        if _has_bars(console):
            self._bar = bars(
                console, left=left, transient=True, redirect_stdout=sys.stdout.isatty(), redirect_stderr=True
            )
            self._task = self._bar.add_task("", total=None)

    def __enter__(self) -> Follower:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, stop: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar:
            self._bar.stop()

    def begin(self, n_tasks: int, seconds: float | None = None) -> None:
        """Be told the number of tasks that are left, and about how long they will take."""
        words = "left" if self._total else "to do"  # told again, when it is known how long tasks take
        self._total, self._done = n_tasks, 0
        self._pace = Pace(n_tasks, time.monotonic())
        about = "" if seconds is None else f", about {span(seconds)} (an estimate)"
        if self._bar:
            self._bar.update(self._task, total=n_tasks, completed=0)
        if about or not self._bar:
            self.say(f"{n_tasks} {self._tasks} {words}{about}")

    def advance(self, name: str, n_tasks: int = 1) -> None:
        """Be told that tasks are done; ``name`` is the last one, or how all of them stand."""
        self._done += n_tasks
        now = time.monotonic()
        self._pace.note(self._done, now)
        if self._bar:
            left_now = self._pace.left(self._done, now)
            self._bar.update(self._task, completed=self._done, description=name, left=left_now)
        elif self._total and now - self._last > QUIET:
            self._last = now
            seconds = self._pace.left(self._done, now)
            about = "" if seconds is None else f", {span(seconds)} left"
            left = f"{about}; {name}" if self._left else ""
            self.say(f"{self._done} of {self._total} done{left}")

    def say(self, line: str) -> None:
        """Print a line beside the bar."""
        print(line, file=sys.stderr, flush=True)


def span(seconds: float) -> str:
    """Return a length of time for a reader: seconds below two minutes, minutes below two hours, then hours."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


Step = Callable[[float], None]
#: Seconds after which a phase is worth a line.
LONG = 1.0
#: What a phase is called where its name may say too much.
HIDDEN = "working"


@dataclass(eq=False)
class Phases:
    """Follows the phases of a run; this one says nothing.

    ``shown`` phases have their own names; the others are all called the same.
    """

    shown: bool = True
    #: told once a phase, early, by its name how many seconds are left by the pace so far
    forecast: Callable[[str, float], object] = field(default_factory=lambda: lambda name, left: None, init=False)

    @contextmanager
    def phase(self, name: str, total: float | None = None) -> Iterator[Step]:
        """Follow one phase of a run: what is given counts what was done of ``total``, and so do ticks from below."""
        count = self._forecasting(name, self._begin(name if self.shown else HIDDEN, total), total)
        try:
            with listening(count):
                yield count
        finally:
            self._end()

    def _forecasting(self, name: str, count: Step, total: float | None) -> Step:
        pace, done, told = Pace(total, self._now(), EARLY), 0.0, False

        def counted(more: float) -> None:
            nonlocal done, told
            count(more)
            done += more
            left = None if told else pace.left(done, self._now())
            if left is not None:
                told = True
                self.forecast(name, left)

        return counted

    def _now(self) -> float:
        return time.monotonic()

    def _begin(self, name: str, total: float | None) -> Step:
        return _ignored

    def _end(self) -> None:
        """End the phase."""


def _ignored(_: float) -> None:
    """Count nothing."""


SILENT = Phases()


@dataclass(eq=False)
class Lines(Phases):
    """Plain lines: every ten seconds how far a phase is, and at its end how long it took, where that is a second."""

    say: Callable[[str], None] = print
    clock: Callable[[], float] = time.monotonic
    _name: str = field(default="", init=False)
    _started: float = field(default=0.0, init=False)

    def _now(self) -> float:
        return self.clock()

    def _begin(self, name: str, total: float | None) -> Step:
        self._name, self._started = name, self.clock()
        done, last, pace = 0.0, self._started, Pace(total, self._started)

        def count(more: float) -> None:
            nonlocal done, last
            done, now = done + more, self.clock()
            pace.note(done, now)
            if now - last >= QUIET:
                last = now
                self.say(f"{name}: {_far(done, total, now - self._started, pace.left(done, now))}")

        return count

    def _end(self) -> None:
        took = self.clock() - self._started
        if took >= LONG:
            self.say(f"{self._name}: {took:.0f} s")


def _far(done: float, total: float | None, seconds: float, left: float | None) -> str:
    share = f"{100 * min(done / total, 0.99):.0f} %, " if total else ""
    return f"{share}{seconds:.0f} s so far" if left is None else f"{share}about {_time(left)} left"


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}" if minutes else f"{rest} s"


@dataclass(eq=False)
class Bar(Phases):
    """One bar for the phase at hand: percentage and time left first, which a narrow terminal never cuts."""

    console: Console = field(default_factory=lambda: Console(stderr=True))

    def __post_init__(self) -> None:
        self.bar = Progress(
            TextColumn("{task.percentage:>3.0f}%", table_column=Column(min_width=4, no_wrap=True)),
            Left(table_column=Column(min_width=6, no_wrap=True)),
            BarColumn(bar_width=min(20, max(4, self.console.width // 4))),
            Cut(table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis")),
            console=self.console,
            transient=True,
            expand=True,
            redirect_stdout=sys.stdout.isatty(),
            redirect_stderr=True,
        )

    def _begin(self, name: str, total: float | None) -> Step:
        for task in self.bar.task_ids:
            self.bar.remove_task(task)
        shown = self.bar.add_task(name, total=total)
        done, pace = 0.0, Pace(total, time.monotonic())

        def count(more: float) -> None:
            nonlocal done
            done += more  # 100 % is the end of the phase, not of what was counted
            left = pace.left(done, time.monotonic())
            self.bar.update(shown, completed=done if total is None else min(done, 0.99 * total), left=left)

        return count

    def _end(self) -> None:
        for task in self.bar.task_ids:
            self.bar.remove_task(task)


@contextmanager
def progress(visible: bool, say: Callable[[str], None], *, console: Console | None = None) -> Iterator[Phases]:
    """Return what follows the phases of a run; ``say`` is where plain lines go.

    Where what is printed must not depend on private records (not ``visible``), a terminal shows a bar without the names
    of phases, and nothing is written elsewhere.
    """
    console = console or _console_of_errors()
    if _has_bars(console):
        bar = Bar(visible, console)
        with bar.bar:
            yield bar
    else:
        yield Lines(True, say) if visible else SILENT

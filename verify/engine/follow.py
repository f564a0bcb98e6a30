"""Following long work: a bar on a terminal, plain lines elsewhere (stderr). Percentage and time are cut last."""

from __future__ import annotations

import os
import sys
import time
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
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column
from rich.text import Text

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


def console_of_errors() -> Console:
    """Return the console of standard error; ``NO_COLOR`` is honoured."""
    return Console(stderr=True, no_color=bool(os.environ.get("NO_COLOR")) or None)


def has_bars(console: Console) -> bool:
    """Return whether a bar can be shown there."""
    return console.is_terminal and not console.is_dumb_terminal


def bars(console: Console, *, left: bool, **more: Any) -> Progress:
    """Return a set of bars: percentage, time (what is ``left``, or what has passed), counts, bar, description."""
    kept = Column(no_wrap=True)  # a column that may not wrap is narrowed after all others
    time = TimeRemainingColumn(table_column=kept) if left else TimeElapsedColumn(table_column=kept)
    percentage = TaskProgressColumn(table_column=Column(no_wrap=True))
    return Progress(percentage, time, MofNCompleteColumn(), BarColumn(), Cut(), console=console, **more)


class Follower:
    """Shows how far a command is; a context manager.

    Parameters
    ----------
    tasks : str
        What the tasks are called.
    left : bool
        Whether they are alike, so that the time left can be told from those that are done.
    """

    def __init__(self, tasks: str = "cases and figures", *, left: bool = False) -> None:
        self._tasks, self._left = tasks, left
        self._total = self._done = 0
        self._start = self._last = time.monotonic()
        console = console_of_errors()
        self._bar: Progress | None = None
        if has_bars(console):
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
        self._start = time.monotonic()
        about = "" if seconds is None else f", about {span(seconds)} (an estimate)"
        if self._bar:
            self._bar.update(self._task, total=n_tasks, completed=0)
        if about or not self._bar:
            self.say(f"{n_tasks} {self._tasks} {words}{about}")

    def advance(self, name: str, n_tasks: int = 1) -> None:
        """Be told that tasks are done; ``name`` is the last one, or how all of them stand."""
        self._done += n_tasks
        now = time.monotonic()
        if self._bar:
            self._bar.update(self._task, completed=self._done, description=name)
        elif self._total and now - self._last > QUIET:
            self._last = now
            seconds = (self._total - self._done) * (now - self._start) / self._done
            left = f", {span(seconds)} left; {name}" if self._left else ""
            self.say(f"{self._done} of {self._total} done{left}")

    def say(self, line: str) -> None:
        """Print a line beside the bar."""
        print(line, file=sys.stderr, flush=True)


def span(seconds: float) -> str:
    """Return a length of time for a reader: seconds below two minutes, minutes below two hours, then hours."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"

"""Following a run: a bar on a terminal, plain lines elsewhere (stderr); one line per decided statement (stdout)."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType

import click
from rich.progress import Progress

from .bars import bars, console_of_errors, has_bars
from .ledger import verdict_word
from .rows import Row

#: Seconds between two plain progress lines.
QUIET = 10.0


def statement_line(verdict: Row) -> str:
    """Return the one line that tells what was decided about a statement."""
    printed = verdict_word(verdict["printed"])
    corrected = f"; corrected: {verdict_word(verdict['corrected'])}" if verdict["corrected"] else ""
    note = "UNEXPECTED" if verdict["unexpected"] else ("open at this budget" if verdict["still_open"] else "")
    return f"{verdict['id']:<14} as printed: {printed}{corrected}{'   ' + note if note else ''}"


class Follower:
    """Shows how far a run is; a context manager.

    Parameters
    ----------
    say : callable
        Where the line of each decided statement goes.
    tasks : str
        What the tasks are called.
    """

    def __init__(self, say: Callable[[str], None], *, tasks: str = "cases and figures") -> None:
        self._say = say
        self._tasks = tasks
        self._total = 0
        self._done = 0
        self._last = time.monotonic()
        console = console_of_errors()
        self._bar: Progress | None = None
        if has_bars(console):
            self._bar = bars(
                console, left=False, transient=True, redirect_stdout=sys.stdout.isatty(), redirect_stderr=True
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

    def begin(self, n_tasks: int) -> None:
        """Be told the number of tasks."""
        self._total = n_tasks
        if self._bar:
            self._bar.update(self._task, total=n_tasks)
        else:
            click.echo(f"{n_tasks} {self._tasks} to do", err=True)

    def advance(self, name: str) -> None:
        """Be told that one task is done."""
        self._done += 1
        if self._bar:
            self._bar.update(self._task, advance=1, description=name)
        elif time.monotonic() - self._last > QUIET:
            self._last = time.monotonic()
            click.echo(f"{self._done} of {self._total} done", err=True)

    def decided(self, verdict: Row) -> None:
        """Be told a verdict row; the parts of a statement are left to ``show``."""
        if verdict["parent"] is None:
            self._say(statement_line(verdict))

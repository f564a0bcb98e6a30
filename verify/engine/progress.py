"""How far a run is: a bar with a percentage and the time left on a terminal, plain lines elsewhere (stderr).

Nothing here enters a record, and no number depends on it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
from rich.table import Column
from rich.text import Text

from mechanisms.numerics.ticks import listening

from .follow import Cut, console_of_errors, has_bars

Step = Callable[[float], None]
#: Seconds after which a phase is worth a line, and between two lines of one phase.
LONG, QUIET = 1.0, 10.0
#: What a phase is called where its name may say too much.
HIDDEN = "working"


@dataclass(eq=False)
class Phases:
    """Follows the phases of a run; this one says nothing.

    ``shown`` phases have their own names; the others are all called the same.
    """

    shown: bool = True

    @contextmanager
    def phase(self, name: str, total: float | None = None) -> Iterator[Step]:
        """Follow one phase of a run: what is given counts what was done of ``total``, and so do ticks from below."""
        count = self._begin(name if self.shown else HIDDEN, total)
        try:
            with listening(count):
                yield count
        finally:
            self._end()

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

    def _begin(self, name: str, total: float | None) -> Step:
        self._name, self._started = name, self.clock()
        done, last = 0.0, self._started

        def count(more: float) -> None:
            nonlocal done, last
            done, now = done + more, self.clock()
            if now - last >= QUIET:
                last = now
                self.say(f"{name}: {_far(done, total, now - self._started)}")

        return count

    def _end(self) -> None:
        took = self.clock() - self._started
        if took >= LONG:
            self.say(f"{self._name}: {took:.0f} s")


def _far(done: float, total: float | None, seconds: float) -> str:
    if not total or done <= 0:
        return f"{seconds:.0f} s so far"
    share = min(done / total, 0.99)
    return f"{100 * share:.0f} %, about {_time(seconds * (1 - share) / share)} left"


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}" if minutes else f"{rest} s"


class Left(ProgressColumn):
    """The time left, or the time so far where nobody knows how much there is."""

    max_refresh = 0.5

    def render(self, task: Task) -> Text:
        """Return the cell."""
        seconds = task.time_remaining if task.total else task.elapsed
        return Text("     -" if seconds is None else f"{_time(seconds):>6}", style="progress.remaining")


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
        done = 0.0

        def count(more: float) -> None:
            nonlocal done
            done += more  # 100 % is the end of the phase, not of what was counted
            self.bar.update(shown, completed=done if total is None else min(done, 0.99 * total))

        return count

    def _end(self) -> None:
        for task in self.bar.task_ids:
            self.bar.remove_task(task)


@contextmanager
def progress(visible: bool, say: Callable[[str], None], *, console: Console | None = None) -> Iterator[Phases]:
    """Return what follows the phases of a run.

    Parameters
    ----------
    visible : bool
        False where what is printed must not depend on private records: then a terminal shows a bar without the names of
        phases, and nothing is written elsewhere.
    say : callable
        Where plain lines go.
    """
    console = console or console_of_errors()
    if has_bars(console):
        bar = Bar(visible, console)
        with bar.bar:
            yield bar
    else:
        yield Lines(True, say) if visible else SILENT

"""Following a sweep: a bar with rate, remaining time and counts on a terminal, plain lines elsewhere (stderr)."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Sequence
from types import TracebackType

from rich.progress import Progress

from ..bars import bars, console_of_errors, has_bars
from .batch import Decided
from .summary import counts_text

#: Seconds between two plain progress lines.
QUIET = 10.0


def span(seconds: float) -> str:
    """Return a length of time for a reader: seconds below two minutes, minutes below two hours, then hours."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


class Follower:
    """Shows how far a sweep is; a context manager."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._total = 0
        self._start = self._last = time.monotonic()
        console = console_of_errors()
        self._bar: Progress | None = None
        if has_bars(console):
            self._bar = bars(console, left=True, transient=True, redirect_stderr=True)
            self._task = self._bar.add_task("starting", total=None)

    def __enter__(self) -> Follower:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, stop: BaseException | None, _: TracebackType | None) -> None:
        if self._bar:
            self._bar.stop()

    def estimate(self, n_cells: int, seconds: float) -> None:
        """Be told the cells left and the seconds they are expected to take."""
        self._total = self.counts.total() + n_cells
        self._start, self._before = time.monotonic(), self.counts.total()
        self.say(f"{n_cells} cells to do, about {span(seconds)}")
        if self._bar:
            self._bar.update(self._task, total=self._total)

    def decided(self, cells: Sequence[Decided]) -> None:
        """Be told cells that were decided and kept."""
        self.counts.update(cell.word for cell in cells)
        now = time.monotonic()
        if not self._total or (not self._bar and now - self._last < QUIET):
            return
        self._last = now
        rate = (self.counts.total() - self._before) / max(now - self._start, 1e-9)
        words = f"{rate:.3g} cells/s; {counts_text(self.counts)}"
        if self._bar:
            self._bar.update(self._task, completed=self.counts.total(), description=words)
        else:
            left = span((self._total - self.counts.total()) / rate) if rate else "unknown"
            print(f"{self.counts.total()} of {self._total} done, {left} left, {words}", file=sys.stderr, flush=True)

    def say(self, line: str) -> None:
        """Print a line beside the bar."""
        print(line, file=sys.stderr, flush=True)

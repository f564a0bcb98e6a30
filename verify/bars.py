"""The look of every progress bar: percentage and time come first, and are what a narrow terminal cuts last."""

from __future__ import annotations

import os
from typing import Any

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

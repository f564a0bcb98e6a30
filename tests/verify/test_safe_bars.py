"""Progress on a narrow terminal, or one that says no size: percentage and time are the last that is cut."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys

import pytest
from rich.console import Console

from verify.bars import bars

LONG = "coverage [of] the worst pair that was found so far, and something long besides"


def line(width: int, *, left: bool) -> str:
    """Return what a bar shows in a terminal of a width, two thirds done."""
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    progress = bars(console, left=left)
    task = progress.add_task(LONG, total=1472)
    progress.update(task, completed=1000)
    with console.capture() as shown:
        console.print(progress.get_renderable())
    return shown.get()


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("width", [14, 20, 40, 80])
def test_percentage_and_time_are_whole(width: int, left: bool) -> None:
    shown = line(width, left=left)
    assert shown.count("\n") == 1
    assert len(shown.rstrip("\n")) <= width
    assert re.match(r" 68% (-:--:--|0:00:0\d)( |\n)", shown)


def test_a_wide_terminal_shows_everything_as_text() -> None:
    shown = line(200, left=True)
    assert "1000/1472" in shown
    assert LONG in shown


SHOW = """
from verify.watch import Follower
with Follower(print) as follower:
    follower.begin(1472)
    follower.advance("a statement with a name that is long enough to be cut somewhere on this line of the terminal")
    follower._bar.refresh()
"""


def test_a_terminal_without_a_size_shows_percentage_and_time() -> None:
    """A pseudo-terminal of no rows and no columns, as some supervisors give."""
    ours, theirs = pty.openpty()
    environment = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES", "NO_COLOR")}
    run = subprocess.run(
        [sys.executable, "-c", SHOW],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env=environment | {"TERM": "xterm"},
        timeout=60,
    )
    os.close(theirs)
    seen = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert run.returncode == 0
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen)
    assert re.search(r"  0% 0:00:0\d +1/1472 ", plain)

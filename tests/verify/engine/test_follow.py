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

from verify.engine import follow
from verify.engine.follow import Follower, bars, span

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
from verify.engine.follow import Follower
with Follower() as follower:
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


@pytest.mark.parametrize(("left", "line"), [(True, r"1 of 4 done, 0 s left; 1 hold"), (False, "1 of 4 done")])
def test_plain_lines_tell_how_far_it_is(
    left: bool, line: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "QUIET", -1.0)
    monkeypatch.setattr(follow.time, "monotonic", lambda: 7.0)
    with Follower("cells", left=left) as follower:
        follower.begin(4, 300.0)
        follower.advance("1 hold")
    assert capsys.readouterr().err.splitlines() == ["4 cells to do, about 5 min (an estimate)", line]


def test_what_is_told_again_is_what_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    with Follower("rows of the table") as follower:
        follower.begin(38)
        follower.begin(27, 4.0)
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["38 rows of the table to do", "27 rows of the table left, about 4 s (an estimate)"]


def test_lines_are_seldom(capsys: pytest.CaptureFixture[str]) -> None:
    with Follower() as follower:
        follower.begin(3)
        follower.advance("one")
    assert capsys.readouterr().err == "3 cases and figures to do\n"


@pytest.mark.parametrize(
    ("seconds", "words"), [(119.4, "119 s"), (120.0, "2 min"), (7199.0, "120 min"), (9000.0, "2.5 h")]
)
def test_lengths_of_time_are_for_a_reader(seconds: float, words: str) -> None:
    assert span(seconds) == words

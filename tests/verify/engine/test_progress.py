"""Every phase says how far it is: on a terminal with a percentage that nothing cuts, elsewhere in lines or not."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from toys.deployments import DATA, MOMENT, dp, imported, mechanism, pdp, section, write_uniform

from mechanisms import LogisticLoss, NeighbouringPair, ObjectivePerturbation
from mechanisms.data.synthetic import linear_unit_rows
from mechanisms.linear.noisy_sgd import NoisySGD
from mechanisms.numerics.ticks import listening, tick
from reports.row import Audience
from verify.certificates.certificate import decide, read_deployment, record_rows
from verify.certificates.config.config import load
from verify.cli import invoke
from verify.engine import follow
from verify.engine import follow as module
from verify.engine.follow import HIDDEN, SILENT, Follower, Lines, Phases, bars, progress, span

CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Clock:
    """Seconds that a test counts."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@dataclass(eq=False)
class Counted(Phases):
    """Keeps what a screen would show: each phase with its total and what was counted."""

    seen: list[list[float | str | None]] = field(default_factory=list)

    def _begin(self, name: str, total: float | None) -> Callable[[float], None]:
        row: list[float | str | None] = [name, total, 0.0]
        self.seen.append(row)

        def count(more: float) -> None:
            assert isinstance(row[2], float)
            row[2] += more

        return count

    def of(self, name: str) -> tuple[float, float]:
        """Return total and count of a phase."""
        ((_, total, done),) = [row for row in self.seen if row[0] == name]
        assert isinstance(total, float | int)
        assert isinstance(done, float)
        return float(total), done


@contextmanager
def ticks() -> Iterator[list[float]]:
    found: list[float] = []
    with listening(found.append):
        yield found


# --- on a terminal ----------------------------------------------------------------------------------------------------


def screen(width: int, *, visible: bool = True, total: float | None = 200.0) -> list[str]:
    """Return every line that a terminal of this width was sent."""
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=width, color_system=None)
    said: list[str] = []
    with progress(visible, said.append, console=console) as phases:
        bar = phases
        assert isinstance(bar, module.Bar)
        with phases.phase("pdp-records: the laws of all the records [1]", total) as step:
            step(84.0)
            bar.bar.refresh()
    assert said == []
    return CODES.sub("", out.getvalue()).replace("\r", "\n").split("\n")


@pytest.mark.parametrize("width", [12, 16, 20, 40, 80, 200])
def test_percentage_and_time_are_never_cut(width: int) -> None:
    lines = [line for line in screen(width) if "42%" in line]
    assert lines
    assert all(re.match(r" 42% +(-|\d+ s|\d+:\d\d:\d\d)", line) for line in lines)
    assert all(len(line.rstrip()) <= width for line in lines)


def test_a_wide_terminal_names_the_phase_and_nothing_of_it_is_markup() -> None:
    assert any("the laws of all the records [1]" in line for line in screen(200))


def test_a_terminal_that_may_not_know_sees_no_name() -> None:
    text = "\n".join(screen(200, visible=False))
    assert HIDDEN in text
    assert "42%" in text
    assert "pdp-records" not in text


def test_a_phase_of_unknown_length_is_shown_too() -> None:
    assert any("the laws of all the records" in line for line in screen(200, total=None))


# --- elsewhere --------------------------------------------------------------------------------------------------------


def test_nothing_is_said_of_a_short_phase(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONG", 1.0)
    clock, said = Clock(), list[str]()
    with Lines(True, said.append, clock).phase("reading", 10.0) as step:
        step(3.0)
        clock.now += 0.5
    assert said == []


def test_a_long_phase_is_told_every_ten_seconds_and_at_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONG", 1.0)
    monkeypatch.setattr(module, "QUIET", 10.0)
    clock, said = Clock(), list[str]()
    with Lines(True, said.append, clock).phase("reading", 100.0) as step:
        for _ in range(10):
            clock.now += 4.0
            step(5.0)
    assert said == [
        "reading: 15 %, about 0:01:08 left",
        "reading: 30 %, about 56 s left",
        "reading: 45 %, about 44 s left",
        "reading: 40 s",
    ]


RNG = np.random.default_rng(7)
#: Seconds of set-up, and of each of two hundred steps.
SHAPES = {
    "constant": (0.0, np.full(200, 1.0)),
    "a slow first call": (0.0, np.append(120.0, np.full(199, 1.0))),
    "a slow set-up": (120.0, np.full(200, 1.0)),
    "a slow last tenth": (0.0, np.append(np.full(180, 1.0), np.full(20, 60.0))),
    "heavy-tailed calls": (0.0, RNG.pareto(1.1, 200) + 0.1),
    "many small phases": (5.0, np.tile([40.0] + [0.1] * 19, 10)),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_time_left_never_rises_by_more_than_half_and_leaves_set_up_out(
    shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "QUIET", 10.0)
    clock, said = Clock(), list[str]()
    set_up, steps = SHAPES[shape]
    with Lines(True, said.append, clock).phase("drawing", 200.0) as step:
        clock.now += set_up
        for seconds in steps:
            clock.now += seconds
            step(1.0)
    told = [re.search(r"(\d+) %, about (?:(\d+):(\d+):)?(\d+)", line) for line in said]
    left = [(int(m[1]), int(m[2] or 0) * 3600 + int(m[3] or 0) * 60 + int(m[4])) for m in told if m is not None]
    assert len(left) >= 3
    assert left[0][0] >= 10
    assert all(later <= 1.5 * earlier + 1 for i, (_, earlier) in enumerate(left) for _, later in left[i:])
    if shape in ("constant", "a slow first call", "a slow set-up"):
        assert all(abs(seconds - 2.0 * (100 - share)) <= 2 for share, seconds in left)


def test_a_forecast_is_told_once_early_and_leaves_set_up_out() -> None:
    clock, told = Clock(), list[tuple[str, float]]()
    lines = Lines(True, lambda _: None, clock)
    lines.forecast = lambda name, left: told.append((name, left))
    with lines.phase("drawing", 1000.0) as step:
        clock.now += 500.0
        for _ in range(100):
            step(5.0)
            clock.now += 10.0
    assert told == [("drawing", 980.0 * 2.0)]


def test_where_nothing_may_be_seen_nothing_is_said() -> None:
    said: list[str] = []
    with progress(False, said.append, console=Console(file=io.StringIO(), force_terminal=False)) as phases:
        assert phases is SILENT
        with phases.phase("reading", 10.0) as step:
            step(10.0)
    assert said == []


# --- what is counted --------------------------------------------------------------------------------------------------


def test_a_tick_without_a_listener_is_nothing_and_the_inner_listener_is_told() -> None:
    tick(1.0)
    with ticks() as outer:
        tick(2.0)
        with listening(None):
            tick(4.0)
        tick(8.0)
    assert outer == [2.0, 8.0]


@pytest.mark.parametrize(
    "mechanism", [ObjectivePerturbation(LogisticLoss(), 5.0, 1.0), NoisySGD(3, 5.0, 0.1, 1.0, 5.0, 60)]
)
def test_a_slow_mechanism_counts_its_draws_and_their_losses(mechanism: ObjectivePerturbation | NoisySGD) -> None:
    data = linear_unit_rows(40, 2, noise_sd=0.1, rng=np.random.default_rng(1)).dataset
    data = replace(data, y=np.sign(data.y), y_bound=1.0)
    with ticks() as drawn:
        outputs = mechanism.draw(data, 300, rng=np.random.default_rng(2))
    assert sum(drawn) == pytest.approx(300)
    assert len(drawn) > 1  # on the way, and not only at the end
    with ticks() as lost:
        mechanism.privacy_loss(outputs, NeighbouringPair.remove(data, 3))
    assert sum(lost) == pytest.approx(300)


CLAIMS = dp(1.0) + pdp(1.0)
BUDGET = section("[budget]", profile="quick", pairs=2, draws=400)
OBJECTIVE = mechanism("objective-perturbation", loss="squared", sigma=20.0, lam=5.0)
MINE = imported("mine.py:make")


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_uniform(tmp_path)
    (tmp_path / "mine.py").write_text(MOMENT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("mechanism", [OBJECTIVE, MINE])
def test_who_follows_changes_no_row_and_sees_every_phase(mechanism: str, work: Path) -> None:
    (work / "d.toml").write_text(DATA + mechanism + CLAIMS + BUDGET, encoding="utf-8")
    loaded, counted = load(work / "d.toml"), Counted()
    followed, digest = read_deployment(loaded, jobs=1, progress=counted)
    certificate = decide(followed, digest)
    plain = decide(*read_deployment(loaded, jobs=1))
    assert record_rows(certificate, Audience.CURATOR, loaded) == record_rows(plain, Audience.CURATOR, loaded)
    total, done = counted.of("reading the data")
    assert total == done == (work / "data.csv").stat().st_size
    for name in ("dp", "pdp-records"):
        expected = "examination" if mechanism is MINE else "figures of the records"
        total, done = counted.of(f"{name}: {expected}")
        assert 0.3 * total <= done <= 1.3 * total


@pytest.mark.slow
def test_what_other_processes_have_drawn_is_counted_as_they_finish(work: Path) -> None:
    (work / "d.toml").write_text(DATA + MINE + CLAIMS + BUDGET, encoding="utf-8")
    counted = Counted()
    decide(*read_deployment(load(work / "d.toml"), jobs=2, progress=counted))
    total, done = counted.of("dp: examination")
    assert 0.3 * total <= done <= 1.3 * total


@pytest.mark.parametrize("audience", ["curator", "release"])
def test_a_release_on_private_data_is_silent_on_standard_error(
    audience: str, work: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every phase takes long here: the curator is told, whoever reads what is published is not."""
    monkeypatch.setattr(module, "LONG", 0.0)
    (work / "d.toml").write_text(DATA + OBJECTIVE + CLAIMS + BUDGET, encoding="utf-8")
    invoke(["certify", "d.toml", "--audience", audience, "--out", "out", "--jobs", "1"])
    err = capsys.readouterr().err
    if audience == "release":
        assert err == ""
    else:
        assert re.search(r"^reading the data: \d+ s$", err, re.MULTILINE)
        assert re.search(r"^setting the pages: \d+ s$", err, re.MULTILINE)


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
    assert re.match(r" 68% +(-|\d+ s|0:00:0\d)( |\n)", shown)


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

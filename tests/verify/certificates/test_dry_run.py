"""The time that ``--dry-run`` says: setting up is no draw, calls cost something, and what does not fit is said."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from toys.deployments import CLIPPED, claim, imported, section, write_uniform

from verify.cli import invoke

Captured = pytest.CaptureFixture[str]
#: Takes so long to set up once a process, a call and a draw, of no record and of each.
CODE = """
import time
from functools import lru_cache
@lru_cache
def set_up():
    time.sleep({setup})
class Slow:
    def draw(self, dataset, n_draws, *, rng):
        set_up()
        time.sleep({call} + n_draws * ({draw} + dataset.n_records * {record}))
        return rng.laplace(size=(n_draws, 1))
"""


def lay_out(
    folder: Path, *, setup: float = 0, call: float = 0, draw: float = 0, record: float = 0, n: int = 9, **budget: object
) -> Path:
    write_uniform(folder, n)
    (folder / "mine.py").write_text(CODE.format(setup=setup, call=call, draw=draw, record=record))
    plain = {"profile": "quick", "jobs": 1, "pairs": 2, "draws": 200} | budget
    (folder / "d.toml").write_text(
        CLIPPED + imported("mine.py:Slow") + section("[budget]", **plain) + claim("dp", epsilon=1.0, delta=0.0)
    )
    return folder / "d.toml"


def said(path: Path, capsys: Captured) -> tuple[float, str]:
    """Return the seconds of a dry run, and its last line."""
    assert invoke(["certify", str(path), "--dry-run"]) == 0
    lines = capsys.readouterr().out.splitlines()
    about = next(line for line in lines if line.startswith("about "))
    return float(about.split()[1]), lines[-1]


#: Draws of two pairs of 200, with those around the records and those that are learnt from: (2 + 2 + 1 + 1) * 504.
DRAWS = 3_024


@pytest.mark.quick
@pytest.mark.parametrize(
    ("times", "low", "high"),
    [
        ({"draw": 2e-3}, 5, 60),
        ({"draw": 2e-3, "setup": 0.4}, 5, 60),  # was 1,000 s
        ({"draw": 1e-3, "setup": 0.6}, 2, 40),
        ({"draw": 1e-3, "call": 5e-3, "setup": 0.3}, 3, 60),  # most draws are made many at a time
        ({"record": 5e-5, "n": 400}, 5, 120),  # the user's records are more than those of most pairs
        ({"draw": 0.25, "setup": 0.3}, 500, 3_000),
    ],
)
def test_setting_up_is_no_draw(
    times: dict[str, float], low: float, high: float, tmp_path: Path, capsys: Captured
) -> None:
    seconds, _ = said(lay_out(tmp_path, **times), capsys)  # type: ignore[arg-type]
    assert low <= seconds <= high


@pytest.mark.slow
def test_what_fits_is_said(tmp_path: Path, capsys: Captured) -> None:
    path = lay_out(tmp_path, draw=2e-3, pairs=8, draws=4_000, max_seconds=60.0)
    seconds, last = said(path, capsys)
    assert seconds > 60
    assert last.startswith("not all of it fits into budget.max_seconds = 60; pairs = ")
    pairs, draws = int(last.split()[11]), int(last.split()[15])
    assert 1 <= pairs <= 8
    assert 2_000 <= draws <= 4_000  # what a verdict needs, and what was asked for
    again, last = said(lay_out(tmp_path, draw=2e-3, pairs=pairs, draws=draws, max_seconds=60.0), capsys)
    assert again <= 90
    _, last = said(lay_out(tmp_path, draw=2e-3, max_seconds=1.0), capsys)
    assert last == "not all of it fits into budget.max_seconds = 1"
    _, last = said(lay_out(tmp_path, draw=2e-3, max_seconds=1e4), capsys)
    assert last.startswith("about ")


@pytest.mark.slow
def test_a_run_says_early_that_its_time_is_too_short(tmp_path: Path, capsys: Captured) -> None:
    """By the calls that it makes anyway: the record is that of a run that has more time, as far as it comes."""
    path = lay_out(tmp_path, draw=2e-3, pairs=4, draws=1_000, max_seconds=5.0)
    assert invoke(["certify", str(path), "--out", str(tmp_path / "out")]) == 3
    notes = [line for line in capsys.readouterr().err.splitlines() if "max_seconds" in line]
    assert len(notes) == 1
    assert notes[0].startswith("note: dp: examination: about ")
    assert "s by the pace so far; not all of it fits into budget.max_seconds = 5" in notes[0]


@pytest.mark.slow
def test_what_is_said_is_within_a_factor_3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.chdir(tmp_path)
    for place, times in enumerate([{"draw": 4e-3, "setup": 1.0}, {"draw": 2e-3, "call": 0.02, "setup": 0.5}]):
        path = lay_out(tmp_path, **times)
        seconds, _ = said(path, capsys)
        start = time.perf_counter()
        invoke(["certify", str(path), "--out", f"out{place}", "--complete"])
        took = time.perf_counter() - start
        assert seconds / 3 <= took <= 3 * seconds

"""``pdp-verify sweep``: exit codes, one line for every mistake, and what it leaves behind."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from toys.sweeps import Here, light_grid

from verify.cli import invoke
from verify.engine import executors

Captured = pytest.CaptureFixture[str]
PRIVATE = """
[grid]
mechanism = ["ssp"]
loss = ["squared"]
target = [0]
delta = [1e-5]
epsilon = [1.0]
[data]
file = "own.csv"
response = "y"
x_bound = 1.0
y_bound = 1.0
public = false
"""


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Here:
    """A scheduler of this process in place of a pool."""
    found = Here()
    monkeypatch.setattr(executors, "Processes", lambda slots: found)
    return found


def test_sweep_leaves_rows_and_report_and_says_where(here: Here, tmp_path: Path, capsys: Captured) -> None:
    grid = light_grid(tmp_path)
    assert invoke(["sweep", str(grid), "--export", str(tmp_path / "t.parquet")]) == 1
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert lines[:3] == [
        "ops-per-instance, squared: 2 hold, 8 fail, 6 out of domain",
        "gaussian-printed, squared: 11 hold, 5 fail",
        "objective-perturbation, squared: 16 out of domain",
    ]
    assert lines[3:] == [
        "48 of 48 cells done",
        f"rows    {tmp_path}/light.sqlite",
        f"table   {tmp_path}/t.parquet",
        f"report  {tmp_path}/light.pdf",
        f"report  {tmp_path}/light.html",
    ]
    assert captured.err.splitlines()[0] == "light: 48 cells, all exact"
    assert " cells to do, about " in captured.err
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "light.html",
        "light.pdf",
        "light.sqlite",
        "light.toml",
        "t.parquet",
    ]
    assert (tmp_path / "light.pdf").read_bytes().startswith(b"%PDF")
    table = pd.read_parquet(tmp_path / "t.parquet")
    assert len(table) == 48
    assert (table["outcome"] == "FAILS").sum() == 13
    assert table["epsilon"].dtype == "float64"
    assert table["n"].dtype == "int64"


def test_status_decides_nothing(here: Here, tmp_path: Path, capsys: Captured) -> None:
    grid = light_grid(tmp_path)
    assert invoke(["sweep", str(grid), "--status"]) == 3
    assert capsys.readouterr().out.startswith("0 of 48 cells done: there is no store yet")
    assert [path.name for path in tmp_path.iterdir()] == ["light.toml"]
    assert invoke(["sweep", str(grid), "--max-time", "1e-9"]) in (1, 3)
    decided = len(here.names)
    out = capsys.readouterr().out
    assert f"{decided} of 48 cells done" in out
    assert out.splitlines()[-1].startswith("next    pdp-verify ")
    assert invoke(["sweep", str(grid), "--status", "--export", str(tmp_path / "t.jsonl")]) in (1, 3)
    assert len(here.names) == decided
    header = json.loads((tmp_path / "t.jsonl").read_text().splitlines()[0])
    assert header["complete"] is False


def test_crashed_cells_exit_4_and_are_tried_again_when_asked(here: Here, tmp_path: Path, capsys: Captured) -> None:
    grid = light_grid(tmp_path)
    here.deadly = "conditioning=1.0, seed=0, target=member, delta=1e-05, epsilon=0.5"
    assert invoke(["sweep", str(grid)]) == 4
    out = capsys.readouterr().out
    assert out.count("1 stopped with an error") == 3
    assert out.splitlines()[-1].endswith("--retry-failed")
    here.deadly = ""
    assert invoke(["sweep", str(grid), "--retry-failed"]) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{missing}"], "grid must be a readable file, got grid="),
        (["{grid}", "--max-time", "0"], "max_time must be above 0, got max_time=0.0"),
        (["{grid}", "--max-time", "nan"], "max_time must be above 0, got max_time=nan"),
        (["{grid}", "--jobs", "0"], "Invalid value for '--jobs'"),
        (["{grid}", "--status", "--retry-failed"], "--status must come alone"),
        (["{grid}", "--scheduler", "here:80"], "scheduler must be tcp://HOST:PORT or tls://HOST:PORT, got"),
        (["{grid}", "--scheduler", "tcp://127.0.0.1"], "scheduler must be tcp://HOST:PORT or tls://HOST:PORT, got"),
        (["{grid}", "--scheduler", "tcp://h:99999"], "scheduler must be tcp://HOST:PORT or tls://HOST:PORT, got"),
        (["{private}", "--scheduler", "tcp://10.0.0.1:8786"], "scheduler must be tls:// for data that are not public"),
        (["{private}", "--scheduler", "tcp://cluster:8786"], "scheduler must be tls:// for data that are not public"),
        (["{grid}", "--export", "{missing}.csv"], "export must end in .jsonl or .parquet, got export="),
        (["{grid}", "--export", "{missing}/t.jsonl"], "export must be in a folder that exists"),
        (["{grid}", "--store", "{notes}"], "store must be a store of pdp-verify, got store="),
        (["{grid}", "--store", "{foreign}"], "store must be a store of pdp-verify, got store="),
        (["{grid}", "--store", "{missing}/s.sqlite"], "store must be a file that can be written, got store="),
    ],
)
def test_mistakes_are_one_line_and_exit_2(
    arguments: list[str], message: str, here: Here, tmp_path: Path, capsys: Captured
) -> None:
    names: dict[str, Any] = {name: tmp_path / name for name in ("missing", "notes", "foreign", "private")}
    names["grid"] = light_grid(tmp_path)
    names["notes"].write_text("keep me")
    names["private"].write_text(PRIVATE)
    (tmp_path / "own.csv").write_text("a,b,y\n0.1,0.2,0.5\n0.3,0.1,-0.5\n")
    with closing(sqlite3.connect(names["foreign"])) as db:
        db.execute("CREATE TABLE theirs (a)")
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.iterdir()}
    assert invoke(["sweep", *(argument.format(**names) for argument in arguments)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines()[-1].startswith("error: ")
    assert len(captured.err.splitlines()) == 1
    assert message in captured.err
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.iterdir()} == before


def test_private_data_stay_with_their_owner(here: Here, tmp_path: Path, capsys: Captured) -> None:
    """The files are for their owner alone, the summary is marked, and no cell of the data is printed."""
    from pypdf import PdfReader

    (tmp_path / "own.csv").write_text("a,b,y\n0.1357,0.2,0.5\n0.3,0.1,-0.5\n")
    (tmp_path / "private.toml").write_text(PRIVATE)
    assert invoke(["sweep", str(tmp_path / "private.toml"), "--export", str(tmp_path / "t.jsonl")]) == 0
    for name in ("private.sqlite", "t.jsonl", "private.pdf", "private.html"):
        assert (tmp_path / name).stat().st_mode & 0o077 == 0, name
    pages = "".join(page.extract_text() for page in PdfReader(tmp_path / "private.pdf").pages)
    assert "CONFIDENTIAL" in pages
    captured = capsys.readouterr()
    for text in (captured.out, captured.err, pages, (tmp_path / "t.jsonl").read_text()):
        assert "0.1357" not in text

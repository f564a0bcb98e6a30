"""Real processes, killed at random moments, writing one file at once: the rows in the end are always the same."""

from __future__ import annotations

import os
import random
import signal
import time
from functools import partial
from pathlib import Path

import pytest
from toys.processes import alive, children, finish, kill, rows_in, start, until, write_grid

pytestmark = pytest.mark.slow
#: Enough cells for a sweep to last some seconds on a fast machine: signals must arrive while it is at work.
N_SEEDS = 12


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("undisturbed")
    cells = write_grid(folder / "grid.toml", N_SEEDS)
    finish(start([folder / "grid.toml", "--export", folder / "t.jsonl"], log=folder / "log"), folder / "log")
    table = (folder / "t.jsonl").read_bytes()
    assert table.count(b"\n") == cells + 1
    return table


def holds(store: Path, wanted: int) -> bool:
    return rows_in(store) >= wanted


def all_gone(processes: list[int]) -> bool:
    return not any(alive(process) for process in processes)


def table_of(folder: Path) -> bytes:
    """Let the sweep of a folder end, and return its table."""
    finish(start([folder / "grid.toml", "--export", folder / "t.jsonl"], log=folder / "log"), folder / "log")
    return (folder / "t.jsonl").read_bytes()


@pytest.mark.quick
def test_what_a_killed_sweep_has_done_is_kept(tmp_path: Path) -> None:
    cells, store = write_grid(tmp_path / "grid.toml", 1), tmp_path / "grid.sqlite"
    process = start([tmp_path / "grid.toml", "--jobs", "1"], log=tmp_path / "log")
    until(partial(holds, store, 1), process)
    kill(process)
    assert 1 <= rows_in(store) <= cells


def test_killed_at_ten_random_moments_and_resumed(undisturbed: bytes, tmp_path: Path) -> None:
    """The first two kills fall into the start, the others between two counts of rows; the seed was not chosen."""
    draw = random.Random(1)
    cells = write_grid(tmp_path / "grid.toml", N_SEEDS)
    store = tmp_path / "grid.sqlite"
    kills = 0
    for moment in range(10):
        process = start([tmp_path / "grid.toml", "--jobs", "2"], log=tmp_path / "log")
        if moment < 2:
            time.sleep(draw.uniform(0.0, 4.0))
        else:
            wanted = int(cells * (moment - 2 + draw.random()) / 9)
            until(partial(holds, store, wanted), process)
            time.sleep(draw.uniform(0.0, 0.1))
        workers = children(process.pid) if process.poll() is None else []
        kills += process.poll() is None
        kill(process)
        until(partial(all_gone, workers))
    assert kills == 10
    assert 0 < rows_in(store) < cells
    assert table_of(tmp_path) == undisturbed
    assert rows_in(store) == cells


def test_two_sweeps_write_one_file_at_once(undisturbed: bytes, tmp_path: Path) -> None:
    cells = write_grid(tmp_path / "grid.toml", N_SEEDS)
    logs = [tmp_path / "log1", tmp_path / "log2"]
    both = [
        start([tmp_path / "grid.toml", "--jobs", "1", "--report", log.with_suffix(".pdf")], log=log) for log in logs
    ]
    for process, log in zip(both, logs, strict=True):
        finish(process, log)
    assert rows_in(tmp_path / "grid.sqlite") == cells
    assert table_of(tmp_path) == undisturbed


def test_a_worker_that_is_killed_loses_nothing(undisturbed: bytes, tmp_path: Path) -> None:
    write_grid(tmp_path / "grid.toml", N_SEEDS)
    store = tmp_path / "grid.sqlite"
    process = start([tmp_path / "grid.toml", "--jobs", "2", "--export", tmp_path / "t.jsonl"], log=tmp_path / "log")
    until(lambda: rows_in(store) >= 100, process)
    os.kill(children(process.pid)[0], signal.SIGKILL)
    finish(process, tmp_path / "log")
    assert (tmp_path / "t.jsonl").read_bytes() == undisturbed


def test_interrupted_by_ctrl_c_keeps_what_is_done(undisturbed: bytes, tmp_path: Path) -> None:
    cells = write_grid(tmp_path / "grid.toml", N_SEEDS)
    store, log = tmp_path / "grid.sqlite", tmp_path / "log"
    process = start([tmp_path / "grid.toml", "--jobs", "2"], log=log)
    until(lambda: rows_in(store) >= 100, process)
    process.send_signal(signal.SIGINT)
    finish(process, log, codes=(130,))
    assert "Traceback" not in log.read_text()
    assert log.read_text().splitlines()[-1].startswith("next    pdp-verify sweep ")
    assert 100 <= rows_in(store) < cells
    assert table_of(tmp_path) == undisturbed

"""A real ``dask scheduler`` with ``dask worker`` processes on loopback: killed, differing, and over TLS."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from toys.processes import PATIENCE, finish, kill, rows_in, start, until, write_grid

import verify

pytestmark = pytest.mark.slow
DASK = Path(sys.executable).parent / "dask"
TLS = Path(__file__).resolve().parents[2] / "toys" / "tls"
CERTIFICATES = {
    f"DASK_DISTRIBUTED__COMM__TLS__{name}": str(TLS / file)
    for name, file in [("CA_FILE", "certificate.pem")]
    + [
        (f"{role}__{what}", file)
        for role in ("SCHEDULER", "WORKER", "CLIENT")
        for what, file in (("CERT", "certificate.pem"), ("KEY", "key.pem"))
    ]
}


class Cluster:
    """A scheduler on loopback; its workers are added by the test."""

    def __init__(self, folder: Path, protocol: str, environment: dict[str, str]) -> None:
        self.folder, self.environment = folder, environment
        self.file = folder / "scheduler.json"
        self.processes: list[subprocess.Popen[bytes]] = []
        self._start(
            "scheduler",
            "--host",
            f"{protocol}://127.0.0.1",
            "--port",
            "0",
            "--no-dashboard",
            "--scheduler-file",
            str(self.file),
        )
        until(self._listening, self.processes[0])
        self.address: str = json.loads(self.file.read_text())["address"]

    def _listening(self) -> bool:
        try:
            return bool(json.loads(self.file.read_text())["address"])
        except (OSError, ValueError):
            return False

    def worker(self, environment: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
        """Start a worker of one thread and wait until the scheduler knows it."""
        log = self.folder / "dask.log"
        before = log.read_text().count("Registered to")
        process = self._start(
            "worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard", environment=environment
        )
        until(lambda: log.read_text().count("Registered to") > before, process)
        assert process.poll() is None, log.read_text()
        return process

    def _start(self, *arguments: str, environment: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
        variables = {**os.environ, **self.environment, **(environment or {})}
        with (self.folder / "dask.log").open("ab") as log:
            process = subprocess.Popen([DASK, *arguments], stdout=log, stderr=log, env=variables, cwd=self.folder)
        self.processes.append(process)
        return process


@contextlib.contextmanager
def cluster(folder: Path, protocol: str = "tcp", environment: dict[str, str] | None = None) -> Iterator[Cluster]:
    found = None
    try:
        found = Cluster(folder, protocol, environment or {})
        yield found
    finally:
        for process in reversed(found.processes if found else []):
            process.kill()
            process.wait(timeout=PATIENCE)


def local_table(folder: Path) -> bytes:
    """Return the table of the same grid, decided by a local pool."""
    arguments = [folder / "grid.toml", "--store", folder / "local.sqlite", "--export", folder / "local.jsonl"]
    finish(start(arguments, log=folder / "local.log"), folder / "local.log")
    return (folder / "local.jsonl").read_bytes()


def test_a_worker_killed_in_the_middle_loses_nothing(tmp_path: Path) -> None:
    cells = write_grid(tmp_path / "grid.toml", 4)
    store, log = tmp_path / "grid.sqlite", tmp_path / "log"
    with cluster(tmp_path) as found:
        workers = [found.worker(), found.worker()]
        arguments = [tmp_path / "grid.toml", "--scheduler", found.address, "--export", tmp_path / "t.jsonl"]
        process = start(arguments, log=log)
        until(lambda: rows_in(store) >= 100, process)
        assert rows_in(store) < cells
        kill(workers[0])
        finish(process, log)
        assert workers[1].poll() is None
    assert (tmp_path / "t.jsonl").read_bytes() == local_table(tmp_path)
    assert (tmp_path / "t.jsonl").read_bytes().count(b"\n") == cells + 1


def test_worker_with_other_sources_is_refused(tmp_path: Path) -> None:
    """Alone it ends the command; beside a good one it is left out."""
    write_grid(tmp_path / "grid.toml", 1)
    rooms = Path(verify.__file__).resolve().parent.parent
    for room in ("mechanisms", "audits", "verify", "reports"):
        shutil.copytree(rooms / room, tmp_path / "other" / room, ignore=shutil.ignore_patterns("__pycache__"))
    with (tmp_path / "other" / "verify" / "verdict.py").open("a") as file:
        file.write("# another line\n")
    log = tmp_path / "log"
    with cluster(tmp_path) as found:
        found.worker({"PYTHONPATH": str(tmp_path / "other")})
        arguments = [tmp_path / "grid.toml", "--scheduler", found.address, "--export", tmp_path / "t.jsonl"]
        finish(start(arguments, log=log), log, codes=(2,))
        words = log.read_text()
        assert "refused: digest of our sources " in words
        assert "error: workers must have the sources and the platform of this process, got none of 1" in words
        assert not rows_in(tmp_path / "grid.sqlite")
        found.worker()
        finish(start(arguments, log=log), log)
    assert (tmp_path / "t.jsonl").read_bytes() == local_table(tmp_path)


def test_private_data_travel_over_tls(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text("a,b,y\n0.1,0.2,0.5\n0.3,0.1,-0.5\n0.2,0.7,1\n0.1,0.1,0\n")
    (tmp_path / "grid.toml").write_text(
        '[grid]\nmechanism = ["ssp", "gaussian-printed"]\nloss = ["squared"]\ntarget = [0, 1, 2, 3]\n'
        "delta = [1e-5]\nepsilon = [0.1, 0.5, 1.0]\n"
        '[data]\nfile = "own.csv"\nresponse = "y"\nx_bound = 1.0\ny_bound = 1.0\npublic = false\n'
    )
    log = tmp_path / "log"
    with cluster(tmp_path, "tls", CERTIFICATES) as found:
        assert found.address.startswith("tls://")
        found.worker()
        arguments = [tmp_path / "grid.toml", "--scheduler", found.address, "--export", tmp_path / "t.jsonl"]
        finish(start(arguments, log=log, environment=CERTIFICATES), log)
    assert (tmp_path / "t.jsonl").read_bytes() == local_table(tmp_path)


#: The quick profile of the betting intervals alone.
BETTING = """
from verify.calibration import calibration_run as run
every = run.tasks
run.tasks = lambda profile, seed: [task for task in every(profile, seed) if task.content.name.startswith("betting")]
from verify.cli import main
main()
"""


def test_run_and_calibrate_give_the_records_of_this_machine(tmp_path: Path) -> None:
    log = tmp_path / "log"
    run = ["W19-L2.4", "--profile", "quick"]
    with cluster(tmp_path) as found:
        workers = [found.worker(), found.worker()]
        for where, more in (("far", ["--scheduler", found.address]), ("near", ["--jobs", "2"])):
            finish(start([*run, *more, "--out", tmp_path / where], log=log, command="run"), log, codes=(0,))
            words = ["--profile", "quick", *more, "--out", tmp_path / f"{where}-calibration"]
            finish(start(words, log=log, command="calibrate", code=BETTING), log, codes=(0,))
        assert all(worker.poll() is None for worker in workers)
        finish(start([*run, "--scheduler", found.address, "--jobs", "2"], log=log, command="run"), log, codes=(2,))
    for file in ("{}/audit.jsonl", "{}-calibration/calibration.jsonl"):
        far, near = ((tmp_path / file.format(where)).read_bytes() for where in ("far", "near"))
        assert far == near
    assert json.loads((tmp_path / "far" / "run.json").read_text())["jobs"] == 2
    assert "--jobs must be left to the cluster's workers" in log.read_text()


@pytest.mark.quick
def test_no_scheduler_is_one_line(tmp_path: Path) -> None:
    write_grid(tmp_path / "grid.toml", 1)
    before = time.monotonic()
    log = tmp_path / "log"
    finish(start([tmp_path / "grid.toml", "--scheduler", "tcp://127.0.0.1:9"], log=log), log, codes=(2,))
    assert time.monotonic() - before < 60
    assert log.read_text().splitlines()[-1].startswith("error: scheduler must be running and reachable, got scheduler=")
    assert "Traceback" not in log.read_text()

"""Real processes, killed at random moments, writing one file at once: the rows in the end are always the same."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from toys.deployments import DATA, dp, imported, section, write_uniform
from toys.processes import PATIENCE, alive, children, finish, kill, rows_in, start, until, write_grid

import verify
from verify.engine.record import read

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


ENDS = [signal.SIGINT, signal.SIGTERM, signal.SIGKILL]
RUN = ["W19-L2.4", "W18-L6", "--profile", "standard", "--jobs", "2"]
MECHANISM = """
class Noise:
    name = "noise"
    def draw(self, dataset, n_draws, *, rng):
        return dataset.y.sum() + 5.0 * rng.standard_normal((n_draws, 1))
"""


@pytest.fixture(scope="module")
def undisturbed_of_signals(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("undisturbed")
    finish(start([*RUN, "--out", folder / "out"], log=folder / "log", command="run"), folder / "log", codes=(0,))
    return (folder / "out" / "audit.jsonl").read_bytes()


@pytest.mark.parametrize("end", ENDS)
def test_a_run_is_kept_and_resumed(end: signal.Signals, undisturbed_of_signals: bytes, tmp_path: Path) -> None:
    log, out = tmp_path / "log", tmp_path / "out"
    process = start([*RUN, "--out", out], log=log, command="run")
    until(lambda: rows_in(out / "store.sqlite") >= 20, process)
    workers = children(process.pid)
    process.send_signal(end)
    code = process.wait(timeout=PATIENCE)
    until(partial(_gone, workers))
    kept = rows_in(out / "store.sqlite")
    assert kept >= 20
    if end is signal.SIGKILL:
        assert not (out / "audit.jsonl").exists()
    else:
        assert code == 130, log.read_text()
        assert "Traceback" not in log.read_text()
        assert not read(out).header["complete"]
        assert "\nnext    pdp-verify run " in log.read_text()
    finish(start([*RUN, "--out", out, "--resume"], log=log, command="run"), log, codes=(0,))
    assert (out / "audit.jsonl").read_bytes() == undisturbed_of_signals
    assert json.loads((out / "run.json").read_text())["reused_rows"] == kept


def _gone(processes: list[int]) -> bool:
    return not any(alive(process) for process in processes)


@pytest.mark.parametrize("end", ENDS)
def test_a_certificate_is_made_whole_or_not_at_all(
    end: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text(MECHANISM)
    configuration = DATA + imported("mine.py:Noise") + dp(30.0, 0.5)
    (tmp_path / "c.toml").write_text(configuration + section("[budget]", profile="quick", pairs=6, draws=20_000))
    write_uniform(tmp_path)
    monkeypatch.chdir(tmp_path)
    log = tmp_path / "log"
    process = start(["c.toml", "--jobs", "2", "--out", "out"], log=log, command="certify")
    until(lambda: bool(process.poll() is None and children(process.pid)), process)
    workers = children(process.pid)
    process.send_signal(end)
    code = process.wait(timeout=PATIENCE)
    until(partial(_gone, workers))
    assert workers
    assert not (tmp_path / "out" / "curator" / "attestation.json").exists()
    if end is not signal.SIGKILL:
        assert code == 130, log.read_text()
        assert log.read_text().splitlines()[-2:] == [
            "error: interrupted",
            "next    pdp-verify certify c.toml --jobs 2 --out out",
        ]
    for out in ("out", "fresh"):
        finish(start(["c.toml", "--jobs", "1", "--out", out], log=log, command="certify"), log, codes=(3,))
    again, fresh = ((tmp_path / out / "curator" / "audit.jsonl").read_bytes() for out in ("out", "fresh"))
    assert again == fresh


@pytest.mark.quick
@pytest.mark.parametrize("end", [signal.SIGTERM])
def test_a_sweep_takes_sigterm_for_ctrl_c(end: signal.Signals, tmp_path: Path) -> None:
    from toys.processes import write_grid

    cells = write_grid(tmp_path / "grid.toml", 24)
    log = tmp_path / "log"
    process = start([tmp_path / "grid.toml", "--jobs", "2"], log=log)
    until(lambda: rows_in(tmp_path / "grid.sqlite") >= 100, process)
    process.send_signal(end)
    finish(process, log, codes=(130,))
    assert 100 <= rows_in(tmp_path / "grid.sqlite") < cells


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

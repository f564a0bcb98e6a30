"""A worker that ends in the middle of its task, in every command: the task is named, everything else is done."""

from __future__ import annotations

import json
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import toys
from toys.deployments import DATA, dp, imported, section, write_uniform
from toys.tasks import DeadlyNoise

from audits import Budget, StreamKey
from mechanisms import Dataset, NeighbouringPair
from verify.calibration import calibration_run
from verify.calibration.calibration_pages import document
from verify.calibration.calibration_record import read
from verify.calibration.series.series import AuditSeries
from verify.certificates.claims.pairs import PairTask, run_tasks
from verify.cli import invoke
from verify.engine import executors
from verify.engine.executors import InProcess, WorkerDied
from verify.engine.record import read as read_run_record
from verify.engine.task import Batch
from verify.kernel.verdict import Outcome, judge
from verify.papers import ledger, registry

Captured = pytest.CaptureFixture[str]
#: A mechanism that ends every process but that of the command.
DEADLY = """
import multiprocessing, os

class Deadly:
    name = "deadly"
    def draw(self, dataset, n_draws, *, rng):
        if multiprocessing.parent_process() is not None:
            os._exit(3)
        return dataset.y.sum() + 5.0 * rng.standard_normal((n_draws, 1))
"""


def test_run_names_the_case_and_the_figures_and_decides_the_rest(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = registry.Source("W18-L4", "toys.deadly", Path(str(toys.__file__)).with_name("deadly.py"))
    monkeypatch.setattr(registry, "default", lambda: registry.Registry(registry.catalogue(), {"W18-L4": source}))
    monkeypatch.setattr(ledger, "default", lambda: toys.LEDGER)
    out = tmp_path / "out"
    assert invoke(["run", "--jobs", "2", "--profile", "standard", "--out", str(out)]) == 4
    record = read_run_record(out)
    assert [row["outcome"] for row in record.cases] == ["HOLDS", "UNDECIDED", "HOLDS"]
    died = record.cases[1]
    assert (died["reason"], died["error"]["type"]) == ("ERROR", "WorkerDied")
    assert "while it decided deadly" in died["error"]["message"]
    assert record.figures[0]["error"]["type"] == "WorkerDied"
    assert record.header["complete"]
    printed = capsys.readouterr()
    assert "BROKEN: 2 of our own checks" in printed.out
    assert len([line for line in printed.out.splitlines() if line.startswith("  W18-L4") and "deadly" in line]) == 1
    assert "3 cases, 1 stopped undecided, in " in printed.out
    resume = f"next    pdp-verify run --jobs 2 --profile standard --out {out} --resume"
    assert printed.out.splitlines()[-1] == resume
    assert "a worker process died; its task deadly, deadly is tried again" in printed.err.splitlines()
    assert json.loads((out / "run.json").read_text())["worker_deaths"] == 4  # each of the two was begun twice
    assert invoke(["run", "--jobs", "2", "--profile", "standard", "--out", str(out), "--resume"]) == 4
    assert json.loads((out / "run.json").read_text())["reused_rows"] == 2  # what died is tried again


class DeadlyTo(InProcess):
    """This process, but for tasks of one name, at which it says that a worker died."""

    name = "liar"

    def submit(self, batch: Batch[Any, Any]) -> Future[Any]:
        if not any(self.name in content.name for content in batch.contents):
            return super().submit(batch)
        future: Future[Any] = Future()
        future.set_exception(WorkerDied("died"))
        return future


def honest(n_repeats: int, level: float, key: StreamKey) -> np.ndarray:
    return np.zeros((n_repeats, 2), dtype=bool)


@pytest.mark.quick
def test_calibrate_names_the_audits_and_counts_the_rest(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = {name: AuditSeries(name.partition(":")[0], "coin", 1, honest) for name in ("honest: coin", "liar: coin")}
    monkeypatch.setattr(calibration_run, "all_series", lambda: both)
    monkeypatch.setattr(calibration_run, "all_mutants", dict)
    command = ["calibrate", "--profile", "quick", "--jobs", "1", "--out", str(tmp_path / "cal")]
    with monkeypatch.context() as patch:
        patch.setattr(executors, "local", lambda jobs: DeadlyTo())
        assert invoke(command) == 4
    printed = capsys.readouterr().out
    assert "CRASHED  a worker process died every time at liar: coin, 40 repetitions of block 0" in printed
    assert "\nnext    pdp-verify calibrate " in printed
    found = read(tmp_path / "cal" / "calibration.jsonl")
    assert not found.complete
    assert {row["auditor"] for row in found.rows if row["kind"] == "rate"} == {"honest"}
    pages = document(found, date="2031-01-01")
    assert "Not complete: 3 of 6 tasks" in str(pages.summary)
    assert "died every time at liar" in str(pages.front)
    assert invoke([*command, "--resume"]) == 0
    whole = read(tmp_path / "cal" / "calibration.jsonl")
    assert (whole.complete, whole.crashed) == (True, ())
    assert json.loads((tmp_path / "cal" / "run.json").read_text())["reused_tasks"] == 3


def test_certify_tells_the_pair_and_certifies_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text(DEADLY)
    configuration = DATA + imported("mine.py:Deadly") + dp(30.0, 0.5)
    (tmp_path / "c.toml").write_text(configuration + section("[budget]", profile="quick", pairs=1, draws=2000))
    write_uniform(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert invoke(["certify", "c.toml", "--jobs", "2", "--out", "out"]) == 3
    rows = [json.loads(line) for line in (tmp_path / "out" / "curator" / "audit.jsonl").read_text().splitlines()]
    (claim,) = (row for row in rows if row["kind"] == "claim")
    assert claim["words"].startswith("UNDECIDED")
    pairs = claim["examination"]["pairs"]
    assert pairs
    assert all("the worker process died every time" in pair["law"] and pair["draws"] == 0 for pair in pairs)


ODD = """
import multiprocessing

class Odd(BaseException):
    pass

class Noise:
    name = "noise"
    def draw(self, dataset, n_draws, *, rng):
        if {alone} or multiprocessing.parent_process() is not None:
            raise {kind}("record " + str(dataset.y))
        return dataset.y.sum() + 5.0 * rng.standard_normal((n_draws, 1))
"""


@pytest.mark.parametrize("audience", ["curator", "release"])
@pytest.mark.parametrize(("kind", "jobs"), [("Odd", "1"), ("Odd", "2"), ("KeyboardInterrupt", "2")])
def test_what_a_mechanism_says_of_private_records_is_not_printed(
    kind: str, jobs: str, audience: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Captured
) -> None:
    (tmp_path / "mine.py").write_text(ODD.replace("{kind}", kind).replace("{alone}", str(jobs == "1")))
    configuration = DATA + imported("mine.py:Noise") + dp(30.0, 0.5)
    (tmp_path / "c.toml").write_text(configuration + section("[budget]", profile="quick", pairs=4, draws=2000))
    write_uniform(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert invoke(["certify", "c.toml", "--jobs", jobs, "--audience", audience]) == 4
    error = capfd.readouterr().err.splitlines()[-1]
    assert error.startswith(
        f"error: {kind}: its message is withheld, it may quote data that are not public (details in"
    )
    (kept,) = tmp_path.glob("*.traceback.txt")
    assert "record [" in kept.read_text()
    assert kept.stat().st_mode & 0o777 == 0o600


def test_a_sweep_goes_on_after_what_is_no_exception(tmp_path: Path, capfd: Captured) -> None:
    (tmp_path / "mine.py").write_text(ODD.replace("{kind}", "Odd").replace("{alone}", "False"))
    (tmp_path / "grid.toml").write_text(
        '[grid]\nmechanism = ["odd", "gaussian-analytic"]\nloss = ["squared"]\nn = [8]\ndim = [2]\n'
        'conditioning = [1]\nseed = [0]\ntarget = ["member"]\ndelta = [1e-5]\nepsilon = [0.5]\n'
        '[imported.odd]\nimport = "mine.py:Noise"\n[budget]\nimported_draws = 8000\n'
    )
    command = ["sweep", str(tmp_path / "grid.toml"), "--jobs", "2", "--export", str(tmp_path / "t.jsonl")]
    assert invoke(command) == 4
    rows = [json.loads(line) for line in (tmp_path / "t.jsonl").read_text().splitlines()][1:]
    assert [row["error"] and row["error"]["message"] for row in rows] == ["Odd", None]
    assert "record [" not in "".join(capfd.readouterr())


def test_a_sampled_check_of_a_pair_that_died_is_no_test() -> None:
    data = Dataset(np.eye(2), np.array([0.5, -0.5]), 1.0, 1.0, public=True)
    pair = NeighbouringPair.add(data, np.array([1.0, 0.0]), 1.0)
    budget = Budget(20_000, 1e-3, StreamKey(1))
    tasks = [
        PairTask(str(deadly), DeadlyNoise(deadly=deadly), pair, 1.0, 0.5, budget, False)  # type: ignore[arg-type]
        for deadly in (False, True)
    ]
    told: list[float] = []
    alive, dead = run_tasks(tasks, 2, told.append)
    assert "died" not in alive.evidence.reason
    assert judge(dead.evidence)[0] is Outcome.UNDECIDED
    assert dead.evidence.reason == "no finite test: the worker process died every time"
    assert len(told) == 2


def test_sweep_records_the_cells_and_decides_the_others(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "mine.py").write_text(DEADLY)
    (tmp_path / "grid.toml").write_text(
        '[grid]\nmechanism = ["deadly", "gaussian-analytic"]\nloss = ["squared"]\nn = [8]\ndim = [2]\n'
        'conditioning = [1]\nseed = [0]\ntarget = ["member"]\ndelta = [1e-5]\nepsilon = [0.5, 1.0]\n'
        '[imported.deadly]\nimport = "mine.py:Deadly"\n[budget]\nimported_draws = 8000\n'
    )
    command = ["sweep", str(tmp_path / "grid.toml"), "--jobs", "2", "--export", str(tmp_path / "t.jsonl")]
    assert invoke(command) == 4
    rows = [json.loads(line) for line in (tmp_path / "t.jsonl").read_text().splitlines()][1:]
    assert [row["error"] and row["error"]["type"] for row in rows] == ["WorkerDied", "WorkerDied", None, None]
    assert "--retry-failed" in capsys.readouterr().out

"""A whole run on toy statements: order, workers, resuming, interruption, our own defects."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from threadpoolctl import threadpool_info, threadpool_limits
from toys import LEDGER, toy_registry

from verify.cli import invoke
from verify.cli_work import fresh_folder
from verify.engine.executors import local
from verify.engine.store import Store
from verify.engine.work import mapped
from verify.engine.worker import RunSettings, one_blas_thread
from verify.messages.errors import Defect
from verify.runs import statement_run
from verify.runs.case_run import CaseWork, perform
from verify.runs.statement_run import Findings, execute

SETTINGS = RunSettings(seed=3, profile="standard", failure_prob=1e-4)
BOTH = ("W19-T4.1", "RW21-T17")


class Watcher:
    """Counts what it is told; stops the run as Ctrl-C does after ``patience`` tasks."""

    def __init__(self, patience: int = 1000) -> None:
        self.total = 0
        self.done = 0
        self.patience = patience
        self.verdicts: list[str] = []

    def begin(self, n_tasks: int, seconds: float | None = None) -> None:
        self.total = n_tasks

    def advance(self, name: str, n_tasks: int = 1) -> None:
        self.done += 1
        if self.done >= self.patience:
            raise KeyboardInterrupt

    def decided(self, verdict: dict[str, Any]) -> None:
        self.verdicts.append(verdict["id"])


def run(
    folder: Path,
    ids: tuple[str, ...] = BOTH,
    *,
    jobs: int = 1,
    watcher: Watcher | None = None,
    settings: RunSettings = SETTINGS,
) -> Findings:
    folder.mkdir(exist_ok=True)
    store = Store(folder / "store.sqlite")
    try:
        sources = toy_registry(*ids).select()
        watcher = watcher or Watcher()
        return execute(
            sources, settings, LEDGER, executor=local(jobs), store=store, watcher=watcher, tell=watcher.decided
        )
    finally:
        store.close()


def test_record_is_the_same_for_one_worker_and_for_two(tmp_path: Path) -> None:
    one, two = run(tmp_path / "1"), run(tmp_path / "2", jobs=2)
    assert list(one.record.lines()) == list(two.record.lines())
    assert one.exit_code == two.exit_code == 0


@pytest.mark.quick
def test_rows_are_in_canonical_order(tmp_path: Path) -> None:
    record = run(tmp_path / "1").record
    assert [row["case"] for row in record.cases_of("RW21-T17")] == [
        "printed",
        "corrected",
        "large",
        "display",
        "mutant: 0.55",
    ]
    assert [row["id"] for row in record.verdicts] == [
        "W19-T4.1",
        "RW21-T17",
        "RW21-T17.1",
        "RW21-T17.2",
        "RW21-T17#half",
    ]
    assert record.header["statements"] == list(BOTH)


def test_verdicts_of_the_toys(tmp_path: Path) -> None:
    findings = run(tmp_path / "1")
    true, false = findings.record.verdict("W19-T4.1"), findings.record.verdict("RW21-T17")
    assert (true["printed"]["verdict"], true["corrected"]) == ("SUPPORTED", None)
    assert (false["printed"]["verdict"], false["corrected"]["verdict"]) == ("REFUTED", "SUPPORTED")
    assert false["mutants"]["smallest"] == {"case": "mutant: 0.55", "severity": 0.1}
    assert findings.unexpected == findings.still_open == {}


def test_quick_profile_leaves_out_what_is_not_quick(tmp_path: Path) -> None:
    findings = run(tmp_path / "1", settings=RunSettings(3, "quick", 1e-4))
    names = [row["case"] for row in findings.record.cases_of("W19-T4.1")]
    assert "exact, not quick" not in names
    assert len(findings.record.figures) == 1
    assert findings.exit_code == 0


def test_draws_of_a_statement_do_not_depend_on_what_else_runs(tmp_path: Path) -> None:
    alone, together = run(tmp_path / "1", ("RW21-T17",)), run(tmp_path / "2")
    assert alone.record.cases == together.record.cases_of("RW21-T17")


def test_another_seed_gives_other_draws(tmp_path: Path) -> None:
    other = run(tmp_path / "1", settings=RunSettings(4, "standard", 1e-4))
    assert other.record.cases != run(tmp_path / "2").record.cases


@pytest.mark.parametrize("jobs", [1, 2])
def test_interrupted_run_keeps_what_was_done_and_resumes(tmp_path: Path, jobs: int) -> None:
    stopped = run(tmp_path / "1", jobs=jobs, watcher=Watcher(patience=2))
    assert stopped.exit_code == 130
    assert stopped.record.header["complete"] is False
    done = [*stopped.record.cases, *stopped.record.figures[:1]]  # all figures of a statement are one task
    assert len(done) == 2
    assert {row["printed"]["reason"] for row in stopped.record.verdicts} == {"INTERRUPTED"}
    assert stopped.unexpected == {}

    watcher = Watcher()
    resumed = run(tmp_path / "1", jobs=jobs, watcher=watcher)
    assert resumed.reused == 2
    assert watcher.done == watcher.total == 9  # eleven cases and figures less the two that were kept
    assert list(resumed.record.lines()) == list(run(tmp_path / "2").record.lines())


def test_other_settings_reuse_nothing(tmp_path: Path) -> None:
    run(tmp_path / "1")
    for settings in (RunSettings(4, "standard", 1e-4), RunSettings(3, "full", 1e-4), RunSettings(3, "standard", 1e-5)):
        assert run(tmp_path / "1", settings=settings).reused == 0
    assert run(tmp_path / "1").reused == 11


def test_broken_check_is_a_defect_that_does_not_stop_the_run(tmp_path: Path) -> None:
    findings = run(tmp_path / "1", ("W18-L4", "W19-T4.1"))
    assert findings.exit_code == 4
    assert [row["error"]["type"] for row in findings.errors] == ["ArithmeticError"]
    assert findings.record.verdict("W18-L4")["printed"]["reason"] == "ERROR"
    assert findings.record.verdict("W19-T4.1")["printed"]["verdict"] == "SUPPORTED"
    assert run(tmp_path / "1", ("W18-L4", "W19-T4.1")).reused == 6  # a crash is tried again


def test_worker_that_dies_is_a_defect() -> None:
    with pytest.raises(Defect, match="worker process died"):
        mapped(os._exit, [1, 2, 3], 2)


def test_workers_pin_their_blas() -> None:
    works = [CaseWork("toys.thm_1", case, SETTINGS) for case in ("sampled", "both witnesses")]
    with threadpool_limits(2):  # as in a user's process, and not as in the tests'
        alone = mapped(perform, works, 1)
        with one_blas_thread():
            assert {pool["num_threads"] for pool in threadpool_info()} == {1}
    assert alone == mapped(perform, works, 2)


def test_fresh_folders_are_numbered_and_never_reused(tmp_path: Path) -> None:
    first, second = fresh_folder(tmp_path / "out"), fresh_folder(tmp_path / "out")
    (tmp_path / "out" / "notes").mkdir()
    assert [first.name, second.name, fresh_folder(tmp_path / "out").name] == ["1", "2", "3"]


def test_a_line_of_a_proof_without_an_id_must_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It decides nothing and has no table of its own, so that a refuted one is told by the run."""
    command = ["run", "W18-L12", "--profile", "quick", "--jobs", "1", "--out"]
    assert invoke([*command, str(tmp_path / "true")]) == 0
    honest = statement_run.rule_statement

    def refuted(*given: Any, **more: Any) -> list[dict[str, Any]]:
        rows = honest(*given, **more)
        (line,) = [row for row in rows if row["id"] == "W18-L12#proof"]
        line["printed"]["verdict"] = "REFUTED"
        return rows

    monkeypatch.setattr(statement_run, "rule_statement", refuted)
    assert invoke([*command, str(tmp_path / "false")]) == 1
    assert "W18-L12#proof as printed: expected SUPPORTED, got REFUTED" in capsys.readouterr().out

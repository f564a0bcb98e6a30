"""What --resume refuses, and summaries that count nothing: a folder is continued as what it is, never mixed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from toys import LEDGER, toy_registry

from audits import StreamKey
from verify.calibration import calibration_run as run
from verify.calibration.calibration_pages import document
from verify.calibration.calibration_record import read
from verify.calibration.series.series import AuditSeries
from verify.cli import invoke
from verify.engine.executors import local
from verify.engine.store import Store
from verify.engine.worker import RunSettings
from verify.papers import registry
from verify.runs.cli_run import counts_line
from verify.runs.statement_run import execute

Captured = pytest.CaptureFixture[str]


def honest(n_repeats: int, level: float, key: StreamKey) -> np.ndarray:
    """Never misses."""
    return np.zeros((n_repeats, 2), dtype=bool)


class Quiet:
    """Follows a run and says nothing."""

    def begin(self, n_tasks: int, seconds: float | None = None) -> None: ...

    def advance(self, name: str, n_tasks: int = 1) -> None: ...


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """One series that never misses, and no mutants."""
    monkeypatch.setattr(run, "all_series", lambda: {"honest: coin": AuditSeries("honest", "coin", 1, honest)})
    monkeypatch.setattr(run, "all_mutants", dict)


def calibrate(out: Path, *words: str) -> int:
    return invoke(["calibrate", "--jobs", "1", "--out", str(out), *words])


@pytest.mark.parametrize(
    ("words", "kept", "got"),
    [
        (("--profile", "standard"), "profile must be that of the calibration in {} (quick)", "profile=standard"),
        (("--seed", "4"), "seed must be that of the calibration in {} (3)", "seed=4"),
    ],
)
def test_resume_refuses_another_profile_or_seed(
    tiny: None, tmp_path: Path, capsys: Captured, words: tuple[str, ...], kept: str, got: str
) -> None:
    out = tmp_path / "cal"
    assert calibrate(out, "--profile", "quick", "--seed", "3") == 0
    before = (out / "calibration.jsonl").read_bytes()
    capsys.readouterr()
    assert calibrate(out, "--resume", *words) == 2
    assert capsys.readouterr().err == f"error: {kept.format(out)}, got {got}\n"
    assert (out / "calibration.jsonl").read_bytes() == before


@pytest.mark.parametrize("words", [(), ("--profile", "quick"), ("--seed", "3")])
def test_resume_takes_profile_and_seed_of_the_folder(tiny: None, tmp_path: Path, words: tuple[str, ...]) -> None:
    out = tmp_path / "cal"
    assert calibrate(out, "--profile", "quick", "--seed", "3") == 0
    before = (out / "calibration.jsonl").read_bytes()
    assert calibrate(out, "--resume", *words) == 0
    assert (out / "calibration.jsonl").read_bytes() == before
    assert json.loads((out / "run.json").read_text())["reused_tasks"] == read(out / "calibration.jsonl").header["tasks"]


def test_a_calibration_that_is_killed_leaves_its_profile(
    tiny: None, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever ends it without warning: the folder says what it is of from the start."""

    class Killed(BaseException):
        pass

    def killed(*_: object, **__: object) -> None:
        raise Killed

    out = tmp_path / "cal"
    with monkeypatch.context() as patch:
        patch.setattr(run, "calibrate", killed)
        assert calibrate(out, "--profile", "quick") == 4
    header = read(out / "calibration.jsonl").header
    assert (header["profile"], header["complete"], header["tasks_done"]) == ("quick", False, 0)
    assert calibrate(out, "--profile", "full", "--resume") == 2
    assert calibrate(out, "--resume") == 0
    assert read(out / "calibration.jsonl").complete


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("calibration.jsonl", "{}"),
        ("audit.jsonl", '{"kind":"header","record":"certificate"}'),
        ("curator/audit.jsonl", "{}"),
    ],
)
def test_run_refuses_the_folder_of_a_calibration_or_a_certificate(
    toys: registry.Registry, tmp_path: Path, capsys: Captured, file: str, text: str
) -> None:
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    assert invoke(["run", "--profile", "quick", "--jobs", "1", "--out", str(tmp_path), "--resume"]) == 2
    line = f"error: out must not be the folder of a calibration, a comparison or a certificate, got out={tmp_path}\n"
    assert capsys.readouterr().err == line
    assert [each for each in tmp_path.rglob("*") if each.is_file()] == [path]


def test_calibrate_refuses_the_folder_of_a_certificate(tiny: None, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "curator").mkdir()
    (tmp_path / "curator" / "audit.jsonl").write_text("{}")
    assert calibrate(tmp_path, "--profile", "quick", "--resume") == 2
    assert "must not be the folder of a run, a comparison or a certificate" in capsys.readouterr().err


def test_quick_says_that_it_tests_no_mutants(tiny: None, tmp_path: Path, capsys: Captured) -> None:
    assert calibrate(tmp_path / "cal", "--profile", "quick") == 0
    printed = capsys.readouterr().out
    assert "the quick profile tests no mutants" in printed
    assert "0 of 0" not in printed
    pages = str(document(read(tmp_path / "cal" / "calibration.jsonl"), date="2031-01-01").front)
    assert "The quick profile tests no mutants" in pages
    assert "It is then run on mechanisms that are broken" not in pages


def test_counts_line_of_one_statement_without_mutants(tmp_path: Path) -> None:
    store = Store(tmp_path / "store.sqlite")
    try:
        sources = toy_registry("W19-T4.1").select()
        findings = execute(
            sources, RunSettings(3, "quick", 1e-4), LEDGER, executor=local(1), store=store, watcher=Quiet()
        )
    finally:
        store.close()
    start = "1 statement: 1 supported, 0 refuted as printed, 0 undecided, 0 definitions; 3 cases,"
    assert counts_line(findings) == f"{start} 1 of 1 mutant caught,"
    cases = tuple(row for row in findings.record.cases if row["standing"] != "MUTANT")
    assert counts_line(replace(findings, record=replace(findings.record, cases=cases))) == start

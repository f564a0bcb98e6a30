"""Statements about published data: decided where a run is given the files, else undecided, with the recipe to get."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from audits import Budget, StreamKey
from mechanisms import Dataset
from mechanisms.data.published import published_sets as recipes
from verify.cli import invoke
from verify.engine.record import read
from verify.engine.worker import RunSettings
from verify.kernel.verdict import Outcome, Reason, judge
from verify.papers import registry
from verify.papers.redberg_wang2021.fig_9 import STATEMENT
from verify.runs.case_run import CaseWork, perform
from verify.runs.given_data import given_sets

Captured = pytest.CaptureFixture[str]
NAME, FILE = "rw21/kidney", "chronic_kidney_disease_full.arff"
#: The columns of the kidney file that hold words, with their words for 1 and 0.
WORDS = {
    **dict.fromkeys(("rbc", "pc"), ("normal", "abnormal")),
    **dict.fromkeys(("pcc", "ba"), ("present", "notpresent")),
    **dict.fromkeys(("htn", "dm", "cad", "pe", "ane"), ("yes", "no")),
    "appet": ("good", "poor"),
}


def write_kidney(folder: Path, copies: int, flipped: float = 0.0) -> Path:
    """Write a file in the kidney set's own layout: every record has one feature of its 24, in ``copies`` copies."""
    columns = recipes.published_sets()[NAME].layouts[0].form.names
    types = {name: f"{{{','.join(words)}}}" for name, words in WORDS.items()} | {"class": "{ckd,notckd}"}
    lines = ["% one record a feature", "@relation kidney"]
    lines += [f"@attribute '{name}' {types.get(name, 'numeric')}" for name in columns] + ["@data"]
    features, rng = columns[:-1], np.random.default_rng(3)
    for i in range(copies * len(features)):
        own = {name: name == features[i % len(features)] for name in features}
        cells = [WORDS[name][not has] if name in WORDS else f"{int(has)}.5" for name, has in own.items()]
        sick = (i % len(features) < 12) != (rng.random() < flipped)
        lines.append(",".join([*cells, ("ckd\t" if i % 3 else "ckd") if sick else "notckd"]))
    lines.append(",".join(["?"] * len(features) + ["ckd"]))
    folder.mkdir(exist_ok=True)
    (folder / FILE).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def _any_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a set have another number of records than the published one."""

    class AnyNumber(int):
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = int.__hash__

    known = dict(recipes.published_sets())
    any_ = {name: replace(each, n_records=AnyNumber(0)) for name, each in known.items()}
    monkeypatch.setattr(recipes, "published_sets", lambda: any_)


def kidney(folder: Path) -> Dataset:
    return given_sets(registry.default().select(("RW21-F9",)), folder)[NAME]


def seen(data: Dataset, reading: str, n_runs: int) -> tuple[Outcome, Reason]:
    (case,) = (case for case in STATEMENT.cases if case.part == f"RW21-F9@{reading}")
    evidence = STATEMENT.check(replace(case, given={NAME: data}), Budget(n_runs, 1e-3, StreamKey(5)))
    return judge(evidence)


def test_a_true_claim_holds_and_a_false_one_fails(tmp_path: Path) -> None:
    """Few records: noise saturates the loss, and at its own lambda the independent bound is tight. Many: it is not."""
    assert seen(kidney(write_kidney(tmp_path / "few", 1)), "own", 120) == (Outcome.FAILS, Reason.NONE)
    assert seen(kidney(write_kidney(tmp_path / "many", 30, 0.3)), "own", 20) == (Outcome.HOLDS, Reason.NONE)


@pytest.mark.quick
def test_without_data_it_is_undecided_with_the_name_of_the_recipe() -> None:
    module = "verify.papers.redberg_wang2021.fig_"
    wanted = {3: "rw21/credit", 6: "rw21/credit", 7: NAME, 8: "rw21/wine-red", 9: NAME, 10: "rw21/wine-white"}
    for number, name in wanted.items():
        (source,) = registry.default().select((f"RW21-F{number}",))
        case = source.load().cases[0]
        (row,) = perform(CaseWork(f"{module}{number}", case.name, RunSettings(1, "quick", 1e-4)))
        assert (row["outcome"], row["reason"]) == ("UNDECIDED", "DATA_MISSING")
        recipe = recipes.published_sets()[name]
        assert f"recipe {name}: {' or '.join(recipe.files)}, {recipe.source}" in row["detail"]


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines are not wrapped."""
    monkeypatch.setenv("COLUMNS", "300")


def run(folder: Path, out: Path, *more: str) -> int:
    return invoke(
        ["run", "RW21-F9", "--profile", "quick", "--jobs", "1", "--data", str(folder), "--out", str(out), *more]
    )


def test_a_run_with_data_decides_and_another_file_is_decided_anew(tmp_path: Path, capsys: Captured) -> None:
    data, out = write_kidney(tmp_path / "data", 2), tmp_path / "out"
    digest = kidney(data).digest
    assert run(data, out) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"data    {NAME} (48 records, 24 features)"
    assert lines[1].startswith("RW21-F9 ")
    assert lines[1].endswith(f"decided with {NAME}")
    record = read(out)
    verdict = record.verdict("RW21-F9")
    assert (verdict["expected"], verdict["data"], verdict["unexpected"]) == (None, [NAME], [])
    assert verdict["readings"]["one"]["printed"]["verdict"] == "SUPPORTED"
    assert record.header["data"][NAME] == digest
    assert str(tmp_path) not in (out / "audit.jsonl").read_text(encoding="utf-8")

    assert run(data, out, "--resume") == 0
    assert json.loads((out / "run.json").read_text(encoding="utf-8"))["reused_rows"] == 2
    before = (out / "audit.jsonl").read_bytes()
    assert run(write_kidney(data, 3), out, "--resume") == 0
    assert json.loads((out / "run.json").read_text(encoding="utf-8"))["reused_rows"] == 0
    assert (out / "audit.jsonl").read_bytes() != before
    assert_replays_with_its_data_alone(out, data, write_kidney(tmp_path / "other", 1), capsys)


def assert_replays_with_its_data_alone(out: Path, data: Path, other: Path, capsys: Captured) -> None:
    capsys.readouterr()
    replay = ["replay", str(out), "RW21-F9@one"]
    assert invoke(replay) == 2
    assert capsys.readouterr().err == (
        f"error: data must be the folder of {NAME}, by which this was decided, got no --data\n"
    )
    assert invoke([*replay, "--data", str(other)]) == 2
    assert "as it was when this was decided, got another digest" in capsys.readouterr().err
    assert invoke([*replay, "--data", str(data)]) == 0
    assert "reproduced to the byte" in capsys.readouterr().out
    assert invoke(["show", "RW21-F9", "--record", str(out)]) == 0
    assert "nothing is expected of data that are not" in capsys.readouterr().out


@pytest.mark.parametrize("fault", ["no folder", "damaged", "not this file"])
def test_what_cannot_be_read_is_one_line_before_anything_is_done(tmp_path: Path, capsys: Captured, fault: str) -> None:
    folder = tmp_path / "data"
    if fault != "no folder":
        path = write_kidney(folder, 1) / FILE
        text = path.read_text(encoding="utf-8")
        secret = "abnormal,17.25"
        path.write_text(text[:-300] + secret if fault == "damaged" else "PK\x03\x04" + secret, encoding="utf-8")
    assert run(folder, tmp_path / "out") == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: data must ")
    assert captured.err.count("\n") == 1
    assert "17.25" not in captured.err
    assert not (tmp_path / "out").exists()


def test_a_folder_without_the_file_leaves_it_undecided(tmp_path: Path) -> None:
    assert given_sets(registry.default().select(("RW21-F9",)), tmp_path) == {}

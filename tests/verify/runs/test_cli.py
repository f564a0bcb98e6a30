"""The command line: exit codes, one line for every mistake of the user, nothing half-written."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import jsonschema
import pytest
from rows import for_each
from toys import LEDGER, toy_registry

from verify import cli
from verify.cli import COMMANDS, invoke
from verify.engine.record import read
from verify.kernel.paper import Expected
from verify.papers import ledger, registry
from verify.runs.cli_show import _coloured

TESTS = Path(__file__).resolve().parents[2]
Captured = pytest.CaptureFixture[str]


def quick(folder: Path, *arguments: str) -> list[str]:
    return ["run", "--profile", "quick", "--jobs", "1", "--out", str(folder), *arguments]


def test_run_leaves_record_report_and_run_json(
    toys: registry.Registry, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert invoke(quick(tmp_path / "out")) == 0
    captured = capsys.readouterr()
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "audit.html",
        "audit.jsonl",
        "audit.pdf",
        "junit.xml",
        "run.json",
        "store.sqlite",
    ]
    assert (tmp_path / "out" / "audit.pdf").read_bytes().startswith(b"%PDF")
    lines = captured.out.splitlines()
    assert lines[0].split() == ["W19-T4.1", "as", "printed:", "SUPPORTED"]
    assert lines[1].split() == ["RW21-T17", "as", "printed:", "REFUTED;", "corrected:", "SUPPORTED"]
    assert lines[-6:] == [
        f"record  {tmp_path}/out/audit.jsonl",
        f"report  {tmp_path}/out/audit.pdf",
        f"pages   {tmp_path}/out/audit.html",
        "worst   RW21-T17. Probability of heads: 0.692 [0.644, 0.740], where at most 0.6 is stated.",
        f"next    pdp-verify show RW21-T17 --record {tmp_path}/out/audit.jsonl",
        f"        pdp-verify errata {tmp_path}/out/audit.jsonl -o corrections.pdf",
    ]


def test_run_json_obeys_its_schema(toys: registry.Registry, tmp_path: Path) -> None:
    assert invoke(quick(tmp_path / "out")) == 0
    schema = json.loads((Path(cli.__file__).parent / "schemas" / "run.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads((tmp_path / "out" / "run.json").read_text(encoding="utf-8")), schema)


def test_json_output_is_json_alone(toys: registry.Registry, tmp_path: Path, capsys: Captured) -> None:
    assert invoke(quick(tmp_path / "out", "--json")) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["exit_code"] == 0
    assert [row["id"] for row in printed["verdicts"]][:2] == ["W19-T4.1", "RW21-T17"]


def test_mismatch_with_the_ledger_exits_1_and_is_named_first(
    toys: registry.Registry, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "default", lambda: LEDGER | {"W19-T4.1": Expected("REFUTED", why="no")})
    assert invoke(quick(tmp_path / "out")) == 1
    summary = capsys.readouterr().out.split("\n\n")[1].splitlines()
    assert summary[:2] == ["UNEXPECTED", "  W19-T4.1 as printed: expected REFUTED, got SUPPORTED"]
    assert summary[-2].startswith("next    pdp-verify show W19-T4.1 ")


def test_broken_check_exits_4_and_names_it(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, toys: registry.Registry
) -> None:
    monkeypatch.setattr(registry, "default", lambda: toy_registry("W18-L4"))
    assert invoke(quick(tmp_path / "out")) == 4
    assert "  W18-L4 broken: ArithmeticError: one broken check" in capsys.readouterr().out.splitlines()
    assert read(tmp_path / "out").cases[0]["error"]["type"] == "ArithmeticError"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "W19-T4.2"], "id must be in the catalogue, got id=W19-T4.2; did you mean W19-T4.1"),
        (["run", "W19-D2.1"], "id must have a statement file, got id=W19-D2.1"),
        (["run", "--seed", "-1"], "Invalid value for '--seed'"),
        (["run", "--jobs", "0"], "Invalid value for '--jobs'"),
        (["run", "--failure-prob", "0"], "failure_prob must be in (0, 1), got failure_prob=0.0"),
        (["run", "--failure-prob", "nan"], "failure_prob must be in (0, 1), got failure_prob=nan"),
        (["run", "--profile", "slow"], "Invalid value for '--profile'"),
        (["run", "--resume"], "--resume must come with --out"),
        (["run", "--scheduler", "tcp://a:1", "--jobs", "2"], "--jobs must be left to the cluster's workers"),
        (["calibrate", "--scheduler", "nowhere"], "scheduler must be tcp://HOST:PORT or tls://HOST:PORT"),
        (["run", "--out", "/proc/nowhere/out"], "out must be a folder that can be written"),
        (["run", "--out", "{file}"], "out must be a folder, got out="),
        (["run", "--out", "{full}"], "out must be new or empty"),
        (["show", "W19-T9"], "id must be in the catalogue"),
        (["show", "W19-T4.1", "--record", "{file}"], "record must be strict JSON lines"),
        (["list", "{missing}"], "record must be a readable file"),
        (["replay", "{missing}", "W19-T4.1"], "record must be a readable file"),
        (["report", "{missing}", "-o", "x.pdf"], "record must be a readable file"),
        (["report", "{file}"], "Missing option '-o'"),
        (["decide"], "No such command 'decide'"),
    ],
)
def test_mistakes_of_the_user_are_one_line(
    arguments: list[str], message: str, toys: registry.Registry, tmp_path: Path, capsys: Captured
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "theirs.txt").write_text("keep me")
    (tmp_path / "file").write_text("not a record")
    before = sorted(tmp_path.rglob("*"))
    names = {name: str(tmp_path / name) for name in ("file", "full", "missing")}
    assert invoke([argument.format(**names) for argument in arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ")
    assert captured.err.count("\n") == 1
    assert message in captured.err
    assert sorted(tmp_path.rglob("*")) == before


def test_folder_without_write_permission_is_refused(
    toys: registry.Registry, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    import tempfile

    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied", str(tmp_path))

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)  # root may write anywhere, so permissions cannot be tried
    assert invoke(quick(tmp_path)) == 2
    assert capsys.readouterr().err == (
        f"error: out must be a folder that can be written, got out={tmp_path} (Permission denied)\n"
    )


def test_unexpected_exception_is_one_line_and_exit_4(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken() -> None:
        raise RuntimeError("two\nlines")

    monkeypatch.setattr(registry, "default", broken)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert invoke(["list"]) == 4
    error = capsys.readouterr().err
    assert error.startswith("error: RuntimeError: two lines (a defect of ours; details in ")
    assert error.count("\n") == 1
    assert "Traceback" in next(tmp_path.iterdir()).read_text()


def test_existing_folder_is_used_only_when_asked(toys: registry.Registry, tmp_path: Path, capsys: Captured) -> None:
    assert invoke(quick(tmp_path / "out")) == 0
    first = (tmp_path / "out" / "audit.jsonl").read_bytes()
    assert invoke(quick(tmp_path / "out")) == 2
    assert "--resume continues there" in capsys.readouterr().err
    assert invoke(quick(tmp_path / "out", "--resume")) == 0
    assert (tmp_path / "out" / "audit.jsonl").read_bytes() == first
    assert json.loads((tmp_path / "out" / "run.json").read_text())["reused_rows"] == 10


def test_list_prints_every_statement_and_part(
    toys: registry.Registry, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert invoke(["list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["id"] for row in rows] == ["W19-T4.1", "RW21-T17", "RW21-T17.1", "RW21-T17.2"]
    assert list(rows[1]) == ["id", "paper", "kind", "title", "file", "printed", "corrected", "readings"]
    assert rows[1]["paper"] == "redberg_wang2021"
    assert (rows[1]["printed"], rows[1]["corrected"], rows[1]["readings"]) == ("REFUTED", "SUPPORTED", {})
    assert invoke(quick(tmp_path / "out")) == 0
    capsys.readouterr()
    assert invoke(["list", str(tmp_path / "out"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[1]["record_printed"] == "REFUTED"
    assert invoke(["list"]) == 0
    assert "A biased coin is nearly fair" in capsys.readouterr().out


def test_show_tells_formula_verdict_and_how_to_replay(
    toys: registry.Registry, tmp_path: Path, capsys: Captured
) -> None:
    assert invoke(quick(tmp_path / "out")) == 0
    capsys.readouterr()
    assert invoke(["show", "RW21-T17.1", "--record", str(tmp_path / "out")]) == 0
    out = capsys.readouterr().out
    for words in (
        "p <= 0.6",
        "tests/toys/thm_2.py:",
        "Rachel Redberg",
        "refuted by a confirmed counterexample",
        f"pdp-verify replay {tmp_path}/out RW21-T17.1",
    ):
        assert words in " ".join(out.split())
    assert "RW21-T17.2" not in out


def test_report_is_byte_identical_and_dated_by_the_run(
    toys: registry.Registry, tmp_path: Path, capsys: Captured
) -> None:
    assert invoke(quick(tmp_path / "out")) == 0
    for suffix in (".pdf", ".html"):
        assert invoke(["report", str(tmp_path / "out"), "-o", str(tmp_path / f"again{suffix}")]) == 0
        assert (tmp_path / f"again{suffix}").read_bytes() == (tmp_path / "out" / f"audit{suffix}").read_bytes()
    assert invoke(["report", str(tmp_path / "out"), "-o", str(tmp_path / "none" / "x.pdf")]) == 2
    assert "output must be a file that can be written" in capsys.readouterr().err


def test_interrupted_process_keeps_a_record_that_report_accepts(tmp_path: Path) -> None:
    """Ctrl-C on a real process with two workers: exit 130, a record, and no worker left behind."""
    folder = tmp_path / "out"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent)])}
    command = [sys.executable, "-m", "toys", "W18-L5", "run", "--jobs", "2", "--out", str(folder)]
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    deadline = time.monotonic() + 60
    while not (folder / "store.sqlite-wal").exists() or (folder / "store.sqlite-wal").stat().st_size < 40_000:
        assert process.poll() is None, process.stderr
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers too
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert out.splitlines()[-1].startswith("next    pdp-verify run --jobs 2 --out ")
    record = read(folder)
    assert 0 < len(record.cases) < 600
    assert record.header["complete"] is False
    assert record.verdicts[0]["printed"]["reason"] == "INTERRUPTED"
    assert (folder / "audit.pdf").read_bytes().startswith(b"%PDF")
    assert not (folder / "store.sqlite-wal").exists()


@for_each("argument", ["--help", "--version"])
def test_help_and_version_import_nothing_heavy(argument: str) -> None:
    code = (
        "import sys; from verify.cli import invoke; "
        f"assert invoke(['{argument}']) == 0; "
        "heavy = {'numpy', 'scipy', 'typst', 'matplotlib', 'rich', 'pandas'} & set(sys.modules); "
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_no_arguments_show_the_help_and_exit_2(capsys: Captured) -> None:
    assert invoke([]) == 2
    assert "Usage: pdp-verify" in capsys.readouterr().err


@pytest.mark.parametrize("command", list(COMMANDS))
def test_every_command_has_a_help_page(command: str, capsys: Captured) -> None:
    assert invoke([command, "--help"]) == 0
    assert f"pdp-verify {command}" in capsys.readouterr().out


ROWS = list(registry.statement_rows(registry.default(), ledger.default()))


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["W18"], lambda row: row["id"].startswith("W18-")),
        (["wang2018"], lambda row: row["id"].startswith("W18-")),
        (["refuted"], lambda row: row["printed"] == "REFUTED"),
        (["Supported", "rw21"], lambda row: row["printed"] == "SUPPORTED" and row["paper"] == "redberg_wang2021"),
        (["definition"], lambda row: "definition" in (row["kind"], row["printed"].lower())),
        (["table", "W18"], lambda row: row["kind"] == "table" and row["id"].startswith("W18-")),
        (["t10."], lambda row: "T10." in row["id"]),
        (["eigenvalue"], lambda row: "eigenvalue" in row["title"].lower()),
        (["W19", "W18"], lambda row: False),
        (["refuted lemma"], lambda row: (row["printed"], row["kind"]) == ("REFUTED", "lemma")),
        (["Theorem 4.1"], lambda row: row["id"].startswith("W19-T4.1")),
        (["appendix f, item 3"], lambda row: row["id"].startswith("W18-F3")),
    ],
)
def test_words_are_answered_together(words: list[str], wanted: Callable[[Any], bool], capsys: Captured) -> None:
    assert invoke(["list", *words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [row for row in ROWS if wanted(row)]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["refutd"], "got word=refutd; did you mean refuted?"),
        (["W18", "lema"], "did you mean lemma"),
        (["W18-L66"], "got word=W18-L66; did you mean W18-L6, "),
        (["RW22"], "did you mean RW21"),
        (["refuted lema"], "got word=lema; did you mean lemma"),
        (["xyzzy"], "got word=xyzzy; `pdp-verify list` shows them all"),
        (["nowhere.jsonl"], "record must be a readable file, got record=nowhere.jsonl"),
    ],
)
def test_an_unknown_word_is_one_line(words: list[str], message: str, capsys: Captured) -> None:
    assert invoke(["list", *words]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_a_record_is_told_from_a_word(
    toys: registry.Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """A folder called ``out`` is the record, though titles hold the word; a folder called ``theorem`` is not."""
    monkeypatch.chdir(tmp_path)
    assert invoke(["run", "--profile", "quick", "--jobs", "1", "--out", "out"]) in (0, 1)
    (tmp_path / "theorem").mkdir()
    capsys.readouterr()
    assert invoke(["list", "out", "theorem", "biased", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["id"], row["record_printed"]) == ("RW21-T17", "REFUTED")


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_table_fits_the_terminal(width: int, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    assert invoke(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + len(ROWS)
    assert max(map(len, lines)) <= max(width, 75)  # an id, two verdicts, a consequence, twenty letters of a title


@pytest.mark.parametrize(("width", "widest"), [(60, 60), (80, 80), (200, 100)])
@pytest.mark.parametrize("id_", ["W19-T4.1", "W18-F1", "RW21-C16"])
def test_a_statement_fits_the_terminal(
    width: int, widest: int, id_: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    assert invoke(["show", id_]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert widest - 30 < max(map(len, lines)) <= widest


@pytest.mark.parametrize(
    ("terminal", "no_color", "coloured"), [(True, "", True), (True, "1", False), (False, "", False)]
)
def test_verdicts_are_coloured_on_a_terminal_alone(
    terminal: bool, no_color: str, coloured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setattr("sys.stdout", Mock(isatty=lambda: terminal))
    assert (_coloured("REFUTED", 9) == "\x1b[31mREFUTED  \x1b[0m") is coloured
    assert _coloured("a title", 9) == "a title  "


def test_what_goes_to_a_file_is_not_cut(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert invoke(["list"]) == 0
    out = capsys.readouterr().out
    assert all(row["title"] in out and row["file"] in out for row in ROWS)


def test_nothing_in_common_is_said(capsys: Captured) -> None:
    assert invoke(["list", "W19", "W18"]) == 0
    assert capsys.readouterr().out == "no statement answers to W19 and W18\n"


@pytest.mark.parametrize("arguments", [["list"], ["list", "W18", "refuted"], ["--help"], ["run", "--help"]])
def test_no_library_of_numbers_is_imported_for_words(arguments: list[str]) -> None:
    code = (
        f"import sys; from verify.cli import invoke; code = invoke({arguments!r})\n"
        "print(code, sorted({'numpy', 'scipy', 'flint'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1] == "0 []"


def test_help_lists_every_command_under_one_heading(capsys: Captured) -> None:
    assert invoke(["--help"]) == 0
    shown = capsys.readouterr().out
    headings = [line.removesuffix(":") for line in shown.splitlines() if re.fullmatch(r"[A-Z]\w+:", line)]
    assert headings == ["Options", "Audit", "Certify", "Papers", "Records", "Instrument"]
    listed = re.findall(r"^  ([a-z-]+)  +\S", shown.partition("Audit:")[2], re.MULTILINE)
    assert listed == list(COMMANDS)
    assert all(len(line) <= 80 for line in shown.splitlines())

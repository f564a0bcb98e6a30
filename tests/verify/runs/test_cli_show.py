"""What ``list`` answers to: papers, verdicts, kinds, words, records; and that it needs no statement, nor numpy."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from verify.cli import invoke
from verify.papers import ledger, registry
from verify.runs.cli_show import _coloured

Captured = pytest.CaptureFixture[str]
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

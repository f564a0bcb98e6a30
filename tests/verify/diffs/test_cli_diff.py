"""``pdp-verify diff``: exit codes, what it prints at 80 columns, as JSON and as Markdown, and who may read it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toys.compared import FILES, Rows, changed, of, without, write_rows
from toys.forgery import paths_of, replaced

from reports.markdown import BANNER
from verify.cli import invoke

Captured = pytest.CaptureFixture[str]
TEXT, COUNT = {"type": "string"}, {"type": "integer", "minimum": 0}
#: What the docstring of ``json_text`` says.
SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["schema_version", "kind", "worse", "confidential", "counts", "compared", "notes", "changes"],
    "properties": {
        "schema_version": {"const": 1},
        "kind": {"enum": list(FILES)},
        "worse": {"type": "boolean"},
        "confidential": {"type": "boolean"},
        "counts": {"type": "object", "required": ["WORSE", "CHANGED", "BETTER"], "additionalProperties": COUNT},
        "compared": {"type": "object", "additionalProperties": COUNT},
        "notes": {"type": "array", "items": TEXT},
        "changes": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["turn", "what", "where", "old", "new", "failure_prob"],
                "properties": {
                    "turn": {"enum": ["WORSE", "CHANGED", "BETTER"]},
                    **dict.fromkeys(("what", "where", "old", "new"), TEXT),
                    "failure_prob": {"type": "number", "minimum": 0, "maximum": 2},
                },
            },
        },
    },
}


@pytest.fixture
def two(run: Rows, tmp_path: Path) -> list[str]:
    """A run, and one in which a mutant is lost, a number moved and an id is gone."""
    new = changed(run, of("case", case="mutant: 0.55"), outcome="HOLDS", margin=0.1)
    new = changed(new, of("case", case="large"), sampled__low=0.1, sampled__high=0.2, sampled__value=0.15)
    new = without(new, lambda row: row.get("id") == "W19-T4.1")
    return [str(write_rows(rows, tmp_path / name / "audit.jsonl")) for name, rows in (("old", run), ("new", new))]


def strict(text: str) -> Any:
    def refuse(name: str) -> None:
        raise AssertionError(name)

    return json.loads(text, parse_constant=refuse)


def test_exit_codes(two: list[str], capsys: Captured) -> None:
    old, new = two
    assert invoke(["diff", old, old]) == 0
    assert "run: no change" in capsys.readouterr().out
    assert invoke(["diff", old, new]) == 1
    assert invoke(["diff", new, old]) == 0
    Path(new).write_text(Path(new).read_text()[:-40])
    assert invoke(["diff", old, new]) == 2
    assert invoke(["diff", old, old, "--json", "--markdown"]) == 2
    assert invoke(["diff", old, old, "-o", "d.other"]) == 2
    assert invoke(["diff", old, old, "-o", str(Path(old) / "d.md")]) == 2
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 4
    assert all(line.startswith("error: ") for line in errors)


def test_the_terminal_reads_at_80_columns(two: list[str], capsys: Captured) -> None:
    assert invoke(["diff", *two]) == 1
    out = capsys.readouterr().out
    assert all(len(line) <= 80 for line in out.splitlines())
    assert out.startswith("run: 3 changes: 2 for the worse\n\nfor the worse\n")
    assert "  gone          W19-T4.1: the id is gone\n" in out
    assert "  mutant        RW21-T17 mutant: 0.55: caught -> holds\n" in out
    assert "  number        RW21-T17 large (printed): " in out
    assert "1 moved" in " ".join(out.split())
    assert "the same." not in out


def test_numbers_that_overlap_are_never_called_the_same(
    two: list[str], run: Rows, tmp_path: Path, capsys: Captured
) -> None:
    row = next(row for row in run if row.get("case") == "large")
    wider = changed(run, of("case", case="large"), sampled__low=row["sampled"]["low"] - 0.01)
    file = write_rows(wider, tmp_path / "wider" / "audit.jsonl")
    assert invoke(["diff", two[0], str(file)]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "the intervals of 1 overlap, which shows no difference." in out


def test_many_changes_are_counted_in_the_terminal_and_listed_as_json(
    records: Mapping[str, Rows], tmp_path: Path, capsys: Captured
) -> None:
    rows = records["sweep"]
    files = [write_rows(each, tmp_path / str(i) / "t.jsonl") for i, each in enumerate((rows, rows[:1] + rows[30:]))]
    assert invoke(["diff", *map(str, files)]) == 1
    assert "                and 21 more (--json lists all)" in capsys.readouterr().out.splitlines()
    assert invoke(["diff", *(str(file.parent) for file in files), "--json"]) == 1
    assert strict(capsys.readouterr().out)["counts"]["WORSE"] == 29


@pytest.mark.parametrize("kind", list(FILES))
def test_json_is_strict_and_as_its_docstring_says(
    records: Mapping[str, Rows], kind: str, tmp_path: Path, capsys: Captured
) -> None:
    rows = records[kind]
    new = changed(without(rows, lambda row: row is rows[-2] or row == rows[-2]), of(rows[0]["kind"]), seed=99)
    files = [str(write_rows(each, tmp_path / str(i) / FILES[kind])) for i, each in enumerate((rows, new))]
    for old, now in (files, files[::-1], files[:1] * 2):
        invoke(["diff", old, now, "--json"])
        captured = capsys.readouterr()
        row = strict(captured.out)
        jsonschema.validate(row, SCHEMA)
        assert row["worse"] == (row["counts"]["WORSE"] > 0)
        assert captured.err == ""


def test_markdown_and_a_file(two: list[str], tmp_path: Path, capsys: Captured) -> None:
    assert invoke(["diff", *two, "--markdown", "-o", str(tmp_path / "d.md")]) == 1
    captured = capsys.readouterr()
    assert captured.out == (tmp_path / "d.md").read_text(encoding="utf-8")
    assert captured.out.startswith("# What changed: run\n")
    assert "\nChanged for the worse\n\n| What | Where | Before | Now |\n" in captured.out
    assert "| **mutant** | RW21-T17 mutant: 0.55 | caught | holds |" in captured.out
    assert captured.err == f"{tmp_path / 'd.md'}\n"
    assert invoke(["diff", *two, "-o", str(tmp_path / "d.pdf")]) == 1
    assert (tmp_path / "d.pdf").read_bytes().startswith(b"%PDF")


def test_a_curators_difference_says_that_it_is_confidential(
    private_certificate: Path, tmp_path: Path, capsys: Captured
) -> None:
    folders = [tmp_path / name for name in ("old", "new")]
    for folder in folders:
        shutil.copytree(private_certificate, folder)
    inside = [str(folder / "curator") for folder in folders]
    assert invoke(["diff", *inside]) == 0
    assert capsys.readouterr().out.startswith(BANNER)
    assert invoke(["diff", *inside, "--markdown", "-o", str(tmp_path / "d.md")]) == 0
    assert BANNER in capsys.readouterr().out
    assert (tmp_path / "d.md").stat().st_mode & 0o077 == 0
    assert invoke(["diff", *inside, "--json"]) == 0
    assert strict(capsys.readouterr().out)["confidential"] is True
    assert invoke(["diff", *(str(folder / "release") for folder in folders)]) == 0
    assert BANNER not in capsys.readouterr().out


def test_a_release_difference_holds_nothing_about_the_records(
    private_certificate: Path, tmp_path: Path, capsys: Captured
) -> None:
    """What only the curator's record says is nowhere in what is printed of two releases."""
    folders = [private_certificate, tmp_path / "new"]
    shutil.copytree(private_certificate, folders[1])
    file = folders[1] / "release" / "audit.jsonl"
    file.write_text(file.read_text().replace('"seed":20210527', '"seed":5').replace("PASS (proved)", "PASS (attested)"))
    header = json.loads((private_certificate / "curator" / "audit.jsonl").read_text().splitlines()[0])
    for words in ([], ["--json"], ["--markdown"]):
        invoke(["diff", *(str(folder / "release") for folder in folders), *words])
        out = capsys.readouterr().out
        assert "20210527" in out
        assert header["data"]["digest"][:12] not in out
        assert header["configuration_digest"][:12] not in out
        assert BANNER not in out


VALUES = (None, True, -1, 0, 1e308, "", "inf", "nan", "x", [], {}, [1], {"a": None}, "SUPPORTED", "HOLDS")


@given(st.data())
def test_a_spoilt_record_is_compared_or_refused_in_one_line(
    records: Mapping[str, Rows], tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Whatever stands where something else belongs: never a defect of ours."""
    kind = data.draw(st.sampled_from(list(FILES)))
    rows = records[kind]
    place = data.draw(st.sampled_from([i for i, row in enumerate(rows) if row["kind"] != "figure"]))
    path = data.draw(st.sampled_from(paths_of(rows[place])))
    spoilt = [*rows[:place], replaced(rows[place], path, data.draw(st.sampled_from(VALUES))), *rows[place + 1 :]]
    folder = tmp_path_factory.mktemp("spoilt")
    files = [str(write_rows(each, folder / str(i) / FILES[kind])) for i, each in enumerate((rows, spoilt))]
    for order in (files, files[::-1]):
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()) as said:
            code = invoke(["diff", *order, data.draw(st.sampled_from(("--json", "--markdown")))])
        assert code in (0, 1, 2), said.getvalue()
        assert len(said.getvalue().splitlines()) == (code == 2)


def test_help_says_what_the_exit_codes_mean(capsys: Captured) -> None:
    assert invoke(["diff", "--help"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "Exits with 0 when nothing changed for the worse; 1 when" in out
    assert "--markdown" in out


def test_a_narrow_terminal_still_gets_words(two: list[str], capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "10")
    assert invoke(["diff", *two]) == 1
    assert "  gone          W19-T4.1: the id is gone\n" in capsys.readouterr().out

"""``pdp-verify diff``: exit codes, what it prints, as JSON and as Markdown, who may read it, and what it refuses."""

from __future__ import annotations

import json
import re
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
from rows import for_each
from toys.compared import FILES, Rows, changed, of, without, write_rows
from toys.forgery import paths_of, replaced

from reports.markdown import BANNER
from verify import difference, read
from verify.cli import invoke
from verify.messages.errors import UserError

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


def test_the_terminal_reads_at_80_columns(
    two: list[str], run: Rows, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert invoke(["diff", *two]) == 1
    out = capsys.readouterr().out
    assert all(len(line) <= 80 for line in out.splitlines())
    assert out.startswith("run: 3 changes: 2 for the worse\n\nfor the worse\n")
    assert "  gone          W19-T4.1: the id is gone\n" in out
    assert "  mutant        RW21-T17 mutant: 0.55: caught -> holds\n" in out
    assert "  number        RW21-T17 large (printed): " in out
    assert "1 moved" in " ".join(out.split())
    assert "the same." not in out
    monkeypatch.setenv("COLUMNS", "10")
    assert invoke(["diff", *two]) == 1
    assert "  gone          W19-T4.1: the id is gone\n" in capsys.readouterr().out
    row = next(row for row in run if row.get("case") == "large")
    wider = changed(run, of("case", case="large"), sampled__low=row["sampled"]["low"] - 0.01)
    assert invoke(["diff", two[0], str(write_rows(wider, tmp_path / "wider" / "audit.jsonl"))]) == 0
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


def test_two_kinds_cannot_be_compared(records: Mapping[str, Rows]) -> None:
    with pytest.raises(UserError, match=r"^records must be of one kind, got a run and a sweep$"):
        difference(records["run"], records["sweep"])


def test_two_audiences_of_private_data_cannot_be_compared(private_certificate: Path) -> None:
    with pytest.raises(UserError, match=r"^records must be for one audience, got curator and release$"):
        difference(private_certificate / "curator", private_certificate / "release")
    with pytest.raises(UserError, match=r"^record must be that of one audience, got record=.*; name .*/curator or "):
        difference(private_certificate, private_certificate)


def test_a_curators_difference_is_confidential_and_a_release_is_not(private_certificate: Path) -> None:
    inside, outside = (difference(*[private_certificate / part] * 2) for part in ("curator", "release"))
    assert (inside.confidential, outside.confidential) == (True, False)


def test_a_folder_holds_one_record(records: Mapping[str, Rows], private_certificate: Path, tmp_path: Path) -> None:
    for kind, rows in records.items():
        file = write_rows(rows, tmp_path / kind / FILES[kind])
        assert difference(file.parent, file).kind == kind
    shutil.copytree(private_certificate / "release", tmp_path / "out" / "release")
    assert difference(tmp_path / "out", private_certificate / "release").changes == ()


@for_each("kind", list(FILES))
@for_each(
    ("spoil", "words"),
    [
        (lambda text: text[: len(text) // 2], "record must be strict JSON lines, got "),
        (lambda text: text + text.splitlines()[-1] + "\n", "record must have no line twice, got "),
        (
            lambda text: re.sub('"schema_version": [12]', '"schema_version": 9', text, count=1),
            "schema_version must be [12], got schema_version=9 in ",
        ),
        (lambda text: text + '{"kind": "rumour"}\n', "record must be as pdp-verify wrote it, got "),
        (lambda text: "\n".join(text.splitlines()[1:]), "record must "),
        (lambda text: "", "record must not be empty, got "),
        (lambda text: "[]\n", "record must be strict JSON lines, got "),
    ],
)
def test_a_damaged_record_is_refused_in_one_line(
    records: Mapping[str, Rows], kind: str, spoil: object, words: str, tmp_path: Path
) -> None:
    file = write_rows(records[kind], tmp_path / FILES[kind])
    assert callable(spoil)
    file.write_text(spoil(file.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(UserError, match=f"^{words}") as stop:
        difference(file, file)
    assert "\n" not in str(stop.value)


def test_a_record_that_other_sources_wrote_in_another_way_says_so(run: Rows, tmp_path: Path) -> None:
    rows = [{name: value for name, value in run[0].items() if name != "slots"}, *run[1:]]
    file = write_rows(rows, tmp_path / "audit.jsonl")
    with pytest.raises(UserError, match=r"no key 'slots'\)$"):
        difference(file, file)
    write_rows([rows[0] | {"sources": "f" * 64}, *rows[1:]], file)
    with pytest.raises(UserError, match=r"no key 'slots'\); other sources of pdp-verify wrote it$"):
        difference(file, file)


def test_of_several_tables_in_a_folder_one_must_be_named(records: Mapping[str, Rows], tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        write_rows(records["sweep"], tmp_path / name)
    with pytest.raises(UserError, match=r"^record must be one file, got record=.*; name .*a\.jsonl or another of 2$"):
        difference(tmp_path, tmp_path)


def test_a_sweep_is_no_run(records: Mapping[str, Rows], tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^record must be that of a run, got the table of a sweep in "):
        read(write_rows(records["sweep"], tmp_path / "t.jsonl"))


def test_what_is_no_record_is_refused(run: Rows, tmp_path: Path) -> None:
    strict, first = r"^record must be strict JSON lines \(of a sweep: --export FILE.jsonl\), got", tmp_path / "a.jsonl"
    refused = {first: "^record must be ", tmp_path / "s.sqlite": strict, tmp_path / "audit.pdf": strict}
    heads: dict[str, Any] = {
        r"^record must begin with the header of a ": run[0] | {"record": "diary"},
        r"^record must begin with its header, got ": {"kind": "pytest", "schema_version": 1},
        r"^record must be that of a run, a certificate, a sweep, a calibration, got ": {
            "kind": "header",
            "record": "comparison",
            "schema_version": 1,
        },
    }
    for number, (words, head) in enumerate(heads.items()):
        refused[write_rows([head], tmp_path / str(number) / "audit.jsonl")] = words
    for path, words in refused.items():
        with pytest.raises(UserError, match=words):
            difference(path, path)
    for rows in ([], [run[0] | {"record": "diary"}]):
        with pytest.raises(UserError, match=r"^record must begin with the header of run, certificate, sweep, calib"):
            difference(rows, rows)

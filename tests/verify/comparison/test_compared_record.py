"""Which file a record is, and which are refused in one line."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import jsonschema
import pytest
from toys.compared import FILES, Rows, write_rows

from verify.comparison.record_difference import compared_record, file_of
from verify.engine.record import read
from verify.messages.errors import UserError
from verify.schemas.lines import json_schema, trouble


def test_a_folder_holds_one_record(records: Mapping[str, Rows], private_certificate: Path, tmp_path: Path) -> None:
    for kind, rows in records.items():
        file = write_rows(rows, tmp_path / kind / FILES[kind])
        assert file_of(file.parent) == file_of(file) == file
        assert compared_record(file.parent).kind == kind
    shutil.copytree(private_certificate / "release", tmp_path / "out" / "release")
    assert file_of(tmp_path / "out") == tmp_path / "out" / "release" / "audit.jsonl"
    assert compared_record(tmp_path / "out").header["audience"] == "release"


def test_every_line_of_a_sweep_obeys_its_schema(records: Mapping[str, Rows]) -> None:
    validator = jsonschema.Draft202012Validator(json_schema("sweep"))
    for number, row in enumerate(records["sweep"], 1):
        assert trouble(row, "sweep", number) == ""
        validator.validate(row)
    assert trouble(records["sweep"][1], "sweep", 1) == "no header"
    assert trouble(records["sweep"][0], "sweep", 2) == "a second header"
    assert not validator.is_valid(records["sweep"][1] | {"ground": "hope"})


@pytest.mark.parametrize("kind", list(FILES))
@pytest.mark.parametrize(
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
        compared_record(file)
    assert "\n" not in str(stop.value)


def test_a_record_that_other_sources_wrote_in_another_way_says_so(run: Rows, tmp_path: Path) -> None:
    rows = [{name: value for name, value in run[0].items() if name != "slots"}, *run[1:]]
    file = write_rows(rows, tmp_path / "audit.jsonl")
    with pytest.raises(UserError, match=r"no key 'slots'\)$"):
        compared_record(file)
    write_rows([rows[0] | {"sources": "f" * 64}, *rows[1:]], file)
    with pytest.raises(UserError, match=r"no key 'slots'\); other sources of pdp-verify wrote it$"):
        compared_record(file)


def test_of_several_tables_in_a_folder_one_must_be_named(records: Mapping[str, Rows], tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        write_rows(records["sweep"], tmp_path / name)
    with pytest.raises(UserError, match=r"^record must be one file, got record=.*; name .*a\.jsonl or another of 2$"):
        file_of(tmp_path)


def test_a_sweep_is_no_run(records: Mapping[str, Rows], tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^record must be that of a run, got the table of a sweep in "):
        read(write_rows(records["sweep"], tmp_path / "t.jsonl"))


def test_rows_without_a_header_of_ours_are_refused(run: Rows) -> None:
    for rows in ([], [run[0] | {"record": "diary"}]):
        with pytest.raises(
            UserError, match=r"^record must begin with the header of run, certificate, sweep, calibration, "
        ):
            compared_record(rows)


def test_what_is_no_record_is_refused(tmp_path: Path) -> None:
    for name in ("s.sqlite", "t.parquet", "g.toml", "audit.pdf"):
        with pytest.raises(
            UserError, match=r"^record must be strict JSON lines \(of a sweep: --export FILE.jsonl\), got"
        ):
            compared_record(tmp_path / name)
    for path in (tmp_path, tmp_path / "absent.jsonl"):
        with pytest.raises(UserError, match=r"^record must be "):
            compared_record(path)


def test_another_kind_of_header_is_refused(run: Rows, tmp_path: Path) -> None:
    file = write_rows([run[0] | {"record": "diary"}, *run[1:]], tmp_path / "audit.jsonl")
    with pytest.raises(UserError, match=r"^record must begin with the header of a "):
        compared_record(file)
    file.write_text(json.dumps({"kind": "pytest", "schema_version": 1}) + "\n")
    with pytest.raises(UserError, match=r"^record must begin with its header, got "):
        compared_record(file)


def test_a_comparison_is_said_to_be_none_of_the_kinds(tmp_path: Path) -> None:
    file = tmp_path / "comparison.jsonl"
    file.write_text(json.dumps({"kind": "header", "record": "comparison", "schema_version": 1}) + "\n")
    for path in (file, tmp_path):
        with pytest.raises(
            UserError, match=r"^record must be that of a run, a certificate, a sweep, a calibration, got "
        ):
            compared_record(path)

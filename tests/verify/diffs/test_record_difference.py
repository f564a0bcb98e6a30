"""A record differs from itself in nothing; a row that is dropped is for the worse; what cannot be compared."""

from __future__ import annotations

import copy
import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import for_each
from toys.compared import FILES, Rows, changed, of, write_rows

from verify import Difference, difference, read
from verify.calibration.calibration_record import read as read_calibration
from verify.diffs.changes import Turn
from verify.diffs.record_difference import compared_record, file_of
from verify.messages.errors import UserError
from verify.schemas.lines import json_schema, trouble

KINDS = tuple(FILES)
#: Kinds of rows of which every one was examined, and none may be dropped in silence.
EXAMINED = ("case", "verdict", "claim", "check", "cell", "exact", "rate", "prediction", "control", "mutant")


@for_each("kind", KINDS)
def test_a_record_differs_from_itself_in_nothing(records: Mapping[str, Rows], kind: str) -> None:
    rows = records[kind]
    found = difference(rows, copy.deepcopy(rows))
    assert (found.changes, found.notes, found.worse, found.exit_code) == ((), (), False, 0)
    assert (found.kind, found.headline(), found.lines()) == (kind, "no change", [])
    assert sum(found.compared.values()) > 0


@given(st.data())
def test_any_part_of_a_record_differs_from_itself_in_nothing(records: Mapping[str, Rows], data: st.DataObject) -> None:
    header, *rows = records[data.draw(st.sampled_from(KINDS))]
    some = [header, *data.draw(st.permutations(rows).map(lambda mixed: mixed[: len(mixed) // 2]))]
    assert difference(some, copy.deepcopy(some)).changes == ()


@given(st.data())
def test_whatever_is_dropped_is_for_the_worse_and_what_is_added_is_not(
    records: Mapping[str, Rows], data: st.DataObject
) -> None:
    rows = records[data.draw(st.sampled_from(KINDS))]
    place = data.draw(st.sampled_from([i for i, row in enumerate(rows) if row["kind"] in EXAMINED]))
    left = [*rows[:place], *rows[place + 1 :]]
    assert difference(rows, left).worse
    added = difference(left, rows)
    assert not added.worse
    assert {change.what for change in added.changes} == {"new"}


@for_each("kind", ["run", "calibration"])
def test_a_change_for_the_worse_is_none_the_other_way_round(records: Mapping[str, Rows], kind: str) -> None:
    rows = records[kind]
    smaller = changed(rows, of("header"), profile="quick", complete=False)
    forth, back = difference(rows, smaller), difference(smaller, rows)
    assert [change.what for change in forth.of(Turn.WORSE)] == ["profile", "complete"]
    assert [change.what for change in back.of(Turn.BETTER)] == ["profile", "complete"]
    assert forth.worse
    assert not back.worse


def test_a_row_that_comes_twice_counts_twice(records: Mapping[str, Rows]) -> None:
    for kind, what in (("run", "case"), ("certificate", "check"), ("sweep", "cell"), ("calibration", "rate")):
        rows = records[kind]
        (again,) = difference([*rows, next(row for row in rows if row["kind"] == what)], rows).changes
        assert (again.what, again.turn) == ("gone", Turn.WORSE)


def test_records_are_taken_in_every_form(records: Mapping[str, Rows], tmp_path: Path) -> None:
    for kind, rows in records.items():
        file = write_rows(rows, tmp_path / kind / FILES[kind])
        forms = [rows, file, str(file), file.parent]
        forms += [read(file)] if kind == "run" else [read_calibration(file)] if kind == "calibration" else []
        assert all(difference(form, rows) == difference(rows, rows) for form in forms)


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


def test_a_long_value_is_cut_around_what_differs(certificate: Rows) -> None:
    sentence = next(row["sentence"] for row in certificate if row["kind"] == "claim")
    (change,) = difference(
        certificate, changed(certificate, of("claim"), sentence=sentence.replace("(4,", "(5,"))
    ).changes
    assert change.line() == (
        "claim  dp: …its private report is (4, 1e-5)-differentially p… -> "
        "…its private report is (5, 1e-5)-differentially p…"
    )
    assert change.row()["old"] == sentence
    grown = difference(certificate, changed(certificate, of("claim"), sentence=sentence + " and more"))
    assert "…" in grown.lines()[0]
    assert grown.lines()[0].endswith("and more")
    long = difference(certificate, changed(certificate, of("claim"), sentence="x" * 999)).lines()[0]
    assert len(long) < 400


def test_summary_and_lines_say_the_worst_first(run: Rows) -> None:
    other = changed(run, of("header"), seed=4, profile="quick", sources="f" * 64)
    found = difference(run, other)
    lines = found.lines()
    assert lines[0] == "profile  standard -> quick"
    assert lines[1] == "seed  3 -> 4"
    assert lines[2].endswith(" -> ffffffffffff")
    assert found.lines(1) == [lines[0], "and 2 more"]
    assert found.summary().splitlines()[:2] == ["run: 3 changes: 1 for the worse", f"  {lines[0]}"]
    assert repr(found).startswith("Difference(kind=run, worse=1, changed=2, better=0")
    assert isinstance(found, Difference)


@for_each(
    ("values", "what", "turn"),
    [
        ({"failure_prob": 1e-2}, "failure prob", Turn.WORSE),
        ({"failure_prob": 1e-6}, "failure prob", Turn.BETTER),
        ({"complete": False}, "complete", Turn.WORSE),
        ({"platform": "abacus"}, "platform", Turn.CHANGED),
        ({"versions": {"numpy": "9"}}, "version", Turn.CHANGED),
        ({"data": {"fair": "0" * 64}}, "data", Turn.CHANGED),
    ],
)
def test_what_a_run_depends_on_is_said(run: Rows, values: dict[str, object], what: str, turn: Turn) -> None:
    found = difference(run, changed(run, of("header"), **values)).changes
    assert {change.what for change in found} == {what}
    assert all(change.turn is turn for change in found)


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

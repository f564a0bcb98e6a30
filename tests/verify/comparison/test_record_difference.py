"""A record differs from itself in nothing; a row that is dropped is for the worse; what cannot be compared."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toys.compared import FILES, Rows, changed, of, write_rows

from verify import Difference, difference, read
from verify.calibration.calibration_record import read as read_calibration
from verify.comparison.changes import Turn
from verify.messages.errors import UserError

KINDS = tuple(FILES)
#: Kinds of rows of which every one was examined, and none may be dropped in silence.
EXAMINED = ("case", "verdict", "claim", "check", "cell", "exact", "rate", "prediction", "control", "mutant")


@pytest.mark.parametrize("kind", KINDS)
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


@pytest.mark.parametrize("kind", ["run", "calibration"])
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


@pytest.mark.parametrize(
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

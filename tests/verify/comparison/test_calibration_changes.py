"""Planted changes of a calibration: rates, auditors that must be found out, mutants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from toys.compared import Rows, changed, of, without

from verify import difference
from verify.comparison.changes import RecordChange, Turn
from verify.schemas.lines import trouble


@pytest.fixture
def calibration(records: Mapping[str, Rows]) -> Rows:
    """The rows of the calibration."""
    return records["calibration"]


def only(old: Rows, new: Rows) -> RecordChange:
    """Return the one change that there is."""
    found = difference(old, new).changes
    assert len(found) == 1, found
    return found[0]


def test_the_rows_are_those_of_a_calibration(calibration: Rows) -> None:
    assert [trouble(row, "calibration", number) for number, row in enumerate(calibration, 1)] == [""] * 6


@pytest.mark.parametrize(
    ("kind", "values", "what", "turn"),
    [
        ("rate", {"compatible": False}, "verdict", Turn.WORSE),
        ("prediction", {"compatible": False}, "verdict", Turn.WORSE),
        ("exact", {"compatible": False}, "verdict", Turn.WORSE),
        ("control", {"compatible": True}, "verdict", Turn.WORSE),  # an invalid auditor that is not found out
        ("rate", {"n_draws": 10}, "draws", Turn.WORSE),
        ("rate", {"repeats": 900}, "repetitions", Turn.WORSE),
        ("mutant", {"found": False}, "mutant", Turn.WORSE),
        ("mutant", {"found": None}, "mutant", Turn.WORSE),
        ("mutant", {"smallest_found": 2.0}, "least found", Turn.CHANGED),
        ("rate", {"any": 120}, "rate", Turn.CHANGED),
        ("header", {"crashed": ["tails"]}, "tasks that crashed", Turn.WORSE),
    ],
)
def test_what_changes(calibration: Rows, kind: str, values: dict[str, Any], what: str, turn: Turn) -> None:
    new = changed(calibration, of(kind), **values)
    assert (only(calibration, new).what, only(calibration, new).turn) == (what, turn)
    back = {Turn.WORSE: Turn.BETTER, Turn.CHANGED: Turn.CHANGED}[turn]
    assert only(new, calibration).turn is back


def test_a_rate_that_stayed_inside_its_interval_is_no_change(calibration: Rows) -> None:
    assert difference(calibration, changed(calibration, of("rate"), any=41)).changes == ()


@pytest.mark.parametrize("kind", ["exact", "rate", "control", "mutant"])
def test_what_is_gone_is_worse(calibration: Rows, kind: str) -> None:
    assert (only(calibration, without(calibration, of(kind))).what, True) == ("gone", True)
    assert difference(calibration, without(calibration, of(kind))).worse


def test_a_strength_of_a_mutant(calibration: Rows) -> None:
    mutant = next(row for row in calibration if row["kind"] == "mutant")
    fewer = only(calibration, changed(calibration, of("mutant"), grades=mutant["grades"][1:]))
    assert (fewer.what, fewer.where, fewer.turn) == ("gone", "tails, half the noise, 0.1", Turn.WORSE)
    grades = [mutant["grades"][0] | {"refuted": 5}, mutant["grades"][1]]
    assert only(calibration, changed(calibration, of("mutant"), grades=grades)).what == "rate"


def test_rates_of_two_seeds_are_compared_as_intervals(calibration: Rows) -> None:
    other = changed(changed(calibration, of("header"), seed=2), of("rate"), any=120)
    found = difference(calibration, other)
    assert [change.what for change in found.changes] == ["seed", "rate"]
    assert 0 < found.changes[1].failure_prob < 1e-3
    assert found.notes == ()

"""Numbers that left their intervals: every planted one is found under one seed, and rounding alarms nobody."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import for_each
from toys.compared import Rows, changed, of, without

from verify import difference
from verify.diffs.changes import RecordChange, Turn
from verify.diffs.look_changes import Comparer
from verify.schemas.lines import trouble

PROVED = {"failure_prob": 0.0, "n_draws": 0, "method": "by hand"}
ENDS = st.floats(-1e3, 1e3).map(lambda value: round(value, 3))


def estimate(low: Any, high: Any, failure_prob: float = 0.0) -> dict[str, Any]:
    return {"value": low, "low": low, "high": high} | PROVED | {"failure_prob": failure_prob}


def with_estimates(rows: Rows, old: Mapping[str, Any], new: Mapping[str, Any], **header: Any) -> tuple[Rows, Rows]:
    """Return two copies with an estimate in the exact case, the new one under another header."""
    chosen = of("case", case="exact, not quick")
    return changed(rows, chosen, exact=old), changed(changed(rows, chosen, exact=new), of("header"), **header)


def test_three_proved_numbers_times_a_thousandth_are_found(records: Mapping[str, Rows]) -> None:
    rows = records["sweep"]
    new, places = copy.deepcopy(rows), []
    for number, row in enumerate(new):
        width = row["exact"] and row["exact"]["high"] - row["exact"]["low"] if row["kind"] == "cell" else 0
        if width and row["exact"]["low"] > 0 and width < 1e-4 * row["exact"]["low"] and len(places) < 3:
            row["exact"] |= {name: row["exact"][name] * 1.001 for name in ("value", "low", "high")}
            places.append(number)
    found = difference(rows, new)
    assert len(places) == 3
    assert [change.what for change in found.changes] == ["number"] * 3
    assert all(change.turn is Turn.CHANGED and change.failure_prob == 0 for change in found.changes)
    assert found.compared["equal"] == found.compared["proved"] - 3
    assert not difference(rows, changed(new, of("sweep"), seed=1)).of(Turn.WORSE)
    assert {change.what for change in difference(rows, changed(new, of("sweep"), seed=1)).changes} == {"seed"}


@for_each(
    ("old", "new", "moved"),
    [
        ((1.0, 2.0), (2.0, 3.0), False),
        ((1.0, 2.0), (2.1, 3.0), True),
        ((2.1, 3.0), (1.0, 2.0), True),
        ((1e-30, 2e-30), (3e-30, 4e-30), True),  # a proved width, however small
        ((1.1e-16, 1.1e-16), (4.4e-16, 4.4e-16), False),  # a residue of rounding, no proved width
        ((0.25, 0.25), (0.25 + 1e-15, 0.25 + 1e-15), False),
        ((0.25, 0.25), (0.25025, 0.25025), True),
        ((0.25, 0.25), (0.3, 0.4), True),
        (("inf", "inf"), ("inf", "inf"), False),
        (("-inf", "inf"), (0.0, 1.0), False),
        ((1.0, 2.0), ("inf", "inf"), True),
        (("nan", "nan"), (1.0, 2.0), False),
    ],
)
def test_disjoint_intervals_have_moved(run: Rows, old: tuple[Any, Any], new: tuple[Any, Any], moved: bool) -> None:
    found = difference(*with_estimates(run, estimate(*old), estimate(*new))).changes
    assert [change.what for change in found] == ["number"] * moved


def test_another_platform_moves_last_digits_and_nothing_more(run: Rows) -> None:
    apart = estimate(0.25, 0.25 + 1e-12), estimate(0.25 + 2e-12, 0.25 + 3e-12)
    here = difference(*with_estimates(run, *apart))
    there = difference(*with_estimates(run, *apart, platform="abacus"))
    assert [change.what for change in here.changes] == ["number"]
    assert [change.what for change in there.changes] == ["platform"]
    assert there.notes == ("another platform or other versions: numbers are compared to 1e-9, and to 1e-12 near 0",)
    far = difference(*with_estimates(run, estimate(0.25, 0.26), estimate(0.27, 0.28), platform="abacus"))
    assert {change.what for change in far.changes} == {"platform", "number"}


def test_a_sampled_number_that_moved_has_the_sum_of_both_failure_probabilities(run: Rows) -> None:
    old = changed(run, of("case", case="large"), sampled=estimate(0.1, 0.2, 1e-7))
    new = changed(run, of("case", case="large"), sampled=estimate(0.3, 0.4, 2e-7))
    (change,) = difference(old, new).changes
    assert (change.what, change.turn) == ("number", Turn.CHANGED)
    assert math.isclose(change.failure_prob, 3e-7)
    assert change.line().endswith("(both intervals hold but for 3e-07)")
    overlapping = changed(run, of("case", case="large"), sampled=estimate(0.15, 0.4, 2e-7))
    assert difference(old, overlapping).changes == ()


@given(ENDS, ENDS, ENDS, ENDS)
def test_intervals_meet_where_they_have_a_value_in_common(a: float, b: float, c: float, d: float) -> None:
    low, high, low_now, high_now = min(a, b), max(a, b), min(c, d), max(c, d)
    meet = Comparer(numbers=True, exactly=True).meet
    assert meet(estimate(low, high), estimate(low_now, high_now)) == (max(low, low_now) <= min(high, high_now))
    assert meet(estimate(low_now, high_now), estimate(low, high)) == meet(
        estimate(low, high), estimate(low_now, high_now)
    )


HOLDS, FAILS = of("cell", outcome="HOLDS"), of("cell", outcome="FAILS")


@pytest.fixture
def sweep(records: Mapping[str, Rows]) -> Rows:
    """The rows of the sweep."""
    return records["sweep"]


@for_each(
    ("values", "turn"),
    [
        ({"outcome": "FAILS", "ground": ""}, Turn.WORSE),
        ({"outcome": "UNDECIDED", "reason": "BUDGET", "ground": ""}, Turn.WORSE),
        ({"ground": "attested"}, Turn.WORSE),
    ],
)
def test_a_cell_that_holds_no_more_or_on_somebodys_word(sweep: Rows, values: dict[str, Any], turn: Turn) -> None:
    (change,) = difference(sweep, changed(sweep, HOLDS, **values)).changes
    assert (change.what, change.turn, change.old) == ("outcome", turn, "holds, as proved")
    assert "epsilon = " in change.where
    assert difference(changed(sweep, HOLDS, **values), sweep).changes[0].turn is Turn.BETTER


def test_a_refutation_that_is_open_now_is_no_improvement(sweep: Rows) -> None:
    (change,) = difference(sweep, changed(sweep, FAILS, outcome="UNDECIDED", reason="BUDGET")).changes
    assert change.turn is Turn.CHANGED
    (change,) = difference(sweep, changed(sweep, FAILS, outcome="HOLDS", ground="proved")).changes
    assert change.turn is Turn.BETTER


def test_a_smaller_grid_is_worse(sweep: Rows) -> None:
    axes = sweep[0]["axes"] | {"epsilon": [0.5, 1.0, 2.0]}
    smaller = changed(without(sweep, lambda row: row.get("cell", {}).get("epsilon") == 4.0), of("sweep"), axes=axes)
    found = difference(sweep, smaller)
    assert {change.what for change in found.of(Turn.WORSE)} == {"axis", "gone"}
    assert len(found.of(Turn.WORSE)) == 1 + 12
    assert not difference(smaller, sweep).worse


@for_each(
    ("values", "what", "turn"),
    [
        ({"n_draws": 10}, "n draws", Turn.WORSE),
        ({"complete": False}, "complete", Turn.WORSE),
        ({"failure_prob_per_cell": 1e-6}, "failure prob per cell", Turn.WORSE),
        ({"name": "dark"}, "grid", Turn.CHANGED),
        ({"imported": {"mine": {"digest": "a"}}}, "mechanism", Turn.CHANGED),
    ],
)
def test_what_every_cell_depends_on(sweep: Rows, values: dict[str, Any], what: str, turn: Turn) -> None:
    (change,) = difference(sweep, changed(sweep, of("sweep"), **values)).changes
    assert (change.what, change.turn) == (what, turn)


def test_a_users_own_data_are_confidential_and_not_compared_with_others(sweep: Rows) -> None:
    own, other = (changed(sweep, of("sweep"), data=letter * 64) for letter in "ab")
    found = difference(own, other)
    assert found.confidential
    assert [change.what for change in found.changes] == ["data"]
    assert found.notes == ("numbers are not compared: the data differ",)
    assert not difference(sweep, sweep).confidential


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


@for_each(
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


@for_each("kind", ["exact", "rate", "control", "mutant"])
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

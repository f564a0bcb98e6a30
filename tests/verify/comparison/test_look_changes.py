"""Numbers that left their intervals: every planted one is found under one seed, and rounding alarms nobody."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toys.compared import Rows, changed, of

from verify import difference
from verify.comparison.changes import Turn
from verify.comparison.look_changes import Comparer

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


@pytest.mark.parametrize(
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

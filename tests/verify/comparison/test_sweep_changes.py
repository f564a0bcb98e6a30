"""Planted changes of a sweep: its grid, its cells, and what they rest on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from toys.compared import Rows, changed, of, without

from verify import difference
from verify.comparison.changes import Turn

HOLDS, FAILS = of("cell", outcome="HOLDS"), of("cell", outcome="FAILS")


@pytest.fixture
def sweep(records: Mapping[str, Rows]) -> Rows:
    """The rows of the sweep."""
    return records["sweep"]


@pytest.mark.parametrize(
    ("values", "turn"),
    [
        ({"outcome": "FAILS", "ground": ""}, Turn.WORSE),
        ({"outcome": "UNDECIDED", "reason": "BUDGET", "ground": ""}, Turn.WORSE),
        ({"ground": "vouched"}, Turn.WORSE),
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


@pytest.mark.parametrize(
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

"""Printed cells beside ours: within the printed ± or not, and which cells are read as bold."""

from __future__ import annotations

import pytest
from toys.compared_methods import choice_row

from verify.choice.pages.printed_values import OF_THE_MEAN, bold, printed_cell, printed_columns
from verify.papers.wang2018.shared.printed_tables import EXISTING, OURS, table

AIRFOIL = "w18/airfoil"


@pytest.mark.parametrize(("error", "agrees"), [(0.138, True), (0.138 + 0.085, True), (0.138 - 0.087, False)])
def test_a_cell_agrees_within_its_printed_half_width(error: float, agrees: bool) -> None:
    cell = printed_cell(AIRFOIL, choice_row("OPS", "published", 0.1, error=error))  # Table 3: 0.138 ± 0.086
    assert cell is not None
    assert (cell.error, cell.half_width, cell.agrees) == (0.138, 0.086, agrees)
    assert cell.words.startswith("within" if agrees else "outside")


def test_an_infinite_error_differs() -> None:
    cell = printed_cell(AIRFOIL, choice_row("OPS", "published", 0.1, error="inf"))
    assert cell is not None
    assert not cell.agrees


def test_only_what_the_paper_prints_has_a_cell() -> None:
    published = choice_row("OPS", "published", 1.0)
    assert printed_cell(AIRFOIL, published) is not None
    assert printed_cell(AIRFOIL, choice_row("AdaOPS", "as run", 1.0)) is not None
    assert printed_cell(AIRFOIL, choice_row("AdaOPS 2018", "published", 1.0)) is not None
    for recipe, row in (
        ("rw21/wine-red", published),
        ("", published),
        (AIRFOIL, choice_row("OPS", "exact", 1.0)),
        (AIRFOIL, choice_row("OPS", "published", 0.3)),
        (AIRFOIL, choice_row("OPS", "published", 1.0, neighbours="replace")),
        (AIRFOIL, choice_row("NoisySGD", "published", 1.0)),
        (AIRFOIL, choice_row("OPS", "published", 1.0, error=None)),
    ):
        assert printed_cell(recipe, row) is None


def test_what_promises_nothing_has_the_same_cell_in_both_tables() -> None:
    for name in ("Trivial", "non-private"):
        assert {set_: row[name] for set_, row in table(3).items()} == {
            set_: row[name] for set_, row in table(4).items()
        }


def test_columns_are_added_for_a_recipe_alone() -> None:
    rows = [choice_row("OPS", "published", 0.1, error=0.138), choice_row("OPS", "exact", 0.1)]
    assert printed_columns(AIRFOIL, rows) == {
        "printed_error": [0.138, None],
        "printed_half_width": [0.086, None],
        "agrees": [True, None],
    }
    assert printed_columns("", rows) == {}


def test_the_best_private_cell_of_a_row_is_bold_where_its_deviation_is_below_its_error() -> None:
    for number in (3, 4):
        for row in table(number).values():
            best = min((*EXISTING, *OURS), key=lambda name: row[name][0])
            assert (best in bold(row)) == (row[best][1] < row[best][0])
    assert bold({"OPS": (1.0, 0.5), "SSP": (1.0 + 0.4 * OF_THE_MEAN, 0.4), "AdaSSP": (1.3, 0.3)}) == {"OPS", "SSP"}

"""The pages of a comparison: at most four, who may read them, what is drawn, and what is left to the table's file."""

from __future__ import annotations

import io
import math
from typing import Any

import pypdf
from rows import for_each
from toys.compared_methods import choice_header, choice_row, choice_rows

from reports.document import pdf_bytes
from reports.row import Audience, Figure, Table
from verify.comparisons.pages.choice_pages import MOST_ROWS, document
from verify.comparisons.pages.choice_words import (
    best_line,
    bests,
    exact_line,
    lines,
    measured_line,
    row_name,
    unsettled_line,
    worthwhile,
)
from verify.comparisons.pages.printed_values import OF_THE_MEAN, bold, printed_cell, printed_columns
from verify.papers.wang2018.shared.printed_tables import EXISTING, OURS, table

ROWS = choice_rows((0.1, 0.3, 1.0, 3.0))


def pages_of(rows: list[dict[str, Any]], **more: Any) -> Any:
    return document(choice_header(rows, **more), rows, {row_name(row): 1.0 for row in rows}, date="2030-01-01")


def test_the_largest_comparison_fits_on_four_pages() -> None:
    figure = b"<svg xmlns='http://www.w3.org/2000/svg' width='460' height='202'/>"  # of the size that is drawn
    paper = pages_of(ROWS, recipe="w18/airfoil")
    names = [block.name for block in paper.blocks() if isinstance(block, Figure)]
    assert names == ["error-add-remove", "record-epsilon", "error-replace"]
    pdf = pdf_bytes(paper, figures=dict.fromkeys(names, figure))
    assert len(pypdf.PdfReader(io.BytesIO(pdf)).pages) == 4


def test_the_table_is_cut_and_says_so() -> None:
    table = next(block for block in pages_of(ROWS).blocks() if isinstance(block, Table))
    assert len(table.rows) <= MOST_ROWS + 2
    assert "(comparison.csv has all)" in table.caption
    whole = next(
        block for block in pages_of(choice_rows(relations=("add-remove",))).blocks() if isinstance(block, Table)
    )
    assert "comparison.csv" not in whole.caption


@for_each(
    ("about", "audience"),
    [
        ({}, Audience.CURATOR),
        ({"public": True, "recipe": "w18/airfoil"}, Audience.RELEASE),
        ({"origin": "public"}, Audience.RELEASE),
        ({"origin": "synthetic"}, Audience.RELEASE),
    ],
)
def test_private_records_make_private_pages(about: dict[str, Any], audience: Audience) -> None:
    paper = pages_of(choice_rows((1.0,), ("add-remove",)), **about)
    assert paper.audience is audience
    assert paper.confidential == (audience is Audience.CURATOR)
    assert paper.summary.title.endswith(", not a release")


def test_useless_errors_are_named_and_not_drawn() -> None:
    figure = next(block for block in pages_of(ROWS).blocks() if isinstance(block, Figure))
    assert "left out: SSP" in figure.caption
    assert [mark.label for mark in figure.marks] == ["trivial", "non-private"]
    assert max(y for series in figure.series for y in series.y) <= 0.3


def test_best_is_the_least_error_whose_promise_is_proved() -> None:
    broken = choice_row("OPS", "published", 1.0, error=0.01, standing="broken")
    open_ = choice_row("SSP", "published", 1.0, error=0.02, standing="not proved")
    proved = choice_row("AdaSSP", "exact", 1.0, error=0.03)
    assert bests([broken, open_, proved]) == [proved]
    assert bests([broken, open_]) == []


def test_what_exact_buys_is_counted() -> None:
    published = choice_row("OPS", "published", 1.0, error=0.10, standing="not proved")
    exact = choice_row("OPS", "exact", 1.0, error=0.08)
    assert exact_line([published, exact]) == (
        "Exact calibration has the smaller error in 1 of 1 comparisons (median ratio 0.8, least 0.8: OPS at epsilon 1)"
        "; the published calibration is not proved for 1 of them (OPS), the exact one is."
    )
    assert exact_line([exact]) == "No mechanism here has both a published and an exact calibration."


def figures_of(rows: list[dict[str, Any]]) -> list[Figure]:
    return [block for block in pages_of(rows).blocks() if isinstance(block, Figure)]


def printed(rows: list[dict[str, Any]], **more: Any) -> list[str]:
    return list(lines(choice_header(rows, **more), rows, {}))


@for_each(("trivial", "starred"), [(0.11, False), (0.133, False), (0.14, True), (None, True)])
def test_nothing_that_predicting_0_beats_is_best(trivial: float | None, starred: bool) -> None:
    rows = [choice_row("AdaSSP", "exact", 0.1, error=0.133), choice_row("AdaSSP", "exact", 1.0, error=0.1)]
    rows += [] if trivial is None else [choice_row("trivial", error=trivial)]
    assert bests(rows) == (rows[:2] if starred else rows[1:2])
    assert [bool(group) for group in worthwhile(rows).values()] == [starred, True]
    none = "no mechanism with a proved promise beats predicting 0 at epsilon 0.1"
    assert (none in best_line(rows)) is not starred
    assert "AdaSSP (exact) at epsilon " + ("0.1, 1" if starred else "1") in best_line(rows)
    assert sum(line.startswith("*") for line in printed(rows)) == 1 + starred
    text = str(pages_of(rows))
    assert (none in text) is not starred
    assert text.count("AdaSSP, best") == 1 + starred


def test_an_average_that_does_not_settle_is_no_headline_and_marked() -> None:
    rows = [choice_row("trivial", error=0.1)]
    rows += [choice_row("SSP", "published", 1.0, error=4e5), choice_row("SSP", "exact", 1.0, error=0.29)]
    assert exact_line(rows).startswith("No mechanism has a published and an exact calibration whose errors are both")
    assert any(line.split()[:4] == ["note", ">3x", "marks", "an"] for line in printed(rows))
    assert sum("SSP" in line and line.split()[6] == ">3x" for line in printed(rows)) == 1
    rows += [choice_row("OPS", "published", 1.0, error=0.1), choice_row("OPS", "exact", 1.0, error=0.09)]
    assert "1 of 1 comparisons whose errors are both at most 3 times the trivial one" in exact_line(rows)
    assert "least 0.9: OPS" in exact_line(rows)
    rows[1]["error"] = 0.3
    assert unsettled_line(rows) == ""
    assert "2 of 2 comparisons" in exact_line(rows)


def test_what_the_error_is_measured_on_is_told() -> None:
    rows = choice_rows((1.0,), ("add-remove",))
    clipped = {"steps": ["rows scaled to Euclidean norm 1", "response clipped to [-1, 1]"], "data_dependent": []}
    told = "measured on the records as prepared: rows scaled to Euclidean norm 1; response clipped to [-1, 1]"
    assert measured_line(choice_header(rows, **clipped)) == told
    assert any(line.startswith("error") for line in printed(rows, **clipped))
    assert told in str(pages_of(rows, **clipped))
    plain: dict[str, Any] = {
        "steps": ["response y", "features divided by the public constants 2"],
        "data_dependent": [],
    }
    assert measured_line(choice_header(rows, **plain)) == ""
    assert not any(line.startswith("error") for line in printed(rows, **plain))


@for_each("epsilons", [(0.1, 1.0), (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)])
def test_a_point_is_nearer_to_its_epsilon_than_to_any_other(epsilons: tuple[float, ...]) -> None:
    error, record = figures_of(choice_rows(epsilons, ("add-remove",)))
    assert error.x_at == record.x_at == epsilons
    assert error.x_ticks == tuple(f"{epsilon:g}" for epsilon in epsilons)
    for figure in (error, record):
        for x in (x for series in figure.series for x in series.x):
            assert min(abs(math.log(x / epsilon)) for epsilon in epsilons) <= 0.26
    for mark, epsilon in zip(record.marks, epsilons, strict=True):
        assert mark.value == epsilon
        assert mark.span[0] < epsilon < mark.span[1]
    for series in record.series:
        for x, high in zip(series.x, series.high, strict=True):
            mark = next(mark for mark in record.marks if mark.span[0] <= x <= mark.span[1])
            assert high <= mark.value  # each of these loses what is promised at its own epsilon, and no more
    assert [mark.label for mark in record.marks] == ["the promise", *[""] * (len(epsilons) - 1)]


def test_one_epsilon_has_an_axis_of_names() -> None:
    error, record = figures_of(choice_rows((1.0,), ("add-remove",)))
    for figure in (error, record):
        assert figure.x_scale == "linear"
        assert [text.replace("\n", " ") for text in figure.x_ticks] == [series.label for series in figure.series]
        assert [series.x for series in figure.series if series.x] == [
            (at,) for at in figure.x_at if figure.series[int(at)].x
        ]
    assert "epsilon 1 (nats)" in error.x_label
    assert [(mark.value, mark.span) for mark in record.marks] == [(1.0, (-0.5, len(record.x_at) - 0.5))]


def test_an_axis_of_errors_starts_at_0_or_is_logarithmic() -> None:
    rows = [choice_row("OPS", "exact", 1.0, error_low=0.0), choice_row("SSP", "exact", 1.0, error=0.04)]
    error = figures_of(rows)[0]
    assert (error.y_scale, error.y_from, error.series[0].low) == ("linear", 0.0, (0.0,))
    rows[1] = choice_row("SSP", "exact", 1.0, error=5.0, error_low=0.0, error_high=9.0)
    error = figures_of(rows)[0]
    assert error.y_scale == "log"
    assert error.series[1].low == (error.y_from,)
    assert 0 < error.y_from < 0.05


AIRFOIL = "w18/airfoil"


@for_each(("error", "agrees"), [(0.138, True), (0.138 + 0.085, True), (0.138 - 0.087, False)])
def test_a_cell_agrees_within_its_printed_half_width(error: float, agrees: bool) -> None:
    cell = printed_cell(AIRFOIL, choice_row("OPS", "published", 0.1, error=error))  # Table 3: 0.138 ± 0.086
    assert (cell.error, cell.half_width, cell.agrees) == (0.138, 0.086, agrees)
    assert cell.words.startswith("within" if agrees else "outside")


def test_an_infinite_error_differs() -> None:
    cell = printed_cell(AIRFOIL, choice_row("OPS", "published", 0.1, error="inf"))
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

"""The pages of a comparison: at most four, who may read them, what is drawn, and what is left to the table's file."""

from __future__ import annotations

import io
from typing import Any

import pypdf
import pytest
from toys.compared_methods import choice_header, choice_row, choice_rows

from reports.document import pdf_bytes
from reports.row import Audience, Figure, Table
from verify.choice.pages.choice_pages import MOST_ROWS, document
from verify.choice.pages.choice_words import best_of, exact_line, row_name

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


@pytest.mark.parametrize(
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
    assert paper.summary is not None
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
    assert best_of([broken, open_, proved]) is proved
    assert best_of([broken, open_]) is None


def test_what_exact_buys_is_counted() -> None:
    published = choice_row("OPS", "published", 1.0, error=0.10, standing="not proved")
    exact = choice_row("OPS", "exact", 1.0, error=0.08)
    assert exact_line([published, exact]) == (
        "Exact calibration has the smaller error in 1 of 1 comparisons (median ratio 0.8, least 0.8: OPS at epsilon 1)"
        "; the published calibration is not proved for 1 of them (OPS), the exact one is."
    )
    assert exact_line([exact]) == "No mechanism here has both a published and an exact calibration."

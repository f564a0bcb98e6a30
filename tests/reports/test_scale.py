"""A scale: drawn like the other figures, its alternative text in every format, and nothing that cannot be drawn."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest

from reports.document import pdf_bytes
from reports.figures import figure_svg
from reports.formats import rendered
from reports.layout import Composer
from reports.markdown import render_markdown
from reports.row import Document, Fact, Facts, Scale

ALT = "delta on a logarithmic line: between 0.0005 and 0.01, where at most 1e-6 is allowed"
SCALE = Scale("found", "", "", ALT, "delta", 5e-4, 1e-2, 1e-6)


@pytest.mark.parametrize(("low", "high"), [(5e-4, 1e-2), (0.0, 1e-23), (1e-89, 1e-23), (0.0, 0.0), (1e-6, 1e-6)])
def test_it_is_drawn_wherever_the_number_lies_the_same_bytes_twice(low: float, high: float) -> None:
    scale = replace(SCALE, low=low, high=high)
    svg = figure_svg(scale)
    assert svg == figure_svg(scale)
    width, height = (float(size) for size in re.findall(rb'(?:width|height)="([\d.]+)pt"', svg)[:2])
    assert height < width / 5


def test_it_stands_in_every_format_with_its_alternative_text() -> None:
    document = Document("A page", (), front=(SCALE,))
    assert ALT in render_markdown(document).replace("\\", "")
    assert ALT in rendered(document, ".html").decode()
    assert b"Figure" in pdf_bytes(document)


def test_what_is_beyond_the_limit_is_told_by_more_than_colour() -> None:
    inside, beyond = (figure_svg(replace(SCALE, low=low, high=2 * low)) for low in (1e-8, 1e-3))
    assert b"<pattern" in beyond
    assert b"<pattern" not in inside


@pytest.mark.parametrize(
    "change", [{"limit": 0.0}, {"limit": math.inf}, {"low": 0.1}, {"low": -1.0}, {"high": math.nan}, {"alt": " "}]
)
def test_what_cannot_be_drawn_is_refused(change: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must be"):
        replace(SCALE, **change)


def test_facts_on_a_full_page_are_set_small() -> None:
    composer = Composer(frozenset(), {})
    items = (Fact("label", "value"),)
    assert [composer.block(Facts(items, small=small))["small"] for small in (False, True)] == [False, True]
    small, large = (pdf_bytes(Document("A page", (), front=(Facts(items * 9, small=s),))) for s in (True, False))
    assert small != large

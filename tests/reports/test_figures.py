"""Figures: equal bytes, no date, no settings of the user, and every style on either scale."""

from __future__ import annotations

import math
import pickle
import re
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from xml.etree import ElementTree

import matplotlib
import pytest
from rows import for_each

from reports.document import pdf_bytes
from reports.figures import _HEIGHT, _WIDTH, _draw_curves, figure_svg
from reports.formats import rendered
from reports.layout import Composer
from reports.markdown import render_markdown
from reports.row import Document, Fact, Facts, Figure, HeatMap, Mark, Scale, Series, Style

WILD = (math.nan, math.inf, -math.inf, 0.0, -1.0, 1e-300, 1e300, 0.5, 1.0)


def figure(series, **changes):
    texts = {"name": "f", "title": "t", "caption": "c", "alt": "a", "x_label": "x $", "y_label": "y_1 \\frac 数"}
    return Figure(**(texts | {"series": series} | changes))


def drawings(demo):
    return [block for block in demo.blocks() if isinstance(block, Figure | HeatMap)]


def test_equal_bytes_here_and_in_a_worker(demo):
    chosen = drawings(demo)[1:4]
    here = [figure_svg(block) for block in chosen]
    assert here == [figure_svg(block) for block in chosen]
    assert pickle.loads(pickle.dumps(figure_svg)) is figure_svg
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert list(pool.map(figure_svg, chosen)) == here


@pytest.mark.quick
def test_settings_of_the_user_change_nothing_and_are_left_alone(demo):
    block = drawings(demo)[0]
    plain = figure_svg(block)
    with matplotlib.rc_context({"svg.hashsalt": "other", "font.size": 30, "axes.grid": True, "lines.linewidth": 9}):
        before = dict(matplotlib.rcParams)
        assert figure_svg(block) == plain
        assert dict(matplotlib.rcParams) == before


def test_no_date_and_small(demo):
    for block in drawings(demo):
        svg = figure_svg(block)
        ElementTree.fromstring(svg)
        assert b"<dc:date>" not in svg
        assert b"<text" not in svg
        assert len(svg) < 100_000


@pytest.mark.parametrize("scale", ["linear", "log"])
@pytest.mark.parametrize("style", list(Style))
def test_every_style_on_either_scale(style, scale):
    x = (0.1, 1.0, 2.0, 4.0)
    series = Series("label $x_1$ <b>", x, (1.0, 0.1, 0.2, 0.5), (0.9, 0.0, 0.1, 0.4), (1.1, 0.3, 0.4, 0.6), style)
    marks = (Mark("x", 1.0, "here"), Mark("y", 0.3, "there"))
    svg = figure_svg(figure((series, series), marks=marks, x_scale=scale, y_scale=scale))
    ElementTree.fromstring(svg)


@pytest.mark.parametrize("scale", ["linear", "log"])
@pytest.mark.parametrize("style", list(Style))
def test_what_cannot_be_drawn_is_left_out(style, scale):
    y = WILD[:6]
    series = Series("a", tuple(float(i) for i in range(6)), y, y, y, style)
    empty = Series("b", (), (), (), (), style)
    ElementTree.fromstring(figure_svg(figure((series, empty), x_scale=scale, y_scale=scale)))


@for_each("low", [1e-12, 0.01, 0.5, 0.9, 0.999])
def test_a_logarithmic_axis_always_has_labels(low):
    """Few decades, or a part of one, still give at least two labelled ticks (counted as drawn glyph groups)."""
    svg = figure_svg(figure((Series("", (low, 1.0), (1.0, 2.0)),), x_scale="log")).decode()
    labels = svg[svg.index('id="matplotlib.axis_1"') : svg.index('id="matplotlib.axis_2"')].count('id="text_')
    assert labels >= 3  # two ticks and the name of the axis


@pytest.mark.parametrize("scale", ["linear", "log"])
@pytest.mark.parametrize("values", [((1.0, 2.0),), ((1.0, 1.0),), ((math.nan, math.inf),), ((0.0, -1.0),), (WILD[:2],)])
def test_heat_maps(values, scale):
    grid = HeatMap("g", "", "", "a", "x", "y", ("1", "2 $"), ("1",), values, "value", scale)
    ElementTree.fromstring(figure_svg(grid))


def test_a_large_heat_map():
    ticks = tuple(str(i) for i in range(40))
    values = tuple(tuple(float(i * j) for j in range(40)) for i in range(40))
    svg = figure_svg(HeatMap("g", "", "", "a", "x", "y", ticks, ticks, values))
    assert len(svg) < 600_000


@for_each("label", ["short", "drawn from D, compared with D'", "a label that is much longer than most others are"])
def test_labels_of_lines_stand_in_the_legend_which_fits(label: str) -> None:
    """No curve and no line strikes a label, and none is cut at the edge of the picture."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    curves = tuple(Series(f"{label} {i}", (1.0, 2.0), (1.0, 2.0)) for i in range(3))
    marks = (Mark("x", 1.5, "printed"), Mark("y", 1.5, label))
    canvas = Canvas(figsize=(_WIDTH, _HEIGHT), layout="constrained")
    FigureCanvasAgg(canvas)
    axes = canvas.add_subplot()
    _draw_curves(axes, Figure("f", "t", "c", "a", "x", "y", curves, marks))
    canvas.draw_without_rendering()
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()][3:] == ["| printed", label]
    assert not list(axes.texts)
    box = legend.get_window_extent()
    assert 0 <= box.x0 < box.x1 <= canvas.bbox.x1
    assert box.y1 <= canvas.bbox.y1 + 1


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


@for_each(
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

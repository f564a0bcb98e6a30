"""Printed numbers: fixed forms by table, and containment of the computed interval in the printed one by search."""

from __future__ import annotations

import doctest
import json
import math
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from rows import for_each

import reports.junit
import reports.layout
import reports.numbers
from reports.codec import dumps, from_plain, loads, to_plain
from reports.numbers import digits_that_differ, format_interval, format_number, format_probability
from reports.row import (
    Attachment,
    Audience,
    Badge,
    Bullets,
    Callout,
    Document,
    Facts,
    Figure,
    FormulaBlock,
    HeatMap,
    Mark,
    Paragraph,
    Reference,
    Section,
    Series,
    Style,
    Table,
    Tone,
)

finite = st.floats(allow_nan=False, allow_infinity=False)


@for_each("module", [reports.numbers, reports.junit, reports.layout])
def test_examples_in_docstrings(module):
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


@for_each(
    ("value", "digits", "ascii_form", "typographic_form"),
    [
        (0.0, 4, "0", "0"),
        (-0.0, 4, "0", "0"),
        (1.0, 4, "1", "1"),
        (-0.5, 4, "-0.5", "−0.5"),
        (0.001, 3, "0.001", "0.001"),
        (0.000999, 3, "9.99e-4", "9.99×10⁻⁴"),
        (0.0009999, 2, "0.001", "0.001"),  # rounding carries into the next decade
        (999999.0, 6, "999999", "999999"),
        (999999.5, 6, "1e6", "1×10⁶"),
        (5e-324, 2, "5e-324", "5×10⁻³²⁴"),
        (1.7976931348623157e308, 3, "1.8e308", "1.8×10³⁰⁸"),
        (math.inf, 4, "inf", "∞"),
        (-math.inf, 4, "-inf", "−∞"),
        (math.nan, 4, "-", "–"),
    ],
)
def test_number(value, digits, ascii_form, typographic_form):
    assert format_number(value, digits) == ascii_form
    assert format_number(value, digits, typographic=True) == typographic_form


@for_each(
    ("value", "low", "high", "printed"),
    [
        (0.5, 0.5, 0.5, "0.5"),
        (15.2, 14.9, 15.9, "15.2 [14.9, 15.9]"),
        (100.0, 90.0, 120.0, "100 [90, 120]"),
        (1234567.0, 1200000.0, 1300000.0, "1.23e6 [1.20e6, 1.30e6]"),
        (0.5, 0.0001, 0.9, "0.500 [1.00e-4, 0.900]"),
        (-0.5, -0.75, 0.24, "-0.50 [-0.75, 0.24]"),
        (-0.5, -0.75, 0.25, "-0.5 [-0.8, 0.3]"),
        (0.5, 0.5, math.inf, "0.500 [0.500, inf]"),
        (0.5, -math.inf, math.inf, "0.500 [-inf, inf]"),
        (0.05, 0.0, 0.01, "0.050 [0, 0.010]"),  # a value beside its interval is shown, not refused
        (0.5, 0.25, 0.25, "0.500 [0.250, 0.250]"),
        (math.nan, 0.0, 1.0, "- [0, 1.0]"),
        (math.nan, math.nan, math.nan, "-"),
    ],
)
def test_interval(value, low, high, printed):
    assert format_interval(value, low, high) == printed


@pytest.mark.parametrize("typographic", [False, True])
@given(numbers=st.lists(finite, min_size=3, max_size=3))
def test_printed_interval_contains_the_computed_one(typographic, numbers):
    low, value, high = sorted(numbers)
    assume(low < high)
    printed = format_interval(value, low, high, typographic=typographic)
    shown_value, shown_low, shown_high = (parsed(text) for text in printed.replace("[", " ").strip("]").split())
    assert float(shown_low) <= low
    assert high <= float(shown_high)
    assert shown_low <= shown_value <= shown_high


@given(value=finite, digits=st.integers(1, 17))
def test_directed_rounding_is_on_its_side(value, digits):
    down = parsed(format_number(value, digits, rounding="down"))
    up = parsed(format_number(value, digits, rounding="up"))
    assert float(down) <= value <= float(up)
    assert down <= parsed(format_number(value, digits)) <= up


@given(value=finite.filter(lambda value: value != 0))
def test_seventeen_digits_give_the_float_back(value):
    assert float(format_number(value, 17)) == value
    assert parsed(format_number(value, 17, typographic=True)) == Decimal(format_number(value, 17))


@given(probability=st.floats(0, 1, exclude_max=True))
def test_probability_below_one_is_never_printed_as_one(probability):
    printed = format_probability(probability)
    assert printed != "1"
    if printed.startswith("1 - "):
        assert 0 < Decimal(printed.removeprefix("1 - ")) <= Decimal("0.01")
    else:
        assert 0 <= Decimal(printed) <= Decimal("0.99")


def test_refusals():
    with pytest.raises(ValueError, match=r"low <= high, got low=3\.0, high=0\.0"):
        format_interval(1.0, 3.0, 0.0)
    with pytest.raises(ValueError, match="digits must be at least 1, got digits=0"):
        format_number(1.0, 0)
    with pytest.raises(ValueError, match="rounding must be nearest, down or up"):
        format_number(1.0, rounding="even")


def parsed(text: str) -> Decimal:
    """Read a printed number back, in either form."""
    plain = text.strip(",").replace("−", "-").replace("×10", "e")
    return Decimal(plain.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")))


@given(st.floats(1e-12, 1.0), st.integers(0, 15))
def test_two_numbers_are_told_apart_by_their_digits(value, place):
    other = value * (1 + 10.0**-place)
    first, second = digits_that_differ(value, other)
    assert (first == second) is (value == other)
    assert digits_that_differ(value, value) == (format_number(value, 17),) * 2


FIGURE = {"name": "f", "title": "", "caption": "", "alt": "a line", "x_label": "", "y_label": "", "series": ()}
GRID = {"name": "g", "title": "", "caption": "", "alt": "a grid", "x_label": "", "y_label": ""}


def test_json_both_ways(demo):
    text = demo.to_json()
    again = Document.from_json(text)
    assert again == demo
    assert Document.from_json(again.to_json()).to_json() == again.to_json()  # whole numbers are floats by now
    assert text.isascii()


def test_numbers_that_are_not_finite_survive_strict_json():
    series = Series("a", (0.0, 1.0, 2.0), (math.inf, -math.inf, math.nan))
    assert "NaN" not in dumps(series)
    again = loads(dumps(series), Series)
    assert again.y[:2] == (math.inf, -math.inf)
    assert math.isnan(again.y[2])


def test_hostile_texts_survive_json():
    paragraph = Paragraph('#panic("x") $ \x00 \ud800 \u202e 数 </script>')
    assert loads(dumps(paragraph), Paragraph) == paragraph


@for_each(
    ("change", "message"),
    [
        ({"colour": "red"}, "Document must have exactly the fields of Document, unknown or missing: colour"),
        ({"title": 3}, "Document.title must be text, got 3"),
        ({"title": " "}, "Document: title must be text that is not empty"),
        ({"confidential": 0}, "Document.confidential must be bool, got 0"),
        ({"audience": "public"}, "Document.audience must be curator or release, got 'public'"),
        ({"summary": "FAIL"}, "Document.summary must be an object, got 'FAIL'"),
        ({"front": {}}, "Document.front must be a list"),
        ({"front": [{"kind": "Script"}]}, r"Document.front\[0\].kind must be Paragraph or .*, got 'Script'"),
        ({"kind": "Paper"}, "Document.kind must be Document, got 'Paper'"),
        ({"date": "14.3.2031"}, "date must be an ISO date"),
        ({"language": "English"}, "language must be as in en or en-GB"),
        ({"paper": "a3"}, "paper must be a4 or us-letter"),
    ],
)
def test_strict_reading(change, message):
    plain = to_plain(Document("Title", ())) | change
    with pytest.raises(ValueError, match=message):
        Document.from_json(json.dumps(plain))


@for_each("text", ["", "[1", '{"kind": NaN}', "3"])
def test_not_a_document(text):
    with pytest.raises(ValueError, match="must be"):
        Document.from_json(text)


def test_missing_field_is_refused():
    plain = to_plain(Document("Title", ()))
    del plain["sections"]
    with pytest.raises(ValueError, match="unknown or missing: sections"):
        Document.from_json(json.dumps(plain))


@for_each(
    ("build", "message"),
    [
        (lambda: Figure(**(FIGURE | {"alt": " "})), "alt .* must be text that is not empty"),
        (lambda: Figure(**(FIGURE | {"name": "a/b"})), "name must be letters, digits"),
        (lambda: Figure(**FIGURE, x_scale="sqrt"), "x_scale must be linear or log"),
        (lambda: HeatMap(**(GRID | {"alt": ""}), x_ticks=("1",), y_ticks=("1",), values=((1.0,),)), "alt .* not empty"),
        (lambda: HeatMap(**GRID, x_ticks=("1",), y_ticks=("1", "2"), values=((1.0,),)), "values must be 2 rows"),
        (lambda: HeatMap(**GRID, x_ticks=("1",), y_ticks=("1",), values=((1.0, 2.0),)), "must be 1 numbers"),
        (lambda: FormulaBlock("as printed", "x", ""), "text .* must be text that is not empty"),
        (lambda: FormulaBlock("as printed", "", "x"), "typst must be text that is not empty"),
        (lambda: FormulaBlock("as printed", 'x #panic("a")', "x"), "typst must be math without"),
        (lambda: Series("a", (1.0,), (1.0, 2.0)), r"y must be of the length of x \(1\)"),
        (lambda: Series("a", (1.0,), (1.0,), (1.0,)), r"high must be of the length of low \(1\)"),
        (lambda: Series("a", (1.0,), (1.0,), style=Style.BAND), "low must be given for a band"),
        (lambda: Mark("z", 1.0), "axis must be x or y"),
        (lambda: Mark("x", math.inf), "value must be finite"),
        (lambda: Table("", (), ()), "columns must be at least one header"),
        (lambda: Table("", ("a", ""), ()), "column header must be text that is not empty"),
        (lambda: Table("", ("a", "b"), (("1",),)), "row must be of 2 cells"),
        (lambda: Table("", ("a",), (), ("middle",)), "alignment must be left, right or center"),
        (lambda: Table("", ("a",), (), (), (-1.0,)), "width must be finite and not negative"),
        (lambda: Badge(""), "text must be text that is not empty"),
        (lambda: Callout(Tone.GOOD, ""), "title must be text that is not empty"),
        (lambda: Facts(()), "items must be at least one fact"),
        (lambda: Bullets(()), "items must be at least one text"),
        (lambda: Attachment("../a", b"", "a/b", "c"), "name must be a plain file name"),
        (lambda: Attachment("a", b"", "text", "c"), "mime must be a media type"),
        (lambda: Section("a", 4, ()), "level must be 1, 2 or 3"),
        (lambda: Document("t", (Section("a", 2, ()),)), "level must be at most 1"),
        (lambda: Document("t", (Section("a", 1, (), id="i"), Section("b", 1, (), id="i"))), "id of sections"),
        (lambda: Document("t", (), front=(Figure(**FIGURE), Figure(**FIGURE))), "name of figures must be unique"),
        (lambda: Document("t", (), front=(Table("", ("a",), ((Reference("i"),),)),)), "reference must be the id"),
    ],
)
def test_refusals_of_row(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def test_a_document_for_release_holds_nothing_for_the_curator():
    with pytest.raises(ValueError, match="section must be for release in a document for release"):
        Document("t", (Section("a", 1, ()),), audience=Audience.RELEASE)
    with pytest.raises(ValueError, match="confidential must be False in a document for release"):
        Document("t", (), audience=Audience.RELEASE, confidential=True)
    allowed = Document("t", (Section("a", 1, (), Audience.RELEASE),), audience=Audience.RELEASE)
    assert allowed.sections[0].title == "a"


def test_a_figure_is_written_as_ever_where_it_has_nothing_of_what_came_later() -> None:
    """Fields that came later are left out at their default, read as it, and written and read otherwise."""
    plain = Figure("f", "", "", "A line.", "x", "y", (Series("s", (1.0, 2.0), (1.0, 2.0)),), (Mark("y", 1.0),))
    written = to_plain(plain)
    assert not {"x_at", "x_ticks", "y_from"} & set(written)
    assert "span" not in written["marks"][0]
    assert from_plain(written, Figure) == plain
    rich = replace(plain, marks=(Mark("y", 1.0, span=(1.0, 2.0)),), x_at=(1.0,), x_ticks=("one",), y_from=0.0)
    assert to_plain(rich)["marks"][0]["span"] == [1.0, 2.0]
    assert from_plain(to_plain(rich), Figure) == rich
    with pytest.raises(ValueError, match="unknown or missing: y_form"):
        from_plain(written | {"y_form": 0.0}, Figure)

"""Layout as data: JSON both ways, strictly, and the refusals."""

import json
import math
from dataclasses import replace

import pytest

from reports.codec import dumps, from_plain, loads, to_plain
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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize("text", ["", "[1", '{"kind": NaN}', "3"])
def test_not_a_document(text):
    with pytest.raises(ValueError, match="must be"):
        Document.from_json(text)


def test_missing_field_is_refused():
    plain = to_plain(Document("Title", ()))
    del plain["sections"]
    with pytest.raises(ValueError, match="unknown or missing: sections"):
        Document.from_json(json.dumps(plain))


@pytest.mark.parametrize(
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
def test_refusals(build, message):
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

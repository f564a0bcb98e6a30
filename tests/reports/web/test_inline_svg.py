"""Drawings inside a page: styles as attributes, ids apart, nothing that runs or points outside."""

import re

import pytest
from rows import for_each

from reports import Figure, Series
from reports.figures import figure_svg
from reports.web.elements import inline_svg, serialised

HEAD = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 9 9">'


def inlined(inside: str) -> str:
    return serialised(inline_svg(f"{HEAD}{inside}</svg>".encode(), "k", "alt"))


@pytest.fixture(scope="module")
def drawn() -> bytes:
    curve = Series("a", (1.0, 2.0, 3.0), (1.0, 0.1, 0.01))
    return figure_svg(Figure("f", "", "", "falls", "x", "y", (curve,), y_scale="log"))


def test_a_drawing_of_ours_keeps_its_shapes_and_loses_its_style(drawn: bytes) -> None:
    made = serialised(inline_svg(drawn, "k", 'it falls < & "'))
    assert made.startswith('<svg role="img" aria-label="it falls < &amp; &quot;"')
    assert made.count("<path") == drawn.count(b"<path")
    assert made.count("<use") == drawn.count(b"<use")
    assert "style" not in made
    assert "metadata" not in made
    assert 'stroke="#0072b2"' in made
    assert len(made) < len(drawn)


def test_ids_are_its_own_and_every_reference_has_one(drawn: bytes) -> None:
    first, second = (serialised(inline_svg(drawn, key, "alt")) for key in ("one", "two"))
    ids = [set(re.findall(r' id="([^"]+)"', made)) for made in (first, second)]
    assert ids[0]
    assert ids[0] & ids[1] == set()
    used = set(re.findall(r'href="#([^"]+)"', first)) | set(re.findall(r"url\(#([^)]+)\)", first))
    assert used == ids[0]


@for_each(
    "inside",
    [
        "<script>1</script>",
        "<foreignObject/>",
        '<path onclick="x"/>',
        '<use href="https://example.org/a.svg#b"/>',
        '<use xlink:href="javascript:1"/>',
        '<image href="data:image/svg+xml;base64,AA=="/>',
        '<path fill="url(https://example.org/)"/>',
        '<path style="fill: url(https://example.org/)"/>',
        '<a href="#x"/>',
        '<animate attributeName="href"/>',
    ],
)
def test_what_runs_or_points_outside_is_refused(inside: str) -> None:
    with pytest.raises(ValueError, match="svg must"):
        inlined(inside)


@for_each("data", [b"", b"<svg", b"<html/>", b"plain"])
def test_what_is_no_svg_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="svg must"):
        inline_svg(data, "k", "alt")


def test_only_places_are_rounded() -> None:
    made = inlined('<path d="M 1.23456 2.3\nL -0.98765 4" transform="scale(0.015625)"/>')
    assert 'd="M 1.23 2.3 L -0.98 4"' in made
    assert "scale(0.015625)" in made

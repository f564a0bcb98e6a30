"""Figure 5 of W18: its alternative text is made from its curves, and says of a rising one that it rises."""

from __future__ import annotations

from reports.row import Series
from verify.papers.wang2018.figures.w18_fig_5 import alt_text

X = (0.1, 1.0, 10.0)


def curve(label: str, *y: float) -> Series:
    return Series(label, X, y, tuple(0.9 * v for v in y), tuple(1.1 * v for v in y))


def test_alternative_text_is_what_the_curves_do() -> None:
    series = [
        curve("diffuse", 2.0, 2.5, 3.0),
        curve("balanced", 2.0, 0.9, 0.5),
        curve("level", 0.3, 0.3, 0.301),
        Series("trivial", X, (1.0, 1.0, 1.0)),
        Series("non-private", X, (0.4, 0.4, 0.4)),
    ]
    text = alt_text(series)
    assert text.startswith("3 curves of the error against epsilon from 0.1 to 10")
    assert "trivial at 1 and non-private at 0.4" in text
    assert "diffuse rises, from 2 to 3, above trivial and non-private" in text
    assert "balanced falls, from 2 to 0.5, on both sides of trivial, above non-private" in text
    assert "level stays, from 0.3 to 0.301, below trivial and non-private" in text

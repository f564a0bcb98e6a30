"""W18, Figures 1 and 4: the drawn orders of (4), (5) and (6), retyped."""

from __future__ import annotations

from math import sqrt

import pytest
from oracles.formula_cases import decide

from reports.row import Figure
from verify.papers.wang2018.exp_3 import STATEMENT


@pytest.mark.parametrize(("number", "radius"), [(0, 1.0), (1, sqrt(100.0))])
def test_curves(number: int, radius: float) -> None:
    """Unit bounds, d = 100, epsilon = 0.1: (4) against the smaller of (5) and (6)."""
    assert STATEMENT.figures is not None
    figure = STATEMENT.figures(0)[number]
    assert isinstance(figure, Figure)
    curves = {series.label: series for series in figure.series}
    d, epsilon = 100, 0.1
    for i, n in enumerate(curves["statistical (4)"].x):
        four = min(n, radius**2 + d, sqrt(n) * radius)
        assert curves["statistical (4)"].y[i] == pytest.approx(four)
        for alpha, label in ((1.0, "private, alpha* = 1"), (0.01, "private, alpha* = 0.01")):
            five = min(n, sqrt(d) * (radius**2 + radius) / epsilon)
            six = min(n, d**2 * (radius + 1) ** 2 / (n * alpha * epsilon**2))
            assert curves[label].y[i] == pytest.approx(min(five, six))


@pytest.mark.parametrize("part", ["#Figure 1", "#Figure 4", "#Figure 5"])
def test_nothing_is_decided(part: str) -> None:
    evidence = decide(STATEMENT, part, "printed")
    assert evidence.exact is None
    assert evidence.sampled is None
    assert evidence.reason.startswith(("data missing", "no finite test"))

"""RW21, Lemma 30: the factor by hand, as |dx/dy| = 1/|dy/dx| at the inverse."""

from __future__ import annotations

import math

import pytest
from oracles.formula_cases import exact_value

from verify.papers.redberg_wang2021.lem_30 import STATEMENT

#: Map, x, y = g(x), g'(x); the cubic map is x^3/2 + 3 x/2.
POINTS = [
    ("exp", math.log(3.0), 3.0, 3.0),
    ("exp(-x)", math.log(4.0), 0.25, -0.25),
    ("cubic", 1.0, 2.0, 3.0),
    ("cubic", 2.0, 7.0, 7.5),
]


@pytest.mark.parametrize(("name", "x", "y", "slope"), POINTS)
def test_monotone_maps(name: str, x: float, y: float, slope: float) -> None:
    """The true density is phi(x)/|g'(x)|; a wrong factor is off by what it was multiplied with."""
    at = {"map": name, "y": y}
    assert exact_value(STATEMENT, "", "printed", at) == pytest.approx(1.0, abs=1e-13)
    assert exact_value(STATEMENT, "", "inverse of the factor", at) == pytest.approx(slope**2, rel=1e-12)
    assert exact_value(STATEMENT, "", "no absolute value", at) == pytest.approx(math.copysign(1.0, slope), rel=1e-12)
    assert exact_value(STATEMENT, "", "scaled by 1.01", at) == pytest.approx(1.01, rel=1e-12)


@pytest.mark.parametrize("seed", [1, 5])
def test_linear_maps(seed: int) -> None:
    """A = [[1 + seed, 1/2], [-2, 1]] has determinant 2 + seed."""
    at = {"map": "linear", "seed": seed, "y": 1.5}
    assert exact_value(STATEMENT, "", "printed", at) == pytest.approx(1.0, abs=1e-13)
    assert exact_value(STATEMENT, "", "inverse of the factor", at) == pytest.approx((2.0 + seed) ** 2, rel=1e-12)

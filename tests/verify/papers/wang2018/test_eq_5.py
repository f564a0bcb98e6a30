"""W18, (5): the units of its terms, and the cited Lipschitz constant times the radius."""

from __future__ import annotations

from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.formula_cases import exact_value, holds
from oracles.unit_change import Sizes, assert_units

from verify.papers.wang2018.eq_5 import STATEMENT


def test_terms_are_losses() -> None:
    """min{n Y^2, sqrt(d) (X^2 Theta^2 + X Theta Y)/epsilon}."""

    def terms(s: Sizes) -> tuple[float, float]:
        return 50 * s.Y**2, sqrt(3) * (s.X**2 * s.Theta**2 + s.X * s.Theta * s.Y) / 0.1

    assert_units(STATEMENT, "#units", "printed", terms, lambda s: s.Y**2)


@given(*[st.integers(1, 1000)] * 3)
def test_cited_constant(B: int, radius: int, Y: int) -> None:
    """X^2 Theta^2 + X Theta Y = (X^2 Theta + X Y) Theta at all whole sizes; off by -1/11 with a tenth more."""
    sizes = {"B": B, "radius": radius, "Y": Y}
    assert holds(STATEMENT, "#cited", "printed", sizes)
    printed, cited = B**2 * radius**2 + B * radius * Y, 1.1 * (B**2 * radius + B * Y) * radius
    assert exact_value(STATEMENT, "#cited", "a tenth more", sizes) == pytest.approx(printed / cited - 1)
    # the mutant lacks X^2 Theta, and is a tenth off besides
    cited = 1.1 * B * Y * radius
    value = exact_value(STATEMENT, "#cited", "no term without the responses", sizes)
    assert value == pytest.approx(printed / cited - 1)
    assert not holds(STATEMENT, "#cited", "a tenth more", sizes)

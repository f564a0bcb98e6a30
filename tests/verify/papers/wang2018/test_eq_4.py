"""W18, (4): the units of its three terms, and of the ridge that is said to match it."""

from __future__ import annotations

from math import sqrt

from oracles.formula_cases import exact_value
from oracles.unit_change import Sizes, assert_units

from verify.papers.wang2018.eq_4 import STATEMENT

N, D = 50, 3


def test_terms_are_losses() -> None:
    """min{n Y^2, Theta^2 X^2 + d Y^2, sqrt(n) Theta X Y}."""

    def terms(s: Sizes) -> tuple[float, ...]:
        return N * s.Y**2, s.Theta**2 * s.X**2 + D * s.Y**2, sqrt(N) * s.Theta * s.X * s.Y

    assert_units(STATEMENT, "#units", "printed", terms, lambda s: s.Y**2)
    off = exact_value(STATEMENT, "#units", "a tenth of a power of the features' bound too much", unit="features")
    assert abs(off) == 0.8


def test_ridge_has_the_unit_of_the_gram_matrix() -> None:
    assert_units(STATEMENT, "@a", "printed", lambda s: (1.0,), lambda s: s.eigenvalue)
    assert_units(STATEMENT, "@a", "corrected", lambda s: (s.X**2,), lambda s: s.eigenvalue)
    assert exact_value(STATEMENT, "@a", "printed", unit="features") == -16

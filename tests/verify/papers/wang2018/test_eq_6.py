"""W18, (6) and footnote 1: units by evaluation, the substitution of alpha* in floating point."""

from __future__ import annotations

from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.formula_cases import exact_value, holds
from oracles.unit_change import Sizes, assert_units

from verify.papers.wang2018.eq_6 import STATEMENT

N, D, EPSILON, ALPHA = 400, 3, 0.1, 0.5


def test_units() -> None:
    """(6) is a loss, the condition on alpha* a pure number, footnote 1 lacks one over the radius."""

    def bound(s: Sizes) -> tuple[float, float]:
        return N * s.Y**2, D**2 * (s.X * s.Theta + s.Y) ** 2 / (N * ALPHA * EPSILON**2)

    def condition(s: Sizes) -> tuple[float]:
        return (D**1.5 * (s.X * s.Theta + s.Y) / (N * s.X * s.Theta * EPSILON),)

    assert_units(STATEMENT, "#units", "printed", bound, lambda s: s.Y**2)
    assert_units(STATEMENT, "#condition", "printed", condition, lambda s: 1.0)
    for reading, printed in (
        ("linear", lambda s: (sqrt(D) * s.L / EPSILON,)), ("root", lambda s: (sqrt(D * s.L) / EPSILON,))
    ):  # fmt: skip
        part = f"#footnote units@{reading}"
        assert_units(STATEMENT, part, "printed", printed, lambda s: s.eigenvalue)
        assert_units(
            STATEMENT, part, "corrected", lambda s: (sqrt(D) * s.L / (s.Theta * EPSILON),), lambda s: s.eigenvalue
        )


SIZE = st.sampled_from([0.125, 0.5, 1.0, 2.0, 8.0])


@given(SIZE, SIZE, SIZE, SIZE, st.integers(1, 30), st.integers(1, 10**6))
def test_footnote_1(B: float, radius: float, Y: float, epsilon: float, root_d: int, n: int) -> None:
    """lambda_min = alpha* n X^2/d at the least alpha* is sqrt(d) L*/(Theta epsilon); L* = X (X Theta + Y)."""
    alpha = root_d**3 * (B * radius + Y) / (n * B * radius * epsilon)
    smallest = alpha * n * B**2 / root_d**2
    stated = root_d * (B**2 * radius + B * Y) / epsilon
    params = {"B": B, "radius": radius, "Y": Y, "epsilon": epsilon, "root d": root_d, "n": n}
    assert exact_value(STATEMENT, "#footnote@linear", "printed", params) == pytest.approx(smallest / stated)
    root = sqrt(root_d**2 * (B**2 * radius + B * Y)) / epsilon
    assert exact_value(STATEMENT, "#footnote@root", "printed", params) == pytest.approx((smallest / root) ** 2)
    assert smallest == pytest.approx(stated / radius)
    for reading in ("linear", "root"):
        assert holds(STATEMENT, f"#footnote@{reading}", "corrected", params)
        assert exact_value(STATEMENT, f"#footnote@{reading}", "a tenth more", params) == pytest.approx(1 / 1.1)
    assert holds(STATEMENT, "#meeting", "printed", params)
    # at that alpha* (6) is sqrt(d) L* Theta/epsilon, the term of (5)
    strong = root_d**4 * (B * radius + Y) ** 2 / (n * alpha * epsilon**2)
    assert strong == pytest.approx(root_d * (B**2 * radius + B * Y) * radius / epsilon)
    assert exact_value(STATEMENT, "#meeting", "a tenth more", params) == pytest.approx(1 / 1.1)


def test_footnote_is_right_at_radius_1_only() -> None:
    sizes = {"B": 1.0, "Y": 1.0, "epsilon": 1.0, "root d": 1.0, "n": 10}
    assert holds(STATEMENT, "#footnote@linear", "printed", {**sizes, "radius": 1.0})
    for reading in ("linear", "root"):
        assert not holds(STATEMENT, f"#footnote@{reading}", "printed", {**sizes, "radius": 2.0})

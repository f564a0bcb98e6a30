"""W18, Theorem 10: (16) and (17) retyped in their own letters, and their exact profile by definition."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.formula_cases import claimed, exact_value
from oracles.mechanisms.profiles import quadratic_delta

from verify.papers.wang2018.thm_10 import STATEMENT


def sixteen(mu: float, g: float, r: float, delta: float) -> float:
    """(16): |-log(1 + mu) + gamma mu/(1 + mu) r^2|/2 + mu/2 log(2/delta) + sqrt(gamma mu log(2/delta)) |r|."""
    log = math.log(2 / delta)
    return abs(-math.log(1 + mu) + g * mu / (1 + mu) * r**2) / 2 + mu / 2 * log + math.sqrt(g * mu * log) * r


def seventeen(mu: float, g: float, r: float, delta: float) -> float:
    """(17) as printed, in the in-sample leverage and residual."""
    log = math.log(2 / delta)
    return abs(-math.log(1 - mu) - g * mu / (1 - mu) * r**2) / 2 + mu / 2 * log + math.sqrt(g * mu * log) * r


@settings(max_examples=10)
@given(mu=st.floats(1e-3, 50), g=st.floats(0.01, 100), r=st.floats(0.01, 5), delta=st.floats(1e-9, 0.9))
def test_printed_forms(mu: float, g: float, r: float, delta: float) -> None:
    """In sample: mu' = mu/(1 + mu), y - x^T theta' = (y - x^T theta)/(1 + mu) (Sherman and Morrison)."""
    at = {"leverage": mu, "residual": math.sqrt(g) * r, "delta": delta}
    assert claimed(STATEMENT, "#4.3", "printed", at) == pytest.approx(sixteen(mu, g, r, delta), rel=1e-11)
    inside = seventeen(mu / (1 + mu), g, r / (1 + mu), delta)
    assert claimed(STATEMENT, "#4.4", "printed", at) == pytest.approx(inside, rel=1e-9)
    # corrected, the quantile's square is 2 log(2/delta), which is log(2/delta') at delta' = delta^2/2
    twice = sixteen(mu, g, r, delta**2 / 2)
    assert claimed(STATEMENT, "#4.3", "corrected", at) == pytest.approx(twice, rel=1e-11)
    assert claimed(STATEMENT, "#4.4", "corrected", at) == pytest.approx(twice, rel=1e-9)


def test_exact_profile() -> None:
    at = {"leverage": 2.0, "residual": 0.5, "delta": 1e-2}
    epsilon = sixteen(2.0, 1.0, 0.5, 1e-2)
    want = max(quadratic_delta(epsilon, 2.0, 0.5, backward=b) for b in (False, True))
    assert exact_value(STATEMENT, "#4.3", "printed", at) == pytest.approx(want, rel=1e-9)


def test_printed_sides_are_not_equal() -> None:
    """mu = 1, gamma r^2 = 4: (16) has 2 - log 2, (17) has |log 2 - 1|, at delta = 2/e."""
    at = {"leverage": 1.0, "residual": 2.0, "delta": 2 / math.e}
    left, right = sixteen(1.0, 1.0, 2.0, 2 / math.e), seventeen(0.5, 1.0, 1.0, 2 / math.e)
    assert exact_value(STATEMENT, "#=", "printed", at) == pytest.approx((right - left) / left)
    assert exact_value(STATEMENT, "#=", "corrected", at) == pytest.approx(0.0, abs=1e-12)

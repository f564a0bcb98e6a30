"""RW21, Example 4, in fractions by hand."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.formula_cases import decide, exact_value

from verify.papers.redberg_wang2021.exp_4 import STATEMENT


def test_footnote_by_hand() -> None:
    """Q = 0, Q' = 1, o = 1/10, sigma = 1: loss |(-0.9)^2 - 0.1^2|/2 = 0.4; 0.1 - 0.5 +- 0.4 = 0 and -0.8."""
    assert exact_value(STATEMENT, ".4", "printed") == 0.0
    assert exact_value(STATEMENT, ".4", "second possibility -0.9") == pytest.approx(0.1)
    at = {"o": "1/10", "variance": "1", "Q": 0}
    # the versions of the loss err by |0 - 1| |o - 1|/2 - 0.4 = 0.05, by another 0.4, by 0.004
    assert exact_value(STATEMENT, ".1", "o for 2 o", at | {"Q'": 1}) == pytest.approx(0.05)
    assert exact_value(STATEMENT, ".1", "no 2 in the denominator", at | {"Q'": 1}) == pytest.approx(0.4)
    assert exact_value(STATEMENT, ".1", "1 % too large", at | {"Q'": 1}) == pytest.approx(0.004)
    # 0.6 +- 0.4, -0.4 +- 0.2 and -0.4 +- 0.404: the nearer solution is 0.2, 0.2 and 0.004 away from 0
    assert exact_value(STATEMENT, ".2", "plus a half", at) == pytest.approx(0.2)
    assert exact_value(STATEMENT, ".2", "half the variance", at) == pytest.approx(0.2)
    assert exact_value(STATEMENT, ".2", "loss 1 % too large", at) == pytest.approx(0.004)


def test_the_text_s_outcome() -> None:
    """o = 1, Q = 0: 1 - 0.5 +- 0.5 are both integers; the corrected form claims nothing there."""
    at = {"o": "1", "variance": "1", "Q": 0}
    assert exact_value(STATEMENT, ".3", "printed", at) == 2.0
    assert not decide(STATEMENT, ".3", "corrected", at).claim.in_domain
    assert decide(STATEMENT, ".3", "any o that is no integer", at | {"o": "1/2"}).claim.in_domain


@settings(max_examples=30)
@given(
    o=st.fractions(-5, 5, max_denominator=50),
    variance=st.fractions(Fraction(1, 10), 10, max_denominator=20),
    count=st.integers(0, 20),
    other=st.integers(0, 20),
)
def test_against_normal_densities(o: Fraction, variance: Fraction, count: int, other: int) -> None:
    """E4.1 is the log ratio of two normal densities, E4.2 its solution; the exact ones differ by 0 from both."""
    at = {"o": str(o), "variance": str(variance), "Q": count}
    assert exact_value(STATEMENT, ".1", "printed", at | {"Q'": other}) == 0.0
    assert exact_value(STATEMENT, ".2", "printed", at) == 0.0
    doubled = exact_value(STATEMENT, ".1", "no 2 in the denominator", at | {"Q'": other})  # twice the loss, less it
    log_ratio = ((o - other) ** 2 - (o - count) ** 2) / (2 * variance)
    assert math.isclose(doubled, abs(float(log_ratio)), rel_tol=1e-12, abs_tol=1e-15)

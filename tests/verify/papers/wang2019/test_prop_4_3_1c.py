"""W19, Proposition 4.3(1), DP part: (4.6) by hand, and the exact law at equal rows in floats."""

from __future__ import annotations

import math

import pytest
from oracles.formula_cases import claimed, decide
from oracles.mechanisms.profiles import quadratic_delta

from verify.papers.wang2019.prop_4_3_1c import STATEMENT

POINT = {"n": 16.0, "lambda": 4.0, "gamma": 1.0, "fill": 0.0, "delta": 2.0 * math.exp(-2.0)}


def test_by_hand() -> None:
    """n = 16, lambda = 4, gamma = 1, log = 2: sqrt(2 20 2)/4 + 40/16 + 3/8 printed; R = 2, 2 + 4/8 + 5/8 corrected."""
    assert claimed(STATEMENT, "", "printed", POINT) == pytest.approx(math.sqrt(80.0) / 4 + 2.5 + 0.375, rel=1e-14)
    assert claimed(STATEMENT, "", "corrected", POINT) == pytest.approx(2.0 + 0.5 + 0.625, rel=1e-14)
    # lambda = 3 > n = 1: R = 1 + 1/4, 1.25 sqrt(4/3) + 1.5625/6 + 5/6
    beyond = POINT | {"n": 1.0, "lambda": 3.0}
    expected = 1.25 * math.sqrt(4 / 3) + 1.5625 / 6 + 5 / 6
    assert claimed(STATEMENT, "", "corrected", beyond) == pytest.approx(expected, rel=1e-14)


def test_exact_delta_at_equal_rows() -> None:
    """Four rows of length 1/2, responses 1, lambda 1: X'X = 1, theta = 2/2 along the row; target (1, -1)."""
    found = decide(STATEMENT, "", "corrected", POINT | {"n": 4.0, "lambda": 1.0, "fill": 0.25, "gamma": 0.25})
    epsilon = found.claim.published
    worse = max(quadratic_delta(epsilon, 0.5, 0.5 * 2.0, backward=side) for side in (False, True))
    assert found.exact is not None
    assert found.exact.value == pytest.approx(worse, rel=1e-8)

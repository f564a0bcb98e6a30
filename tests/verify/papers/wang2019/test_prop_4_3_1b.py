"""W19, Proposition 4.3(1): the largest residual, by hand and by a search over singular values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from oracles.formula_cases import exact_value

from verify.papers.wang2019.prop_4_3_1b import STATEMENT


@pytest.mark.parametrize(("n", "lam"), [(1, 1.0), (7, 3.0), (2, 9.0), (100, 0.5)])
def test_against_a_search_over_singular_values(n: int, lam: float) -> None:
    """||theta|| <= max over s <= sqrt(n) of s/(s^2 + lambda), times sqrt(n)."""
    s = np.linspace(1e-9, math.sqrt(n), 200_001)
    largest = 1 + math.sqrt(n) * (s / (s**2 + lam)).max()
    params = {"n": n, "lambda": lam}
    assert exact_value(STATEMENT, "#main", "corrected", params) == pytest.approx(1.0, rel=1e-12)
    printed = largest / (1 + n**0.5 * lam**-0.5)
    assert exact_value(STATEMENT, "#main", "printed", params) == pytest.approx(printed, rel=1e-8)
    appendix = largest / (1 + math.sqrt(n) / (2 * math.sqrt(lam)))
    assert exact_value(STATEMENT, ".p", "printed", params) == pytest.approx(appendix, rel=1e-8)
    assert exact_value(STATEMENT, "#main", "half without the cap", params) == pytest.approx(appendix, rel=1e-8)


def test_by_hand() -> None:
    """x = 1, y = 1, lambda = 1: theta = 1/2, so 3/2 against 2; lambda = 4: 6/5 against 5/4."""
    assert exact_value(STATEMENT, "#main", "printed", {"n": 1, "lambda": 1.0}) == pytest.approx(0.75)
    assert exact_value(STATEMENT, ".p", "printed", {"n": 1, "lambda": 4.0}) == pytest.approx(1.2 / 1.25)
    assert exact_value(STATEMENT, ".p", "scaled by 1.05", {"n": 1, "lambda": 1.0}) == pytest.approx(1 / 1.05)

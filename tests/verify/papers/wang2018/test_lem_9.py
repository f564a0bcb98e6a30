"""W18, Lemma 9: half of Lemma 8's bounds; the excess of a quadratic."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.formula_cases import exact_value, holds
from scipy.stats import chi2

from verify.papers.wang2018.lem_9 import STATEMENT


@pytest.mark.parametrize("rho", [0.9, 1e-3])
def test_tail_of_half_a_chi_square(rho: float) -> None:
    """gamma (F - F*) is half a chi-square: P(chi^2/2 > (d + 2 sqrt(d L) + 2 L)/2) at d = 4."""
    log = math.log(1 / rho)
    half = (4 + 2 * math.sqrt(4 * log) + 2 * log) / 2
    assert exact_value(STATEMENT, "#tail", "printed", {"dim": 4, "rho": rho}) == pytest.approx(chi2.sf(2 * half, 4))


def test_short_bound_by_hand() -> None:
    """d = 4, log(1/rho) = 1: (4 + 4 + 2)/2 = 5 against 2.5 * 4 = 10; log(1/rho) = 1/4: 3.25 against 2.5."""
    assert exact_value(STATEMENT, ".p", "printed", {"dim": 4, "rho": math.exp(-1)}) == pytest.approx(5 / 10)
    assert exact_value(STATEMENT, ".p", "printed", {"dim": 4, "rho": math.exp(-0.25)}) == pytest.approx(3.25 / 2.5)
    assert not holds(STATEMENT, ".p", "printed", {})
    assert holds(STATEMENT, ".p", "corrected", {})


@given(seed=st.integers(1, 10_000), dim=st.integers(1, 4))
def test_excess_of_a_quadratic(seed: int, dim: int) -> None:
    assert holds(STATEMENT, "#excess", "printed", {"dim": dim, "seed": seed})
    assert not holds(STATEMENT, "#excess", "inverse Hessian for the metric", {"dim": dim, "seed": seed})

"""RW21, Lemma 20: quantile and coverage in one and two dimensions, from closed forms."""

from __future__ import annotations

import math

import pytest
from oracles.formula_cases import decide
from oracles.mechanisms.goe import sf_two
from scipy.optimize import brentq
from scipy.stats import norm

from verify.papers.redberg_wang2021.lem_20 import STATEMENT


@pytest.mark.parametrize("rho", [0.5, 0.1, 1e-6])
def test_one_normal_variable(rho: float) -> None:
    """d = 1: A is N(0, 2), so the bound is sqrt(2) z: it covers exactly 1 - rho, and the lemma leaves out rho."""
    for version, probability, low, high in (("printed", rho, 0.0, 0.0), ("corrected", 1.0 - rho, 1.0 - rho, math.inf)):
        found = decide(STATEMENT, "", version, dim=1, rho=rho)
        assert found.notes["tau"] == pytest.approx(math.sqrt(2.0) * norm.isf(rho / 2), rel=1e-8)
        assert found.exact is not None
        assert found.exact.value == pytest.approx(probability, abs=1e-7 * rho)
        assert (found.claim.low, found.claim.high) == pytest.approx((low, high), rel=1e-15)


@pytest.mark.parametrize(
    ("version", "factor", "share"),
    [
        ("corrected", 1.0, 0.5),
        ("quantile at 1 - rho", 1.0, 1.0),
        ("other normalisation", math.sqrt(0.5), 0.5),
        ("quantile 1 % lower", 0.99, 0.5),
    ],
)
def test_two_dimensions(version: str, factor: float, share: float) -> None:
    """The quantile of the largest eigenvalue by root finding, and the two-sided tail by quadrature."""
    tau = factor * brentq(lambda t: sf_two(t)[0] - share * 0.1, 0.0, 10.0, xtol=1e-13)
    found = decide(STATEMENT, "", version, dim=2, rho=0.1)
    assert found.notes["tau"] == pytest.approx(tau, rel=1e-8)
    assert found.exact is not None
    assert found.exact.value == pytest.approx(1.0 - sf_two(tau)[1], abs=1e-7)

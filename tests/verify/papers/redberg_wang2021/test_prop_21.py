"""RW21, Proposition 21: in one dimension the sandwich is an interval of one normal variable."""

from __future__ import annotations

import math

import pytest
from oracles.formula_cases import decide
from scipy.stats import norm

from verify.papers.redberg_wang2021.prop_21 import STATEMENT


@pytest.mark.parametrize("rho", [0.3, 1e-4])
@pytest.mark.parametrize(
    ("version", "factor"),
    [
        ("printed", 1.0),
        ("smallest eigenvalue 5 % below the condition", 0.95),
        ("tau of the other normalisation", math.sqrt(0.5)),
    ],
)
def test_exact_coverage(version: str, factor: float, rho: float) -> None:
    """lambda_min = 2 tau and H_hat = H + N(0, 2): H_hat/H in [1/2, 3/2] is |N| <= z."""
    found = decide(STATEMENT, "", version, {"dim": 1, "rho": rho, "H": "identity"})
    z = factor * norm.isf(rho / 2)
    assert found.exact is not None
    assert 1.0 - found.exact.value == pytest.approx(2 * norm.sf(z), rel=1e-4)
    assert found.notes["lambda_min"] == pytest.approx(2 * math.sqrt(2.0) * z, rel=2e-6)
    assert found.claim.low == pytest.approx(1.0 - rho)


@pytest.mark.parametrize(
    ("version", "low", "high"), [("printed", -1, 1), ("upper factor 1.4", -1, 0.8), ("lower factor 0.6", -0.8, 1)]
)
def test_simulated_coverage(version: str, low: float, high: float) -> None:
    """1/2 <= H_hat/H <= 1.4 is -z <= N <= 0.8 z; with 0.6 it is -0.8 z <= N."""
    found = decide(STATEMENT, "", version, {"dim": 1, "rho": 0.3, "H": "identity"}, draws=20_000)
    z = norm.isf(0.15)
    assert found.sampled is not None
    assert found.sampled.low <= norm.cdf(high * z) - norm.cdf(low * z) <= found.sampled.high
    assert found.sampled.high - found.sampled.low < 0.06

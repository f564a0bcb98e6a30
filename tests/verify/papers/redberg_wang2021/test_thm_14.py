"""RW21, Theorem 14: both costs by hand, coverage by scipy's normal law."""

from __future__ import annotations

import math

import pytest
from oracles.formula_cases import claimed, decide
from scipy.stats import norm

from verify.papers.redberg_wang2021.thm_14 import STATEMENT


def test_cost_by_hand() -> None:
    """||grad l|| = 2, sigma_2 = 1, delta = e^-2: 2 + 2 * 2 = 6."""
    at = {"norm": 2.0, "sigma": 1.0, "delta": math.exp(-2.0)}
    for version, epsilon in {
        "printed": 6.0,
        "epsilon cut by 5 %": 5.7,
        "no quadratic term": 4.0,
        "no 2 under the root": 2 + 2 * math.sqrt(2.0),
    }.items():
        assert claimed(STATEMENT, ".1", version, at) == pytest.approx(epsilon)


@pytest.mark.parametrize("rho", [0.5, 0.999, 1e-3])
@pytest.mark.parametrize("mu", [0.05, 2.0])
def test_ex_post_coverage(mu: float, rho: float) -> None:
    """P(|L| <= mu^2/2 + mu sqrt(2 log(2/rho))), L ~ N(mu^2/2, mu^2)."""
    full = mu**2 / 2 + mu * math.sqrt(2 * math.log(2 / rho))
    for version, epsilon, level in (
        ("printed", full, 1 - rho),
        ("failure at most 0.22 rho", full, 1 - 0.22 * rho),
        ("epsilon cut by 10 %", 0.9 * full, 1 - rho),
    ):
        found = decide(STATEMENT, ".2", version, {"norm": mu, "sigma": 1.0, "delta": rho})
        truth = norm.cdf(epsilon / mu - mu / 2) - norm.cdf(-epsilon / mu - mu / 2)
        assert found.exact is not None
        assert found.exact.value == pytest.approx(truth, abs=1e-12)
        assert found.claim.low == pytest.approx(level, abs=1e-15)

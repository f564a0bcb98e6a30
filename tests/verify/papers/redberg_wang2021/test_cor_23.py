"""RW21, Corollary 23: epsilon and coverage from scipy's normal law."""

from __future__ import annotations

import math

import pytest
from oracles.formula_cases import claimed, decide
from scipy.stats import norm

from verify.papers.redberg_wang2021.cor_23 import STATEMENT


def covered(mu: float, epsilon: float) -> float:
    """P(|L| <= epsilon) for L ~ N(mu^2/2, mu^2)."""
    return norm.cdf((epsilon - mu**2 / 2) / mu) - norm.cdf((-epsilon - mu**2 / 2) / mu)


@pytest.mark.parametrize("delta", [0.4, 1e-3, 1e-12])
def test_per_instance_epsilon(delta: float) -> None:
    """||Delta|| = 3, sigma = 2: 9/8 + 3 z/2 with z the quantile at 1 - delta."""
    at = {"norm": 3.0, "sigma": 2.0, "delta": delta}
    z, doubled = norm.isf(delta), norm.isf(2 * delta)
    assert claimed(STATEMENT, ".1", "printed", at) == pytest.approx(1.125 + 1.5 * z, rel=1e-12)
    assert claimed(STATEMENT, ".1", "epsilon cut by 5 %", at) == pytest.approx(0.95 * (1.125 + 1.5 * z), rel=1e-12)
    assert claimed(STATEMENT, ".1", "quantile at 1 - 2 delta", at) == pytest.approx(1.125 + 1.5 * doubled, rel=1e-12)


@pytest.mark.parametrize("rho", [0.5, 0.1, 1e-3])
def test_ex_post_coverage(rho: float) -> None:
    """At ||Delta||/sigma = 1/2: the loss is N(1/8, 1/4)."""
    at = {"norm": 1.0, "sigma": 2.0, "delta": rho}
    epsilons = {
        (".2", "printed"): (0.125 + 0.5 * norm.isf(rho / 2), 1 - rho),
        (".2", "one-sided quantile"): (0.125 + 0.5 * norm.isf(rho), 1 - rho),
        (".2", "failure at most 0.95 rho"): (0.125 + 0.5 * norm.isf(rho / 2), 1 - 0.95 * rho),
        ("#weaker", "printed"): (0.125 + 0.5 * math.sqrt(2 * math.log(2 / rho)), 1 - rho),
        ("#weaker", "epsilon cut by 10 %"): (0.9 * (0.125 + 0.5 * math.sqrt(2 * math.log(2 / rho))), 1 - rho),
    }
    for (part, version), (epsilon, level) in epsilons.items():
        found = decide(STATEMENT, part, version, at)
        assert found.exact is not None
        assert found.exact.value == pytest.approx(covered(0.5, epsilon), abs=1e-12)
        assert found.claim.low == pytest.approx(level, abs=1e-15)

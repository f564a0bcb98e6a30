"""RW21, Algorithm 5: the cost by hand, the variance of the released inner product by simulation."""

from __future__ import annotations

import math

import pytest
from oracles.formula_cases import claimed, decide, exact_value

from verify.papers.redberg_wang2021.alg_5 import STATEMENT


def test_cost_by_hand() -> None:
    """||grad l|| = 2, sigma_2 = 1, delta = 2 e^-8: 2 + 2 * 4 = 10."""
    at = {"norm": 2.0, "sigma": 1.0, "delta": 2 * math.exp(-8.0)}
    for version, epsilon in {
        "printed": 10.0,
        "epsilon cut by 5 %": 9.5,
        "no quadratic term": 8.0,
        "no 2 under the root": 2 + 2 * math.sqrt(8.0),
    }.items():
        assert claimed(STATEMENT, "#cost", version, at) == pytest.approx(epsilon)


def test_exact_delta_of_the_release() -> None:
    """mu = 2: delta(eps) = Phi(1 - eps/2) - e^eps Phi(-1 - eps/2)."""
    from scipy.stats import norm

    found = decide(STATEMENT, "#cost", "printed", {"norm": 2.0, "sigma": 1.0, "delta": 2 * math.exp(-2.0)})
    epsilon = 6.0  # 2 + 2 * 2
    assert found.claim.published == pytest.approx(epsilon)
    assert found.exact is not None
    assert found.exact.value == pytest.approx(norm.cdf(-2.0) - math.exp(epsilon) * norm.cdf(-4.0), rel=1e-9)


def test_law_of_the_inner_product() -> None:
    """The variance is sigma_2^2 ||grad l||^2: nine tenths of it deviate by 1/0.9 - 1."""
    at = {"dim": 3, "n": 20, "sigma": 2.0}
    assert exact_value(STATEMENT, "#noise", "printed", at) == pytest.approx(0.0, abs=1e-11)
    assert exact_value(STATEMENT, "#noise", "variance 10 % smaller", at) == pytest.approx(1 / 9, abs=1e-9)

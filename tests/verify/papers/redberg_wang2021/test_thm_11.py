"""RW21, Theorem 11: the cost by hand and on one record, the shift of an eigenvalue in one dimension."""

from __future__ import annotations

import math

import pytest
from oracles.formula_cases import claimed, decide
from scipy.stats import norm

from mechanisms.data.embedded import load
from verify.papers.redberg_wang2021.thm_11 import STATEMENT


@pytest.mark.parametrize("part", ["#pdp", "#dp", "#general"])
def test_cost_by_hand(part: str) -> None:
    """f'' ||x||^2 = 2, sigma_4 = 1, delta = e^-2: 2 + 2 * 2 = 6."""
    at = {"norm": 2.0, "sigma": 1.0, "delta": math.exp(-2.0)}
    for version, epsilon in {
        "printed": 6.0,
        "epsilon cut by 5 %": 5.7,
        "no quadratic term": 4.0,
        "no 2 under the root": 2 + 2 * math.sqrt(2.0),
    }.items():
        assert claimed(STATEMENT, part, version, at) == pytest.approx(epsilon)


def test_one_record_of_real_data() -> None:
    """At theta = 0 the Hessian of the logistic loss is x x^T/4."""
    x = load("fair").X[3]
    size = sum(v * v for v in x) / 4
    found = decide(STATEMENT, "#pdp", "printed", {"data": "fair", "record": 3, "sigma": 0.5, "delta": 0.01}, draws=1000)
    assert found.claim.published == pytest.approx(2 * size**2 + 2 * size * math.sqrt(2 * math.log(100.0)))
    assert found.exact is not None
    # Weyl: the eigenvalue moves by at most ||x||^2/4, so delta is at most that of a shift by it
    mu, epsilon = size / 0.5, found.claim.published
    assert (
        found.exact.high
        <= norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu) + 1e-12
    )


def test_shift_in_one_dimension() -> None:
    """A 1 x 1 matrix moves by the whole of what is added."""
    at = {"dim": 1, "rank": 1, "spread": 1.0, "direction": "random"}
    for version, bound in (("printed", 1.0), ("90 % of the norm", 0.9)):
        found = decide(STATEMENT, "#shift", version, at)
        assert found.exact is not None
        assert found.exact.value == pytest.approx(1.0, abs=2e-9)
        assert found.claim.high == pytest.approx(bound, abs=1e-7)

"""RW21, Theorem 9: coverages by the error function; one signed slope by hand."""

from __future__ import annotations

import math

import pytest
from oracles.formula_cases import decide
from scipy.stats import norm

from verify.papers.redberg_wang2021.thm_9 import STATEMENT


def failure(dim: int, t: float) -> float:
    """P(max of dim normals, in absolute value, > t)."""
    return -math.expm1(dim * math.log1p(-math.erfc(t / math.sqrt(2))))


@pytest.mark.parametrize("rho", [0.5, 0.1, 1e-6])
@pytest.mark.parametrize("dim", [1, 10, 10_000])
def test_all_records_at_once(dim: int, rho: float) -> None:
    t = math.sqrt(2 * math.log(2 * dim / rho))
    undimensioned = math.sqrt(2 * math.log(2 / rho))
    for version, at in (("printed", t), ("root cut by 10 %", 0.9 * t), ("no dimension", undimensioned)):
        found = decide(STATEMENT, ".1", version, {"dim": dim, "rho": rho}, draws=10)
        assert found.exact is not None
        assert 1.0 - found.exact.value == pytest.approx(failure(dim, at), rel=1e-6, abs=1e-15)
        assert found.claim.low == 1.0 - rho


@pytest.mark.parametrize("rho", [2 * math.exp(-0.5), 1e-3])
def test_one_record(rho: float) -> None:
    """rho = 2 e^(-1/2): the root is 1, and the coverage erf(1/sqrt 2) = 0.6827."""
    t = math.sqrt(2 * math.log(2 / rho))
    found = decide(STATEMENT, ".2", "corrected", {"rho": rho}, draws=10)
    assert found.exact is not None
    assert found.exact.value == pytest.approx(1 - failure(1, t), rel=1e-12)


def test_signed_slope_as_printed() -> None:
    """No data, x = y = lambda = 1, sigma = 2: f' of the logistic loss is negative, of the squared one it is -b - 1."""
    at = {"loss": "logistic", "data": "none", "sigma": 2.0, "lam": 1.0, "y": 1.0, "rho": 0.1}
    logistic = decide(STATEMENT, ".2", "printed", at, draws=2_000).sampled
    assert logistic is not None
    assert logistic.value == 0.0
    squared = decide(STATEMENT, ".2", "printed", at | {"loss": "squared"}, draws=20_000).sampled
    t = math.sqrt(2 * math.log(20.0))
    assert squared is not None
    assert squared.low <= norm.cdf(-0.5) - norm.cdf(-t) <= squared.high  # -2 t <= b <= -1
    whole = decide(STATEMENT, ".2", "corrected", at, draws=20_000).sampled
    assert whole is not None
    assert whole.low <= 1 - failure(1, t) <= whole.high

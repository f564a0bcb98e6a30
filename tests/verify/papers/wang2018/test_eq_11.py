"""W18, (11): tails of the two noises by scipy, in the paper's own units."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
import pytest
from oracles.formula_cases import decide, exact_value, holds
from scipy import stats

from verify.papers.wang2018.eq_11 import STATEMENT

B, Y, EPSILON, LOG6 = 2.0, 3.0, 0.5, 11.0  # log(6/delta)


@pytest.mark.parametrize(("dim", "rho"), [(1, 0.999), (2, 0.05), (20, 1e-3), (200, 1e-12)])
def test_moment_with_a_flat_spectrum(dim: int, rho: float) -> None:
    """|E_2|^2/eigenvalue with E_2 of variance B^2 Y^2 log(6/delta)/(epsilon/3)^2, against twice (11)."""
    eigenvalue, variance = 7.0, B**2 * Y**2 * LOG6 / (EPSILON / 3) ** 2
    bound = 2 * B**2 * Y**2 * (dim / eigenvalue) * LOG6 * log(dim / rho) / (EPSILON**2 / 9)
    case = {"spectrum": "flat", "dim": dim, "rho": rho}
    want = stats.chi2.sf(bound * eigenvalue / variance, dim)
    assert exact_value(STATEMENT, "#moment", "printed", case) == pytest.approx(want, rel=1e-9)
    assert want <= rho


@pytest.mark.parametrize(
    ("version", "threshold"),
    [("constant cut by 10 %", 1.8 * log(1e30)), ("no dependence on rho", 2 * log(3))],
)
def test_moment_mutants(version: str, threshold: float) -> None:
    case = {"spectrum": "flat", "dim": 1, "rho": 1e-30}
    assert exact_value(STATEMENT, "#moment", version, case) == pytest.approx(stats.chi2.sf(threshold, 1), rel=1e-9)
    assert not holds(STATEMENT, "#moment", version, case)


def test_moment_with_a_spread_spectrum() -> None:
    """Null: the drawn frequency is that of a literal run, at a level where it is moderate; 6 standard errors 0.02."""
    rng = np.random.Generator(np.random.PCG64DXSM(2))
    eigenvalues = 1 / np.geomspace(1.0, 1e-4, 5)
    rho = 5 / 1.9  # log(d/rho) is small here, so that the bound is often exceeded
    E2 = B * Y * sqrt(LOG6) / (EPSILON / 3) * rng.standard_normal((40_000, 5))
    bound = 2 * B**2 * Y**2 * sum(1 / eigenvalues) * LOG6 * log(5 / rho) / (EPSILON**2 / 9)
    direct = np.mean((E2**2 / eigenvalues).sum(axis=1) > bound)
    sampled = decide(STATEMENT, "#moment", "printed", draws=40_000, spectrum="spread", dim=5, rho=rho).sampled
    assert sampled is not None
    assert 0.1 < direct < 0.5
    assert sampled.value == pytest.approx(direct, abs=0.02)


@pytest.mark.parametrize(("version", "share"), [("printed", 1.0), ("constant cut by 10 %", 0.9)])
@pytest.mark.parametrize(("dim", "rho"), [(1, 0.9), (2, 1e-3), (20, 1e-12)])
def test_gram_matrix_in_a_metric_of_rank_one(version: str, share: float, dim: int, rho: float) -> None:
    """u'E theta with flat u and theta has variance 2 - 1/d; the stated constant is 4 - 2/d, so the ratio is 2."""
    flat = np.full(dim, dim**-0.5)
    variance = 1 + (flat @ flat) ** 2 - (flat**4).sum()  # diagonal entries once, others twice
    assert variance == pytest.approx(2 - 1 / dim)
    threshold = share * (4 - 2 / dim) * log(2 * dim**2 / rho)
    want = 2 * stats.norm.sf(sqrt(threshold / variance))
    case = {"spectrum": "rank one", "dim": dim, "rho": rho}
    assert exact_value(STATEMENT, "#Gram matrix", version, case) == pytest.approx(want, rel=1e-9)

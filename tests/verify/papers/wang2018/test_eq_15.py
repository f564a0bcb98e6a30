"""W18, (15): the noise matrix against the printed and corrected bounds, by scipy in d = 1 and by literal draws."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
import pytest
from oracles.formula_cases import decide, exact_value
from scipy import stats

from verify.papers.wang2018.eq_15 import STATEMENT

#: In units of the noise: what |E_1| must not exceed. For the choice, half of lambda at lambda_min = 0.
BOUNDS = {
    ("#norm", "printed"): lambda d, rho: 2 * sqrt(d * log(d**2 / rho)),
    ("#norm", "no dimension"): lambda d, rho: 2 * sqrt(log(d**2 / rho)),
    ("#norm", "constant 1"): lambda d, rho: sqrt(d * log(d**2 / rho)),
    ("#choice", "printed"): lambda d, rho: sqrt(d * log(2 * d**2 / rho)) / 2,
    ("#choice", "corrected"): lambda d, rho: 2 * sqrt(2) * sqrt(d * log(2 * d**2 / rho)) / 2,
    ("#choice", "constant cut by 10 %"): lambda d, rho: 0.9 * 2 * sqrt(2) * sqrt(d * log(2 * d**2 / rho)) / 2,
}


@pytest.mark.parametrize(("part", "version"), BOUNDS)
@pytest.mark.parametrize("rho", [0.99, 0.05, 1e-9])
def test_one_dimension(part: str, version: str, rho: float) -> None:
    """Only an entry: P(|Z| > bound)."""
    want = 2 * stats.norm.sf(BOUNDS[part, version](1, rho))
    assert exact_value(STATEMENT, part, version, dim=1, rho=rho) == pytest.approx(want, rel=1e-9)


def test_ridge_of_algorithm_2_fails_by_hand() -> None:
    """rho = 0.05: lambda = sqrt(log 40) noise units, so |Z| <= 0.96 is needed; it fails with probability 0.3369."""
    assert exact_value(STATEMENT, "#choice", "printed", dim=1, rho=0.05) == pytest.approx(0.3369, abs=1e-4)


@pytest.mark.parametrize(("part", "version"), [("#norm", "printed"), ("#norm", "no dimension"), ("#choice", "printed")])
def test_several_dimensions(part: str, version: str) -> None:
    """Null: the frequency of literal draws at the rho (no probability) where it is one half; 6 standard errors 0.07."""
    rng, d = np.random.Generator(np.random.PCG64DXSM(4)), 3
    upper = np.triu(rng.standard_normal((4_000, d, d)))
    norms = np.linalg.norm(upper + np.triu(upper, 1).transpose(0, 2, 1), 2, axis=(1, 2))
    rhos = np.geomspace(1e-6, d**2 * 0.999, 4_000)
    rho = float(min(rhos, key=lambda rho: abs(BOUNDS[part, version](d, rho) - np.median(norms))))
    sampled = decide(STATEMENT, part, version, draws=4_000, dim=d, rho=rho).sampled
    assert sampled is not None
    assert sampled.value == pytest.approx(np.mean(norms > BOUNDS[part, version](d, rho)), abs=0.07)

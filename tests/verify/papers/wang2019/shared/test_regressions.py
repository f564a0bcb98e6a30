"""Rational regression problems against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.rational_floats import floats

from verify.kernel.statement import Case, Standing
from verify.papers.wang2019.shared.regressions import regression


@pytest.mark.parametrize("lam", [0, 3])
def test_fits_and_residuals(lam: int) -> None:
    case = Case("", "", Standing.PRINTED, {"shape": "generic", "n": 6, "dim": 3, "seed": 4})
    data = regression(case, lam)
    X, y, x, target = (floats(M) for M in (data.X, data.y, data.x, data.target))
    both, responses = np.vstack([X, x.T]), np.vstack([y, target])
    without = np.linalg.solve(X.T @ X + lam * np.eye(3), X.T @ y)
    within = np.linalg.solve(both.T @ both + lam * np.eye(3), both.T @ responses)
    for found, expected in zip(data.fits, (without, within), strict=True):
        assert floats(found) == pytest.approx(expected, rel=1e-9)
    assert float(data.residual(data.fits[0])) == pytest.approx((target - x.T @ without).item(), rel=1e-9)
    assert floats(data.joined) == pytest.approx(both.T @ both + lam * np.eye(3), rel=1e-12)

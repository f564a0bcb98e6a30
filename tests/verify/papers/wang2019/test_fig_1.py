"""W19, Figure 1: both gains again from refits and the two-normal formula."""

from __future__ import annotations

import math

import numpy as np
import pytest
from oracles.formula_cases import decide, exact_value
from scipy.optimize import brentq
from scipy.stats import norm

from mechanisms.data.synthetic import linear_unit_rows
from verify.figures.figure_page import stream
from verify.papers.wang2019.fig_1 import ID, STATEMENT


def epsilon(shift: float) -> float:
    """Exact epsilon at 1e-6 of normal laws 4 wide and ``shift`` apart."""
    mu = shift / 4.0

    def delta(e: float) -> float:
        return float(norm.cdf(mu / 2 - e / mu) - math.exp(e + norm.logcdf(-mu / 2 - e / mu)))

    return float(brentq(lambda e: delta(e) - 1e-6, 1e-9, 8 * mu + mu * mu, xtol=1e-13))


def test_gain_of_every_record() -> None:
    """The worst record by leaving each out; the bad data set by its two-dimensional geometry, on a grid of s."""
    n, d = 100, 5
    data = linear_unit_rows(n, d, noise_sd=0.3, rng=stream(1, ID, f"{n} {d}")).dataset
    X, y = data.X, data.y

    def ridge(X: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.linalg.solve(X.T @ X + np.eye(d), X.T @ y)

    moves = [np.linalg.norm(ridge(X, y) - ridge(np.delete(X, i, 0), np.delete(y, i))) for i in range(n)]
    s = np.sqrt(np.geomspace(1e-4, n, 20_001) / n)
    bad = max((1 + n * s / (n * s**2 + 1)) / (n * s**2 + 2))
    found = exact_value(STATEMENT, "#in the data set", "printed", {"n": n, "d": d, "data": 1})
    assert found == pytest.approx(epsilon(bad) / epsilon(max(moves)), rel=1e-6)


def test_gain_of_all_is_shown_and_not_decided() -> None:
    found = decide(STATEMENT, "#in the universe", "printed")
    assert found.exact is None
    assert "n and d of the figure are not stated" in found.reason
    assert found.notes["gain at n=1000, d=20"] > 2 * found.notes["gain at n=100, d=20"]

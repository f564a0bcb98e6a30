"""W19, Figure 2: the average pDP again from refits, the posterior's from its two normal laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from oracles.formula_cases import decide, exact_value
from scipy.optimize import brentq
from scipy.stats import norm

from mechanisms.data.synthetic import linear_unit_rows
from verify.figures.figure_page import stream
from verify.papers.wang2019.fig_2 import ID, STATEMENT


def epsilon(distance: float) -> float:
    """Exact epsilon at 1e-6 of normal laws ``distance`` standard deviations apart."""
    mu = distance

    def delta(e: float) -> float:
        return float(norm.cdf(mu / 2 - e / mu) - math.exp(e + norm.logcdf(-mu / 2 - e / mu)))

    return float(brentq(lambda e: delta(e) - 1e-6, 1e-9, 8 * mu + mu * mu, xtol=1e-13))


def test_average_of_the_records() -> None:
    n, d, sigma = 60, 3, 1.0
    data = linear_unit_rows(n, d, noise_sd=0.3, rng=stream(1, ID, f"{n} {d}")).dataset
    X, y = data.X, data.y

    def ridge(X: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.linalg.solve(X.T @ X + np.eye(d), X.T @ y)

    moves = [np.linalg.norm(ridge(X, y) - ridge(np.delete(X, i, 0), np.delete(y, i))) for i in range(n)]
    s = np.sqrt(np.geomspace(1e-4, n, 20_001) / n)
    bad = max((1 + n * s / (n * s**2 + 1)) / (n * s**2 + 2))
    expected = epsilon(bad / sigma) / np.mean([epsilon(move / sigma) for move in moves])
    found = exact_value(STATEMENT, "#left", "printed", {"n": n, "d": d, "sigma": sigma, "data": 1})
    assert found == pytest.approx(expected, rel=1e-6)


def test_right_pane_is_shown_and_not_decided() -> None:
    """The gain over 2 gamma grows with gamma, from below 1 to above 100."""
    found = decide(STATEMENT, "#right", "printed")
    assert found.exact is None
    gains = [found.notes[f"gain at gamma={gamma}"] for gamma in ("0.01", "1", "100", "1000")]
    assert gains == sorted(gains)
    assert gains[0] < 1 < 100 < gains[-1]

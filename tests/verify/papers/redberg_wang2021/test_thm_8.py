"""RW21, Theorem 8: one record by hand, the product in float64, the linear bound on a grid."""

from __future__ import annotations

import math

import numpy as np
import pytest
from oracles.formula_cases import decide, exact_value

from verify.papers.redberg_wang2021.thm_8 import STATEMENT

#: No further record, lambda = 1, f'' ||x||^2 = 1/4.
ALONE = {"dim": 1, "n": 0, "lambda": "1", "largest": "1/4"}


@pytest.mark.parametrize("sign", [1, -1])
def test_one_record_by_hand(sign: int) -> None:
    """mu = -1/4 outside, -(1/4)/(5/4) inside: |log(1 -+ mu)| = log(5/4) both times, and the bound is log(4/3)."""
    at = ALONE | {"sign": sign}
    assert exact_value(STATEMENT, "#bound", "printed", at) == pytest.approx(math.log(16 / 15), rel=1e-12)
    cut = 0.9 * math.log(4 / 3) - math.log(5 / 4)
    assert exact_value(STATEMENT, "#bound", "bound cut by 10 %", at) == pytest.approx(cut, rel=1e-12)
    mu = -0.25 if sign > 0 else -0.2
    assert exact_value(STATEMENT, ".p", "printed", at) == pytest.approx(-0.25 - mu)
    assert exact_value(STATEMENT, ".p", "corrected", at) == pytest.approx(min(mu + 0.25, -mu))
    assert exact_value(STATEMENT, ".p", "lower end cut by 10 %", at) == pytest.approx(min(mu + 0.225, -mu))


@pytest.mark.parametrize("sign", [1, -1])
def test_three_dimensions_in_float64(sign: int) -> None:
    """log prod_j (1 -+ mu_j) is the log determinant's change (the matrix determinant lemma, three times)."""
    rng = np.random.Generator(np.random.PCG64DXSM([3, 4]))
    scales = rng.integers(0, 9, 3) / 8
    scales[0] = 1.0
    rows, own = rng.integers(-8, 9, (4, 3)) / 8, 0.25 * scales  # largest = lambda = 1/2
    H = rows.T @ rows + 0.5 * np.eye(3)
    change = np.linalg.slogdet(H + np.diag(own))[1] - np.linalg.slogdet(H)[1]
    bound = -np.log1p(-own / 0.5).sum()
    at = {"dim": 3, "n": 4, "sign": sign, "lambda": "1/2", "largest": "1/2"}
    assert exact_value(STATEMENT, "#bound", "printed", at) == pytest.approx(bound - change, rel=1e-10)


@pytest.mark.parametrize("sign", [1, -1])
def test_linear_bound_on_a_grid(sign: int) -> None:
    """w = f'' ||x||^2/lambda, leverage a share s of the largest: the smallest slack over w is at most the proof's."""
    w, s = np.meshgrid(np.geomspace(1e-3, 0.999, 200), np.linspace(0, 1, 50))
    term = np.log1p(s * w) if sign > 0 else -np.log1p(-s * w / (1 + w))
    slack = (-np.log1p(-w) - term) / w
    found = decide(STATEMENT, "#glm", "printed", {"sign": sign})
    assert found.exact is not None
    assert 0.0 <= found.exact.low <= slack.min()
    assert found.exact.high >= slack.min() - 1e-3
    worse = decide(STATEMENT, "#glm", "bound cut by 10 %", {"sign": sign})
    assert worse.exact is not None
    assert ((-0.9 * np.log1p(-w) - term) / w).min() < 0
    assert worse.exact.high < 0

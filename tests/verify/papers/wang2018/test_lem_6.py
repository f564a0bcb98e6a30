"""W18, Lemma 6: constants of the bound against scipy's normal tail, (10) and its corrections by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from oracles.formula_cases import exact_value, holds
from scipy.stats import norm

from verify.papers.wang2018.lem_6 import STATEMENT

RHOS = (0.5, 0.04, 1e-9)


@pytest.mark.parametrize("rho", RHOS)
def test_printed_bound_in_one_dimension(rho: float) -> None:
    """E theta is one normal variable: P(Z^2 > log(2/rho)), of the order of sqrt(rho)."""
    found = exact_value(STATEMENT, "", "printed", {"A": "identity", "dim": 1, "rho": rho})
    assert found == pytest.approx(2 * norm.sf(math.sqrt(math.log(2 / rho))), rel=1e-11)


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("dim", [1, 2, 9, 400])
def test_corrected_bound_on_flat_vectors(dim: int, rho: float) -> None:
    """(4 - 2/d) log(2 d^2/rho) over the variance 2 - 1/d leaves P(Z^2 > 2 log(2 d^2/rho))."""
    at = {"A": "rank one, flat", "dim": dim, "rho": rho}
    tail = 2 * norm.sf(math.sqrt(2 * math.log(2 * dim**2 / rho)))
    assert exact_value(STATEMENT, "", "corrected", at) == pytest.approx(tail, rel=1e-11)
    log = math.log(2 * dim**2 / rho)
    cut = 2 * norm.sf(math.sqrt(1.8 * log))
    assert exact_value(STATEMENT, "", "constant cut by 10 %", at) == pytest.approx(cut, rel=1e-11)
    two = 2 * norm.sf(math.sqrt(2 * log / (2 - 1 / dim)))
    assert exact_value(STATEMENT, "", "constant 2 in every dimension", at) == pytest.approx(two, rel=1e-11)


def test_largest_variance_is_2_minus_1_over_d() -> None:
    """Var(u'W theta) = 1 + (u'theta)^2 - sum u_i^2 theta_i^2; flat vectors give 2 - 1/d, and no random pair more."""
    rng = np.random.Generator(np.random.PCG64DXSM(6))
    for d in (1, 2, 7):
        u, theta = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in rng.standard_normal((2, 500, d)))
        variance = 1 + (u * theta).sum(axis=1) ** 2 - (u**2 * theta**2).sum(axis=1)
        assert variance.max() <= 2 - 1 / d + 1e-12
        flat = np.full(d, d**-0.5)
        assert 1 + (flat @ flat) ** 2 - (flat**4).sum() == pytest.approx(2 - 1 / d)


@pytest.mark.parametrize(("version", "factor"), [("printed", 1.0), ("corrected", 2.0), ("factor cut by 10 %", 1.8)])
def test_largest_entry_in_one_dimension(version: str, factor: float) -> None:
    for rho in RHOS:
        want = 2 * norm.sf(math.sqrt(factor * math.log(2 / rho)))
        assert exact_value(STATEMENT, ".p2", version, {"dim": 1, "rho": rho}) == pytest.approx(want, rel=1e-11)


def test_display_10() -> None:
    """E = [[0, 1], [1, 0]], theta = e_1, A = e_1 e_1^T: E theta = e_2, so 0 = 1 as printed."""
    swap = {"E": "swap", "U": "identity", "dim": 2, "seed": 0}
    assert exact_value(STATEMENT, ".p1", "printed", swap) == 1.0
    assert exact_value(STATEMENT, ".p1", "corrected", swap) == 0.0
    random = {"E": "random", "U": "rotation", "dim": 3, "seed": 5}
    assert holds(STATEMENT, ".p1", "corrected", random)
    assert exact_value(STATEMENT, ".p1", "1 % larger", random) == pytest.approx(0.01 / 1.01)
    assert not holds(STATEMENT, ".p1", "squares summed", random)


def test_law_of_an_entry() -> None:
    """Rows of U have length 1, so every variance is 1; with 2 on the diagonal of E entry (1, 1) has 1 + 9/25."""
    assert holds(STATEMENT, "#law of an entry", "printed", {"dim": 5})
    assert exact_value(STATEMENT, "#law of an entry", "variance 5 % smaller", {"dim": 3}) == pytest.approx(0.05)
    found = exact_value(STATEMENT, "#law of an entry", "variance 2 on the diagonal", {"dim": 2})
    assert found == pytest.approx(max(9, 16) / 25 / (1 + 16 / 25))

"""W18, Lemma 8: the chi-square bound against scipy, the short bound by hand, the laws by known shares."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.formula_cases import decide, exact_value, holds
from scipy.stats import chi2

from verify.papers.wang2018.lem_8 import STATEMENT

AT = {"X": "generic", "n": 6, "dim": 3, "seed": 8}


@pytest.mark.parametrize("dim", [1, 3, 200])
@pytest.mark.parametrize("rho", [0.97, 0.2, 1e-6])
def test_tail(dim: int, rho: float) -> None:
    log = math.log(1 / rho)
    for version, cross, linear in (("printed", 2, 2), ("coefficient 1.9", 2, 1.9), ("no cross term", 0, 2)):
        want = chi2.sf(dim + cross * math.sqrt(dim * log) + linear * log, dim)
        assert exact_value(STATEMENT, "#tail", version, {"dim": dim, "rho": rho}) == pytest.approx(want, rel=1e-9)


def test_short_bound_by_hand() -> None:
    """d = 1, rho = 1/e: 1 + 2 + 2 = 5. d = 1, rho = 1/2: 4.0515 against 3.4657."""
    equal = exact_value(STATEMENT, ".p", "printed", {"dim": 1, "rho": math.exp(-1)})
    assert equal == pytest.approx(1.0, rel=1e-12)
    half = exact_value(STATEMENT, ".p", "printed", {"dim": 1, "rho": 0.5})
    assert half == pytest.approx((1 + 2 * math.sqrt(math.log(2)) + 2 * math.log(2)) / (5 * math.log(2)))
    assert half == pytest.approx(4.0515 / 3.4657, rel=1e-4)
    assert not decide(STATEMENT, ".p", "corrected", {"dim": 1, "rho": 0.37}).claim.in_domain
    assert decide(STATEMENT, ".p", "corrected", {"dim": 1, "rho": 0.36}).claim.in_domain


@pytest.mark.parametrize(
    ("dim", "rho", "true"), [(1000, 0.9, False), (20, 0.9, False), (1, 0.5, True), (1000, 0.3678, True)]
)
def test_short_bound_as_a_bound(dim: int, rho: float, true: bool) -> None:
    """P(chi^2_d > 5 d log(1/rho)) against rho: false in many dimensions at rho = 0.9, true for d = 1."""
    at = {"dim": dim, "rho": rho}
    assert exact_value(STATEMENT, "#short", "printed", at) == pytest.approx(chi2.sf(5 * dim * math.log(1 / rho), dim))
    assert holds(STATEMENT, "#short", "printed", at) is true
    assert decide(STATEMENT, "#short", "corrected", at).claim.in_domain is (rho < 0.368)
    cut = exact_value(STATEMENT, "#short", "constant 0.9 for 5", at)
    assert cut == pytest.approx(chi2.sf(0.9 * dim * math.log(1 / rho), dim))


@pytest.mark.parametrize(("version", "true"), [("printed", False), ("corrected", True)])
def test_short_bound_on_the_box(version: str, true: bool) -> None:
    assert holds(STATEMENT, ".p", version, {}) is true


@given(seed=st.integers(1, 10_000), dim=st.integers(1, 4))
def test_laws_hold(seed: int, dim: int) -> None:
    at = AT | {"seed": seed, "dim": dim}
    assert holds(STATEMENT, "#posterior", "printed", at)
    assert holds(STATEMENT, "#model", "printed", at)


def test_laws_changed_by_a_share() -> None:
    """The covariance is one matrix times a factor, so 1 % more of it is off by 0.01/1.01."""
    assert exact_value(STATEMENT, "#model", "covariance 1 % larger", AT) == pytest.approx(0.01 / 1.01)
    assert exact_value(STATEMENT, "#posterior", "precision 1 % larger", AT) == pytest.approx(0.01 / 1.01, rel=0.1)
    assert not holds(STATEMENT, "#posterior", "centre of F + lambda |theta|^2", AT)
    assert not holds(STATEMENT, "#model", "with a ridge", AT)

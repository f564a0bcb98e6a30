"""Formulas of the statements of W18's appendices, against numbers derived by hand or by another library."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb
from scipy import stats

from audits import Budget, StreamKey
from mechanisms.base import BOTH
from verify.statement import Case, Standing
from verify.wang2018 import (
    eq_15,
    eq_19,
    eq_21,
    exp_2,
    failure,
    lem_6,
    ops_rules,
    printed_tables,
    prop_18,
    rem_11,
    set_f0,
)


def budget(name: str) -> Budget:
    return Budget(20_000, 1e-9, StreamKey(11).child(name))


@pytest.mark.parametrize(("dim", "value"), [(1, 0.3), (5, 9.0), (40, 61.5)])
def test_chi_square_tails_are_scipys(dim: int, value: float) -> None:
    assert float(failure.chi_square_tail(dim, arb(value)).mid()) == pytest.approx(stats.chi2.sf(value, dim), rel=1e-12)
    assert float(failure.chi_square_lower(dim, arb(value)).mid()) == pytest.approx(
        stats.chi2.cdf(value, dim), rel=1e-12
    )
    assert float(failure.normal_tail(arb(value)).mid()) == pytest.approx(2 * stats.norm.sf(math.sqrt(value)), rel=1e-12)


def test_counted_probability_contains_the_truth() -> None:
    """Null: P(Z > 1) = 0.1587 lies in the interval; level 1e-9, 20,000 draws."""
    found = failure.counted(lambda n, rng: rng.standard_normal(n) > 1.0, budget("tail"), floats_each=1)
    assert found.low < stats.norm.sf(1.0) < found.high
    assert found.high - found.low < 0.04


def test_wigner_matrices_have_unit_variances_everywhere() -> None:
    """Null: every variance is 1 (GOE: 2 on the diagonal). 40,000 draws, 8 standard errors are 0.06, level 1e-13."""
    W = failure.wigner(3, 40_000, np.random.Generator(np.random.PCG64DXSM(5)))
    assert (W.transpose(0, 2, 1) == W).all()
    np.testing.assert_allclose((W**2).mean(axis=0), 1.0, atol=0.06)


def test_lemma_6_largest_variance_is_2_minus_1_over_d() -> None:
    """Var(u'W theta) = 1 + (u'theta)^2 - sum u_i^2 theta_i^2; flat vectors give 2 - 1/d, and no random pair more."""
    rng = np.random.Generator(np.random.PCG64DXSM(6))
    for d in (1, 2, 7):
        u, theta = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in rng.standard_normal((2, 500, d)))
        variance = 1 + (u * theta).sum(axis=1) ** 2 - (u**2 * theta**2).sum(axis=1)
        assert variance.max() <= 2 - 1 / d + 1e-12
        assert float(lem_6.CONSTANTS["corrected"](d)) == pytest.approx(2 * (2 - 1 / d))


def test_equation_15_printed_failure_in_one_dimension() -> None:
    """lambda = sqrt(log 40) noise units, rho = 0.05: |Z| <= 0.96 is needed, which fails with probability 0.3369."""
    case = next(
        c for c in eq_15.STATEMENT.cases if c.standing is Standing.PRINTED and c.params == {"dim": 1, "rho": 0.05}
    )
    exact = eq_15.check(case, budget("15")).exact
    assert exact is not None
    assert exact.value == pytest.approx(2 * stats.norm.sf(0.5 * math.sqrt(math.log(40))), rel=1e-10)


def test_remark_11_by_hand() -> None:
    """m = 1, a = 2, delta = 2/e: 2 + 1 + 1 as printed, 2 sqrt 2 + 1 + 3/2 corrected."""
    point = {"leverage": 1.0, "residual": 2.0, "delta": 2.0 / math.e}
    assert rem_11.epsilon(point, tail=1.0) == pytest.approx(4.0)
    assert rem_11.epsilon(point, tail=2.0) == pytest.approx(2.0 * math.sqrt(2.0) + 2.5)
    claim = set_f0.CLAIMS[set_f0.REACH].versions["printed"]
    assert claim.epsilon({"leverage": 2.0, "delta": 2.0 / math.e}) == pytest.approx(2.0)


def test_equation_19_thresholds() -> None:
    """delta = 0.1 printed: Phi(-sqrt(log 20)) + 1/2 = 0.5417."""
    case = next(c for c in eq_19.STATEMENT.cases if c.standing is Standing.PRINTED)
    exact = eq_19.check(case, budget("19")).exact
    assert exact is not None
    assert exact.value == pytest.approx(stats.norm.sf(math.sqrt(math.log(20))) + 0.5, rel=1e-10)


def test_step_3_root_solves_its_equation() -> None:
    """bar^2/(2 log) + bar = epsilon/4 at log = 16, epsilon = 1."""
    root = float(eq_21._root(arb(16), arb(1)).mid())
    assert root**2 / 32 + root == pytest.approx(0.25, rel=1e-14)


def test_two_scales_against_quadrature() -> None:
    """N(0, 1) and N(0, 1/2) at epsilon = 0.1: the divergence by direct integration, worse direction."""
    evidence = ops_rules._two_scales(1.0, 2.0, 1, 0.1, 0.5)
    x = np.linspace(-30, 30, 2_000_001)
    p, q = stats.norm.pdf(x), stats.norm.pdf(x, scale=math.sqrt(0.5))
    direct = max(np.trapezoid(np.maximum(a - math.exp(0.1) * b, 0), x) for a, b in ((p, q), (q, p)))
    assert evidence.exact is not None
    assert evidence.exact.value == pytest.approx(float(direct), abs=1e-8)


def test_proposition_18_closed_form() -> None:
    """C_1 n Y^2/B^2 = lambda^3 at bounds 1; the corrected ridge is at its floor for a large norm."""
    params = {"epsilon": 1.0, "delta": 2 / math.e, "n": 8, "dim": 2, "Y": 1.0, "norm": 1.0}
    case = Case("p", "p", Standing.PRINTED, params)
    log = math.log(20.0)
    assert prop_18.ridge(case, "printed")[0] ** 3 == pytest.approx(8 * (1 + math.sqrt(2 * log) + log))
    far = Case("p", "p", Standing.CORRECTED, params | {"norm": 1e9})
    assert prop_18.ridge(far, "corrected")[0] == pytest.approx(9.0)


def test_printed_tables() -> None:
    """36 data sets and seven methods each; counts by hand from the printed tables."""
    for number in (3, 4):
        assert len(printed_tables.table(number)) == 36
        assert {len(row) for row in printed_tables.table(number).values()} == {7}
    assert printed_tables.table(3)["gas"]["OPS"] == (0.0546, 0.012)
    assert [printed_tables.count(t, "beaten") for t in (3, 4)] == [27, 21]
    assert [printed_tables.count(t, "clearly worse") for t in (3, 4)] == [4, 1]


def test_simulation_without_noise_of_the_release_is_least_squares() -> None:
    """As epsilon grows the released estimates approach theta*; errors fall with epsilon^-2."""
    rng = np.random.Generator(np.random.PCG64DXSM(8))
    near, far = (np.median(exp_2.squared_errors("SSP", 1e8, epsilon, 200, rng)) for epsilon in (10.0, 1.0))
    assert far / near == pytest.approx(100.0, rel=0.5)


def test_worst_record_attains_leverage_and_residual() -> None:
    """Records x = 0 and a target (1, 1): leverage 1/lambda and residual sqrt(gamma), in the mechanism's own words."""
    from mechanisms.data import Dataset
    from mechanisms.neighbours import NeighbouringPair
    from mechanisms.posterior_sampling import PosteriorSampling

    pair = NeighbouringPair.add(Dataset(np.zeros((3, 1)), np.zeros(3), 1.0, 1.0), [1.0], 1.0)
    mechanism = PosteriorSampling(gamma=4.0, lam=0.5)
    assert mechanism.target(pair) == pytest.approx((2.0, 2.0))
    assert max(mechanism.profile(pair).delta_at(1.0, d) for d in BOTH) > 0

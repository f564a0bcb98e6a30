"""Formulas typed into RW21's statement files, against numbers worked out by hand or by another route."""

from __future__ import annotations

import math
from fractions import Fraction as F

import numpy as np
import pytest

from mechanisms import Direction
from mechanisms.objective_loss_terms import product_form_terms
from mechanisms.profiles import GaussianProfile
from verify.redberg_wang2021 import cor_16, exp_4, gaussian_costs, num_i1, thm_5, thm_8, thm_9, thm_13
from verify.statement import Case, Role, Standing


def test_gaussian_costs_by_hand() -> None:
    """Norm 2, sigma 1, delta = exp(-2): 2 + 4; with log(2/delta) at delta = 2 exp(-8): 2 + 8."""
    assert gaussian_costs.epsilon_tail({"norm": 2.0, "sigma": 1.0, "delta": math.exp(-2.0)}) == pytest.approx(6.0)
    point = {"norm": 2.0, "sigma": 1.0, "delta": 2.0 * math.exp(-8.0)}
    assert gaussian_costs.epsilon_tail(point, constant=2.0) == pytest.approx(10.0)


def test_attack_accuracies() -> None:
    """Randomised response with odds e^epsilon is right with probability e^epsilon/(1 + e^epsilon)."""
    for epsilon, percent in ((2.0, 88.0797), (5.0, 99.3307)):
        assert 100.0 * float(num_i1.VERSIONS["printed"](num_i1.arb(epsilon))) == pytest.approx(percent, abs=1e-4)


def test_example_4_by_hand() -> None:
    """Q = 0, Q' = 1, o = 1/10, sigma = 1: loss 0.4 and solutions 0 and -0.8."""
    loss = exp_4.exact_loss(F(1, 10), 0, 1, F(1))
    assert loss == F(2, 5)
    assert sorted(exp_4.SOLUTIONS["printed"](F(1, 10), F(1), loss)) == [F(-4, 5), 0]


def test_theorem_5_by_hand() -> None:
    """xi = 2, epsilon = 1, delta = 2 exp(-4): 4 (32 + 4) = 144 as printed, its root 12 corrected."""
    delta = 2.0 * math.exp(-4.0)
    assert thm_5.SIGMAS["printed"](2.0, 1.0, delta) == pytest.approx(144.0)
    assert thm_5.SIGMAS["corrected"](2.0, 1.0, delta) == pytest.approx(12.0)


def test_theorem_5_critical_factor() -> None:
    """At epsilon = 10, delta = 1e-12 the critical fraction of the corrected sigma is exactly private."""
    sigma = thm_5.CRITICAL * thm_5.SIGMAS["corrected"](1.0, 10.0, 1e-12)
    assert GaussianProfile(1.0 / sigma).log_delta_at(10.0, Direction.FORWARD) == pytest.approx(
        math.log(1e-12), rel=1e-9
    )


def test_corollary_16_critical_factor() -> None:
    point = {"hessian": 1.0, "rho_max": 1.0, "epsilon": 1.0, "delta": 1e-12}
    mu = 1.0 / (math.sqrt(2.0) * cor_16.noise(point))
    assert pytest.approx(GaussianProfile(mu).epsilon_at(1e-12) / cor_16.cost(point), rel=1e-9) == cor_16.CRITICAL


@pytest.mark.parametrize("sign", [1, -1])
def test_theorem_8_product_against_float64(sign: int) -> None:
    """The rational mu_j give the log product that the mechanism's code computes in float64."""
    params = {"dim": 3, "n": 4, "sign": sign, "lambda": "1/2", "largest": "1/2"}
    case = Case(thm_8.BOUND, "test", Standing.PRINTED, params, Role.REGIME)
    mus, eigenvalues, lam = thm_8.instance(case)
    rng = np.random.Generator(np.random.PCG64DXSM([3, 4]))
    rng.integers(0, 9, 3)
    rows = rng.integers(-8, 9, (4, 3)) / 8.0
    own = np.diag([float(each) for each in eigenvalues])
    H = rows.T @ rows + float(lam) * np.eye(3) + (own if sign < 0 else 0.0)
    terms = product_form_terms(H, own, np.zeros(3), np.zeros(3), sign=float(sign), sigma=1.0)
    log_product = math.log(math.prod(1 - sign * mu for mu in mus))
    assert float(terms.log_det_term[0]) == pytest.approx(-log_product, rel=1e-12)


def test_theorem_9_exact_coverage() -> None:
    """d = 1, rho = 2 exp(-1/2): the root is 1, so the coverage is erf(1/sqrt 2); d = 2 squares it at its own root."""
    assert thm_9.exact_coverage(1, 2.0 * math.exp(-0.5), 1.0).value == pytest.approx(math.erf(math.sqrt(0.5)))
    assert thm_9.exact_coverage(2, 4.0 * math.exp(-0.5), 1.0).value == pytest.approx(math.erf(math.sqrt(0.5)) ** 2)


def test_theorem_13_chains_by_hand() -> None:
    """At tau sigma_3 = beta = 1, lambda_min = 2: p1's left side is 4.5 against 4, p2's is 6 against 4."""
    half = F(1, 2)
    for part, printed in ((thm_13.ADDED, F(-1, 2)), (thm_13.REMOVED, F(-2))):
        assert thm_13._slack(part, thm_13.CONSTANTS[part, "printed"], half, half) == printed
        assert thm_13._slack(part, thm_13.CONSTANTS[part, "corrected"], half, half) == 0

"""How much normal noise a budget needs: against the textbook formula and dp-accounting."""

import math

import dp_accounting
import numpy as np
import pytest
from oracles.verify import w18_small as oracle

from mechanisms import GaussianProfile
from mechanisms.laws.gaussian_calibration import (
    analytic_mu,
    analytic_sigma,
    classical_sigma,
    gaussian_epsilons,
    upper_quantile,
)

BUDGETS = [(e, d) for e in (0.0, 0.01, 0.5, 1.0, 8.0) for d in (1e-12, 1e-6, 1e-3, 0.3)]


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_analytic_mu_solves_its_equation_from_the_safe_side(epsilon, delta):
    mu = analytic_mu(epsilon, delta)
    # the textbook formula cancels at small deltas: 1e-13 absolute
    assert oracle.gaussian_delta(mu, epsilon) == pytest.approx(delta, rel=1e-7, abs=1e-13)
    profile = GaussianProfile(mu)
    assert profile.delta_at(epsilon) <= delta * (1 + 1e-14)
    assert GaussianProfile(mu * (1 + 1e-9)).delta_at(epsilon) > delta


@pytest.mark.parametrize(("epsilon", "delta"), [(e, d) for e, d in BUDGETS if e > 0])
def test_analytic_sigma_agrees_with_dp_accounting(epsilon, delta):
    theirs = dp_accounting.get_sigma_gaussian(epsilon, delta)  # bisection to 1e-12 relative
    assert analytic_sigma(1.0, epsilon, delta) == pytest.approx(theirs, rel=1e-6)
    assert analytic_sigma(3.0, epsilon, delta) == pytest.approx(3 * analytic_sigma(1.0, epsilon, delta), rel=1e-14)


def test_known_answers():
    """(1, 1e-5): 4.845 classical and 3.7306 analytic, as measured with diffprivlib; the classical form fails at 10."""
    assert classical_sigma(1.0, 1.0, 1e-5) == pytest.approx(4.8448, abs=1e-4)
    assert analytic_sigma(1.0, 1.0, 1e-5) == pytest.approx(3.7306, abs=1e-4)
    assert GaussianProfile(1 / classical_sigma(1.0, 10.0, 0.1)).delta_at(10.0) == pytest.approx(0.406, abs=5e-4)
    assert upper_quantile(0.025) == pytest.approx(1.959963984540054, rel=1e-14)


def test_all_epsilons_at_once_equal_one_at_a_time():
    mu = np.concatenate([[0.0], np.geomspace(1e-6, 20, 30)])
    for delta in (1e-9, 1e-5, 0.2):
        slow = [GaussianProfile(m).epsilon_at(delta) for m in mu]
        np.testing.assert_allclose(gaussian_epsilons(mu, delta), slow, rtol=1e-10, atol=1e-13)


def test_bad_input_is_refused():
    for call, rule in (
        (lambda: analytic_mu(-1.0, 1e-5), "epsilon"),
        (lambda: analytic_mu(1.0, 0.0), "delta"),
        (lambda: analytic_sigma(0.0, 1.0, 1e-5), "sensitivity"),
        (lambda: analytic_sigma(math.inf, 1.0, 1e-5), "sensitivity"),
        (lambda: classical_sigma(1.0, 0.0, 1e-5), "epsilon"),
        (lambda: gaussian_epsilons([1.0], math.nan), "delta"),
        (lambda: upper_quantile(1.0), "failure_prob"),
    ):
        with pytest.raises(ValueError, match=f"{rule} must be"):
            call()

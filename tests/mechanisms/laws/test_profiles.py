"""The exact Gaussian profile against its definition, its limits, its proved brackets and its laws."""

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.mechanisms.profiles import gaussian_log_delta as by_definition
from oracles.mechanisms.profiles import gaussian_log_delta_balls as by_balls

from mechanisms import GaussianProfile
from mechanisms.base import BOTH, Direction, PrivacyProfile
from mechanisms.laws.gaussian_profile import gaussian_log_delta
from mechanisms.laws.profile_tools import epsilon_bracket
from mechanisms.numerics.balls import enclose, outward

F = Direction.FORWARD

# mu, epsilon, tolerance on log delta (absolute, i.e. relative on delta)
TABLE = [
    (1.0, 1.0, 1e-14),
    (1.0, -1.0, 1e-14),
    (0.01, 0.0, 1e-13),
    (1e-5, 1e-5, 1e-13),
    (1e-9, 3e-8, 5e-13),
    (3.0, 100.0, 1e-12),
    (20.0, 150.0, 1e-13),
    (300.0, 45_000.0, 1e-13),
    (5.0, 190.0, 1e-12),
    (1.0, 100.0, 1e-12),  # delta = exp(-4960): far below the smallest float
    (0.1, 14.0, 1e-11),  # delta = exp(-9804)
]


@pytest.mark.parametrize(("mu", "epsilon", "tolerance"), TABLE)
def test_log_delta_agrees_with_the_definition(mu: float, epsilon: float, tolerance: float) -> None:
    assert GaussianProfile(mu).log_delta_at(epsilon) == pytest.approx(by_definition(epsilon, mu), abs=tolerance)


@pytest.mark.parametrize("mu", [1e-12, 1e-6, 1e-3, 0.1, 1.0, 5.0, 60.0])
def test_log_delta_is_accurate_to_1e_12_down_to_1e_300(mu: float) -> None:
    """Standardised thresholds z of the loss from far left to the right tail at 1e-300, against 4000 bits."""
    for z in (-20.0, -3.0, -1.0, -0.1, 0.0, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 36.0):
        epsilon = mu**2 / 2 + z * mu
        assert GaussianProfile(mu).log_delta_at(epsilon) == pytest.approx(by_balls(epsilon, mu), abs=1e-12)


@pytest.mark.parametrize("direction", BOTH)
@pytest.mark.parametrize("mu", [1e-8, 0.03, 1.0, 12.0])
def test_brackets_hold_the_float_values_and_are_narrow(mu: float, direction: Direction) -> None:
    profile = GaussianProfile(mu)
    for z in (-5.0, -1.0, 0.0, 1.0, 5.0, 30.0):
        epsilon = mu**2 / 2 + z * mu
        for bracket, value in (
            (profile.delta_bracket(epsilon, direction), profile.delta_at(epsilon, direction)),
            (profile.tail_bracket(epsilon, direction), profile.tail_at(epsilon, direction)),
        ):
            assert bracket.low * (1 - 1e-12) <= value <= bracket.high * (1 + 1e-12)
            assert bracket.high - bracket.low <= 1e-12 * bracket.high


def test_brackets_of_numbers_below_the_smallest_float_are_not_empty() -> None:
    bracket = GaussianProfile(1.0).delta_bracket(100.0)
    assert 0.0 <= bracket.low <= bracket.high <= 1e-300


def test_identical_laws_lose_nothing() -> None:
    profile = GaussianProfile(0.0)
    for direction in BOTH:
        assert profile.delta_at(0.0, direction) == 0.0
        assert profile.delta_at(-1.0, direction) == pytest.approx(-math.expm1(-1.0), rel=1e-15)
        assert profile.log_delta_at(1.0, direction) == -math.inf
        assert profile.epsilon_at(0.0, direction) == 0.0
        assert (profile.tail_at(0.0, direction), profile.tail_at(-1e-9, direction)) == (0.0, 1.0)
        assert profile.delta_bracket(1.0, direction).high <= 1e-300
        below = profile.delta_bracket(-1.0, direction)
        assert below.low <= -math.expm1(-1.0) <= below.high


def test_known_values() -> None:
    # total variation of two normal laws: 2 Phi(mu/2) - 1 = 0.382924922548026 at mu = 1
    assert GaussianProfile(1.0).delta_at(0.0) == pytest.approx(0.3829249225480262, rel=1e-14)
    # analytic Gaussian mechanism, sigma = 1, sensitivity 1, delta = 1e-5: epsilon = 4.3771 (dp_accounting: 4.377)
    assert GaussianProfile(1.0).epsilon_at(1e-5) == pytest.approx(4.377, abs=1e-3)


@pytest.mark.parametrize("mu", [1e-7, 0.2, 1.0, 40.0])
@pytest.mark.parametrize("delta", [0.3, 1e-6, 1e-40, 1e-300, 5e-324])
def test_epsilon_at_is_on_the_safe_side_and_bracketed(mu: float, delta: float) -> None:
    profile = GaussianProfile(mu)
    epsilon = profile.epsilon_at(delta)
    assert profile.log_delta_at(epsilon) <= math.log(delta)
    if epsilon > 0:
        assert profile.log_delta_at(epsilon * (1 - 1e-9)) > math.log(delta)
    if delta > 1e-290:
        bracket = profile.epsilon_bracket(delta)
        assert bracket.low <= epsilon * (1 + 1e-12)
        assert epsilon * (1 - 1e-12) <= bracket.high
        assert bracket.high - bracket.low <= 1e-9 * (epsilon or 1.0)


def test_epsilon_at_limits() -> None:
    profile = GaussianProfile(1.0)
    assert profile.epsilon_at(1.0) == 0.0
    assert profile.epsilon_at(0.39) == 0.0
    assert profile.epsilon_at(0.0) == math.inf
    assert profile.epsilon_bracket(0.0).low == math.inf


def test_a_wrong_epsilon_is_not_bracketed() -> None:
    profile = GaussianProfile(1.0)
    wrong = profile.epsilon_at(1e-6) * 1.01
    with pytest.raises(ArithmeticError, match="must solve"):
        epsilon_bracket(profile.delta_bracket, 1e-6, wrong)


@settings(max_examples=60, deadline=None)
@given(mu=st.floats(1e-6, 30), start=st.floats(-3, 3), step=st.floats(1e-3, 2))
def test_delta_is_non_increasing_and_convex_in_exp_epsilon(mu: float, start: float, step: float) -> None:
    """Hockey-stick divergences are; checked at three points of e^epsilon, up to rounding of the values."""
    profile = GaussianProfile(mu)
    points = np.exp(start) * (1 + step * np.arange(3))
    low, mid, high = (profile.delta_at(math.log(point)) for point in points)
    assert low >= mid >= high
    assert mid <= 0.5 * (low + high) * (1 + 1e-11) + 1e-15


@settings(max_examples=60, deadline=None)
@given(mu=st.floats(1e-3, 20), z=st.floats(-6, 6))
def test_change_of_measure(mu: float, z: float) -> None:
    """P_{D'}(L > t) = E_D[e^{-L}; L > t], through the profile: delta = P(L > t) - e^t P'(L > t).

    Under D' the loss L is normal with mean -mu^2/2, so P'(L > t) is the tail at t + mu^2.
    """
    profile, t = GaussianProfile(mu), mu**2 / 2 + z * mu
    other = math.exp(t + profile.log_tail_at(t + mu**2))
    assert profile.delta_at(t) == pytest.approx(profile.tail_at(t) - other, rel=1e-9, abs=1e-12)


def test_delta_never_exceeds_the_tail() -> None:
    profile = GaussianProfile(0.7)
    for epsilon in np.linspace(0, 8, 33):
        assert profile.delta_at(epsilon) < profile.tail_at(epsilon)


def test_vectorised_twin() -> None:
    epsilon, mu = np.array([[-1.0], [0.0], [2.0]]), np.array([0.0, 1e-9, 0.5, 4.0])
    table = gaussian_log_delta(epsilon, mu)
    assert table.shape == (3, 4)
    for i in range(3):
        for j in range(4):
            assert table[i, j] == GaussianProfile(mu[j]).log_delta_at(epsilon[i, 0])


def test_extreme_arguments_stay_finite_numbers() -> None:
    assert GaussianProfile(1e-300).log_delta_at(1.0) == -math.inf
    assert GaussianProfile(1e-300).log_delta_at(-1.0) == pytest.approx(math.log(-math.expm1(-1.0)))
    assert GaussianProfile(1e6).log_delta_at(1.0) == 0.0
    assert GaussianProfile(1.0).log_delta_at(math.inf) == -math.inf
    for mu in (0.0, 1.0):
        assert (
            GaussianProfile(mu).delta_bracket(math.inf).high == 0.0 == GaussianProfile(mu).tail_bracket(math.inf).high
        )
        assert GaussianProfile(mu).delta_bracket(-math.inf).low == 1.0


@pytest.mark.parametrize("mu", [-1.0, math.nan, math.inf])
def test_bad_mu(mu: float) -> None:
    with pytest.raises(ValueError, match="mu must be finite and at least 0"):
        GaussianProfile(mu)
    with pytest.raises(ValueError, match="mu must be finite and at least 0"):
        gaussian_log_delta(0.0, mu)


def test_bad_epsilon_and_delta() -> None:
    with pytest.raises(ValueError, match="epsilon must be a number"):
        gaussian_log_delta(math.nan, 1.0)
    with pytest.raises(ValueError, match=r"delta must be in \[0, 1\]"):
        GaussianProfile(1.0).epsilon_at(1.5)


def test_it_is_a_privacy_profile() -> None:
    assert isinstance(GaussianProfile(1.0), PrivacyProfile)


def test_enclosures_are_outward_and_a_hopeless_one_is_refused() -> None:
    third = enclose(lambda: arb(1) / 3)
    assert third.low < third.high
    assert Fraction(third.low) * 3 < 1 < Fraction(third.high) * 3
    assert outward(arb(0.5)).low == 0.5 == outward(arb(0.5)).high
    with pytest.raises(ArithmeticError, match="must"):
        enclose(lambda: arb(1) / arb(0))


def test_a_cancelling_formula_is_caught() -> None:
    """The textbook difference of two ndtr values is wrong in the tail, and the bracket shows it (a mutant of ours)."""
    from scipy.special import ndtr

    mu, epsilon = 1e-6, 5e-6
    naive = ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu)
    bracket = GaussianProfile(mu).delta_bracket(epsilon)
    assert not bracket.low * (1 - 1e-10) <= naive <= bracket.high * (1 + 1e-10)

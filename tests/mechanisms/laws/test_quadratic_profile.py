"""The exact profile of one-posterior sampling against its definition, its proved brackets and its laws."""

import math

import mpmath as mp
import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.mechanisms.profiles import quadratic_delta as by_definition
from rows import for_each

from mechanisms.base import BOTH, Direction, PrivacyProfile
from mechanisms.laws.profile_tools import SwappedProfile
from mechanisms.laws.quadratic_profile import QuadraticProfile, quadratic_balls, quadratic_log_delta, quadratic_log_tail
from mechanisms.records.record_laws import ops_epsilon

F, B = Direction.FORWARD, Direction.BACKWARD

# epsilon, leverage, scaled residual, relative tolerance on delta
TABLE = [
    (0.3, 0.5, 1.0, 1e-13),
    (0.2, 0.01, 3.0, 1e-13),
    (0.2, 5.0, 0.1, 1e-13),
    (3.0, 1.0, 20.0, 1e-13),
    (-0.4, 0.7, 0.5, 1e-13),
    (0.0, 1e-6, 1.0, 1e-12),
    (0.005, 1e-6, 1.0, 1e-12),
    (0.1, 1e-3, 0.0, 1e-12),
    (0.01, 1e-3, -2.0, 1e-12),
    (30.0, 0.5, 2.0, 1e-12),
    (0.3, 40.0, 0.0, 1e-13),
]


@pytest.mark.parametrize("direction", BOTH)
@pytest.mark.parametrize(("epsilon", "leverage", "residual", "tolerance"), TABLE)
def test_delta_agrees_with_the_definition(
    epsilon: float, leverage: float, residual: float, tolerance: float, direction: Direction
) -> None:
    profile = QuadraticProfile(leverage, residual)
    expected = by_definition(epsilon, leverage, residual, backward=direction is B)
    assert profile.delta_at(epsilon, direction) == pytest.approx(expected, rel=tolerance, abs=1e-320)
    bracket = profile.delta_bracket(epsilon, direction)
    assert bracket.low * (1 - 1e-13) <= expected <= bracket.high * (1 + 1e-13) + 1e-310


def moments(leverage: float, residual: float, direction: Direction) -> tuple[float, float]:
    """Mean and standard deviation of the loss: those of a quadratic in a normal variable."""
    after = direction is B
    mean = residual / (1 + leverage) if after else residual
    variance = leverage / (1 + leverage) if after else leverage
    constant = -0.5 * (math.log1p(leverage) + residual**2 / (1 + leverage))
    sign = -1 if after else 1
    return sign * (constant + 0.5 * (mean**2 + variance)), math.sqrt(mean**2 * variance + variance**2 / 2)


def exact_logs(epsilon: float, leverage: float, residual: float, direction: Direction) -> tuple[float, float]:
    for bits in (256, 2048, 16384):
        with ctx.workprec(bits):
            parts = quadratic_balls(arb(epsilon), arb(leverage), arb(residual), direction)
            if all(part > 0 and part.rel_accuracy_bits() > 60 for part in parts):
                return float(parts[0].log()), float(parts[1].log())
    raise AssertionError("16384 bits must be enough here")


@for_each("direction", BOTH)
@for_each("leverage", [1e-12, 1e-8, 1e-5, 1e-2, 1.0, 1e3])
def test_logs_are_accurate_to_1e_12_down_to_1e_300(leverage: float, direction: Direction) -> None:
    for residual in (0.0, 1e-3, 0.1, 1.0, 10.0, 100.0):
        profile = QuadraticProfile(leverage, residual)
        mean, deviation = moments(leverage, residual, direction)
        for z in (-8.0, -1.0, -0.1, 0.0, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 36.0):
            epsilon = mean + z * deviation
            if epsilon > 0.999 * profile.largest_loss(direction) or epsilon < -0.999 * profile.largest_loss(B):
                continue
            log_delta, log_tail = exact_logs(epsilon, leverage, residual, direction)
            assert profile.log_delta_at(epsilon, direction) == pytest.approx(log_delta, abs=1e-12, rel=1e-15)
            assert profile.log_tail_at(epsilon, direction) == pytest.approx(log_tail, abs=1e-12, rel=1e-15)


@for_each("direction", BOTH)
def test_brackets_are_narrow_and_hold_the_float_values(direction: Direction) -> None:
    for leverage, residual in ((1e-6, 0.3), (0.02, 1.0), (0.9, 4.0), (30.0, 0.0)):
        profile = QuadraticProfile(leverage, residual)
        mean, deviation = moments(leverage, residual, direction)
        for z in (-3.0, 0.0, 1.0, 6.0):
            epsilon = mean + z * deviation
            for bracket, value in (
                (profile.delta_bracket(epsilon, direction), profile.delta_at(epsilon, direction)),
                (profile.tail_bracket(epsilon, direction), profile.tail_at(epsilon, direction)),
            ):
                assert bracket.low * (1 - 1e-11) <= value <= bracket.high * (1 + 1e-11)
                assert bracket.high - bracket.low <= 1e-12 * bracket.high


def test_far_below_the_smallest_float() -> None:
    profile = QuadraticProfile(0.01, 1.0)
    log_delta, log_tail = exact_logs(90.0, 0.01, 1.0, F)
    assert log_delta < -7000
    assert profile.log_delta_at(90.0, F) == pytest.approx(log_delta, rel=1e-14)
    assert profile.log_tail_at(90.0, F) == pytest.approx(log_tail, rel=1e-14)


def test_the_backward_loss_is_bounded() -> None:
    profile = QuadraticProfile(0.5, 2.0)
    largest = profile.largest_loss(B)
    assert largest == pytest.approx(0.5 * math.log(1.5) + 0.5 * 4 / 1.5)
    assert profile.epsilon_at(0.0, B) == largest
    assert profile.epsilon_at(0.0, F) == math.inf == profile.largest_loss(F)
    above = math.nextafter(largest, math.inf) + 1e-15
    assert profile.delta_at(above, B) == 0.0 == profile.tail_at(above, B)
    assert profile.delta_bracket(above, B).high == 0.0
    assert profile.delta_at(0.9 * largest, B) > 0.0
    # the forward loss is bounded below by the same number
    assert profile.tail_at(-above, F) == 1.0
    assert profile.tail_bracket(-above, F).low == 1.0
    assert profile.delta_at(-above, F) == pytest.approx(-math.expm1(-above), rel=1e-15)


def test_tiny_delta_close_to_the_largest_loss() -> None:
    """Delta falls like the 3/2 power of the distance to the largest loss; ill-conditioned there, but never negative."""
    profile = QuadraticProfile(0.5, 2.0)
    largest = profile.largest_loss(B)
    for distance in (1e-2, 1e-5, 1e-8):
        expected = exact_logs(largest - distance, 0.5, 2.0, B)[0]
        assert profile.log_delta_at(largest - distance, B) == pytest.approx(expected, abs=1e-15 / distance * 4 + 1e-12)
    ratio = profile.log_delta_at(largest - 1e-4, B) - profile.log_delta_at(largest - 1e-6, B)
    assert ratio == pytest.approx(1.5 * math.log(100), rel=1e-3)


def digits(epsilon: float, leverage: float, residual: float) -> mp.mpf:
    """Delta with the record to 150 digits: P'(|W| < w) - e^epsilon P(|W| < w)."""
    with mp.workdps(150):
        mu, a, e = mp.mpf(leverage), abs(mp.mpf(residual)), mp.mpf(epsilon)
        square = mp.log(1 + mu) + a**2 / (1 + mu) - 2 * e
        if square <= 0:
            return mp.mpf(0)
        laws = [(a / (1 + mu), mp.sqrt(mu / (1 + mu))), (a, mp.sqrt(mu))]
        w = mp.sqrt(square)
        after, before = (mp.ncdf((w - m) / s) - mp.ncdf((-w - m) / s) for m, s in laws)
        return after - mp.exp(e) * before


NEXT_TO_LARGEST = [(6.4e-9, 9.7e-4), (1e-3, 0.0), (0.5, 2.0), (40.0, 0.3), (1e-10, 1e-4)]


@for_each(("leverage", "residual"), NEXT_TO_LARGEST)
def test_next_to_the_largest_loss_delta_is_right_and_not_zero(leverage: float, residual: float) -> None:
    profile = QuadraticProfile(leverage, residual)
    largest = profile.largest_loss(B)
    assert profile.delta_at(largest, B) == digits(largest, leverage, residual) == 0
    assert digits(largest * (1 - 5e-16), leverage, residual) > 0  # rounded upwards by no more
    lost = 0
    for ulps in (1, 2, 3, 5, 10, 100, 10**4, 10**8):
        epsilon = largest - ulps * math.ulp(largest)
        truth = digits(epsilon, leverage, residual)
        assert profile.delta_at(epsilon, B) == pytest.approx(float(truth), rel=1e-11)
        many = math.exp(float(quadratic_log_delta(epsilon, leverage, residual, B)))
        lost += abs(many - truth) > 0.01 * truth
        distance = 1 - epsilon / largest  # many at once: as good as is said
        assert abs(many - truth) <= (math.expm1(min(5e-15 / distance, 40.0)) + 1e-12) * truth
    assert lost > 0  # which is why one profile is not asked in that way


@pytest.mark.parametrize(("leverage", "residual"), [*NEXT_TO_LARGEST, (0.3, 2.0), (50.0, 10.0)])
@for_each("delta", [0.0, 1e-120, 1e-70, 1e-22, 1e-6])
def test_epsilon_with_the_record_is_on_the_safe_side(leverage: float, residual: float, delta: float) -> None:
    profile = QuadraticProfile(leverage, residual)
    epsilon = profile.epsilon_at(delta, B)
    many = float(ops_epsilon([leverage], [residual], delta, B)[0])
    assert digits(epsilon, leverage, residual) <= delta
    assert digits(many, leverage, residual) <= delta * (1 + 1e-11)
    assert many == pytest.approx(epsilon, rel=1e-9)
    assert epsilon == 0 or digits(epsilon * (1 - 1e-12), leverage, residual) > delta


def test_one_unit_below_is_not_on_the_safe_side() -> None:
    profile, at = QuadraticProfile(0.3, 2.0), 1e-100
    below = math.nextafter(profile.epsilon_at(at, B), 0.0)
    assert digits(below, 0.3, 2.0) > at
    assert profile.log_delta_at(below, B) > math.log(at)


@for_each("direction", BOTH)
@for_each("delta", [0.2, 1e-6, 1e-30, 1e-290])
@for_each(("leverage", "residual"), [(1e-8, 1.0), (1e-3, 0.0), (0.3, 2.0), (50.0, 10.0)])
def test_epsilon_at_is_safe_and_bracketed(leverage: float, residual: float, delta: float, direction: Direction) -> None:
    profile = QuadraticProfile(leverage, residual)
    epsilon = profile.epsilon_at(delta, direction)
    assert profile.log_delta_at(epsilon, direction) <= math.log(delta)
    assert epsilon <= profile.largest_loss(direction)
    bracket = profile.epsilon_bracket(delta, direction)
    assert bracket.low <= epsilon <= bracket.high
    assert bracket.high - bracket.low <= 1e-9 * (epsilon or 1.0)


@settings(max_examples=80, deadline=None)
@given(
    leverage=st.floats(1e-6, 100),
    residual=st.floats(-10, 10),
    start=st.floats(-4, 4),
    step=st.floats(1e-3, 2),
    direction=st.sampled_from(BOTH),
)
def test_delta_is_non_increasing_and_convex_in_exp_epsilon(
    leverage: float, residual: float, start: float, step: float, direction: Direction
) -> None:
    profile = QuadraticProfile(leverage, residual)
    points = np.exp(start) * (1 + step * np.arange(3))
    low, mid, high = (profile.delta_at(math.log(point), direction) for point in points)
    assert low >= mid >= high
    assert mid <= 0.5 * (low + high) * (1 + 1e-11) + 1e-15


@settings(max_examples=80, deadline=None)
@given(leverage=st.floats(1e-6, 100), residual=st.floats(-10, 10), t=st.floats(-5, 5), direction=st.sampled_from(BOTH))
def test_change_of_measure(leverage: float, residual: float, t: float, direction: Direction) -> None:
    """P_{D'}(L > t) = E_D[e^{-L}; L > t]; with delta = E[(1 - e^{t - L})_+] this is delta = P(L > t) - e^t P'(L > t).

    P'(L > t) = 1 - P'(-L > -t), and -L is the loss of the opposite direction (no atoms).
    """
    profile = QuadraticProfile(leverage, residual)
    other = 1.0 - profile.tail_at(-t, direction.opposite)
    expected = profile.tail_at(t, direction) - math.exp(t) * other
    assert profile.delta_at(t, direction) == pytest.approx(expected, abs=1e-12 * max(1.0, math.exp(t)))


@settings(max_examples=40, deadline=None)
@given(leverage=st.floats(1e-6, 100), residual=st.floats(-10, 10), epsilon=st.floats(-3, 3))
def test_the_sign_of_the_residual_does_not_matter(leverage: float, residual: float, epsilon: float) -> None:
    for direction in BOTH:
        one, two = QuadraticProfile(leverage, residual), QuadraticProfile(leverage, -residual)
        assert one.delta_at(epsilon, direction) == two.delta_at(epsilon, direction)


def test_zero_leverage_loses_nothing() -> None:
    profile = QuadraticProfile(0.0, 3.0)
    for direction in BOTH:
        assert profile.delta_at(0.0, direction) == 0.0
        assert profile.epsilon_at(0.0, direction) == 0.0 == profile.largest_loss(direction)
        assert profile.delta_at(-0.5, direction) == pytest.approx(-math.expm1(-0.5), rel=1e-15)
        assert (profile.tail_at(0.0, direction), profile.tail_at(-0.1, direction)) == (0.0, 1.0)
        assert profile.delta_bracket(0.5, direction).high <= 1e-300
        assert profile.tail_bracket(0.5, direction).high == 0.0


def test_infinite_epsilon() -> None:
    for leverage in (0.0, 0.5):
        profile = QuadraticProfile(leverage, 1.0)
        for direction in BOTH:
            assert (profile.delta_at(math.inf, direction), profile.delta_at(-math.inf, direction)) == (0.0, 1.0)
            for bracket in (profile.delta_bracket, profile.tail_bracket):
                assert bracket(math.inf, direction).high == 0.0
                assert bracket(-math.inf, direction).low == 1.0


def test_small_leverage_tends_to_the_gaussian_law() -> None:
    """With leverage 1e-12 the loss is normal with variance a^2 leverage, up to terms of order leverage."""
    from mechanisms import GaussianProfile

    quadratic, normal = QuadraticProfile(1e-12, 1.0), GaussianProfile(1e-6)
    for direction in BOTH:
        assert quadratic.delta_at(2e-6, direction) == pytest.approx(normal.delta_at(2e-6), rel=1e-4)


def test_vectorised_and_scalar_agree() -> None:
    epsilon = np.array([[-1.0], [0.0], [0.4], [3.0]])
    leverage, residual = np.array([0.0, 1e-9, 0.5, 4.0]), np.array([1.0, -1.0, 0.0, 3.0])
    for direction in BOTH:
        deltas = quadratic_log_delta(epsilon, leverage, residual, direction)
        tails = quadratic_log_tail(epsilon, leverage, residual, direction)
        assert deltas.shape == tails.shape == (4, 4)
        for i in range(4):
            for j in range(4):
                profile = QuadraticProfile(leverage[j], residual[j])
                assert deltas[i, j] == profile.log_delta_at(epsilon[i, 0], direction)
                assert tails[i, j] == profile.log_tail_at(epsilon[i, 0], direction)


def test_swapped_profile_exchanges_directions() -> None:
    inner = QuadraticProfile(0.4, 1.5)
    swapped = SwappedProfile(inner)
    assert isinstance(swapped, PrivacyProfile)
    for direction in BOTH:
        other = direction.opposite
        assert other is not direction
        assert swapped.delta_at(0.2, direction) == inner.delta_at(0.2, other)
        assert swapped.log_delta_at(0.2, direction) == inner.log_delta_at(0.2, other)
        assert swapped.epsilon_at(1e-3, direction) == inner.epsilon_at(1e-3, other)
        assert swapped.tail_at(0.2, direction) == inner.tail_at(0.2, other)
        assert swapped.delta_bracket(0.2, direction) == inner.delta_bracket(0.2, other)
        assert swapped.tail_bracket(0.2, direction) == inner.tail_bracket(0.2, other)
        assert swapped.epsilon_bracket(1e-3, direction) == inner.epsilon_bracket(1e-3, other)


@for_each(("leverage", "residual"), [(-1e-9, 0.0), (math.nan, 0.0), (1.0, math.inf), (math.inf, 1.0)])
def test_bad_parameters(leverage: float, residual: float) -> None:
    with pytest.raises(ValueError, match="must be finite"):
        QuadraticProfile(leverage, residual)
    with pytest.raises(ValueError, match="leverage must be finite"):
        quadratic_log_delta(0.0, leverage, residual, F)


def test_monte_carlo_tail_lies_in_the_dkw_band() -> None:
    """Null: the loss has the stated law. 200,000 draws, level 1e-7 by Dvoretzky-Kiefer-Wolfowitz-Massart, each way."""
    n_draws, leverage, residual = 200_000, 0.6, -1.2
    band = math.sqrt(math.log(2 / 1e-7) / (2 * n_draws))
    rng = np.random.default_rng(20190)
    for direction in BOTH:
        after = direction is B
        mean = residual / (1 + leverage) if after else residual
        spread = math.sqrt(leverage / (1 + leverage) if after else leverage)
        w = mean + spread * rng.standard_normal(n_draws)
        loss = -0.5 * (math.log1p(leverage) + residual**2 / (1 + leverage)) + 0.5 * w**2
        loss = np.sort(-loss if after else loss)
        exact = np.exp(quadratic_log_tail(loss, leverage, residual, direction))
        empirical = 1 - np.arange(1, n_draws + 1) / n_draws
        assert np.abs(exact - empirical).max() <= band + 1 / n_draws
        # the same band refutes the law of a target with a leverage 5 % larger
        wrong = np.exp(quadratic_log_tail(loss, 1.05 * leverage, residual, direction))
        assert np.abs(wrong - empirical).max() > band + 1 / n_draws

"""The exact Gaussian profile against its definition, its limits, its proved brackets and its laws."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import dp_accounting
import numpy as np
import pytest
from flint import acb, arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.mechanisms.profiles import gaussian_log_delta as by_definition
from oracles.mechanisms.profiles import gaussian_log_delta_balls as by_balls
from oracles.toy_mechanisms import LaplaceSum, toy_pair
from oracles.verify import w18_small as oracle
from rows import for_each

from audits import Budget, StreamKey, audit_tails, exact_delta, exact_epsilon
from mechanisms import (
    BOTH,
    Dataset,
    Direction,
    GaussianOutput,
    GaussianProfile,
    LaplaceProfile,
    NeighbouringPair,
    PosteriorSampling,
)
from mechanisms.base import PrivacyProfile
from mechanisms.catalogue import example_data, example_pair
from mechanisms.data.neighbours import UnsupportedRelation
from mechanisms.laws.gaussian_calibration import (
    analytic_mu,
    analytic_sigma,
    classical_sigma,
    gaussian_epsilons,
    upper_quantile,
)
from mechanisms.laws.gaussian_profile import gaussian_balls, gaussian_log_delta, laplace_product_delta
from mechanisms.laws.profile_tools import DataProfile, epsilon_bracket, proved_profile
from mechanisms.laws.quadratic_profile import quadratic_balls
from mechanisms.linear.ridge import PlainMap, RidgeMap
from mechanisms.linear.sufficient_statistics import SufficientStatistics
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


@for_each("mu", [1e-12, 1e-6, 1e-3, 0.1, 1.0, 5.0, 60.0])
def test_log_delta_is_accurate_to_1e_12_down_to_1e_300(mu: float) -> None:
    """Standardised thresholds z of the loss from far left to the right tail at 1e-300, against 4000 bits."""
    for z in (-20.0, -3.0, -1.0, -0.1, 0.0, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 36.0):
        epsilon = mu**2 / 2 + z * mu
        assert GaussianProfile(mu).log_delta_at(epsilon) == pytest.approx(by_balls(epsilon, mu), abs=1e-12)


@for_each("direction", BOTH)
@for_each("mu", [1e-8, 0.03, 1.0, 12.0])
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


@for_each("mu", [1e-7, 0.2, 1.0, 40.0])
@for_each("delta", [0.3, 1e-6, 1e-40, 1e-300, 5e-324])
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


@for_each("mu", [-1.0, math.nan, math.inf])
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


BUDGETS = [(e, d) for e in (0.0, 0.01, 0.5, 1.0, 8.0) for d in (1e-12, 1e-6, 1e-3, 0.3)]


@for_each(("epsilon", "delta"), BUDGETS)
def test_analytic_mu_solves_its_equation_from_the_safe_side(epsilon, delta):
    mu = analytic_mu(epsilon, delta)
    # the textbook formula cancels at small deltas: 1e-13 absolute
    assert oracle.gaussian_delta(mu, epsilon) == pytest.approx(delta, rel=1e-7, abs=1e-13)
    profile = GaussianProfile(mu)
    assert profile.delta_at(epsilon) <= delta * (1 + 1e-14)
    assert GaussianProfile(mu * (1 + 1e-9)).delta_at(epsilon) > delta


@for_each(("epsilon", "delta"), [(e, d) for e, d in BUDGETS if e > 0])
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


SIZES = (1e-9, 0.3, 1.0, 2.0, 40.0)


def laplace_by_definition(epsilon: float, size: float) -> tuple[float, float]:
    """Integrate ``(p - e^epsilon q)_+`` and ``p`` where it is positive; p at 0, q at ``size``, both of scale 1.

    Left of 0 and right of ``size`` the density ratio is constant, in between it falls from e^size to e^-size.
    """
    with ctx.workprec(200):
        s, e = arb(size), arb(epsilon)
        edge = size if epsilon <= -size else 0.0 if epsilon >= size else None
        cut = (s - e) / 2 if edge is None else arb(edge)

        def inside(o, _):
            return (-o).exp() / 2 - e.exp() * (o - s).exp() / 2

        def mass(o, _):
            return (-o).exp() / 2

        delta = acb.integral(inside, arb(0), cut).real
        tail = acb.integral(mass, arb(0), cut).real
        if epsilon < size:  # all of the left side: p = e^o/2, q = e^(o - s)/2
            delta += arb("0.5") * (1 - (e - s).exp())
            tail += arb("0.5")
        if epsilon < -size:
            delta += (-s).exp() / 2 - e.exp() / 2
            tail += (-s).exp() / 2
        return float(delta), float(tail)


@for_each("size", SIZES)
@for_each("share", [-1.5, -0.999, -0.5, 0.0, 0.3, 0.9, 1.5])
def test_profile_agrees_with_the_definition_in_both_directions(size: float, share: float) -> None:
    profile, epsilon = LaplaceProfile(size), share * size
    delta, tail = laplace_by_definition(epsilon, size)
    for direction in BOTH:
        assert profile.delta_at(epsilon, direction) == pytest.approx(delta, rel=1e-12, abs=1e-300)
        assert profile.tail_at(epsilon, direction) == pytest.approx(tail, rel=1e-12)
        for bracket, value in (
            (profile.delta_bracket(epsilon, direction), delta),
            (profile.tail_bracket(epsilon, direction), tail),
        ):
            assert bracket.low * (1 - 1e-14) <= value <= bracket.high * (1 + 1e-14)
            assert bracket.high - bracket.low <= 1e-15 * bracket.high


def test_it_is_a_profile() -> None:
    assert isinstance(LaplaceProfile(1.0), PrivacyProfile)


def test_equality_is_proved_and_not_rounded() -> None:
    """(s, 0)-private with equality: delta(s) is exactly 0, and positive one float below."""
    for size in SIZES:
        profile = LaplaceProfile(size)
        assert profile.delta_bracket(size) == profile.tail_bracket(size)
        assert profile.delta_bracket(size).high == 0.0
        assert profile.delta_bracket(math.nextafter(size, 0.0)).low > 0.0
        assert profile.epsilon_at(0.0) == size
        bracket = profile.epsilon_bracket(0.0)
        assert bracket.low <= size <= bracket.high <= size * (1 + 1e-12)


def test_limits() -> None:
    same = LaplaceProfile(0.0)
    assert (same.delta_at(0.0), same.tail_at(0.0), same.tail_at(-1e-9)) == (0.0, 0.0, 1.0)
    assert same.delta_bracket(-1.0).low == pytest.approx(-math.expm1(-1.0), rel=1e-15)
    profile = LaplaceProfile(1.0)
    assert profile.log_delta_at(1.0) == -math.inf
    assert profile.delta_bracket(math.inf).high == 0.0
    assert profile.delta_bracket(-math.inf).low == 1.0
    assert profile.epsilon_at(1.0) == 0.0
    with pytest.raises(ValueError, match="size must be finite"):
        LaplaceProfile(-1.0)


@for_each("delta", [1e-12, 1e-3, 0.2, 0.9])
def test_epsilon_at_is_on_the_safe_side_and_bracketed_between_laplace_laws(delta: float) -> None:
    profile = LaplaceProfile(2.0)
    epsilon = profile.epsilon_at(delta)
    assert profile.delta_at(epsilon) <= delta
    bracket = profile.epsilon_bracket(delta)
    assert bracket.low <= epsilon <= bracket.high
    assert bracket.high - bracket.low <= 1e-10


def test_a_wrong_epsilon_is_not_bracketed_even_where_delta_is_flat() -> None:
    """Mutant: beyond the largest loss delta is 0 everywhere, so "at least delta" alone would prove any guess."""
    profile = LaplaceProfile(1.0)
    for wrong in (5.0, 1.01, 0.99):
        with pytest.raises(ArithmeticError, match="must solve"):
            epsilon_bracket(profile.delta_bracket, 0.0, wrong)


def test_draws_agree_with_the_profile() -> None:
    """Null: every interval holds the exact value. Level 1e-7, 2e4 draws, atoms included."""
    audit = audit_tails(LaplaceSum(0.5), toy_pair(), [0.0, 1.0, 1.9], Budget(20_000, 1e-7, StreamKey(5)))
    profile = LaplaceProfile(2.0)
    for point in audit.points:
        assert point.delta.low <= profile.delta_at(point.epsilon, point.direction) <= point.delta.high
        assert point.tail.low <= profile.tail_at(point.epsilon, point.direction) <= point.tail.high
    wrong = exact_delta(LaplaceProfile(2.2), 1.0)  # a mutant 10 % off
    assert not audit.delta(1.0).low <= wrong.value <= audit.delta(1.0).high


def test_epsilons_are_plain_floats() -> None:
    assert type(LaplaceProfile(np.float64(1.0)).size) is float


def test_independent_pairs_together() -> None:
    """The bound for one pair is above its exact law; for two it is above a sum over cells, and not far."""
    for epsilon in (0.1, 0.4, 0.9):
        exact = LaplaceProfile(1.0).delta_at(epsilon)
        assert exact <= laplace_product_delta(1.0, 1, epsilon) <= 1.1 * exact + 0.05
    edges = np.linspace(-12.0, 13.0, 1501)
    middle, width = 0.5 * (edges[1:] + edges[:-1]), edges[1] - edges[0]
    p, q = (0.5 * np.exp(-np.abs(middle - shift)) * width for shift in (0.0, 1.0))
    joint, other = np.outer(p, p), np.outer(q, q)
    for epsilon in (0.2, 1.0, 1.8):
        exact = float(np.maximum(joint - np.exp(epsilon) * other, 0.0).sum())
        assert exact <= laplace_product_delta(1.0, 2, epsilon) * (1 + 1e-2)
        assert laplace_product_delta(0.8, 2, epsilon) < max(exact * 1.5, 0.05) + 0.1
    assert laplace_product_delta(0.01, 100, 0.9) < 1e-9  # pure 1.0 by composition


METRIC = np.array([[2.0, 0.5], [0.5, 1.0]])
MECHANISMS = {
    "posterior": PosteriorSampling(3.0, 1.0),
    "Gaussian": GaussianOutput(METRIC, 30.0, RidgeMap(1.0)),
    "SSP": SufficientStatistics(1.2, 0.9, lam=0.5),
}
#: The target, the others alike: leverages of nearly singular designs are where float64 loses digits.
THIN = Dataset(np.column_stack([np.full(6, 0.7), 0.7 + 1e-5 * np.arange(6)]), 0.1 * np.arange(6), 2.0, 1.0)


def ball(value: Fraction):
    return arb(fmpq(value.numerator, value.denominator))


def in_rationals(name: str, pair: NeighbouringPair, epsilon: float, direction: Direction) -> float:
    """Cramer's rule over the exact rationals that the floats of the data are, then 400 bits."""
    rest = pair.first if pair.relation.name == "ADD" else pair.second
    rows = [[Fraction(v) for v in row] for row in rest.X.tolist()]
    y = [Fraction(v) for v in rest.y.tolist()]
    x, target = [Fraction(v) for v in pair.x.tolist()], Fraction(pair.y)
    with ctx.workprec(400):
        if name == "SSP":
            gram = sum(x[i] ** 2 * x[j] ** 2 for i in range(2) for j in range(i, 2)) / Fraction(1.2) ** 2
            moment = sum(v * v for v in x) * target**2 / Fraction(0.9) ** 2
            return float(gaussian_balls(arb(epsilon), ball(gram + moment).sqrt())[0])
        lam = Fraction(1)
        a, b, d = (sum(r[i] * r[j] for r in rows) + lam * (i == j) for i, j in ((0, 0), (0, 1), (1, 1)))
        det = a * d - b * b

        def solve(v: list[Fraction]) -> list[Fraction]:
            return [(d * v[0] - b * v[1]) / det, (a * v[1] - b * v[0]) / det]

        theta = solve([sum(r[i] * t for r, t in zip(rows, y, strict=True)) for i in range(2)])
        white = solve(x)
        leverage, residual = x[0] * white[0] + x[1] * white[1], target - x[0] * theta[0] - x[1] * theta[1]
        if name == "posterior":
            towards = direction if pair.relation.name == "ADD" else direction.opposite
            return float(quadratic_balls(arb(epsilon), ball(leverage), arb(3.0).sqrt() * ball(residual), towards)[0])
        shift = [w * residual / (1 + leverage) for w in white]
        metric = [[Fraction(v) for v in row] for row in METRIC.tolist()]
        square = 30 * sum(shift[i] * metric[i][j] * shift[j] for i in range(2) for j in range(2))
        return float(gaussian_balls(arb(epsilon), ball(square).sqrt())[0])


@for_each("direction", BOTH)
@for_each("name", MECHANISMS)
def test_brackets_hold_the_rational_value(name: str, direction: Direction) -> None:
    thin = NeighbouringPair.add(THIN, [0.9, -0.9], -0.7)
    for pair in (example_pair(), NeighbouringPair.remove(example_data(), 7), thin):
        profile = proved_profile(MECHANISMS[name], pair)
        assert isinstance(profile, DataProfile)
        for epsilon in (0.05, 0.4):
            exact, bracket = in_rationals(name, pair, epsilon, direction), profile.delta_bracket(epsilon, direction)
            assert bracket.low <= exact <= bracket.high
            assert bracket.high - bracket.low <= 1e-12 * bracket.high + 1e-300


def test_brackets_from_rounded_numbers_can_miss_it() -> None:
    """Mutant: the profile's own brackets, from a leverage rounded to float64, exclude the value of thin designs.

    Which of them depends on the processor (the order of a BLAS sum), so there are many.
    """
    missed = 0
    for offset in range(5, 25):
        X = np.column_stack([np.full(6, 0.7), 0.7 + 1e-6 * offset * np.arange(6)])
        pair = NeighbouringPair.add(Dataset(X, 0.1 * np.arange(6), 2.0, 1.0), [0.9, -0.9], -0.7)
        exact = in_rationals("posterior", pair, 0.4, Direction.FORWARD)
        bracket = MECHANISMS["posterior"].profile(pair).delta_bracket(0.4, Direction.FORWARD)
        missed += not bracket.low <= exact <= bracket.high
    assert missed > 0


def test_other_numbers_are_those_of_the_profile() -> None:
    pair = example_pair()
    for mechanism in MECHANISMS.values():
        plain, proved = mechanism.profile(pair), proved_profile(mechanism, pair)
        for d in BOTH:
            assert proved.delta_at(0.3, d) == plain.delta_at(0.3, d)
            assert proved.log_delta_at(0.3, d) == plain.log_delta_at(0.3, d)
            assert proved.tail_at(0.3, d) == plain.tail_at(0.3, d)
            assert proved.epsilon_at(1e-3, d) == plain.epsilon_at(1e-3, d)
            assert proved.tail_bracket(0.3, d).mid == pytest.approx(plain.tail_at(0.3, d), rel=1e-9)
        assert exact_epsilon(proved, 1e-3).low <= exact_epsilon(plain, 1e-3).value * (1 + 1e-9)
        again = pickle.loads(pickle.dumps(proved))
        assert exact_delta(again, 0.3) == exact_delta(proved, 0.3)


def test_what_cannot_be_proved_from_the_data_keeps_its_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = example_pair()
    plain = GaussianOutput(np.eye(2), 1.0, PlainMap(lambda dataset: dataset.X.sum(axis=0)))
    assert not isinstance(proved_profile(plain, pair), DataProfile)
    replaced = NeighbouringPair.replace(example_data(), 0, [0.1, 0.1], 0.1)
    for name in ("SSP", "Gaussian"):
        assert isinstance(proved_profile(MECHANISMS[name], replaced), DataProfile)
    with pytest.raises(UnsupportedRelation):
        MECHANISMS["posterior"].delta_bracket(replaced, 0.1, Direction.FORWARD)
    monkeypatch.setattr("mechanisms.laws.profile_tools.MOST_ENTRIES", 10)
    assert not isinstance(proved_profile(MECHANISMS["SSP"], pair), DataProfile)

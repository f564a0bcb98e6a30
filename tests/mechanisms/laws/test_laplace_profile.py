"""The exact Laplace profile against its definition, its limits, its proved brackets and its law."""

import math

import numpy as np
import pytest
from flint import acb, arb, ctx
from oracles.toy_mechanisms import LaplaceSum, toy_pair

from audits import Budget, StreamKey, audit_tails, exact_delta
from mechanisms import LaplaceProfile
from mechanisms.base import BOTH, Direction, PrivacyProfile
from mechanisms.laws.laplace_profile import laplace_product_delta
from mechanisms.laws.profile_tools import epsilon_bracket

F = Direction.FORWARD
SIZES = (1e-9, 0.3, 1.0, 2.0, 40.0)


def by_definition(epsilon: float, size: float) -> tuple[float, float]:
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


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("share", [-1.5, -0.999, -0.5, 0.0, 0.3, 0.9, 1.5])
def test_profile_agrees_with_the_definition_in_both_directions(size: float, share: float) -> None:
    profile, epsilon = LaplaceProfile(size), share * size
    delta, tail = by_definition(epsilon, size)
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


@pytest.mark.parametrize("delta", [1e-12, 1e-3, 0.2, 0.9])
def test_epsilon_at_is_on_the_safe_side_and_bracketed(delta: float) -> None:
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

"""Renyi costs of sampled steps: against quadrature, balls, dp-accounting, the other direction and the exact law."""

from __future__ import annotations

import math

import numpy as np
import pytest
from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent
from dp_accounting.rdp import RdpAccountant
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.mechanisms.subsampled_steps import renyi_by_quadrature

from mechanisms import BOTH, Relation, SubsampledGaussianProfile
from mechanisms.accounting.subsampled_gaussian import renyi_bracket, renyi_divergence, renyi_to_delta, renyi_to_epsilon


@pytest.mark.parametrize(("rate", "mu", "order"), [(0.02, 1.5, 2), (0.3, 0.4, 5), (1.0, 0.5, 3)])
def test_the_sum_is_the_integral_and_covers_the_other_direction(rate, mu, order) -> None:
    exact = renyi_by_quadrature(rate, mu, order)
    cost = renyi_divergence(rate, mu, order)
    assert cost == pytest.approx(exact, rel=1e-13)
    assert renyi_by_quadrature(rate, mu, order, backward=True) <= exact * (1 + 1e-13)
    wrong = (renyi_divergence(rate, mu / 2, order), renyi_divergence(rate / 2, mu, order), order * mu**2 / 2)
    assert [value == pytest.approx(exact, rel=1e-3) for value in wrong] == [False, False, rate == 1.0]


@given(
    rate=st.floats(1e-8, 1.0), mu=st.one_of(st.floats(0.0, 100.0), st.floats(0.0, 1e-6)), order=st.integers(2, 96)
)  # fmt: skip
@settings(deadline=None, max_examples=40)
def test_floats_agree_with_proved_brackets(rate, mu, order) -> None:
    """Also where the divergence is far below 1e-16, and where its terms are beyond e^709."""
    bracket = renyi_bracket(rate, mu, order)
    assert renyi_divergence(rate, mu, order) == pytest.approx(bracket.mid, rel=1e-12, abs=1e-300)
    assert bracket.high - bracket.low <= 1e-12 * bracket.high + 1e-300


def test_many_records_at_once_and_the_limits() -> None:
    lengths = np.concatenate([np.linspace(0.0, 2.0, 9000), [1e100, 1e160, math.inf]]).reshape(3, -1)
    costs = renyi_divergence(0.05, lengths, 8)
    assert costs.shape == lengths.shape
    for place in ((0, 0), (0, 7), (1, 3000), (2, 17), (2, -3), (2, -1)):
        assert costs[place] == renyi_divergence(0.05, float(lengths[place]), 8)
    assert (np.diff(costs.ravel()[:-1]) > 0).all()
    assert (costs[0, 0], costs[2, -1]) == (0.0, math.inf)
    assert renyi_divergence(1.0, 0.7, 8) == pytest.approx(8 * 0.49 / 2, rel=1e-14)
    assert type(renyi_divergence(0.1, 1, 2)) is float
    # order 2: log(1 + q^2 (e^{mu^2} - 1))
    assert renyi_divergence(0.1, 1.0, 2) == pytest.approx(math.log1p(0.01 * math.expm1(1.0)), rel=1e-14)


def test_dp_accounting_has_the_same_costs_and_conversion() -> None:
    rate, mu, steps, delta = 0.01, 1.0, 1000, 1e-5
    orders = [2, 4, 8, 16, 32]
    accountant = RdpAccountant(orders)
    accountant.compose(PoissonSampledDpEvent(rate, GaussianDpEvent(1 / mu)), steps)
    ours = {order: renyi_to_epsilon(order, steps * renyi_divergence(rate, mu, order), delta) for order in orders}
    assert accountant.get_epsilon_and_optimal_order(delta) == pytest.approx(
        (min(ours.values()), min(ours, key=ours.__getitem__)), rel=1e-10
    )


@given(rate=st.floats(1e-3, 1.0), mu=st.floats(0.01, 4.0), order=st.integers(2, 40), epsilon=st.floats(0.0, 20.0))
@settings(deadline=None, max_examples=40)
def test_the_conversion_is_above_the_exact_law(rate, mu, order, epsilon) -> None:
    promised = renyi_to_delta(order, renyi_divergence(rate, mu, order), epsilon)
    for relation in (Relation.ADD, Relation.REMOVE):
        for direction in BOTH:
            exact = SubsampledGaussianProfile(rate, mu, relation).delta_at(epsilon, direction)
            assert exact <= promised * (1 + 1e-11)


def test_the_conversion_is_attained_and_its_inverse() -> None:
    """One pair of two outcomes attains it: a loss of l with probability p under P, and else a loss of minus infinity.

    With p = 1: P sits on an outcome that has probability e^-l under Q, so the divergence of every order is l and
    delta(epsilon) = 1 - e^(epsilon - l); the bound equals it at epsilon = l + log(1 - 1/order).
    """
    for order in (1.5, 2, 8.0):
        for loss in (0.5, 3.0):
            epsilon = loss + math.log1p(-1 / order)
            assert renyi_to_delta(order, loss, epsilon) == pytest.approx(-math.expm1(epsilon - loss), rel=1e-13)
            if epsilon > 0:
                assert renyi_to_epsilon(order, loss, renyi_to_delta(order, loss, epsilon)) == pytest.approx(epsilon)
    assert renyi_to_epsilon(8, 0.0, 0.5) == 0.0
    assert renyi_to_epsilon(8, 1.0, 0.0) == renyi_to_epsilon(8, math.inf, 0.1) == math.inf
    assert renyi_to_epsilon(8, 0.0, 0.0) == 0.0
    assert renyi_to_delta(8, 100.0, 0.0) == renyi_to_delta(8, math.inf, math.inf) == 1.0
    assert renyi_to_delta(8, 1.0, math.inf) == 0.0


def test_bad_input() -> None:
    for order in (1, 2.5, math.nan, math.inf, True):
        with pytest.raises(ValueError, match="order must be a whole number of at least 2, got order="):
            renyi_divergence(0.1, 1.0, order)
    with pytest.raises(ValueError, match=r"rate must be in \(0, 1\]"):
        renyi_divergence(0.0, 1.0, 2)
    with pytest.raises(ValueError, match=r"mu must be at least 0, got mu=-1\.0"):
        renyi_divergence(0.1, -1.0, 2)
    with pytest.raises(ValueError, match="mu must be at least 0, got mu=an array with other values"):
        renyi_divergence(0.1, np.array([1.0, math.nan]), 2)
    with pytest.raises(ValueError, match="order must be finite and exceed 1"):
        renyi_to_epsilon(1.0, 1.0, 0.1)
    with pytest.raises(ValueError, match="cost must be at least 0"):
        renyi_to_epsilon(2.0, -1.0, 0.1)
    with pytest.raises(ValueError, match="epsilon must be a number"):
        renyi_to_delta(2.0, 1.0, math.nan)

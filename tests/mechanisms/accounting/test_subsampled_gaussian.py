"""The law of one step of DP-SGD: against its definition, other libraries, its limits, and what it must dominate."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent
from dp_accounting.pld.privacy_loss_mechanism import AdjacencyType, GaussianPrivacyLoss
from dp_accounting.rdp import RdpAccountant
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.mechanisms.literal_training import line_delta_and_tail, plane_delta, renyi_by_quadrature, worst_pair
from rows import for_each

from mechanisms import BOTH, GaussianProfile, PrivacyProfile, Relation
from mechanisms.accounting import SubsampledGaussianProfile
from mechanisms.accounting.subsampled_gaussian import (
    renyi_bracket,
    renyi_divergence,
    renyi_to_delta,
    renyi_to_epsilon,
    unsampled,
)
from mechanisms.laws.profile_tools import SwappedProfile, is_symmetric

F, B = BOTH
CASES = [(rate, mu, relation) for rate, mu in ((0.02, 1.5), (0.5, 0.3), (1.0, 1.0)) for relation in Relation]
rates, distances, relations = st.floats(1e-6, 1.0), st.floats(1e-3, 12.0), st.sampled_from(list(Relation))


def by_definition(rate, mu, relation, epsilon):
    """Delta and tail, forward and backward, integrated from the densities."""
    first, second = worst_pair(rate, mu, relation.name)
    return {F: line_delta_and_tail(first, second, epsilon), B: line_delta_and_tail(second, first, epsilon)}


def agrees(profile, exact, epsilon) -> bool:
    return all(
        profile.delta_at(epsilon, direction) == pytest.approx(exact[direction][0], rel=1e-11, abs=1e-15)
        and profile.tail_at(epsilon, direction) == pytest.approx(exact[direction][1], rel=1e-11, abs=1e-15)
        for direction in BOTH
    )


@for_each(("rate", "mu", "relation"), CASES)
def test_the_profile_is_its_definition_and_wrong_ones_are_not(rate, mu, relation) -> None:
    profile = SubsampledGaussianProfile(rate, mu, relation)
    wrong = [
        SubsampledGaussianProfile(rate, mu / 2, relation),
        SubsampledGaussianProfile(min(2 * rate, 1.0) if rate < 1 else 0.5, mu, relation),
        *(SubsampledGaussianProfile(rate, mu, other) for other in Relation if other is not relation and rate < 1),
    ]
    if not profile.symmetric:
        wrong.append(SwappedProfile(profile))
    for epsilon in (-0.01, 0.3):
        exact = by_definition(rate, mu, relation, epsilon)
        assert agrees(profile, exact, epsilon)
        assert not any(agrees(mutant, exact, epsilon) for mutant in wrong)


@for_each("relation", Relation)
def test_dp_accounting_has_the_same_pair(relation) -> None:
    """Its REPLACE pair is ours too; its names say which data set the output is drawn from."""
    rate, mu = 0.03, 0.8
    profile = SubsampledGaussianProfile(rate, mu, relation)
    backward = {Relation.ADD: Relation.REMOVE, Relation.REMOVE: Relation.ADD}.get(relation, relation)
    for direction, kind in ((F, relation), (B, backward)):
        theirs = GaussianPrivacyLoss(1 / mu, sampling_prob=rate, adjacency_type=AdjacencyType[kind.name])
        for epsilon in (-0.5, 0.0, 0.01, 0.4, 2.0):
            expected = theirs.get_delta_for_epsilon(epsilon)
            assert profile.delta_at(epsilon, direction) == pytest.approx(expected, rel=1e-8, abs=1e-14)


@given(
    rate=rates, mu=distances, relation=relations, direction=st.sampled_from(BOTH),
    delta=st.floats(1e-290, 0.9), factor=st.floats(-1.5, 1.5),
)  # fmt: skip
@settings(deadline=None, max_examples=40)
def test_floats_lie_in_their_proved_brackets(rate, mu, relation, direction, delta, factor) -> None:
    """delta, tail and epsilon at thresholds from the far left to deltas of 1e-290."""
    profile = SubsampledGaussianProfile(rate, mu, relation)
    solution = profile.epsilon_at(delta, direction)
    assert solution == 0.0 or profile.log_delta_at(solution, direction) <= math.log(delta)
    bracket = profile.epsilon_bracket(delta, direction)
    assert bracket.low * (1 - 1e-12) <= solution <= bracket.high * (1 + 1e-12)
    epsilon = factor * solution
    for bracket, value in (
        (profile.delta_bracket(epsilon, direction), profile.delta_at(epsilon, direction)),
        (profile.tail_bracket(epsilon, direction), profile.tail_at(epsilon, direction)),
    ):
        assert bracket.low * (1 - 1e-11) <= value <= bracket.high * (1 + 1e-11) + 1e-300
        assert bracket.high - bracket.low <= 1e-12 * bracket.high + 1e-300


@given(rate=rates, mu=distances, relation=relations, epsilon=st.floats(-4, 8))
@settings(deadline=None, max_examples=40)
def test_the_two_directions_belong_together(rate, mu, relation, epsilon) -> None:
    """Duality: delta(e) = 1 - e^e + e^e delta_opposite(-e); adding is removing the other way round."""
    profile = SubsampledGaussianProfile(rate, mu, relation)
    for direction in BOTH:
        dual = -math.expm1(epsilon) + math.exp(epsilon) * profile.delta_at(-epsilon, direction.opposite)
        assert profile.delta_at(epsilon, direction) == pytest.approx(dual, abs=1e-12 * math.exp(max(epsilon, 0.0)))
    other = {Relation.ADD: Relation.REMOVE, Relation.REMOVE: Relation.ADD}.get(relation, relation)
    twin = SubsampledGaussianProfile(rate, mu, other)
    assert profile.delta_at(epsilon, F) == twin.delta_at(epsilon, B)
    assert profile.tail_at(epsilon, B) == twin.tail_at(epsilon, F)


@given(rate=rates, mu=distances, relation=relations, epsilon=st.floats(-2, 6), less=st.floats(0.1, 1.0))
@settings(deadline=None, max_examples=40)
def test_a_shorter_gradient_loses_less(rate, mu, relation, epsilon, less) -> None:
    for direction in BOTH:
        small, large = (
            SubsampledGaussianProfile(rate, size, relation).log_delta_at(epsilon, direction) for size in (less * mu, mu)
        )
        assert small <= large + 1e-11


def test_every_pair_of_clipped_gradients_is_dominated() -> None:
    """Gradients in the plane, of any angle and up to the bound long, against the twin by a sum (error below 4e-5).

    Null: the worst pair is two opposite gradients as long as the bound. Level: none, the sums are exact up to the
    grid. 24 random cases; the bound is attained, and a pair that is longer by a tenth breaks it.
    """
    rng = np.random.default_rng(16)
    closest = 1.0
    for _ in range(24):
        rate, mu, epsilon = float(10 ** rng.uniform(-1.5, 0)), float(rng.uniform(0.2, 3.0)), float(rng.normal())
        angle, lengths = rng.uniform(0, 2 * np.pi, 2), mu * np.maximum(rng.random(2), rng.random(2))
        u, v = (length * np.array([np.cos(a), np.sin(a)]) for length, a in zip(lengths, angle, strict=True))
        worst = SubsampledGaussianProfile(rate, mu, Relation.REPLACE).delta_at(epsilon)
        assert plane_delta(rate, u, v, epsilon) <= worst + 4e-5
        added = SubsampledGaussianProfile(rate, mu, Relation.ADD).delta_at(epsilon, F)
        assert plane_delta(rate, (0.0, 0.0), v, epsilon) <= added + 4e-5
        closest = min(closest, worst - plane_delta(rate, (mu, 0.0), (-mu, 0.0), epsilon))
        if worst > 0.05 and mu > 0.5 and epsilon > 0:
            assert plane_delta(rate, (1.1 * mu, 0.0), (-1.1 * mu, 0.0), epsilon) > worst + 4e-5
    assert abs(closest) <= 4e-5


def test_without_sampling_it_is_the_gaussian_profile() -> None:
    for relation, distance in ((Relation.ADD, 0.7), (Relation.REMOVE, 0.7), (Relation.REPLACE, 1.4)):
        profile, gaussian = SubsampledGaussianProfile(1.0, 0.7, relation), GaussianProfile(distance)
        assert is_symmetric(profile)
        for direction in BOTH:
            for epsilon in (-300.0, -2.0, 0.0, 1e-3, 1.0, 30.0, 200.0):
                expected = gaussian.log_delta_at(epsilon)
                assert profile.log_delta_at(epsilon, direction) == pytest.approx(expected, rel=1e-13, abs=1e-13)
                assert profile.log_tail_at(epsilon, direction) == pytest.approx(
                    gaussian.log_tail_at(epsilon), rel=1e-13, abs=1e-13
                )
            assert profile.epsilon_at(1e-9, direction) == pytest.approx(gaussian.epsilon_at(1e-9), rel=1e-13)
            assert profile.epsilon_bracket(0.0, direction).low == math.inf


@for_each("relation", Relation)
def test_a_gradient_of_length_0_loses_nothing(relation) -> None:
    profile = SubsampledGaussianProfile(0.3, 0.0, relation)
    for direction in BOTH:
        assert profile.delta_at(0.0, direction) == profile.tail_at(0.0, direction) == 0.0
        assert profile.tail_at(-1e-9, direction) == 1.0
        assert profile.delta_at(-1.0, direction) == -math.expm1(-1.0)
        assert profile.epsilon_at(0.0, direction) == 0.0
        assert profile.epsilon_bracket(0.0, direction).high <= 1e-14
        assert profile.delta_bracket(0.0, direction).high == profile.tail_bracket(0.5, direction).high == 0.0


@for_each("rate", [1e-9, 0.01, 0.5, 1 - 2.0**-53])
def test_the_end_of_the_losses_is_decided_exactly(rate) -> None:
    """Drawn without the record the loss is below -log(1 - rate); with it, above log(1 - rate): floats either side."""
    profile = SubsampledGaussianProfile(rate, 3.0, Relation.ADD)
    end = profile.epsilon_at(0.0, F)
    with ctx.workprec(300):
        assert (-arb(end)).exp() <= 1 - arb(rate)
        before = math.nextafter(math.nextafter(math.nextafter(end, 0.0), 0.0), 0.0)
        assert (-arb(before)).exp() > 1 - arb(rate)
    assert profile.epsilon_bracket(0.0, F).high == end
    assert profile.log_delta_at(end, F) == profile.log_tail_at(end, F) == -math.inf
    assert profile.delta_bracket(end, F).high == profile.tail_bracket(end, F).high == 0.0
    assert profile.log_delta_at(before, F) > -math.inf
    assert profile.tail_bracket(before, F).low > 0.0
    assert profile.tail_at(-end, B) == 1.0
    assert profile.delta_at(-end, B) == pytest.approx(-math.expm1(-end), rel=1e-14)
    assert profile.tail_bracket(-end, B).low == 1.0


def test_far_tails_in_log_space() -> None:
    """Against 4,000 bits where floats underflow, and near the end of the losses where they cancel."""
    for rate, mu, relation, direction, epsilon in (
        (1e-4, 0.2, Relation.REMOVE, F, 40.0),
        (0.01, 2.0, Relation.REPLACE, B, 400.0),
        (0.2, 0.05, Relation.ADD, F, -math.log1p(-0.2) * (1 - 1e-12)),
    ):
        profile = SubsampledGaussianProfile(rate, mu, relation)
        with ctx.workprec(20_000):
            delta, tail = profile.balls(arb(epsilon), direction)
            expected = float(delta.log()), float(tail.log())
        assert min(expected) < -800
        assert profile.log_delta_at(epsilon, direction) == pytest.approx(expected[0], rel=1e-11)
        assert profile.log_tail_at(epsilon, direction) == pytest.approx(expected[1], rel=1e-11)


def test_tails_are_one_law_under_two_measures() -> None:
    """Balls of both tails: their difference is delta, an undecided side of the end is not a number."""
    profile = SubsampledGaussianProfile(0.1, 1.0, Relation.REMOVE)
    assert isinstance(profile, PrivacyProfile)
    with ctx.workprec(128):
        first, second = profile.tails(arb(0.5), F)
        assert float(first - arb(0.5).exp() * second) == pytest.approx(profile.delta_at(0.5, F), rel=1e-13)
        assert 0 < second < first < 1
        absent, present = profile.tails(arb(-0.5), B)
        assert float(absent) == pytest.approx(1 - float(second), rel=1e-13)
        assert float(present) == pytest.approx(1 - float(first), rel=1e-13)
        assert not profile.tails((1 - arb(0.1)).log(), F)[0].is_finite()
        assert [float(part) for part in profile.tails(arb(-1), F)] == [1.0, 1.0]
        assert [float(part) for part in profile.tails(arb(1), B)] == [0.0, 0.0]
        assert float(profile.balls(arb("inf"), F)[0]) == 0.0


def test_extreme_arguments_stay_numbers() -> None:
    for rate in (1e-300, 0.5, 1.0):
        for mu in (1e-300, 1e-3, 1e4, 1e20):
            for relation in Relation:
                profile = SubsampledGaussianProfile(rate, mu, relation)
                for direction in BOTH:
                    logs = [profile.log_delta_at(e, direction) for e in (-math.inf, -1e5, 0.0, 1.0, 1e5, math.inf)]
                    assert logs == sorted(logs, reverse=True)
                    assert (logs[0], logs[-1]) == (0.0, -math.inf)
                    assert profile.epsilon_at(1.0, direction) == 0.0
                    assert 0.0 <= profile.epsilon_at(1e-300, direction) < math.inf
    assert unsampled(1e5, 0.5) == 1e5 - math.log(0.5)
    assert unsampled(-1e5, 1.0) == -1e5


@for_each("relation", Relation)
def test_the_worse_direction_is_meant_unless_one_is_named(relation) -> None:
    """Everything asked for,"""
    profile = SubsampledGaussianProfile(0.3, 1.0, relation)
    for name, value in (
        *(
            (name, epsilon)
            for name in ("log_delta_at", "delta_at", "log_tail_at", "tail_at")
            for epsilon in (-0.2, 1.0)
        ),
        ("epsilon_at", 1e-5),
        ("epsilon_at", 0.0),
    ):
        ask = getattr(profile, name)
        assert ask(value) == max(ask(value, F), ask(value, B))
    for name, value in (("delta_bracket", 1.0), ("tail_bracket", -0.2), ("epsilon_bracket", 1e-5)):
        found, forward, backward = (getattr(profile, name)(value, *each) for each in ((), (F,), (B,)))
        assert (found.low, found.high) == (max(forward.low, backward.low), max(forward.high, backward.high))
    if relation is not Relation.REPLACE:
        assert min(profile.epsilon_at(1e-5, F), profile.epsilon_at(1e-5, B)) < profile.epsilon_at(1e-5) / 2


def test_it_is_a_value() -> None:
    profile = SubsampledGaussianProfile(np.float64(0.5), 1, Relation.ADD)
    assert type(profile.rate) is type(profile.mu) is float
    assert pickle.loads(pickle.dumps(profile)) == profile
    assert hash(profile) == hash(SubsampledGaussianProfile(0.5, 1.0, Relation.ADD))


def test_bad_input() -> None:
    for rate in (0.0, -0.1, 1.1, math.nan, True):
        with pytest.raises(ValueError, match=r"rate must be in \(0, 1\], got rate="):
            SubsampledGaussianProfile(rate, 1.0, Relation.ADD)
    with pytest.raises(ValueError, match="mu must be finite and at least 0"):
        SubsampledGaussianProfile(0.1, math.inf, Relation.ADD)
    with pytest.raises(ValueError, match=r"mu must be at most 1e\+20, got mu=1e\+150"):
        SubsampledGaussianProfile(0.1, 1e150, Relation.ADD)
    with pytest.raises(ValueError, match="relation must be a Relation, got relation='add'"):
        SubsampledGaussianProfile(0.1, 1.0, "add")
    for relation in (Relation.ADD, Relation.REPLACE):
        with pytest.raises(ValueError, match="epsilon must be a number"):
            SubsampledGaussianProfile(0.1, 1.0, relation).log_delta_at(math.nan)
    with pytest.raises(ValueError, match=r"delta must be in \[0, 1\]"):
        SubsampledGaussianProfile(0.1, 1.0, Relation.ADD).epsilon_at(2.0)


@for_each(("rate", "mu", "order"), [(0.02, 1.5, 2), (0.3, 0.4, 5), (1.0, 0.5, 3)])
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


def test_bad_orders_and_costs() -> None:
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

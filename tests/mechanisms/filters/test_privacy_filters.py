"""Filters and odometers: guarantees by hand, rounding, and what a statement about a loss is not."""

from __future__ import annotations

import math
import pickle
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import for_each

from mechanisms import DPSGD, Direction, FilteredDPSGD
from mechanisms.filters import Filter, GaussianFilter, RenyiFilter, RenyiOdometer
from mechanisms.filters.filtered_training import FilteredInteraction
from mechanisms.filters.privacy_filters import LossStatement, gaussian_cost

TRAINING = DPSGD("logistic", 20, 0.2, 2.0, 1.0, 0.5, normaliser=6.0)


def test_guarantees_by_hand():
    renyi = RenyiFilter(3, 1.0)
    epsilon = 1.0 + math.log(2 / 3) - (math.log(1e-4) + math.log(3)) / 2
    assert renyi.epsilon_at(1e-4) == pytest.approx(epsilon, rel=1e-14)
    assert renyi.delta_at(epsilon) == pytest.approx(1e-4, rel=1e-12)
    assert renyi.delta_at(-5.0) == 1.0
    gaussian = GaussianFilter(0.7)
    assert gaussian.delta_at(gaussian.epsilon_at(1e-4)) == pytest.approx(1e-4, rel=1e-9)
    assert gaussian.profile.delta_at(0.3, Direction.BACKWARD) == gaussian.delta_at(0.3)


def test_costs_of_normal_steps():
    mu = np.array([0.0, 0.5, 2.0])
    np.testing.assert_allclose(gaussian_cost(RenyiFilter(6, 1.0), mu), 3 * mu**2, rtol=1e-14)
    np.testing.assert_allclose(gaussian_cost(GaussianFilter(1.0), mu), mu**2, rtol=1e-14)
    assert (gaussian_cost(GaussianFilter(1.0), mu)[1:] > mu[1:] ** 2).all()
    assert gaussian_cost(GaussianFilter(1.0), mu)[0] == 0


@given(costs=st.lists(st.floats(0, 1e3), max_size=20))
def test_sums_are_rounded_upwards(costs):
    privacy_filter = RenyiFilter(2, 1.0)
    total, exact = privacy_filter.start(), Fraction(0)
    for cost in costs:
        total, exact = privacy_filter.spend(total, cost), exact + Fraction(cost)
    assert Fraction(total) >= exact
    assert total <= float(exact) * (1 + 1e-13) + 1e-300


@for_each("privacy_filter", [RenyiFilter(3, 0.5), GaussianFilter(0.5), RenyiOdometer(3)])
def test_protocol_and_pickling(privacy_filter):
    assert isinstance(privacy_filter, Filter)
    assert pickle.loads(pickle.dumps(privacy_filter)) == privacy_filter
    spent = privacy_filter.spend(privacy_filter.start(), 0.25)
    assert privacy_filter.admits(privacy_filter.start()) is True
    assert spent == pytest.approx(0.25)
    array = privacy_filter.admits(np.array([0.0, 9.0]))
    assert array.tolist() == [True, isinstance(privacy_filter, RenyiOdometer)]


def test_the_limit_is_sharp():
    assert RenyiFilter(3, 0.5).admits(0.5)
    assert not RenyiFilter(3, 0.5).admits(math.nextafter(0.5, 1))
    assert not GaussianFilter(0.3).admits(0.3 * 0.3 * (1 + 1e-15))
    assert Fraction(GaussianFilter(0.3).limit) <= Fraction(0.3) ** 2


def test_an_odometer_states_a_loss_and_no_epsilon():
    statement = RenyiOdometer(5).statement(0.3, 1e-4)
    assert statement.loss_bound == pytest.approx(0.3 + math.log(1e4) / 4)
    assert not {"epsilon", "delta", "delta_at", "epsilon_at"} & set(dir(statement))
    assert "2.6" not in repr(statement)
    assert repr(statement) == "LossStatement(failure_prob=0.0001, order=5, private)"
    assert not isinstance(statement, tuple)
    with pytest.raises(TypeError):
        tuple(statement)
    assert not hasattr(RenyiOdometer(5), "epsilon_at")


def test_the_odometer_holds_at_any_stopping_time():
    """Normal steps whose size depends on what was seen, stopped when the loss is largest beside its costs.

    40,000 runs of 30 steps, seed 7: a share of at most 0.1 ever exceeds; and 0.1 is not far off (at least 0.01).
    """
    rng, order, share = np.random.default_rng(7), 4, 0.1
    loss, spent = np.zeros(40_000), np.zeros(40_000)
    exceeded = np.zeros(40_000, dtype=bool)
    for _ in range(30):
        mu = np.where(loss > spent, 0.5, 0.2)
        loss += 0.5 * mu**2 + mu * rng.standard_normal(40_000)
        spent += 0.5 * order * mu**2
        exceeded |= loss > spent + math.log(1 / share) / (order - 1)
    assert 0.01 < exceeded.mean() <= share


@for_each(
    ("make", "words"),
    [
        (lambda: RenyiFilter(1, 0.5), "order must be a whole number of at least 2, got order=1"),
        (lambda: RenyiFilter(2.5, 0.5), "order must be a whole number of at least 2, got order=2.5"),
        (lambda: RenyiFilter(2, 0.0), "budget must be finite and positive, got budget=0.0"),
        (lambda: RenyiFilter(2, 1.0).epsilon_at(0.0), r"delta must be in \(0, 1\), got delta=0.0"),
        (lambda: GaussianFilter(math.inf), "mu must be finite and positive, got mu=inf"),
        (lambda: RenyiOdometer(1), "order must be a whole number of at least 2, got order=1"),
        (lambda: RenyiOdometer(2).statement(-1.0, 0.1), "spent must be finite and at least 0, got spent=-1.0"),
    ],
)
def test_refusals(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_a_statement_is_frozen():
    with pytest.raises(AttributeError):
        LossStatement(1.0, 0.1, 2).loss_bound = 0.0  # type: ignore[misc]


@for_each(
    ("wrong", "words"),
    [
        (lambda: RenyiFilter("8", 1.0), "order must be a whole number of at least 2, got order='8'"),
        (lambda: RenyiFilter(8, 1.0).spend(0.5, -1.0), "cost must be at least 0, got a negative one"),
        (lambda: GaussianFilter(1.0).spend(np.zeros(2), np.array([0.1, -0.1])), "cost must be at least 0"),
        (lambda: RenyiOdometer(3).spend(0.5, -1.0), "cost must be at least 0"),
        (lambda: RenyiOdometer(3).statement(1.0, 0.0), "failure_prob must be in (0, 1), got failure_prob=0.0"),
        (lambda: FilteredDPSGD(None, RenyiFilter(8, 1.0)), "training must be a DPSGD, got NoneType"),
        (lambda: FilteredDPSGD(TRAINING, None), "filter must be a RenyiFilter or a GaussianFilter, got NoneType"),
        (lambda: FilteredInteraction(None, RenyiFilter(8, 1.0)), "dataset must be a Dataset, got NoneType"),
    ],
)
def test_bad_input_is_one_line(wrong, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        wrong()

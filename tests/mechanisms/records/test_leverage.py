"""All-records quantities against one fit a record, and the batched root search against the scalar profiles."""

from __future__ import annotations

import math

import numpy as np
import pytest
from oracles.mechanisms.examples import linear_data
from oracles.mechanisms.ridge import left_out
from rows import for_each

from mechanisms import GaussianProfile
from mechanisms.base import BOTH, Direction
from mechanisms.data.dataset import Dataset
from mechanisms.data.embedded import load
from mechanisms.data.neighbours import NeighbouringPair
from mechanisms.data.synthetic import linear_unit_rows
from mechanisms.laws import QuadraticProfile
from mechanisms.laws.gaussian_calibration import gaussian_epsilons
from mechanisms.laws.quadratic_profile import quadratic_log_delta
from mechanisms.linear.posterior_sampling import PosteriorSampling
from mechanisms.linear.sufficient_statistics import SufficientStatistics
from mechanisms.records.footprint import (
    FOR_ALL,
    OF_A_DATA_SET,
    Footprint,
    for_all,
    for_one,
    of_dataset,
    pair_loss,
    with_prior,
)
from mechanisms.records.leverage import all_records_epsilon, record_quantities
from mechanisms.records.record_laws import gaussian_epsilon, ops_epsilon

F, B = Direction.FORWARD, Direction.BACKWARD


@for_each(("n_records", "dim", "lam"), [(40, 4, 0.0), (40, 4, 1.0), (3, 8, 0.2), (1, 2, 0.5)])
def test_quantities_agree_with_one_fit_a_record(n_records: int, dim: int, lam: float) -> None:
    data = linear_unit_rows(n_records, dim, noise_sd=0.5, rng=np.random.default_rng(2)).dataset
    records = record_quantities(data, lam)
    for index in range(n_records):
        leverage, residual = left_out(data, index, lam)
        assert records.leverage_out[index] == pytest.approx(leverage, rel=1e-10)
        assert records.residual_out[index] == pytest.approx(residual, rel=1e-10)
        assert records.leverage_in[index] == pytest.approx(leverage / (1 + leverage), rel=1e-10)


def test_leverages_of_least_squares_sum_to_the_dimension() -> None:
    data = load("fair")
    assert record_quantities(data, 0.0).leverage_in.sum() == pytest.approx(data.dim, rel=1e-10)


def test_no_records() -> None:
    empty = Dataset(np.zeros((0, 3)), np.zeros(0), 1.0, 1.0)
    assert record_quantities(empty, 1.0).leverage_out.shape == (0,)
    assert all_records_epsilon(empty, gamma=1.0, lam=1.0, delta=1e-6).both.shape == (0,)


def test_a_record_that_alone_fixes_a_direction_loses_everything() -> None:
    rows = linear_unit_rows(50, 2, noise_sd=0.3, rng=np.random.default_rng(3)).dataset
    X = np.column_stack([rows.X, np.zeros(50)])
    X[0] = [0.0, 0.0, 1.0]
    data = Dataset(X, rows.y, 1.0, 1.0)
    records = record_quantities(data, 0.0)
    assert records.leverage_out[0] == math.inf
    epsilons = all_records_epsilon(data, gamma=1.0, lam=0.0, delta=1e-6)
    assert epsilons.drawn_with[0] == math.inf == epsilons.drawn_without[0]
    assert np.isfinite(epsilons.both[1:]).all()


@pytest.mark.parametrize("delta", [0.0, 0.3, 1e-2, 1e-6, 1e-20, 1e-200, 1.0])
@pytest.mark.parametrize("direction", BOTH)
def test_batched_epsilon_agrees_with_the_scalar_profile(direction: Direction, delta: float) -> None:
    rng = np.random.default_rng(11)
    leverage = np.append(10 ** rng.uniform(-10, 4, 60), [0.0, 0.23323028664738066])
    # the last pair lies so close to its largest loss at 1e-20 that a step of 1e-13 is not a settled one
    residual = np.append(10 ** rng.uniform(-4, 2.5, 60) * (rng.uniform(size=60) < 0.9), [1.0, -4.796408172235358])
    found = ops_epsilon(leverage, residual, delta, direction)
    expected = [QuadraticProfile(m, a).epsilon_at(delta, direction) for m, a in zip(leverage, residual, strict=True)]
    np.testing.assert_allclose(found, expected, rtol=2e-11)
    if 0 < delta < 1:
        reached = quadratic_log_delta(found, leverage, residual, direction)
        assert (reached <= math.log(delta) + 1e-13 * abs(math.log(delta))).all()


@for_each("delta", [0.0, 0.3, 1e-6, 1e-200, 1.0])
def test_batched_gaussian_epsilon(delta: float) -> None:
    mu = np.append(10 ** np.random.default_rng(1).uniform(-10, 3, 100), 0.0)
    expected = [GaussianProfile(m).epsilon_at(delta) for m in mu]
    np.testing.assert_allclose(gaussian_epsilon(mu, delta), expected, rtol=1e-11)


def test_all_records_agree_with_one_profile_a_record() -> None:
    data, gamma, lam, delta = load("anes96"), 5.0, 1.0, 1e-6
    epsilons = all_records_epsilon(data, gamma=gamma, lam=lam, delta=delta)
    mechanism = PosteriorSampling(gamma, lam)
    assert epsilons.delta == delta
    for index in (0, 17, 500, 943):
        profile = mechanism.profile(NeighbouringPair.remove(data, index))
        assert epsilons.drawn_with[index] == pytest.approx(profile.epsilon_at(delta, F), rel=1e-9)
        assert epsilons.drawn_without[index] == pytest.approx(profile.epsilon_at(delta, B), rel=1e-9)
        assert epsilons.both[index] == max(epsilons.drawn_with[index], epsilons.drawn_without[index])


def test_more_records_than_one_chunk() -> None:
    data = linear_unit_rows(9000, 2, noise_sd=0.5, rng=np.random.default_rng(2)).dataset
    whole = all_records_epsilon(data, gamma=1.0, lam=1.0, delta=1e-6)
    records = record_quantities(data, 1.0)
    part = ops_epsilon(records.leverage_out[8990:], records.residual_out[8990:], 1e-6, B)
    np.testing.assert_allclose(whole.drawn_with[8990:], part, rtol=1e-12)


@for_each(
    ("leverage", "residual", "delta", "message"),
    [
        ([-1.0], [0.0], 0.1, "leverage must be at least 0"),
        ([math.nan], [0.0], 0.1, "leverage must be at least 0"),
        ([1.0], [math.inf], 0.1, "leverage must be at least 0"),
        ([[1.0]], [[0.0]], 0.1, "one axis"),
        ([1.0], [0.0], -0.1, r"delta must be in \[0, 1\]"),
    ],
)
def test_bad_arguments(leverage: list[float], residual: list[float], delta: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ops_epsilon(leverage, residual, delta, F)


def test_bad_gaussian_arguments() -> None:
    with pytest.raises(ValueError, match="mu must be finite"):
        gaussian_epsilon([-1.0], 0.1)
    with pytest.raises(ValueError, match="gamma must be finite and positive"):
        all_records_epsilon(load("anes96"), gamma=0.0, lam=1.0, delta=0.1)
    flat = Dataset(np.ones((4, 2)) / 2, np.zeros(4), 1.0, 1.0)
    with pytest.raises(ValueError, match="must be positive definite"):
        record_quantities(flat, 0.0)


SSP = SufficientStatistics(2.0, 1.5)


def test_of_a_data_set_takes_every_record_in_both_directions():
    dataset, mechanism = linear_data(12), PosteriorSampling(0.5, 1.0)
    footprint = of_dataset(pair_loss(mechanism, 1e-4), dataset, 1e-4)
    assert (footprint.kind, footprint.epsilons.shape) == (OF_A_DATA_SET, (12,))
    for i in (0, 5, 11):
        profile = mechanism.profile(NeighbouringPair.remove(dataset, i))
        both = [profile.epsilon_at(1e-4, direction) for direction in BOTH]
        assert footprint.epsilons[i] == max(both)
    mus = [SSP.profile(NeighbouringPair.remove(dataset, i)).mu for i in range(12)]
    slow = of_dataset(pair_loss(SSP, 1e-4), dataset, 1e-4).epsilons
    np.testing.assert_allclose(gaussian_epsilons(mus, 1e-4), slow, rtol=1e-10)


def test_for_all_for_one_and_with_a_prior():
    dataset, loss = linear_data(12), pair_loss(PosteriorSampling(0.5, 1.0), 1e-4)
    angles = np.linspace(0, math.pi, 7)
    targets = np.column_stack([np.cos(angles), np.sin(angles)])
    everyone = for_all(loss, dataset, targets, np.ones(7), 1e-4)
    assert (everyone.kind, everyone.epsilons.size) == (FOR_ALL, 7)
    assert everyone.worst == everyone.epsilons.max()
    sizes = [linear_data(n, seed=2) for n in (1, 10, 100)]
    one = for_one(loss, sizes, [1.0, 0.0], 1.0, 1e-4)
    assert one.epsilons[0] > one.epsilons[2]
    prior = with_prior(
        loss, lambda rng: linear_data(10, seed=int(rng.integers(99))), 4, [1.0, 0.0], 1.0, 1e-4,
        rng=np.random.default_rng(0),
    )  # fmt: skip
    again = with_prior(
        loss, lambda rng: linear_data(10, seed=int(rng.integers(99))), 4, [1.0, 0.0], 1.0, 1e-4,
        rng=np.random.default_rng(0),
    )  # fmt: skip
    np.testing.assert_array_equal(prior.epsilons, again.epsilons)


def test_moments_and_quantiles_of_a_known_law():
    """Uniform on {1, 2, 3, 4}: moments 2.5, 7.5, 25; quantiles by the generalised inverse."""
    footprint = Footprint(np.array([3.0, 1.0, 4.0, 2.0]), 1e-5, OF_A_DATA_SET)
    np.testing.assert_allclose(footprint.moments(3), [2.5, 7.5, 25.0], rtol=1e-15)
    np.testing.assert_array_equal(footprint.quantiles([0.0, 0.25, 0.26, 0.5, 1.0]), [1, 1, 2, 2, 4])
    assert footprint.share_above(2.0) == 0.5
    assert footprint.exponential_moment() == pytest.approx(sum(math.exp(i) for i in range(1, 5)) / 4, rel=1e-15)
    with pytest.raises(ValueError, match="read-only"):
        footprint.epsilons[0] = 0.0


def test_bad_input_is_refused():
    good = np.ones(2)
    for call, rule in (
        (lambda: Footprint(np.array([]), 1e-5, ""), "epsilons must"),
        (lambda: Footprint(np.array([-1.0]), 1e-5, ""), "epsilons must"),
        (lambda: Footprint(np.array([math.nan]), 1e-5, ""), "epsilons must"),
        (lambda: Footprint(good, 2.0, ""), "delta must"),
        (lambda: Footprint(good, 1e-5, "").moments(0), "k must"),
        (lambda: Footprint(good, 1e-5, "").quantiles(1.5), "levels must"),
        (lambda: pair_loss(SSP, -1.0), "delta must"),
        (lambda: of_dataset(pair_loss(SSP, 0.1), Dataset(np.zeros((0, 1)), np.zeros(0), 1.0, 1.0), 0.1), "epsilons"),
    ):
        with pytest.raises(ValueError, match=rule):
            call()

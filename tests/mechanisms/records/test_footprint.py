"""The privacy footprint: four ways to take it, moments, quantiles, refusals."""

import math

import numpy as np
import pytest
from oracles.mechanisms.examples import linear_data

from mechanisms.base import BOTH
from mechanisms.data.dataset import Dataset
from mechanisms.data.neighbours import NeighbouringPair
from mechanisms.laws.gaussian_calibration import gaussian_epsilons
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

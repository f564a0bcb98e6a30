"""Minimisers with normal noise: what a record moves against solves without it, and its bound."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracles.mechanisms import pair_truth
from oracles.mechanisms.objective_perturbation import minimiser

from audits import exact_delta
from mechanisms.base import Direction
from mechanisms.capabilities import Domain, worst_case_of
from mechanisms.catalogue import example_data
from mechanisms.data.dataset import Dataset
from mechanisms.data.neighbours import NeighbouringPair
from mechanisms.laws.gaussian_calibration import gaussian_epsilons
from mechanisms.laws.gaussian_profile import GaussianProfile
from mechanisms.objective.losses import LogisticLoss, PseudoHuberLoss, SquaredLoss
from mechanisms.objective.output_perturbation import GlmOutput
from mechanisms.records.record_laws import dominating_laws

DATA = example_data(kind="labels")
MECHANISM = GlmOutput(LogisticLoss(), sigma=0.4, lam=1.5)
DOMAIN = Domain(2, 1.0, 1.0)


def test_draws_are_the_minimiser_with_noise() -> None:
    drawn = MECHANISM.draw(DATA, 3, rng=np.random.default_rng(5))
    literal = minimiser(np.zeros(2), DATA, LogisticLoss(), 1.5)
    noise = 0.4 * np.random.default_rng(5).standard_normal((3, 2))
    np.testing.assert_allclose(drawn - noise, np.tile(literal, (3, 1)), atol=1e-7)


def test_no_record_moves_the_minimiser_further_than_its_law_says() -> None:
    laws, whole = dominating_laws(MECHANISM, DATA), MECHANISM.estimate(DATA)
    bound = worst_case_of(MECHANISM, DOMAIN)
    assert laws is not None
    assert bound is not None
    assert bound.mu is not None
    epsilons = laws.epsilon_at(1e-3, Direction.FORWARD)
    moved = []
    for i in range(DATA.n_records):
        rest = NeighbouringPair.remove(DATA, i).second
        moved.append(float(np.linalg.norm(whole - MECHANISM.estimate(rest))) / MECHANISM.sigma)
    exact = gaussian_epsilons(np.array(moved), 1e-3)
    assert (exact <= epsilons).all()
    assert (exact >= 0.15 * epsilons).any()  # the data's own curvature is left out
    assert max(moved) <= bound.mu


def test_the_bound_is_nearly_reached_by_one_record_and_not_by_a_smaller_one() -> None:
    """A response far away: the slope of a pseudo-Huber loss is nearly the largest."""
    loss = PseudoHuberLoss(width=1.0)
    mechanism = GlmOutput(loss, sigma=1.0, lam=0.5)
    none = replace(example_data(0), y_bound=1000.0)
    pair = NeighbouringPair.add(none, [1.0, 0.0], 1000.0)
    moved = float(np.linalg.norm(mechanism.estimate(pair.second) - mechanism.estimate(pair.first)))
    bound = mechanism.worst_case(DOMAIN)
    assert bound is not None
    assert bound.mu is not None
    assert 0.99 * bound.mu < moved <= bound.mu
    short = mechanism.record_bound(DOMAIN, 0.9)
    assert short is not None
    assert short.mu is not None
    assert short.mu < moved


def test_an_unbounded_gradient_promises_nothing() -> None:
    assert GlmOutput(SquaredLoss(), 1.0, 1.0).worst_case(DOMAIN) is None
    with pytest.raises(ValueError, match="lam must be finite and positive, got lam=0"):
        GlmOutput(LogisticLoss(), 1.0, 0.0)


def test_little_noise_refutes_nothing_that_is_true() -> None:
    """A claimed delta between the truth and that of a distance up by the room: the lower end stays below the truth."""
    mechanism = GlmOutput(LogisticLoss(), 0.01, 0.001)
    rng = np.random.default_rng(2)
    data = Dataset(0.5 * rng.uniform(-1, 1, (12, 2)), np.sign(rng.standard_normal(12)), 1.0, 1.0, public=True)
    for x, epsilon in ((1e-3, 0.01), (1e-5, 0.0), (0.0, 1e-10)):
        pair = NeighbouringPair.add(data, [x, 0.0], 1.0)
        found = exact_delta(mechanism.profile(pair), epsilon)
        truth = pair_truth.of_gaussians(pair_truth.distance(mechanism, pair), epsilon)[0]
        assert found.low <= truth <= found.high
        law = mechanism.profile(pair)
        assert law.room > 0
        assert found.high < GaussianProfile(law.mu + 4 * law.room).delta_at(epsilon)

"""Searches over pairs: the worst one is found, and what confirms it owes nothing to the search."""

import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from oracles.false_alarm import misses_allowed
from oracles.toy_mechanisms import GaussianSum, toy_pair

from audits import Budget, StreamKey
from audits.search.worst_case import NamedPair, adversarial_pairs, search_pair, worst_pair
from mechanisms import Dataset, NeighbouringPair, ObjectivePerturbation, PosteriorSampling, SquaredLoss
from mechanisms.base import BOTH

EPSILON = 0.5


@dataclass(frozen=True)
class Sampled:
    """A mechanism whose profile is hidden: only draws and the loss."""

    mechanism: object
    name: str = "sampled"

    def draw(self, dataset, n_draws, *, rng):
        return self.mechanism.draw(dataset, n_draws, rng=rng)

    def log_density(self, outputs, dataset):
        return self.mechanism.log_density(outputs, dataset)

    def privacy_loss(self, outputs, pair):
        return self.mechanism.privacy_loss(outputs, pair)


def budget(n_draws=40_000, failure_prob=1e-6, seed=1):
    return Budget(n_draws, failure_prob, StreamKey(seed, ("pairs",)))


def exact(mechanism, pair, epsilon=EPSILON):
    return max(mechanism.profile(pair).delta_at(epsilon, direction) for direction in BOTH)


OPS = PosteriorSampling(gamma=1.0, lam=0.5)
STRUCTURED = adversarial_pairs(6, 2, x_bound=1.0, y_bound=1.0)


def test_the_worst_structured_pair_is_found_exactly_and_confirmed_by_draws():
    found = worst_pair(OPS, STRUCTURED, budget(), epsilon=EPSILON)
    largest = max(exact(OPS, named.pair) for named in STRUCTURED)
    assert found.found == pytest.approx(largest, rel=1e-12)
    assert found.confirmed.low <= largest <= found.confirmed.high
    assert (found.n_searched, found.n_draws) == (len(STRUCTURED), 40_000)


def test_estimates_find_a_pair_nearly_as_bad_as_the_worst():
    """Null of the interval: level 1e-6. What is found has at least 0.9 of the largest delta (3600 draws a pair)."""
    found = worst_pair(Sampled(OPS), STRUCTURED, budget(600_000), epsilon=EPSILON)
    truth, largest = exact(OPS, found.pair), max(exact(OPS, named.pair) for named in STRUCTURED)
    assert truth >= 0.9 * largest
    assert found.confirmed.low <= truth <= found.confirmed.high
    assert found.n_draws <= 600_000


def target(point):
    """Add one record with response ``point[0]`` to the toy data."""
    dataset = Dataset(np.ones((3, 1)), np.zeros(3), x_bound=1.0, y_bound=1.0)
    return NeighbouringPair.add(dataset, [1.0], float(point[0]))


@pytest.mark.parametrize("law", [GaussianSum(1.0), Sampled(GaussianSum(1.0))])
def test_the_optimiser_goes_to_the_edge_of_the_domain(law):
    """The sum of responses moves most for a response at the bound, of either sign."""
    found = search_pair(law, target, [(-1.0, 1.0)], budget(400_000), epsilon=EPSILON)
    assert abs(found.pair.y) > 0.99
    truth = exact(GaussianSum(1.0), found.pair)
    assert found.confirmed.low <= truth <= found.confirmed.high
    assert found.n_draws <= 400_000


def test_objective_perturbation_is_searched_over_the_target():
    """Two parameters, direction and response; the response goes to its bound."""
    mechanism = ObjectivePerturbation(SquaredLoss(), sigma=2.0, lam=0.5)
    dataset = Dataset(np.array([[1.0, 0.0]]), np.array([1.0]), 1.0, 1.0)

    def pair(point):
        return NeighbouringPair.add(dataset, [np.cos(point[0]), np.sin(point[0])], float(point[1]))

    found = search_pair(mechanism, pair, [(0.0, np.pi), (-1.0, 1.0)], budget(400_000), epsilon=EPSILON)
    assert abs(found.pair.y) > 0.9
    assert found.confirmed.high > 0


def test_the_best_of_many_flatters_itself_and_the_confirmation_does_not():
    """Null: the lower end is above the truth with probability at most 0.2. Level 1e-7, 200 runs, two mirror images."""
    law = GaussianSum(1.0)
    truth = exact(law, toy_pair())
    pairs = [NamedPair("up", toy_pair(1.0)), NamedPair("down", toy_pair(-1.0))]
    runs = [worst_pair(Sampled(law), pairs, budget(2_000, 0.2, seed), epsilon=EPSILON) for seed in range(200)]
    assert sum(run.found > truth for run in runs) > 150  # the largest of four estimates of one number
    assert sum(run.confirmed.low > truth for run in runs) <= misses_allowed(200, 0.2)


def test_equal_budgets_give_identical_bytes_and_small_ones_are_refused():
    first, again = (worst_pair(Sampled(OPS), STRUCTURED, budget(), epsilon=EPSILON) for _ in range(2))
    assert pickle.dumps(first.confirmed) == pickle.dumps(again.confirmed)
    assert first.name == again.name
    with pytest.raises(ValueError, match="n_draws must be at least"):
        worst_pair(Sampled(OPS), STRUCTURED, budget(10), epsilon=EPSILON)
    with pytest.raises(ValueError, match="pairs must be at least one"):
        worst_pair(OPS, (), budget(), epsilon=EPSILON)

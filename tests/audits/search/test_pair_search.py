"""Searches over pairs: the worst one is found, and what confirms it owes nothing to the search."""

import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from oracles.false_alarm import misses_allowed
from oracles.toy_mechanisms import GaussianSum, toy_pair
from rows import for_each

from audits import Budget, StreamKey
from audits.search.worst_case import NamedPair, adversarial_pairs, search_maximum, search_pair, worst_pair
from mechanisms import Dataset, NeighbouringPair, ObjectivePerturbation, PosteriorSampling, SquaredLoss
from mechanisms.base import BOTH
from mechanisms.data.neighbours import Relation

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


@for_each("law", [GaussianSum(1.0), Sampled(GaussianSum(1.0))])
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


@for_each(("n_records", "dim"), [(1, 1), (1, 3), (2, 2), (7, 3)])
def test_pairs_sit_on_the_edge_of_the_domain_and_have_unique_names(n_records, dim):
    named = adversarial_pairs(n_records, dim, x_bound=2.0, y_bound=0.5)
    names = [item.name for item in named]
    assert len(set(names)) == len(names) >= 6
    assert {item.pair.relation for item in named} == {Relation.ADD, Relation.REMOVE}
    for item in named:
        small = item.pair.first if item.pair.relation is Relation.ADD else item.pair.second
        assert small.n_records == n_records
        assert abs(item.pair.y) == 0.5
        if "excited" in item.name:
            assert np.linalg.norm(item.pair.x) == pytest.approx(2.0)


def test_the_least_excited_direction_has_the_largest_leverage():
    pairs = {item.name: item.pair for item in adversarial_pairs(6, 3, x_bound=1.0, y_bound=1.0)}

    def leverage(name):
        pair = pairs[name]
        H = pair.first.X.T @ pair.first.X + 0.1 * np.eye(3)
        return float(pair.x @ np.linalg.solve(H, pair.x))

    least = leverage("nearly singular; responses alike; least excited direction, response +; add")
    most = leverage("nearly singular; responses alike; most excited direction, response +; add")
    assert least == pytest.approx(10.0)  # 1 / ridge: nothing in the data points there
    assert most < 0.2


def test_infinite_bounds_are_refused():
    with pytest.raises(ValueError, match="must be finite and positive"):
        adversarial_pairs(2, 2, x_bound=np.inf, y_bound=1.0)


def bumps(point):
    """Two bumps; the higher one (value 1) is narrow, at (0.8, -0.3)."""
    return np.exp(-40 * np.sum((point - [0.8, -0.3]) ** 2)) + 0.9 * np.exp(-np.sum((point + 0.5) ** 2))


def test_the_narrow_global_maximum_is_found():
    found = search_maximum(bumps, [(-1, 1), (-1, 1)], rng=np.random.default_rng(0))
    expected = max(bumps(np.array([a, b])) for a in np.linspace(0.7, 0.9, 101) for b in np.linspace(-0.4, -0.2, 101))
    assert found.value >= expected - 1e-9
    assert found.value == bumps(found.point)


@for_each("corner", [(1.0, 2.0), (-1.0, -2.0)])
def test_a_maximum_at_a_corner_is_found_exactly(corner):
    found = search_maximum(lambda p: float(p @ np.asarray(corner)), [(-1, 1), (-2, 2)], rng=np.random.default_rng(1))
    assert found.point.tolist() == list(corner)


def test_equal_streams_give_equal_answers_and_evaluations_are_counted():
    calls = []

    def counted(point):
        calls.append(point)
        return bumps(point)

    first = search_maximum(counted, [(-1, 1), (-1, 1)], rng=np.random.default_rng(3))
    assert len(calls) == first.n_evaluations
    again = search_maximum(bumps, [(-1, 1), (-1, 1)], rng=np.random.default_rng(3))
    assert first.point.tobytes() == again.point.tobytes()


def test_nan_is_the_worst_value_and_a_degenerate_box_is_fine():
    found = search_maximum(lambda p: np.nan if p[0] < 0 else -p[0], [(-1, 1), (2, 2)], rng=np.random.default_rng(4))
    assert found.value == pytest.approx(0.0, abs=1e-3)
    assert found.point[1] == 2.0


@for_each("box", [[(0, np.inf)], [(1, 0)], [(np.nan, 1)]])
def test_bad_boxes_are_refused(box):
    with pytest.raises(ValueError, match="box must be finite intervals"):
        search_maximum(bumps, box, rng=np.random.default_rng(0))

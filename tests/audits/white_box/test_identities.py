import math
import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from oracles.false_alarm import misses_allowed
from oracles.toy_mechanisms import Coin, CoinProfile, GaussianSum, LaplaceSum, toy_pair
from rows import for_each

from audits import Budget, StreamKey
from audits.white_box.identities import (
    absolute_error,
    density_mass,
    forward_backward,
    loss_overlap,
    normalisation_gap,
    overlap_gap,
    relative_error,
)
from mechanisms import GaussianProfile
from mechanisms.base import Direction

PAIR = toy_pair()


def budget(n_draws=40_000, failure_prob=1e-7, seed=1):
    return Budget(n_draws, failure_prob, StreamKey(seed, ("test",)))


def test_errors_are_the_largest_of_all_entries():
    estimate = relative_error([1.0, 2.2, 0.001], [1.0, 2.0, 0.0], rounding=1e-3)
    assert (estimate.low, estimate.value, estimate.high) == pytest.approx((0.099, 0.1, 0.101))
    assert estimate.exact
    assert absolute_error([[1.0, 2.2]], [[1.0, 2.0]], rounding=0.0).value == pytest.approx(0.2)


@for_each(("a", "b"), [([1.0], [1.0, 2.0]), ([], []), ([np.nan], [1.0])])
def test_arrays_that_cannot_be_compared_are_refused(a, b):
    with pytest.raises(ValueError, match="must"):
        relative_error(a, b, rounding=0.0)


@for_each("mechanism", [GaussianSum(1.0), LaplaceSum(0.7), Coin(0.3, 0.2)])
def test_losses_fit_their_samplers(mechanism):
    """Null: the three gaps are 0. Level 1e-7, 4e4 draws."""
    for gap in loss_overlap(mechanism, PAIR, budget()):
        assert gap.low <= 0.0 <= gap.high
        assert gap.high - gap.low < 0.1


def test_a_flipped_loss_does_not_fit_its_sampler():
    left, middle, right = loss_overlap(GaussianSum(1.0, flipped=True), PAIR, budget())
    assert left.high < 0.0 < right.low or right.high < 0.0 < left.low
    assert middle.low <= 0.0 <= middle.high  # mirror images: blind at shift 0, which is why there are others


def test_a_loss_off_by_ten_percent_does_not_fit_its_sampler():
    gaps = loss_overlap(GaussianSum(1.0, drawn_sigma=1.1), PAIR, budget(400_000))
    assert any(not gap.low <= 0.0 <= gap.high for gap in gaps)


@dataclass(frozen=True)
class Shifted(GaussianSum):
    """Density off by a factor, or by a shift of the mean."""

    factor: float = 1.0
    shift: float = 0.0

    def log_density(self, outputs, dataset):
        return super().log_density(outputs - self.shift, dataset) + math.log(self.factor)


def gap_of(mechanism, n_draws=40_000):
    return normalisation_gap(mechanism, PAIR.first, budget(n_draws), mean=[0.3], covariance=[[1.5]])


def test_a_normalised_density_has_no_gap():
    """Null: the gap is 0. Level 1e-7, 4e4 draws."""
    assert gap_of(Shifted(1.0)).low <= 0.0 <= gap_of(Shifted(1.0)).high


@for_each(
    "broken",
    [
        Shifted(1.0, factor=1.1),
        Shifted(1.0, factor=1 / 1.1),
        Shifted(1.0, shift=0.3),
        GaussianSum(1.0, drawn_sigma=1.3),
    ],
)
def test_a_density_off_by_ten_percent_or_misplaced_has_one(broken):
    gap = gap_of(broken, 400_000)
    assert not gap.low <= 0.0 <= gap.high


def test_overlap_intervals_cover_at_the_stated_rate():
    """Null: the gap of two equal-variance normals is 0; missed with prob. at most 0.2. Level 1e-7, 400 rounds."""
    rng = np.random.default_rng(71)
    misses = 0
    for _ in range(400):
        p, q = rng.normal(0.5, 1, 200), rng.normal(-0.5, 1, 200)  # log p/q at o is o
        gap = overlap_gap(p, q, 0.2)
        misses += not gap.low <= 0.0 <= gap.high
    assert misses <= misses_allowed(400, 0.2)


def test_density_mass():
    def normal(o):
        return -0.5 * o * o - 0.5 * math.log(2 * math.pi)

    mass = density_mass(normal, -10, 10)
    assert mass.mass == pytest.approx(1.0, abs=1e-14)
    assert mass.change < 1e-12
    assert density_mass(lambda o: normal(o) + math.log(1.01), -10, 10).mass == pytest.approx(1.01)


def test_every_profile_obeys_the_swap_of_directions():
    grid = np.linspace(-3, 3, 13)
    for profile in (GaussianProfile(0.7), CoinProfile(0.3, 0.05)):
        assert forward_backward(profile.delta_at, grid).low == 0.0
    # a profile that ignores its direction is not one: delta of the coin forward, used for both
    wrong = CoinProfile(0.3, 0.05)
    assert forward_backward(lambda e, d: wrong.delta_at(e, Direction.FORWARD), grid).low > 0.1


def test_equal_budgets_give_identical_bytes():
    assert pickle.dumps(loss_overlap(LaplaceSum(1.0), PAIR, budget())) == pickle.dumps(
        loss_overlap(LaplaceSum(1.0), PAIR, budget())
    )

import math
import pickle

import numpy as np
import pytest
from oracles.audits import tails as literal
from oracles.false_alarm import misses_allowed
from oracles.toy_mechanisms import Coin, GaussianSum, LaplaceSum, toy_pair
from rows import for_each

from audits import Budget, StreamKey
from audits.white_box.tails import (
    CHUNK,
    audit_curves,
    audit_tails,
    chunk_sizes,
    loss_curve,
    loss_sample,
    payoff,
    tail_estimates,
    worse,
)
from mechanisms.base import BOTH, Direction

PAIR = toy_pair()
EPSILONS = (-0.5, 0.0, 0.5, 1.0)


def budget(n_draws=20_000, failure_prob=1e-7, seed=1, name="test"):
    return Budget(n_draws, failure_prob, StreamKey(seed, (name,)))


@for_each(
    ("losses", "epsilon", "tolerance"),
    [
        ([0.1, 0.5, -2.0, 3.0], 0.2, 1e-15),
        ([0.5, 0.5, 0.5], 0.5, 0.0),  # L > epsilon is strict
        ([math.inf, -math.inf, 1.0], 0.0, 1e-15),
        ([1e-12, 2e-12], 0.0, 1e-27),  # 1 - exp(-1e-12) must not cancel
        (list(np.random.default_rng(5).normal(size=200)), -0.3, 1e-14),
    ],
)
def test_point_estimates_equal_their_literal_twins(losses, epsilon, tolerance):
    array = np.asarray(losses)
    expected = literal.delta(losses, epsilon)
    assert payoff(array, epsilon).mean() == pytest.approx(expected, rel=1e-3 if tolerance < 1e-20 else 1e-12)
    curve = loss_curve(array, 0.01)
    assert literal.delta_from_tail_curve(losses, epsilon) == pytest.approx(expected, rel=1e-3, abs=tolerance)
    (point,) = tail_estimates(array, [epsilon], 0.01)
    assert point.tail.value == literal.tail(losses, epsilon)
    band = curve.tail_at([epsilon])
    assert band.high[0] - curve.radius == pytest.approx(literal.tail(losses, epsilon)) or band.high[0] == 1.0


@for_each("mechanism", [GaussianSum(1.0), GaussianSum(0.5), Coin(0.3, 0.2), Coin(0.9, 0.6)])
def test_true_profiles_lie_inside(mechanism):
    """Null: all 16 intervals hold. Level 1e-7 (the audit's own failure probability), 2e4 draws."""
    audit, profile = audit_tails(mechanism, PAIR, EPSILONS, budget()), mechanism.profile(PAIR)
    assert len(audit.points) == 2 * len(EPSILONS)
    for point in audit.points:
        assert point.delta.low <= profile.delta_at(point.epsilon, point.direction) <= point.delta.high
        assert point.tail.low <= profile.tail_at(point.epsilon, point.direction) <= point.tail.high


@for_each("direction", BOTH)
def test_infinite_losses_are_seen_in_their_direction_only(direction):
    # heads happens under D only: delta(epsilon) = 0.25 forward at every epsilon, 0 backward from log(4/3) on
    audit = audit_tails(Coin(0.25, 0.0), PAIR, [5.0], budget())
    point = audit.at(5.0, direction)
    expected = 0.25 if direction is Direction.FORWARD else 0.0
    assert point.delta.low <= expected <= point.delta.high < expected + 0.05


def test_directions_are_not_confused():
    """Coin(0.05, 0.2): delta(1) is 0 forward (loss at most log(0.95/0.8)), 0.2 - 0.05 e backward."""
    audit = audit_tails(Coin(0.05, 0.2), PAIR, [1.0], budget())
    assert audit.at(1.0, Direction.FORWARD).delta.value == 0.0
    assert audit.at(1.0, Direction.BACKWARD).delta.low > 0.03
    assert audit.delta(1.0).low == audit.at(1.0, Direction.BACKWARD).delta.low


@for_each("broken", [GaussianSum(1.0, drawn_sigma=1.1), GaussianSum(1.0, drawn_sigma=1 / 1.1)])
def test_a_sampler_off_by_ten_percent_is_refuted(broken):
    """The loss of a sampler with 10 % wrong noise has another tail; some interval excludes the claimed profile."""
    audit = audit_tails(broken, PAIR, (0.0, 1.0, 2.0), budget(n_draws=400_000))
    profile = broken.profile(PAIR)
    assert any(
        not p.delta.low <= profile.delta_at(p.epsilon, p.direction) <= p.delta.high
        or not p.tail.low <= profile.tail_at(p.epsilon, p.direction) <= p.tail.high
        for p in audit.points
    )


def test_noise_too_small_by_ten_percent_is_refuted_at_the_claimed_curve_edge():
    """delta(1) is 0.163 for sigma = 1/1.1 and 0.127 for sigma = 1 (closed form): the claim at sigma = 1 is refuted."""
    true, claimed = GaussianSum(1 / 1.1), GaussianSum(1.0).profile(PAIR)
    audit = audit_tails(true, PAIR, [1.0], budget(n_draws=100_000))
    assert audit.delta(1.0).low > claimed.delta_at(1.0)


def test_a_flipped_loss_is_refuted():
    audit = audit_tails(GaussianSum(1.0, flipped=True), PAIR, [0.5], budget())
    assert audit.delta(0.5).high < GaussianSum(1.0).profile(PAIR).delta_at(0.5)


def test_intervals_cover_at_the_stated_rate():
    """Null: some interval of the 8 misses with probability at most 0.2. Level 1e-7, 400 audits of 400 draws."""
    mechanism = GaussianSum(1.0)
    profile = mechanism.profile(PAIR)
    misses = 0
    for repeat in range(400):
        audit = audit_tails(mechanism, PAIR, (0.0, 1.0), budget(400, 0.2, seed=repeat))
        misses += any(
            not p.delta.low <= profile.delta_at(p.epsilon, p.direction) <= p.delta.high
            or not p.tail.low <= profile.tail_at(p.epsilon, p.direction) <= p.tail.high
            for p in audit.points
        )
    assert misses <= misses_allowed(400, 0.2)


@for_each("mechanism", [GaussianSum(1.0), Coin(0.3, 0.2)])
def test_curves_hold_at_every_epsilon(mechanism):
    """Null: two DKW bands hold everywhere. Level 1e-7, 2e4 draws; a grid of 81 epsilons chosen freely."""
    profile, grid = mechanism.profile(PAIR), np.linspace(-2, 2, 81)
    for direction, curve in audit_curves(mechanism, PAIR, budget()).items():
        delta, tail = curve.delta_at(grid), curve.tail_at(grid)
        for i, epsilon in enumerate(grid):
            assert delta.low[i] <= profile.delta_at(epsilon, direction) <= delta.high[i]
            assert tail.low[i] <= profile.tail_at(epsilon, direction) <= tail.high[i]


def test_the_whole_curve_refutes_ten_percent_less_noise():
    curve = audit_curves(GaussianSum(1.0, drawn_sigma=1 / 1.1), PAIR, budget(200_000))[Direction.FORWARD]
    claimed, grid = GaussianSum(1.0).profile(PAIR), np.linspace(-2, 3, 51)
    band = curve.tail_at(grid)
    values = np.array([claimed.tail_at(e) for e in grid])
    assert ((values < band.low) | (values > band.high)).any()


def test_equal_budgets_give_identical_bytes_and_other_keys_other_draws():
    first, again = (audit_tails(LaplaceSum(1.0), PAIR, EPSILONS, budget(CHUNK + 5)) for _ in range(2))
    assert pickle.dumps(first) == pickle.dumps(again)
    assert audit_tails(LaplaceSum(1.0), PAIR, EPSILONS, budget(CHUNK + 5, name="other")) != first


def test_draws_come_in_chunks_and_are_all_used():
    assert list(chunk_sizes(2 * CHUNK + 3)) == [CHUNK, CHUNK, 3]

    asked = []

    class Recorder(GaussianSum):
        def draw(self, dataset, n_draws, *, rng):
            asked.append(n_draws)
            return super().draw(dataset, n_draws, rng=rng)

    losses = loss_sample(Recorder(1.0), PAIR, Direction.FORWARD, CHUNK + 7, rng=np.random.default_rng(0))
    assert losses.shape == (CHUNK + 7,)
    assert asked == [CHUNK, 7]


def test_shares_add_up_and_the_spent_draws_are_stated():
    audit = audit_tails(GaussianSum(1.0), PAIR, EPSILONS, budget(1001, 1e-4))
    assert sum(p.tail.failure_prob + p.delta.failure_prob for p in audit.points) == pytest.approx(1e-4)
    assert audit.n_draws == 1000
    assert worse([p.tail for p in audit.points[:2]]).failure_prob == pytest.approx(2e-4 / 16)


def test_a_loss_that_is_not_a_number_is_refused():
    class Broken(GaussianSum):
        def privacy_loss(self, outputs, pair):
            return np.full(outputs.shape[0], np.nan)

    with pytest.raises(ValueError, match="must be a number at every output"):
        audit_tails(Broken(1.0), PAIR, [0.0], budget(10))


@for_each(("losses", "epsilons"), [([], [0.0]), ([0.1], []), ([np.nan], [0.0]), ([0.1], [np.inf])])
def test_bad_input_is_refused(losses, epsilons):
    with pytest.raises(ValueError, match="must be"):
        tail_estimates(losses, epsilons, 0.01)


@for_each("scale", [0.3, 0.7, 1.1])
def test_rounding_puts_no_mass_beyond_an_atom(scale):
    """Laplace noise: the loss never exceeds 1/scale and has an atom of 1/2 there. Level 1e-7, 2e4 draws a side."""
    law, epsilon = LaplaceSum(scale), 1.0 / scale
    audit = audit_tails(law, PAIR, [epsilon], budget(40_000))
    for direction in BOTH:
        point = audit.at(epsilon, direction)
        assert point.tail.low == point.delta.low == 0.0
        assert point.tail.high > 0.48  # the atom may lie on either side
    for curve in audit_curves(law, PAIR, budget(40_000)).values():
        band = curve.tail_at([epsilon, epsilon * (1 - 1e-6)])
        assert band.low[0] == 0.0
        assert band.low[1] > 0.4

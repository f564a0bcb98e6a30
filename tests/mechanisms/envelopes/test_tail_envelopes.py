"""Boxes of standard normal noise: masses against ball arithmetic, draws against their conditional law."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb, ctx
from oracles.false_alarm import LEVEL, misses_allowed
from oracles.mechanisms.objective_perturbation import log_density as literal_log_density
from oracles.mechanisms.objective_perturbation import minimiser
from oracles.toy_mechanisms import GaussianSum, toy_pair
from rows import for_each
from scipy import stats
from scipy.special import chdtrc, ndtr

from audits import Budget, StreamKey
from audits.rare.importance import audit_rare
from mechanisms import Dataset, Direction, NeighbouringPair
from mechanisms.broken.broken_linear import ops_wrong_gamma
from mechanisms.catalogue import example_pair
from mechanisms.envelopes.gaussian_envelopes import NormalIntervals, gaussian_envelope, posterior_envelope
from mechanisms.envelopes.loss_points import noise_points, output_points
from mechanisms.envelopes.tail_envelopes import NormalBoxes, log_normal_mass, truncated_normal
from mechanisms.linear.gaussian_output import GaussianOutput
from mechanisms.linear.posterior_sampling import PosteriorSampling
from mechanisms.linear.ridge import RidgeMap
from mechanisms.objective.losses import LogisticLoss, SquaredLoss
from mechanisms.objective.objective_perturbation import ObjectivePerturbation


def ball_log_mass(low, high):
    """log(Phi(high) - Phi(low)) with 2000 bits."""
    ctx.prec = 2000
    try:
        tails = [
            arb(0) if end == math.inf else arb(2) if end == -math.inf else (arb(end) / arb(2).sqrt()).erfc()
            for end in (low, high)
        ]
        return float(((tails[0] - tails[1]) / 2).log())
    finally:
        ctx.prec = 53


@for_each(
    ("low", "high"),
    [
        (-1.0, 2.0),
        (5.9, 6.0),
        (-6.0, -5.9),
        (30.0, 30.1),
        (-30.1, -30.0),
        (8.0, math.inf),
        (-math.inf, -8.0),
        (-0.1, 9.0),
    ],
)
def test_the_mass_of_an_interval_against_ball_arithmetic(low, high):
    assert float(log_normal_mass(low, high)) == pytest.approx(ball_log_mass(low, high), rel=1e-12)


def test_free_and_empty_intervals():
    assert log_normal_mass([-np.inf, 1.0], [np.inf, 1.0]).tolist() == [0.0, -np.inf]


@for_each(("low", "high"), [(-1, 2), (6, 6.1), (-6.1, -6), (9, math.inf), (-math.inf, math.inf)])
def test_an_interval_is_filled_at_its_shares_of_mass(low, high):
    """The value at share u has the mass u between it and the end nearer to the bulk, by ball arithmetic."""
    shares = np.array([0.01, 0.3, 0.9])
    whole = ball_log_mass(low, high)
    for share, value in zip(shares, truncated_normal(low, high, shares), strict=True):
        part = ball_log_mass(float(value), high) if -low > high else ball_log_mass(low, float(value))
        assert math.exp(part - whole) == pytest.approx(share, rel=1e-9)


#: Boxes of four dimensions that share ends: two cells of q, two shells, and everything below t = -1.
FOUR = NormalBoxes(
    4,
    np.array([0.5, 1.0, 2.0, 0.2, -np.inf]),
    np.array([np.inf, np.inf, np.inf, 3.0, -1.0]),
    np.array([-np.inf, -np.inf, 0.3, 0.3, -np.inf]),
    np.array([0.3, 0.3, np.inf, np.inf, np.inf]),
    np.array([1.0, 0.4, 1.0, 0.4, 1.0]),
    np.array([0.4, 0.0, 0.4, 0.0, 0.0]),
)


def box_of(boxes, noise):
    """Return the index of the box of each vector, -1 where there is none; no two boxes may share a vector."""
    tail = chdtrc(boxes.dim - 2, np.square(noise[:, 2:]).sum(axis=1))[:, None]
    t, q = noise[:, :1], noise[:, 1:2]
    within = (boxes.t_low < t) & (t < boxes.t_high) & (boxes.q_low < q) & (q < boxes.q_high)
    within &= (boxes.beyond_outer < tail) & (tail < boxes.beyond_inner)
    assert within.sum(axis=1).max() <= 1
    return np.where(within.any(axis=1), within.argmax(axis=1), -1)


def test_masses_are_products_and_agree_with_plain_draws():
    """Null: normal vectors fall into each box, and the draws inside into each box, as stated. Level 1e-7 a count."""
    q = ndtr(0.3)
    expected = [
        (1 - ndtr(0.5)) * q * 0.6,
        (1 - ndtr(1.0)) * q * 0.4,
        (1 - ndtr(2.0)) * (1 - q) * 0.6,
        (ndtr(3.0) - ndtr(0.2)) * (1 - q) * 0.4,
        ndtr(-1.0),
    ]
    assert np.exp(FOUR.log_masses) == pytest.approx(expected, rel=1e-12)
    assert math.exp(FOUR.log_mass) == pytest.approx(sum(expected), rel=1e-12)
    plain = box_of(FOUR, np.random.default_rng(91).standard_normal((100_000, 4)))
    inside = box_of(FOUR, FOUR.draw(50_000, np.random.default_rng(92)))
    assert (inside >= 0).all()
    for found, share in ((plain, np.array(expected)), (inside, np.array(expected) / sum(expected))):
        for k, chance in enumerate(share):
            assert (found == k).sum() <= misses_allowed(found.size, chance)
            assert (found != k).sum() <= misses_allowed(found.size, 1 - chance)


def uniform_distance(values):
    """Kolmogorov distance of values to the uniform law on (0, 1)."""
    ordered, n = np.sort(values), len(values)
    return max((np.arange(1, n + 1) / n - ordered).max(), (ordered - np.arange(n) / n).max())


def shares_in(boxes, noise):
    """Return every coordinate's share of its law in its box: uniform and independent if the draws are right."""
    box = box_of(boxes, noise)
    t, q = (
        (ndtr(value) - ndtr(low)) / (ndtr(high) - ndtr(low))
        for value, low, high in (
            (noise[:, 0], boxes.t_low[box], boxes.t_high[box]),
            (noise[:, 1], boxes.q_low[box], boxes.q_high[box]),
        )
    )
    tail = chdtrc(boxes.dim - 2, np.square(noise[:, 2:]).sum(axis=1))
    norm = (tail - boxes.beyond_outer[box]) / (boxes.beyond_inner[box] - boxes.beyond_outer[box])
    angle = np.arctan2(noise[:, 2], noise[:, 3]) / (2 * math.pi) + 0.5
    return np.stack([t, q, norm, angle])


def test_draws_have_the_conditional_law():
    """Null: each coordinate's share is uniform (DKW), and each pair falls into quadrants evenly. Level 1e-7 each."""
    n = 50_000
    shares = shares_in(FOUR, FOUR.draw(n, np.random.default_rng(93)))
    limit = math.sqrt(math.log(2 / LEVEL) / (2 * n))
    assert all(uniform_distance(share) < limit for share in shares)
    for i in range(4):
        for j in range(i):
            both = ((shares[i] < 0.5) == (shares[j] < 0.5)).sum()
            assert max(both, n - both) <= misses_allowed(n, 0.5)


def test_the_same_check_refutes_draws_that_are_not_conditional():
    """Norms of a chi law of one dimension more, and t a tenth too large."""
    n = 50_000
    noise = FOUR.draw(n, np.random.default_rng(93))
    limit = math.sqrt(math.log(2 / LEVEL) / (2 * n))
    rng = np.random.default_rng(94)
    kept = box_of(FOUR, noise * [1.1, 1, 1, 1])
    moved = (noise * [1.1, 1, 1, 1])[kept >= 0]
    assert uniform_distance(shares_in(FOUR, moved)[0]) > limit
    wide = noise.copy()
    wide[:, 2:] *= (np.sqrt(rng.chisquare(3, n)) / np.sqrt(np.square(wide[:, 2:]).sum(axis=1)))[:, None]
    assert uniform_distance(shares_in(FOUR, wide[box_of(FOUR, wide) >= 0])[2]) > limit


@for_each("dim", [1, 2, 3, 7])
def test_a_half_line_cut_into_boxes_keeps_its_mass(dim):
    """P(t > 6) = the sum over cells of q and shells of the norm."""
    q_ends = np.array([-np.inf, -9.0, -1.0, 0.2, 5.0, np.inf]) if dim > 1 else np.array([-np.inf, np.inf])
    beyond = np.array([1.0, 0.9, 0.1, 1e-12, 0.0]) if dim > 2 else np.array([1.0, 0.0])
    cell, shell = (index.ravel() for index in np.indices((q_ends.size - 1, beyond.size - 1)))
    six, end = np.full(cell.size, 6.0), np.full(cell.size, np.inf)
    boxes = NormalBoxes(dim, six, end, q_ends[cell], q_ends[cell + 1], beyond[shell], beyond[shell + 1])
    assert boxes.log_mass == pytest.approx(stats.norm.logsf(6.0), rel=1e-14)
    noise = boxes.draw(1000, np.random.default_rng(95))
    assert noise.shape == (1000, dim)
    assert (noise[:, 0] > 6).all()
    assert dim == 1 or abs(noise[:, 1:].mean()) < 5 / math.sqrt(1000)


def test_deep_draws_stay_inside():
    one = np.ones(1)
    boxes = NormalBoxes(5, 35 * one, np.inf * one, -20.1 * one, -20 * one, 1e-200 * one, 1e-201 * one)
    noise = boxes.draw(2000, np.random.default_rng(96))
    assert noise[:, 0].min() >= 35 - 1e-9
    assert ((noise[:, 1] > -20.1 - 1e-9) & (noise[:, 1] < -20 + 1e-9)).all()
    tail = stats.chi2.logsf(np.square(noise[:, 2:]).sum(axis=1), 3) / math.log(10)
    assert tail.min() > -201 - 1e-6
    assert tail.max() < -200 + 1e-6


OPS = PosteriorSampling(30.0, 1.0)
GAUSSIAN = GaussianOutput(np.array([[2.0, 0.5], [0.5, 1.0]]), 900.0, RidgeMap(1.0))
ADD = example_pair(n_records=6)


def budget(n_draws: int = 4000) -> Budget:
    return Budget(n_draws, 1e-7, StreamKey(5, ("gaussian envelopes",)))


@for_each("pair", [ADD, ADD.swapped()])
@for_each("direction", list(Direction))
@for_each("tail", [0.3, 1e-3, 1e-9, 1e-12])
def test_posterior_tails_against_the_exact_profile(pair: NeighbouringPair, direction: Direction, tail: float) -> None:
    """Null: both intervals hold the closed form (W19-T4.1 in QuadraticProfile). Level 1e-7, 4000 draws."""
    profile = OPS.profile(pair)
    low, high = -50.0, 200.0
    for _ in range(200):  # bisection for the epsilon of this tail
        middle = 0.5 * (low + high)
        low, high = (middle, high) if profile.tail_at(middle, direction) > tail else (low, middle)
    if profile.tail_at(low, direction) > 2 * tail:
        raise AssertionError("the tail has a jump")
    audit = audit_rare(posterior_envelope(OPS, pair, direction, low), budget())
    assert audit.tail.low <= profile.tail_at(low, direction) <= audit.tail.high < 1.02 * audit.tail.low
    assert audit.delta.low <= profile.delta_at(low, direction) <= audit.delta.high
    assert audit.acceptance > 0.99


@for_each("seed", [10, 11, 12])
def test_an_epsilon_next_to_the_largest_loss(seed: int) -> None:
    """The event is no smaller than the closed form a few last digits below the largest loss.

    The tail is proportional to the square root of the distance, which one rounding changes as a whole.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(25, 3))
    X /= np.linalg.norm(X, axis=1).max()
    pair = NeighbouringPair.add(Dataset(X, rng.uniform(-1, 1, 25), 1.0, 1.0), [1.0, 0.0, 0.0], 0.3)
    leverage, scaled = OPS.target(pair)
    largest = 0.5 * (math.log1p(leverage) + scaled**2 / (1 + leverage))
    for digits in range(20):
        epsilon = largest * (1 - digits * 2.0**-52)
        envelope = posterior_envelope(OPS, pair, Direction.BACKWARD, epsilon)
        tail = OPS.profile(pair).tail_at(epsilon, Direction.BACKWARD)
        assert tail <= math.exp(envelope.log_mass) <= tail + 1e-6


@for_each("direction", list(Direction))
@for_each("epsilon", [0.5, 3.0, 20.0])
def test_gaussian_tails_against_the_exact_profile(direction: Direction, epsilon: float) -> None:
    """Null: both intervals hold the closed form. Level 1e-7, 4000 draws."""
    profile = GAUSSIAN.profile(ADD)
    audit = audit_rare(gaussian_envelope(GAUSSIAN, ADD, direction, epsilon), budget())
    assert audit.tail.low <= profile.tail_at(epsilon) <= audit.tail.high < 1.02 * audit.tail.low
    assert audit.delta.low <= profile.delta_at(epsilon) <= audit.delta.high


def test_less_noise_than_claimed_is_refuted_at_1e_minus_9() -> None:
    """The tail of the mechanism that draws, against the law that is claimed: gamma 10 % too large."""
    mutant = ops_wrong_gamma(OPS, 0.1)
    profile, direction = mutant.profile(ADD), Direction.FORWARD
    epsilon = mutant.actual.profile(ADD).epsilon_at(1e-9, direction)
    audit = audit_rare(posterior_envelope(mutant.actual, ADD, direction, epsilon), budget())
    assert audit.tail.low > profile.tail_at(epsilon, direction)


@for_each("ends", [((8.0, math.inf),), ((-math.inf, -6.0), (7.0, math.inf)), ((-1.0, 0.5),), ((9.0, 9.1),)])
def test_intervals_of_a_normal_variable(ends: tuple[tuple[float, float], ...]) -> None:
    """Null: draws lie inside, their shares are those of the law. Threshold by DKW, level 1e-7, 2e4 draws."""
    union = NormalIntervals(ends)
    mass = sum(stats.norm.sf(a) - stats.norm.sf(b) if a > 0 else stats.norm.cdf(b) - stats.norm.cdf(a) for a, b in ends)
    assert math.isclose(math.exp(union.log_mass), mass, rel_tol=1e-10)
    values = np.sort(union.draw(20_000, np.random.default_rng(4)))
    assert np.logical_or.reduce([(a <= values) & (values <= b) for a, b in ends]).all()
    positive = values[values > ends[-1][0]]
    a, b = ends[-1]
    law = (stats.norm.sf(a) - stats.norm.sf(positive)) / (stats.norm.sf(a) - stats.norm.sf(b))
    gap = np.abs(law - np.arange(1, positive.size + 1) / positive.size).max()
    assert gap < math.sqrt(math.log(2e7) / (2 * positive.size)) + 1 / positive.size


def test_impossible_losses_are_refused_in_one_line() -> None:
    with pytest.raises(ValueError, match="epsilon must be below the largest loss"):
        posterior_envelope(OPS, ADD, Direction.BACKWARD, 500.0)
    still = NeighbouringPair.add(Dataset(np.eye(2), np.zeros(2), 1.0, 1.0), [0.0, 0.0], 0.5)
    with pytest.raises(ValueError, match="x must not be zero"):
        posterior_envelope(OPS, still, Direction.FORWARD, 1.0)


def regression_pair():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(200, 5))
    X /= np.linalg.norm(X, axis=1)[:, None]
    y = np.clip(X @ rng.normal(size=5), -1.0, 1.0)
    return NeighbouringPair.add(Dataset(X, y, 1.0, 1.0), np.ones(5) / math.sqrt(5), -1.0)


@for_each("direction", list(Direction))
@for_each("loss", [LogisticLoss(), SquaredLoss()])
def test_noise_of_objective_perturbation_against_its_definition(loss, direction):
    rng = np.random.default_rng(2)
    features, y = rng.normal(size=(12, 2)) / 3, np.where(rng.random(12) < 0.5, 1.0, -1.0)
    pair = NeighbouringPair.remove(Dataset(features, y, 2.0, 1.0), 3)
    mechanism, z = ObjectivePerturbation(loss, 1.5, 0.4), rng.standard_normal((5, 2))
    source = noise_points(mechanism, pair, direction)
    drawn, other = (pair.first, pair.second) if direction is Direction.FORWARD else (pair.second, pair.first)
    for row, found in zip(z, source.losses(z), strict=True):
        theta = minimiser(1.5 * row, drawn, loss, 0.4)
        expected = [literal_log_density(theta, data, loss, 0.4, 1.5) for data in (drawn, other)]
        assert found == pytest.approx(expected[0] - expected[1], rel=1e-6, abs=1e-7)
    assert source.log_density(z) == pytest.approx(np.log(np.prod(np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi), axis=1)))


@for_each("direction", list(Direction))
@for_each("mechanism", [PosteriorSampling(3.0, 0.7), GaussianOutput(np.diag([1.0, 2, 3, 1, 2]), 4.0)])
def test_noise_leads_to_the_outputs_that_the_mechanism_draws(mechanism, direction):
    """The same generator, asked by the mechanism and by its noise, gives the same losses."""
    pair = regression_pair()
    source = noise_points(mechanism, pair, direction)
    drawn = pair.first if direction is Direction.FORWARD else pair.second
    noise = source.draw(20, np.random.default_rng(4))
    kept = noise.copy()
    outputs = mechanism.draw(drawn, 20, rng=np.random.default_rng(4))
    sign = 1 if direction is Direction.FORWARD else -1
    assert source.losses(noise) == pytest.approx(sign * mechanism.privacy_loss(outputs, pair), rel=1e-9)
    assert np.array_equal(noise, kept)


@for_each("direction", list(Direction))
def test_outputs_are_those_of_the_mechanism(direction):
    mechanism, pair = PosteriorSampling(3.0, 0.7), regression_pair()
    source = output_points(mechanism, pair, direction)
    drawn = pair.first if direction is Direction.FORWARD else pair.second
    outputs = source.draw(20, np.random.default_rng(4))
    assert np.array_equal(outputs, mechanism.draw(drawn, 20, rng=np.random.default_rng(4)))
    assert np.array_equal(source.log_density(outputs), mechanism.log_density(outputs, drawn))
    difference = mechanism.log_density(outputs, pair.first) - mechanism.log_density(outputs, pair.second)
    sign = 1 if direction is Direction.FORWARD else -1
    assert source.losses(outputs) == pytest.approx(sign * difference, rel=1e-9, abs=1e-9)


def test_a_mechanism_without_a_known_noise_is_refused():
    with pytest.raises(TypeError, match="known noise"):
        noise_points(GaussianSum(1.0), toy_pair(), Direction.FORWARD)

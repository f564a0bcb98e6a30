import math
import pickle
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from oracles.audits.importance import lower_end, mixture_density
from oracles.audits.rare_events import tail_and_delta
from rows import for_each
from scipy.integrate import quad
from scipy.special import log_ndtr, ndtr
from scipy.stats import binom, chi2, t

from audits import Budget, StreamKey
from audits.rare import importance, proposals
from audits.rare.importance import audit_rare, audit_rare_lower
from audits.rare.proposals import Piece, climb, fit_mixture, fit_whitening
from audits.stats.intervals import MAX_STAKE
from mechanisms import Dataset, Direction, GaussianProfile, NeighbouringPair
from mechanisms.envelopes.logistic_envelope import logistic_envelope
from mechanisms.envelopes.loss_points import LossPoints, noise_points, output_points
from mechanisms.linear.gaussian_output import GaussianOutput
from mechanisms.linear.posterior_sampling import PosteriorSampling
from mechanisms.linear.ridge import RidgeMap
from mechanisms.linear.subsample_aggregate import SubsampleAggregate
from mechanisms.objective.losses import LogisticLoss
from mechanisms.objective.objective_perturbation import ObjectivePerturbation

BUILDERS = [noise_points, output_points]


def budget(n_draws=4000, failure_prob=1e-7, seed=1):
    return Budget(n_draws, failure_prob, StreamKey(seed, ("test",)))


def normal(dim, loss, name="normal noise"):
    def log_density(z):
        return -0.5 * np.square(z).sum(axis=1) - 0.5 * dim * math.log(2 * math.pi)

    return LossPoints(name, lambda n, rng: rng.standard_normal((n, dim)), log_density, loss)


def gaussian(dim):
    """Loss 1/2 + Z of Gaussian output perturbation at mu = 1, Z along the diagonal."""
    return normal(dim, lambda z: 0.5 + z.sum(axis=1) / math.sqrt(dim))


def epsilon_of_tail(tail_at, tail):
    low, high = 0.0, 500.0
    for _ in range(100):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if tail_at(middle) > tail else (low, middle)
    return low


def holds(estimate, truth, *, share=0.75):
    """The lower end is below the truth, and sharp; the value is near; the type cannot support."""
    assert estimate.high == 1.0
    assert "lower bound" in estimate.method
    assert "without a proved envelope" in estimate.method
    assert share * truth < estimate.low <= truth
    assert estimate.value == pytest.approx(truth, rel=0.15)


# --- against exact laws -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("build", BUILDERS)
@for_each(("dim", "tail"), [(1, 1e-9), (1, 1e-12), (10, 1e-9), (10, 1e-12), (3, 1e-15)])
def test_gaussian_output_at_1e_minus_9_and_far_below(build, dim, tail):
    """Null: both lower ends are below the closed form. Level 1e-7; 6000 draws, pilot included. Sharpness: measured."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(60, dim)) / (4 * dim)
    x = np.ones(dim) / math.sqrt(dim)
    pair = NeighbouringPair.add(Dataset(X, np.zeros(60), 1.0, 1.0), x, -1.0)
    mechanism = GaussianOutput.isotropic(0.5, dim, RidgeMap(1.0))
    profile = mechanism.profile(pair)
    epsilon = epsilon_of_tail(profile.tail_at, tail)
    audit = audit_rare_lower(build(mechanism, pair, Direction.BACKWARD), budget(6000), epsilon=epsilon)
    holds(audit.tail, profile.tail_at(epsilon))
    holds(audit.delta, profile.delta_at(epsilon))
    assert 0 < audit.n_pilot <= 3000
    assert audit.n_draws == 6000
    assert audit.acceptance > 0.5  # the direction was found


def regression_pair(response=-1.0):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(200, 5))
    X /= np.linalg.norm(X, axis=1)[:, None]
    y = np.clip(X @ rng.normal(size=5), -1.0, 1.0)
    return NeighbouringPair.add(Dataset(X, y, 1.0, 1.0), np.ones(5) / math.sqrt(5), response)


@for_each("build", BUILDERS)
@for_each("direction", list(Direction))
def test_posterior_sampling_at_1e_minus_9(build, direction):
    """Null: both lower ends are below the exact profile. Level 1e-7; 5000 draws."""
    mechanism, pair = PosteriorSampling(20.0, 1.0), regression_pair()
    profile = mechanism.profile(pair)
    epsilon = epsilon_of_tail(lambda e: profile.tail_at(e, direction), 1e-9)
    audit = audit_rare_lower(build(mechanism, pair, direction), budget(5000), epsilon=epsilon)
    holds(audit.tail, profile.tail_at(epsilon, direction))
    holds(audit.delta, profile.delta_at(epsilon, direction))


def test_both_tails_of_a_two_sided_event_are_found():
    """Null: the lower end is below the exact tail; the loss is quadratic and even. Level 1e-7; 6000 draws."""
    pair = regression_pair()
    fit = np.linalg.solve(pair.first.X.T @ pair.first.X + np.eye(5), pair.first.X.T @ pair.first.y)
    even = NeighbouringPair.add(pair.first, pair.x, float(pair.x @ fit))
    mechanism = PosteriorSampling(20.0, 1.0)
    profile = mechanism.profile(even)
    epsilon = epsilon_of_tail(lambda e: profile.tail_at(e, Direction.FORWARD), 1e-9)
    audit = audit_rare_lower(noise_points(mechanism, even, Direction.FORWARD), budget(6000), epsilon=epsilon)
    holds(audit.tail, profile.tail_at(epsilon, Direction.FORWARD), share=0.7)


def test_a_side_that_is_missed_lowers_the_bound_and_nothing_else():
    """Null: the lower end is below the tail of both sides. The far side has no slope that would lead to it."""

    def loss(z):
        return np.where(z[:, 0] < -5.0, 10.0, z[:, 0])

    audit = audit_rare_lower(normal(2, loss), budget(), epsilon=5.0)
    side = float(ndtr(-5.0))
    assert 0.75 * side < audit.tail.low < 1.05 * side
    assert audit.tail.high == audit.delta.high == 1.0  # refutes a tail below `low`, supports nothing


def test_a_common_event_is_drawn_plainly():
    """Null: both lower ends are below the closed form. Level 1e-7; 4000 draws."""
    audit, profile = audit_rare_lower(gaussian(3), budget(), epsilon=0.6), GaussianProfile(1.0)
    holds(audit.tail, profile.tail_at(0.6))
    holds(audit.delta, profile.delta_at(0.6), share=0.7)


X = np.array([0.9, -0.5, 0.7, 0.8, -0.6, 1.0, -0.9, 0.4, 0.6, -0.3, 1.0])
Y = np.array([1.0, -1, 1, -1, -1, 1, 1, 1, -1, -1, 1.0])


@pytest.mark.parametrize("build", BUILDERS)
@pytest.mark.parametrize(("direction", "epsilon"), [(Direction.FORWARD, 6.0), (Direction.BACKWARD, 0.8)])
def test_one_dimensional_objective_perturbation_against_explicit_integration(build, direction, epsilon):
    """Null: both lower ends are below the integrated value. Level 1e-7; 4000 draws."""
    y = np.append(Y[:-1], -1.0)
    pair = NeighbouringPair.add(Dataset(X[:-1, None], Y[:-1], 1.0, 1.0), X[-1:], -1.0)
    mechanism = ObjectivePerturbation(LogisticLoss(), 1.0, 0.5)
    audit = audit_rare_lower(build(mechanism, pair, direction), budget(), epsilon=epsilon)
    tail, delta = tail_and_delta(X, y, 0.5, 1.0, epsilon, drawn_with_last=direction is Direction.BACKWARD)
    assert 0 < tail < 0.05
    holds(audit.tail, tail)
    holds(audit.delta, delta)


def logistic_pair(n=300, dim=4, seed=7):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, dim))
    features /= np.linalg.norm(features, axis=1)[:, None]
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    return NeighbouringPair.add(Dataset(features, y, 1.0, 1.0), np.eye(dim)[0], 1.0)


@pytest.mark.parametrize(("sigma", "epsilon"), [(11.0, 0.55), (1.0, 4.5)])
def test_proved_envelopes_agree(sigma, epsilon):
    """Null: the lower ends are below the upper ends of draws inside a proved event. Level 3e-7; tails below 1e-8."""
    mechanism, pair, forward = ObjectivePerturbation(LogisticLoss(), sigma, 1.0), logistic_pair(), Direction.FORWARD
    proved = audit_rare(logistic_envelope(mechanism, pair, forward, epsilon), budget(4000))
    found = audit_rare_lower(noise_points(mechanism, pair, forward), budget(4000), epsilon=epsilon)
    assert 0 < proved.tail.value < 1e-8
    for lower, both in ((found.tail, proved.tail), (found.delta, proved.delta)):
        assert 0.75 * both.value < lower.low <= both.high
        assert lower.value == pytest.approx(both.value, rel=0.15)


# --- how often the lower end is wrong ---------------------------------------------------------------------------------


def misses(level, n_repeats, n_draws=400, epsilon=4.0, dim=2):
    truth = GaussianProfile(1.0)
    tail, delta = truth.tail_at(epsilon), truth.delta_at(epsilon)
    audits = [
        audit_rare_lower(gaussian(dim), budget(n_draws, level, seed), epsilon=epsilon) for seed in range(n_repeats)
    ]
    assert np.mean([audit.tail.low > 0.3 * tail for audit in audits]) > 0.5  # they do say something
    return sum(audit.tail.low > tail or audit.delta.low > delta for audit in audits)


@pytest.mark.parametrize("level", [0.5, 0.1])
def test_lower_ends_miss_no_more_often_than_stated(level):
    """Null: either lower end misses with probability at most ``level``. Level 1e-7 by the binomial law, 150 audits."""
    assert misses(level, 150) <= binom.isf(1e-7, 150, level)


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.5, 0.1, 0.05])
@pytest.mark.parametrize(("n_draws", "epsilon", "dim"), [(400, 4.0, 2), (1000, 5.3, 3)])
def test_lower_ends_miss_no_more_often_than_stated_in_many_audits(level, n_draws, epsilon, dim):
    """Null: either lower end misses with probability at most ``level``. Level 1e-7 by the binomial law, 800 audits."""
    assert misses(level, 800, n_draws, epsilon, dim) <= binom.isf(1e-7, 800, level)


# --- mutants ----------------------------------------------------------------------------------------------------------

EPSILON = 6.5  # tail 1e-9


def test_a_density_without_its_constant_is_caught():
    """By a slip the density is 10 % too large everywhere; without its constant it is 16 times too large."""
    source, truth = gaussian(3), GaussianProfile(1.0).tail_at(EPSILON)
    assert audit_rare_lower(source, budget(20_000), epsilon=EPSILON).tail.low <= truth
    for factor in (1.1, (2 * math.pi) ** 1.5):
        wrong = replace(source, log_density=lambda z, f=factor: source.log_density(z) + math.log(f))
        assert audit_rare_lower(wrong, budget(20_000), epsilon=EPSILON).tail.low > truth


def test_draws_that_are_narrower_than_their_density_are_caught(monkeypatch):
    def weighted(proposal, n_draws, rng):
        pieces = tuple(
            replace(piece, scales=0.5 * piece.scales, slope=0.5 * piece.slope, bend=0.25 * piece.bend)
            for piece in proposal.mixture.pieces
        )
        points = replace(proposal.mixture, pieces=pieces).draw(n_draws, rng)
        log_density, losses = proposal.white.evaluate(points)
        return log_density - proposal.mixture.log_density(points), losses

    monkeypatch.setattr(proposals.Proposal, "weighted", weighted)
    assert audit_rare_lower(gaussian(6), budget(8000), epsilon=EPSILON).tail.low > GaussianProfile(1.0).tail_at(EPSILON)


def test_an_estimate_on_the_points_of_the_fit_is_caught():
    """The points that the mixture was fitted to, taken as its draws, miss far more often than the level allows."""
    level, truth, wrong = 0.1, GaussianProfile(1.0).tail_at(4.0), 0
    for seed in range(40):
        found = climb(gaussian(2), 4.0, 2000, StreamKey(seed, ("test",)).rng())
        values = (found.pool.log_density - found.mixture.log_density(found.pool.points))[found.pool.losses > 4.0]
        cut = found.cut(importance.indicator, 4.0, values.size, level)[1]
        wrong += importance._lower_end(np.minimum(values, cut), cut, level, budget()).low > truth
    assert wrong > binom.isf(1e-7, 40, level)


def test_truncation_is_fixed_by_the_pilot(monkeypatch):
    """Whatever the level of truncation, the lower end stays below the truth. Level 2e-7 each, 4000 draws."""
    truth = GaussianProfile(1.0).tail_at(EPSILON)
    cut = proposals.Proposal.cut
    lows = []
    for factor in (0.3, 1.0, 30.0):
        monkeypatch.setattr(
            proposals.Proposal, "cut", lambda *args, f=factor: (cut(*args)[0], cut(*args)[1] + math.log(f))
        )
        lows.append(audit_rare_lower(gaussian(3), budget(), epsilon=EPSILON).tail.low)
    assert 0 < max(lows) <= truth
    assert max(lows) == lows[1]


# --- twins ------------------------------------------------------------------------------------------------------------


@for_each("cut", [0.5, 1.0, 4.0])
def test_lower_end_against_its_literal_twin(cut):
    rng = np.random.default_rng(3)
    values = np.where(rng.random(200) < 0.7, rng.lognormal(0.0, 0.7, 200), 0.0)
    with np.errstate(divide="ignore"):
        found = importance._lower_end(np.log(values) - 25.0, math.log(cut) - 25.0, 0.01, budget())
    assert found.low * math.exp(25.0) == pytest.approx(lower_end(values.tolist(), cut, 0.01, MAX_STAKE), rel=1e-8)
    assert found.value * math.exp(25.0) == pytest.approx(float(values.mean()), rel=1e-12)


# --- calls ------------------------------------------------------------------------------------------------------------


def test_equal_budgets_give_identical_bytes_and_other_keys_others():
    first, again, other = (audit_rare_lower(gaussian(3), budget(1000, seed=seed), epsilon=5.0) for seed in (1, 1, 2))
    assert pickle.dumps(first) == pickle.dumps(again)
    assert first.tail != other.tail


def test_a_level_out_of_reach_says_so():
    """The loss is at most 1: nothing above 2 can be found, and the lower end is 0."""
    audit = audit_rare_lower(normal(2, lambda z: np.tanh(z[:, 0])), budget(400), epsilon=2.0)
    assert (audit.tail.value, audit.tail.low, audit.tail.high, audit.acceptance) == (0.0, 0.0, 1.0, 0.0)


def test_a_loss_on_atoms_is_climbed_too():
    """Null: the lower end is below the closed form. The loss is 2 or 3 on half-lines. Level 1e-7; 4000 draws."""
    at_atom = normal(1, lambda z: np.where(z[:, 0] > 4.0, 3.0, np.minimum(z[:, 0], 2.0)))
    found = audit_rare_lower(at_atom, budget(1000), epsilon=3.0).tail
    assert (found.low, found.value) == (0.0, 0.0)  # 3 is reached and never exceeded
    below = audit_rare_lower(at_atom, budget(4000), epsilon=2.5).tail
    assert below.low <= math.exp(float(log_ndtr(-4.0)))


def test_points_outside_the_support_do_not_count():
    """Null: the lower end is below the exact tail of an exponential variable. Level 1e-7; 4000 draws."""
    source = LossPoints(
        "exponential",
        lambda n, rng: rng.standard_exponential((n, 1)),
        lambda o: np.where(o[:, 0] >= 0, -o[:, 0], -np.inf),
        lambda o: np.where(o[:, 0] >= 0, o[:, 0], np.nan),
    )
    holds(audit_rare_lower(source, budget(6000), epsilon=20.0).tail, math.exp(-20.0))


def test_plain_draws_keep_their_own_loss_however_heavy_their_tails():
    """Null: the lower end is below the exact probability near 0. Level 1e-7 a seed; 2000 draws.

    A Student law whose standard deviation in a sample is 1e20 and more, while half of it lies within 1e6.
    """
    law = t(0.05)
    source = LossPoints(
        "Student",
        lambda n, rng: law.rvs(size=(n, 1), random_state=rng),
        lambda z: law.logpdf(z[:, 0]),
        lambda z: -np.abs(z[:, 0]),
    )
    for seed in range(4):
        for radius in (0.001, 10.0):
            found = audit_rare_lower(source, budget(2000, seed=seed), epsilon=-radius).tail
            assert found.low <= law.cdf(radius) - law.cdf(-radius)


def test_weights_that_nearly_overflow_are_truncated():
    """Null: the lower end is below the chi-square tail of 1e-12. In the pilot's pool the largest
    weights are e^700 times the others and more. Level 1e-7; 1000 draws."""
    found = audit_rare_lower(normal(20, lambda z: np.square(z).sum(axis=1)), budget(1000, seed=4), epsilon=100.0).tail
    assert found.low <= chi2.sf(100.0, 20)


def test_calls_that_cannot_be_answered_are_refused():
    coin = LossPoints("coin", lambda n, rng: rng.integers(0, 2, (n, 1)) * 1.0, lambda o: o[:, 0], lambda o: o[:, 0])
    with pytest.raises(ValueError, match="epsilon must be finite"):
        audit_rare_lower(gaussian(1), budget(), epsilon=math.inf)
    with pytest.raises(ValueError, match="n_draws must be at least 80"):
        audit_rare_lower(gaussian(1), budget(79), epsilon=1.0)
    with pytest.raises(ValueError, match="one number a point"):
        audit_rare_lower(normal(1, lambda z: np.full(len(z), np.nan)), budget(), epsilon=1.0)
    with pytest.raises(ValueError, match="must have a density"):
        audit_rare_lower(coin, budget(), epsilon=1.0)


def test_rounding_puts_no_mass_beyond_an_atom():
    """Laplace noise: the loss never exceeds pure epsilon and has an atom there. Level 1e-6, 2e4 draws."""
    mechanism = SubsampleAggregate(2, 2.0, 1.0, lam=1e-3)
    dataset = Dataset([[0.7], [0.7], [0.7]], [0.3, 0.3, 0.3], 1.0, 1.0)
    pair = NeighbouringPair.add(dataset, [1.0], -1.0)
    source = output_points(mechanism, pair, Direction.FORWARD)
    found = audit_rare_lower(source, Budget(20_000, 1e-6, StreamKey(0)), epsilon=mechanism.pure_epsilon(pair))
    assert found.tail.low == found.delta.low == 0.0


@cache
def fitted(dim):
    rng = np.random.default_rng(dim)
    points = rng.normal(size=(400, dim)) + 4.0 * rng.choice([-1.0, 1.0], size=(400, 1)) * np.eye(dim)[0]
    points[:, 0] += 0.1 * np.square(points[:, -1])
    mixture, asked = fit_mixture(points, rng.random(400), lambda point: abs(point[0]) > 2.0, longer=1.1)
    return mixture, asked, points


@for_each("dim", [1, 2, 5])
def test_mixture_density_against_its_literal_twin(dim):
    mixture, asked, points = fitted(dim)
    assert len(mixture.pieces) == 4  # two sides, each with its wider copy
    assert asked == 3
    assert math.isclose(mixture.shares.sum(), 1.0)
    found = mixture.log_density(points)
    for point, value in zip(points[:40].tolist(), found[:40], strict=True):
        expected = mixture_density(mixture, point)
        assert math.exp(value) == pytest.approx(expected, rel=1e-11)


def test_mixture_density_has_total_mass_one_and_is_what_is_drawn():
    """Null: a share of the draws in a half-line is that of the density. Level 1e-7, 20,000 draws."""
    mixture, _, _ = fitted(1)
    breaks = [piece.start * piece.frame[0, 0] for piece in mixture.pieces]
    edges = [-math.inf, *sorted(breaks), math.inf]

    def density(x):
        return math.exp(mixture.log_density(np.array([[x]]))[0])

    assert sum(quad(density, a, b)[0] for a, b in pairwise(edges)) == pytest.approx(1.0, abs=1e-7)
    draws = mixture.draw(20_000, np.random.default_rng(5))[:, 0]
    above = quad(density, 5.0, math.inf)[0]
    assert binom.ppf(5e-8, 20_000, above) <= (draws > 5.0).sum() <= binom.isf(5e-8, 20_000, above)


def test_wider_copies_keep_the_slope_and_halve_the_bend():
    piece = Piece(np.eye(2), np.array([1.0]), np.array([2.0]), np.array([0.6]), np.array([0.2]), 3.0, 5.0)
    wide = piece.wider()
    assert wide.slope / wide.scales == pytest.approx(piece.slope / piece.scales)
    assert wide.bend / wide.scales**2 == pytest.approx(0.5 * piece.bend / piece.scales**2, rel=0.02)
    assert wide.start == pytest.approx(2.8)


def test_whitening_is_a_change_of_coordinates():
    rng = np.random.default_rng(1)
    points = rng.normal(size=(500, 3)) @ np.array([[1e3, 0, 0], [5, 1, 0], [0, 0.01, 1e-4]]) + 7.0
    change = fit_whitening(points)
    white = change.white(points)
    assert change.raw(white) == pytest.approx(points, rel=1e-9)
    assert change.log_det == pytest.approx(math.log(abs(np.linalg.det(change.matrix))))
    assert white.mean(axis=0) == pytest.approx(np.zeros(3), abs=1e-6)
    assert np.cov(white.T) == pytest.approx(np.eye(3), abs=0.1)


def test_covariance_is_shrunk_where_it_is_uncertain_only():
    rng = np.random.default_rng(1)
    for n, low, high in ((30, 0.7, 1.4), (20_000, 0.97, 1.03)):
        values, _ = proposals.shrunk_covariance(rng.normal(size=(n, 8)), np.full(n, 1 / n))
        assert low < values.min() <= values.max() < high
    values, _ = proposals.shrunk_covariance(rng.normal(size=(20_000, 2)) * (1.0, 5.0), np.full(20_000, 1 / 20_000))
    assert values == pytest.approx([1.0, 25.0], rel=0.05)

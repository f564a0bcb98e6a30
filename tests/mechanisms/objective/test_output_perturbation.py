"""Minimisers with normal noise: what a record moves against solves without it, and its bound."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy
from oracles.mechanisms import pair_truth
from oracles.mechanisms.objective_perturbation import minimiser
from rows import for_each
from scipy.special import ndtr

from audits import exact_delta
from mechanisms.base import Direction
from mechanisms.capabilities import Domain, worst_case_of
from mechanisms.catalogue import example_data
from mechanisms.data.dataset import Dataset, FloatArray
from mechanisms.data.neighbours import NeighbouringPair
from mechanisms.laws.gaussian_calibration import gaussian_epsilons
from mechanisms.laws.gaussian_profile import GaussianProfile
from mechanisms.objective.ball_perturbation import BallObjectivePerturbation, ball_minimiser
from mechanisms.objective.losses import LogisticLoss, PseudoHuberLoss, SquaredLoss
from mechanisms.objective.output_perturbation import GibbsSampling, GlmOutput
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
    assert 0.99 * bound.mu < moved <= bound.mu
    short = mechanism.record_bound(DOMAIN, 0.9)
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


@for_each("scale", [0.0, 1.0, 30.0])
def test_the_minimiser_is_that_of_a_general_optimiser(scale: float) -> None:
    data, lam, radius = example_data(), 0.3, 0.5
    linear = scale * np.random.default_rng(1).standard_normal((6, 2))
    found = ball_minimiser(data, lam, linear, radius)
    for b, theta in zip(linear, found, strict=True):

        def objective(t: np.ndarray, b: np.ndarray = b) -> float:
            residual = data.y - data.X @ t
            return float(0.5 * residual @ residual + 0.5 * lam * t @ t + b @ t)

        inside = {"type": "ineq", "fun": lambda t: radius**2 - t @ t}
        literal = scipy.optimize.minimize(objective, np.zeros(2), method="SLSQP", constraints=[inside], tol=1e-14)
        np.testing.assert_allclose(theta, literal.x, atol=2e-6)
    assert (np.linalg.norm(found, axis=1) <= radius * (1 + 1e-12)).all()


def test_draws_are_the_minimisers_of_their_noise() -> None:
    data, mechanism = example_data(), BallObjectivePerturbation(2.0, 0.7, 0.6)
    noise = 2.0 * np.random.default_rng(4).standard_normal((5, 2))
    drawn = mechanism.draw(data, 5, rng=np.random.default_rng(4))
    np.testing.assert_array_equal(drawn, ball_minimiser(data, 0.7, noise, 0.6))


def _one_record(mechanism: BallObjectivePerturbation, x: float, y: float, epsilon: float) -> float:
    """Return the exact divergence of no record and one, dim 1, worse direction: cells inside, an atom at either end."""
    edges = np.linspace(-mechanism.radius, mechanism.radius, 20_001)
    without = ndtr(mechanism.lam * edges / mechanism.sigma)
    within = ndtr((mechanism.lam * edges + x * (x * edges - y)) / mechanism.sigma)
    p, q = (np.concatenate([[law[0]], np.diff(law), [1 - law[-1]]]) for law in (without, within))
    return max(float(np.maximum(a - np.exp(epsilon) * b, 0).sum()) for a, b in ((p, q), (q, p)))


@for_each("sigma", [0.8, 2.0, 6.0])
@for_each("lam", [0.2, 2.0])
def test_no_pair_exceeds_the_bound_and_half_of_it_is_exceeded(sigma: float, lam: float) -> None:
    mechanism, domain = BallObjectivePerturbation(sigma, lam), Domain(1, 1.0, 1.0)
    bound = mechanism.worst_case(domain)
    for epsilon in (0.5, 1.0, 3.0):
        exact = max(_one_record(mechanism, x, y, epsilon) for x in (0.3, 1.0) for y in (-1.0, 0.0, 1.0))
        assert exact <= bound.delta_at(epsilon, 0.0) * (1 + 1e-9)
    # the change of the determinant is part of it: normal noise alone at the same distance says too little
    near = max(_one_record(BallObjectivePerturbation(50.0, lam), x, 0.0, 1.0 / (1 + lam)) for x in (0.5, 1.0))
    assert near > 2 * BallObjectivePerturbation(50.0, 1e9).worst_case(domain).delta_at(1.0 / (1 + lam), 0.0)


def test_a_shorter_record_has_a_smaller_bound_and_a_replaced_one_a_larger() -> None:
    mechanism, domain = BallObjectivePerturbation(14.0, 2.0), Domain(2, 1.0, 1.0)
    whole, short = mechanism.worst_case(domain), mechanism.record_bound(domain, 0.5)
    assert short.delta_at(1.0, 0.0) < whole.delta_at(1.0, 0.0)
    assert whole.delta_at(1.0, 0.0) < whole.replaced(1.0, 0.0)


def test_the_bound_for_a_replaced_record_holds_on_lines() -> None:
    """Two data sets of one record each in one dimension, where both laws are known."""
    mechanism, domain = BallObjectivePerturbation(6.0, 1.0), Domain(1, 1.0, 1.0)
    edges = np.linspace(-1, 1, 20_001)
    laws = [ndtr((edges + x * (x * edges - y)) / 6.0) for x, y in ((1.0, 1.0), (1.0, -1.0), (0.2, 1.0))]
    cells = [np.concatenate([[law[0]], np.diff(law), [1 - law[-1]]]) for law in laws]
    replaced = mechanism.worst_case(domain).replaced
    for epsilon in (0.3, 1.0, 1.6):
        exact = max(float(np.maximum(p - np.exp(epsilon) * q, 0).sum()) for p in cells for q in cells)
        assert exact <= replaced(epsilon, 0.0)


def test_published_constants() -> None:
    mechanism = BallObjectivePerturbation.published(1.0, 1e-6, x_bound=1.0, y_bound=1.0)
    assert mechanism.lam == 2.0
    assert mechanism.sigma == pytest.approx(2 * np.sqrt(8 * np.log(2e6) + 4))


def test_refusals() -> None:
    with pytest.raises(ValueError, match="radius must be finite and positive, got radius=0"):
        BallObjectivePerturbation(1.0, 1.0, 0.0)
    empty = Dataset(np.empty((0, 2)), np.empty(0), 1.0, 1.0)
    assert BallObjectivePerturbation(1.0, 1.0).draw(empty, 2, rng=np.random.default_rng(0)).shape == (2, 2)


LOSS = LogisticLoss()
GRID = np.linspace(-12.0, 12.0, 24_001)


def _line(n: int) -> Dataset:
    X = np.linspace(0.2, 1.0, n)[:, None]
    return Dataset(X, np.where(np.arange(n) % 3 == 0, -1.0, 1.0), 1.0, 1.0)


def _masses(data: Dataset, gamma: float, lam: float) -> FloatArray:
    """Return the masses of the grid's points, straight from the exponent."""
    exponent = np.log1p(np.exp(-data.y[:, None] * data.X * GRID)).sum(axis=0) + 0.5 * lam * GRID**2
    weights = np.exp(-gamma * (exponent - exponent.min()))
    return np.asarray(weights / weights.sum())


def test_draws_have_the_law() -> None:
    data, mechanism = _line(12), GibbsSampling(LOSS, 0.8, 0.5)
    drawn = mechanism.draw(data, 20_000, rng=np.random.default_rng(3))[:, 0]
    cumulative = np.cumsum(_masses(data, 0.8, 0.5))
    test = scipy.stats.kstest(drawn, lambda t: np.interp(t, GRID, cumulative))
    assert test.pvalue > 1e-4
    wrong = np.cumsum(_masses(data, 1.0, 0.5))  # another temperature is noticed
    assert scipy.stats.kstest(drawn, lambda t: np.interp(t, GRID, wrong)).pvalue < 1e-4


def test_two_features() -> None:
    data, mechanism = example_data(kind="labels"), GibbsSampling(LOSS, 2.0, 1.0)
    drawn = mechanism.draw(data, 6000, rng=np.random.default_rng(8))
    line = np.linspace(-6, 6, 301)
    theta = np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
    exponent = np.log1p(np.exp(-data.y * (theta @ data.X.T))).sum(axis=1) + 0.5 * np.square(theta).sum(axis=1)
    weights = np.exp(-2.0 * (exponent - exponent.min()))
    mean = weights @ theta / weights.sum()
    spread = np.sqrt(weights @ (theta - mean) ** 2 / weights.sum())
    assert (np.abs(drawn.mean(axis=0) - mean) < 5 * spread / np.sqrt(6000)).all()
    assert drawn.std(axis=0) == pytest.approx(spread, rel=0.05)


@for_each("gamma", [0.5, 4.0])
@for_each("lam", [0.3, 3.0])
def test_no_pair_of_neighbours_exceeds_the_bound(gamma: float, lam: float) -> None:
    bound = GibbsSampling(LOSS, gamma, lam).worst_case(Domain(1, 1.0, 1.0))
    for n in (0, 1, 8):
        data = _line(n)
        p = _masses(data, gamma, lam)
        for label in (-1.0, 1.0):
            more = Dataset(np.vstack([data.X, [[1.0]]]), np.append(data.y, label), 1.0, 1.0)
            q = _masses(more, gamma, lam)
            for epsilon in (0.1, 0.5, 2.0):
                exact = max(float(np.maximum(a - np.exp(epsilon) * b, 0).sum()) for a, b in ((p, q), (q, p)))
                assert exact <= bound.delta_at(epsilon, 0.0)


def test_the_bound_is_reached_where_the_loss_is_a_line() -> None:
    """A response far away: within reach of the measure the loss only has a slope, and the laws are normal."""
    loss, far = PseudoHuberLoss(width=1.0), np.asarray(1000.0)
    still = np.exp(-0.5 * GRID**2)
    moved = still * np.exp(loss.value(np.zeros(1), far) - loss.value(GRID, far))
    p, q = still / still.sum(), moved / moved.sum()
    bound = GibbsSampling(loss, 1.0, 1.0).worst_case(Domain(1, 1.0, 1000.0))
    for epsilon in (0.3, 1.0, 3.0):
        exact = float(np.maximum(p - np.exp(epsilon) * q, 0).sum())
        assert exact == pytest.approx(bound.delta_at(epsilon, 0.0), rel=1e-3)


def test_the_stated_number_of_proposals_is_enough() -> None:
    mechanism = GibbsSampling(LOSS, 1.0, 0.5)
    assert mechanism.most_tries(12, 1, 1.0) == pytest.approx(np.sqrt(1 + 12 * 0.25 / 0.5))
    with pytest.raises(ValueError, match="lam must be greater to sample by rejection"):
        GibbsSampling(LOSS, 1.0, 1e-9).draw(example_data(kind="labels"), 1, rng=np.random.default_rng(0))


def test_an_unbounded_gradient_promises_nothing_of_a_draw() -> None:
    assert GibbsSampling(SquaredLoss(), 1.0, 1.0).worst_case(Domain(1, 1.0, 1.0)) is None

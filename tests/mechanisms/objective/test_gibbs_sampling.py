"""Draws from a Gibbs measure against its density on a grid, and its promise against exact divergences."""

from __future__ import annotations

import numpy as np
import pytest
import scipy

from mechanisms.capabilities import Domain
from mechanisms.catalogue import example_data
from mechanisms.data.dataset import Dataset, FloatArray
from mechanisms.objective.gibbs_sampling import GibbsSampling
from mechanisms.objective.losses import LogisticLoss, PseudoHuberLoss, SquaredLoss

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


@pytest.mark.parametrize("gamma", [0.5, 4.0])
@pytest.mark.parametrize("lam", [0.3, 3.0])
def test_no_pair_of_neighbours_exceeds_the_bound(gamma: float, lam: float) -> None:
    bound = GibbsSampling(LOSS, gamma, lam).worst_case(Domain(1, 1.0, 1.0))
    assert bound is not None
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
    assert bound is not None
    for epsilon in (0.3, 1.0, 3.0):
        exact = float(np.maximum(p - np.exp(epsilon) * q, 0).sum())
        assert exact == pytest.approx(bound.delta_at(epsilon, 0.0), rel=1e-3)


def test_the_stated_number_of_proposals_is_enough() -> None:
    mechanism = GibbsSampling(LOSS, 1.0, 0.5)
    assert mechanism.most_tries(12, 1, 1.0) == pytest.approx(np.sqrt(1 + 12 * 0.25 / 0.5))
    with pytest.raises(ValueError, match="lam must be greater to sample by rejection"):
        GibbsSampling(LOSS, 1.0, 1e-9).draw(example_data(kind="labels"), 1, rng=np.random.default_rng(0))


def test_an_unbounded_gradient_promises_nothing() -> None:
    assert GibbsSampling(SquaredLoss(), 1.0, 1.0).worst_case(Domain(1, 1.0, 1.0)) is None

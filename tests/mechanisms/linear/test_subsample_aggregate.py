"""Subsample and aggregate: blocks by content, exact pure loss, densities, refusals."""

import math

import numpy as np
import pytest
from oracles.mechanisms.examples import awkward_data, linear_data, pairs
from scipy.stats import laplace

from mechanisms.broken.broken_linear import subsample_understated
from mechanisms.data.dataset import Dataset
from mechanisms.data.neighbours import NeighbouringPair
from mechanisms.linear.subsample_aggregate import SubsampleAggregate, suggested_blocks

MECHANISM = SubsampleAggregate(6, 0.8, 1.5, lam=0.1, salt=3)


@pytest.mark.parametrize("lam", [0.0, 0.1])
def test_estimates_and_density_equal_their_definition(lam):
    mechanism, dataset = SubsampleAggregate(6, 0.8, 1.5, lam=lam, salt=3), linear_data(40, 3)
    blocks, expected = mechanism.blocks(dataset), np.zeros((6, 3))
    for b in range(6):
        X, y = dataset.X[blocks == b], dataset.y[blocks == b]
        expected[b] = np.linalg.pinv(X.T @ X + lam * np.eye(3)) @ X.T @ y
    mean = np.clip(expected, -1.5, 1.5).mean(axis=0)
    np.testing.assert_allclose(mechanism.mean(dataset), mean, rtol=1e-8, atol=1e-10)
    outputs = mechanism.draw(dataset, 9, rng=np.random.default_rng(0))
    slow = [laplace.logpdf(o, mean, 2 * 1.5 * 3 / (6 * 0.8)).sum() for o in outputs]
    np.testing.assert_allclose(mechanism.log_density(outputs, dataset), slow, rtol=1e-8)


def test_a_block_depends_on_content_alone():
    dataset = linear_data(60, 2)
    order = np.random.default_rng(1).permutation(60)
    other = Dataset(dataset.X[order], dataset.y[order], 1.0, 1.0)
    np.testing.assert_array_equal(MECHANISM.blocks(other), MECHANISM.blocks(dataset)[order])
    np.testing.assert_allclose(MECHANISM.mean(other), MECHANISM.mean(dataset), rtol=1e-12)
    zeros = Dataset(np.array([[0.0, 1.0], [-0.0, 1.0]]), np.array([0.0, -0.0]), 1.0, 1.0)
    assert len(set(MECHANISM.blocks(zeros).tolist())) == 1
    assert (SubsampleAggregate(6, 1.0, 1.0, salt=4).blocks(dataset) != MECHANISM.blocks(dataset)).any()


def test_blocks_are_spread_evenly():
    """Null: uniform over 8 blocks, 20,000 records; each count within Hoeffding at 1e-8 (level 8e-8 in all)."""
    dataset = linear_data(20000, 2, seed=5)
    counts = np.bincount(SubsampleAggregate(8, 1.0, 1.0).blocks(dataset), minlength=8) / 20000
    assert np.abs(counts - 1 / 8).max() <= math.sqrt(math.log(2e8) / 40000)


def test_the_loss_is_pure_and_its_supremum_exact():
    for name, pair in pairs(linear_data(40, 2)).items():
        outputs = np.vstack([MECHANISM.draw(d, 500, rng=np.random.default_rng(2)) for d in (pair.first, pair.second)])
        loss = MECHANISM.privacy_loss(outputs, pair)
        direct = MECHANISM.log_density(outputs, pair.first) - MECHANISM.log_density(outputs, pair.second)
        np.testing.assert_allclose(loss, direct, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(MECHANISM.privacy_loss(outputs, pair.swapped()), -loss, rtol=1e-9, atol=1e-12)
        worst = MECHANISM.pure_epsilon(pair)
        assert np.abs(loss).max() <= worst * (1 + 1e-9)
        corner = np.where(MECHANISM.mean(pair.first) > MECHANISM.mean(pair.second), 50.0, -50.0)
        assert MECHANISM.privacy_loss(corner[None], pair)[0] == pytest.approx(worst, rel=1e-9)
        assert worst <= (2 if name == "replace" else 1) * MECHANISM.guarantee.epsilon
    # one block, one coordinate, both ends of the box: the guarantee is reached
    one = SubsampleAggregate(1, 0.8, 0.25)
    pair = NeighbouringPair.replace(Dataset(np.ones((1, 1)), np.ones(1), 1.0, 1.0), 0, [1.0], -1.0)
    assert one.pure_epsilon(pair) == pytest.approx(0.8, rel=1e-12)
    assert subsample_understated(one).pure_epsilon(pair) == pytest.approx(0.88, rel=1e-12)


@pytest.mark.parametrize("case", awkward_data())
def test_legitimate_edge_cases_work(case):
    dataset = awkward_data()[case]
    for lam in (0.0, 0.1):
        mechanism = SubsampleAggregate(4, 1.0, 1.0, lam=lam)
        outputs = mechanism.draw(dataset, 5, rng=np.random.default_rng(0))
        assert np.isfinite(mechanism.log_density(outputs, dataset)).all()


def test_suggested_blocks():
    assert suggested_blocks(1, 1.0) == 1
    assert suggested_blocks(100000, 1.0) == 1000  # (1e5)^(3/5)
    assert suggested_blocks(10, 1e-6) == 10


def test_bad_input_is_refused():
    for call, rule in (
        (lambda: SubsampleAggregate(0, 1.0, 1.0), "n_blocks"),
        (lambda: SubsampleAggregate(1, -1.0, 1.0), "epsilon"),
        (lambda: SubsampleAggregate(1, 1.0, math.inf), "radius"),
        (lambda: SubsampleAggregate(1, 1.0, 1.0, lam=-1.0), "lam"),
        (lambda: SubsampleAggregate(1, 1.0, 1.0, salt=-1), "salt"),
        (lambda: MECHANISM.log_density(np.zeros((2, 3)), linear_data()), "outputs"),
        (lambda: MECHANISM.log_density(np.full((2, 2), np.nan), linear_data()), "outputs"),
        (lambda: suggested_blocks(0, 1.0), "n_public"),
    ):
        with pytest.raises(ValueError, match=f"{rule} must"):
            call()

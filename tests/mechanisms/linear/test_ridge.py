"""The ridge estimate on badly scaled and on singular data, against rational arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from oracles.mechanisms.examples import awkward_data, linear_data, pairs
from rows import for_each
from scipy.stats import laplace

from mechanisms import Dataset
from mechanisms.broken.broken_linear import subsample_understated
from mechanisms.capabilities import Domain
from mechanisms.data.neighbours import NeighbouringPair
from mechanisms.linear.regression_scales import RegressionDomain, lipschitz, normalised_eigenvalue
from mechanisms.linear.ridge import check_ridge, largest_at, ridge_fit
from mechanisms.linear.subsample_aggregate import SubsampleAggregate, suggested_blocks
from mechanisms.numerics.spectra import regular_factor
from mechanisms.objective.losses import SquaredLoss
from mechanisms.objective.perturbed_objective import PerturbedObjective
from mechanisms.objective.sensitivity import squared_sensitivities

SCALES = np.array([1e6, 1e4, 1e2, 1.0, 1e-2, 1e-4])


def data(scales: np.ndarray, n: int = 40) -> Dataset:
    rng = np.random.default_rng(7)
    return Dataset(rng.normal(size=(n, len(scales))) * scales, rng.normal(size=n), np.inf, np.inf)


def rational(value: float) -> fmpq:
    part = Fraction(float(value))
    return fmpq(part.numerator, part.denominator)


def exact(dataset: Dataset, lam: float) -> tuple[np.ndarray, np.ndarray]:
    """Estimate and leverages, without any rounding."""
    n, d = dataset.X.shape
    X = fmpq_mat(n, d, [rational(v) for v in dataset.X.ravel()])
    y = fmpq_mat(n, 1, [rational(v) for v in dataset.y])
    H = X.transpose() * X
    for i in range(d):
        H[i, i] += rational(lam)
    theta, solved = H.solve(X.transpose() * y), H.solve(X.transpose())
    leverage = [sum((X[i, j] * solved[j, i] for j in range(d)), fmpq(0)) for i in range(n)]
    to_float = [float(Fraction(int(v.p), int(v.q))) for v in [theta[j, 0] for j in range(d)] + leverage]
    return np.array(to_float[:d]), np.array(to_float[d:])


@for_each("lam", [0.0, 1e-9])
def test_badly_scaled_columns_are_not_singular(lam: float) -> None:
    dataset = data(SCALES)
    fit, (theta, leverage) = ridge_fit(dataset, lam), exact(dataset, lam)
    np.testing.assert_allclose(fit.theta, theta, rtol=1e-11)
    np.testing.assert_allclose((fit.whiten(dataset.X) ** 2).sum(axis=1), leverage, rtol=1e-12)
    check_ridge("this", lam, dataset, everywhere=False)
    assert np.isfinite(squared_sensitivities(dataset, lam)).all()
    PerturbedObjective(dataset, SquaredLoss(), lam).require_curvature()


def test_powers_of_two_change_no_bit() -> None:
    powers = np.exp2([-20, 15, 3, 0, 40, -33])
    plain, scaled = data(np.ones(6)), data(powers)
    one, two = ridge_fit(plain, 0.0), ridge_fit(scaled, 0.0)
    assert np.array_equal(one.theta, two.theta * powers)
    assert np.array_equal(one.whiten(plain.X), two.whiten(scaled.X))


@for_each("scales", [np.ones(6), SCALES])
@for_each("kind", ["one column is the sum of two", "a column is 0", "too few rows"])
def test_singular_data_are_refused_in_any_units(scales: np.ndarray, kind: str) -> None:
    X = np.random.default_rng(8).normal(size=(5 if kind == "too few rows" else 40, 6))
    if kind == "a column is 0":
        X[:, 4] = 0.0
    elif kind == "one column is the sum of two":
        X[:, 5] = X[:, 0] + X[:, 1]
    dataset = Dataset(X * scales, X[:, 1], np.inf, np.inf)
    assert regular_factor(dataset.X.T @ dataset.X) is None
    with pytest.raises(ValueError, match=r"must be positive definite, got a singular matrix at lam=0; raise lam"):
        ridge_fit(dataset, 0.0)
    with pytest.raises(ValueError, match="is singular on these records"):
        check_ridge("this", 0.0, dataset, everywhere=False)
    with pytest.raises(ValueError, match="the Hessian must be positive definite"):
        squared_sensitivities(dataset, 0.0)
    with pytest.raises(ValueError, match="lam must be positive when"):
        PerturbedObjective(dataset, SquaredLoss(), 0.0).require_curvature()


def test_the_least_eigenvalue_of_badly_scaled_data_is_not_lost_in_rounding() -> None:
    dataset, domain = data(SCALES), Domain(6, 1.0, 1.0, None)
    n, d = dataset.X.shape
    X = fmpq_mat(n, d, [rational(v) for v in dataset.X.ravel()])
    inverse = (X.transpose() * X).inv()
    trace = sum((inverse[i, i] for i in range(d)), fmpq(0))  # 1/least up to the next eigenvalue, 1e4 times larger
    least = 1 / float(Fraction(int(trace.p), int(trace.q)))
    assert least * (1 - 1e-2) <= largest_at(0.0, dataset, domain)[0] <= least * (1 + 1e-2)


def test_normalised_eigenvalue_of_an_orthogonal_design_is_one() -> None:
    assert normalised_eigenvalue(Dataset(2.0 * np.eye(3), np.zeros(3), 2.0, 1.0)) == pytest.approx(1.0)
    assert normalised_eigenvalue(Dataset(np.eye(3)[:2], np.zeros(2), 1.0, 1.0)) == 0.0
    with pytest.raises(ValueError, match="n_records must be at least 1"):
        normalised_eigenvalue(Dataset(np.zeros((0, 2)), np.zeros(0), 1.0, 1.0))


def test_domain_admits_by_conditioning() -> None:
    data = Dataset(np.diag([1.0, 0.5]), np.zeros(2), 1.0, 1.0)  # smallest eigenvalue 1/4, alpha = 1/4
    assert RegressionDomain(1.0, 1.0, alpha=0.2).admits(data)
    assert not RegressionDomain(1.0, 1.0, alpha=0.3).admits(data)
    assert not RegressionDomain(0.5, 1.0).admits(data)
    assert RegressionDomain(2.0, 3.0, radius=5.0).lipschitz == lipschitz(2.0, 3.0, 5.0) == 26.0
    assert math.isinf(RegressionDomain(1.0, 1.0).lipschitz)
    with pytest.raises(ValueError, match="alpha must be in"):
        RegressionDomain(1.0, 1.0, alpha=1.0)


MECHANISM = SubsampleAggregate(6, 0.8, 1.5, lam=0.1, salt=3)


@for_each("lam", [0.0, 0.1])
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


@for_each("case", awkward_data())
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

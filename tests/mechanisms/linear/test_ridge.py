"""The ridge estimate on badly scaled and on singular data, against rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

from mechanisms import Dataset
from mechanisms.capabilities import Domain
from mechanisms.linear.ridge import check_ridge, largest_at, ridge_fit
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


@pytest.mark.parametrize("lam", [0.0, 1e-9])
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


@pytest.mark.parametrize("scales", [np.ones(6), SCALES])
@pytest.mark.parametrize("kind", ["one column is the sum of two", "a column is 0", "too few rows"])
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

"""The experiments' code of W18: each variant against its code draw by draw, and against the paper's own mechanism."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from oracles.mechanisms import as_run as code
from rows import for_each

from mechanisms import Dataset
from mechanisms.as_run.as_run_methods import as_run_methods
from mechanisms.as_run.code_variants import (
    CODE_DELTA,
    AsRunAdaOPS,
    AsRunAdaSSP,
    AsRunLeastSquares,
    AsRunObjPert,
    AsRunOPS,
    AsRunSSP,
)
from mechanisms.capabilities import Domain
from mechanisms.linear.adassp import AdaSSP
from mechanisms.linear.ops_calibrations import PublishedOPSCalibration
from mechanisms.linear.sufficient_statistics import SufficientStatistics
from mechanisms.objective.ball_perturbation import BallObjectivePerturbation
from mechanisms.offers import Promise

UNIT = Domain(3, 1.0, 1.0)


def _stream(seed: int = 7) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64DXSM(seed))


def _data(n: int = 60, *, scale: float = 1.0) -> Dataset:
    rng = _stream(1)
    X = rng.standard_normal((n, 3)) @ np.array([[1.0, 0.9, 0.0], [0.0, 0.4, 0.0], [0.0, 0.2, 0.8]])
    X *= scale / np.linalg.norm(X, axis=1)[:, None]
    return Dataset(X, np.clip(X @ [0.7, -0.4, 0.2] + 0.1 * rng.standard_normal(n), -1, 1), 1.0, 1.0)


DATA = _data()
BUDGETS = pytest.mark.parametrize("epsilon", [0.1, 1.0, 20.0])


def test_least_squares_has_a_ridge_of_1() -> None:
    """(X'X + I)^-1 X'y, the same for every draw; not the least-squares fit."""
    found = AsRunLeastSquares().coefficients(DATA, 2, _stream())
    assert found[0] == pytest.approx(np.linalg.inv(DATA.X.T @ DATA.X + np.eye(3)) @ DATA.X.T @ DATA.y, rel=1e-10)
    assert (found[0] == found[1]).all()
    assert np.abs(found[0] - np.linalg.lstsq(DATA.X, DATA.y, rcond=None)[0]).max() > 1e-3


@BUDGETS
def test_ssp(epsilon: float) -> None:
    found, rng = AsRunSSP(epsilon).coefficients(DATA, 4, _stream()), _stream()
    vectors, matrices = rng.standard_normal((4, 3)), rng.standard_normal((4, 3, 3))
    for theta, vector, matrix in zip(found, vectors, matrices, strict=True):
        assert theta == pytest.approx(code.ssp(DATA, epsilon, CODE_DELTA, vector, matrix), rel=1e-7)


@BUDGETS
def test_objpert(epsilon: float) -> None:
    """On the sphere and inside of it; a solver of the project's own kind would find twice as much."""
    found, noise = AsRunObjPert(epsilon).coefficients(DATA, 6, _stream()), _stream().standard_normal((6, 3))
    for theta, z in zip(found, noise, strict=True):
        assert theta == pytest.approx(code.objpert(DATA, epsilon, CODE_DELTA, z), abs=2e-6)
    assert np.linalg.norm(found, axis=1).max() <= 1 + 1e-9


@BUDGETS
def test_ops(epsilon: float) -> None:
    found, noise = AsRunOPS(epsilon).coefficients(DATA, 4, _stream()), _stream().standard_normal((4, 3))
    for theta, z in zip(found, noise, strict=True):
        assert theta == pytest.approx(code.ops(DATA, epsilon, CODE_DELTA, z), rel=1e-9)


@BUDGETS
@pytest.mark.parametrize("n", [60, 20_000])
def test_adaops(epsilon: float, n: int) -> None:
    """With an eigenvalue that is cut at 0 and one that is not."""
    data = _data(n)
    found, rng = AsRunAdaOPS(epsilon).coefficients(data, 3, _stream()), _stream()
    firsts, seconds, noise = rng.standard_normal(3), rng.standard_normal(3), rng.standard_normal((3, 3))
    for theta, first, second, z in zip(found, firsts, seconds, noise, strict=True):
        assert theta == pytest.approx(code.adaops(data, epsilon, CODE_DELTA, first, second, z), rel=1e-4)


@BUDGETS
@pytest.mark.parametrize("n", [60, 20_000])
def test_adassp(epsilon: float, n: int) -> None:
    data = _data(n)
    found, rng = AsRunAdaSSP(epsilon).coefficients(data, 3, _stream()), _stream()
    firsts, vectors, matrices = rng.standard_normal(3), rng.standard_normal((3, 3)), rng.standard_normal((3, 3, 3))
    for theta, first, vector, matrix in zip(found, firsts, vectors, matrices, strict=True):
        assert theta == pytest.approx(code.adassp(data, epsilon, CODE_DELTA, first, vector, matrix), rel=1e-8)


def test_each_differs_from_its_paper() -> None:
    """Half of SSP's noise; another ridge and gamma of OPS; ObjPert's over epsilon once more; the scale of AdaSSP."""
    paper = SufficientStatistics.published(1.0, CODE_DELTA, x_bound=1.0, y_bound=1.0)
    assert AsRunSSP(1.0).scale == pytest.approx(paper.sigma_gram / 2, rel=1e-12)
    ours, theirs = PublishedOPSCalibration(1.0, CODE_DELTA, 1_000, 3, 1.0, 1.0).balanced(), AsRunOPS(1.0)
    assert theirs.constants(1_000, 3)[0] != pytest.approx(ours.lam, rel=0.05)
    assert theirs.constants(1_000, 3)[1] != pytest.approx(ours.gamma, rel=0.05)
    ball, doubled = (
        BallObjectivePerturbation.published(0.1, CODE_DELTA, x_bound=1.0, y_bound=1.0),
        AsRunObjPert(0.1).doubled,
    )
    assert doubled.sigma == pytest.approx(10 * ball.sigma / 2**0.5, rel=1e-12)
    assert (doubled.lam, doubled.radius) == (pytest.approx(10 * ball.lam), 2 * ball.radius)
    assert AsRunAdaSSP(1.0).scale == pytest.approx(AdaSSP(1.0, CODE_DELTA).unit_sigma, rel=1e-12)


def test_covariance_of_the_triangular_factor() -> None:
    """(R R')^-1 and not H^-1, from 40,000 draws at seed 7 (4 standard errors are 0.03)."""
    data = _data(2_000)
    lam, gamma = AsRunOPS(1.0).constants(data.n_records, 3)
    R = np.linalg.cholesky(data.X.T @ data.X + (lam + 1) * np.eye(3)).T
    draws = AsRunOPS(1.0).coefficients(data, 40_000, _stream())
    moved = np.sqrt(gamma) * (draws - draws.mean(axis=0))
    assert np.cov((moved @ R).T) == pytest.approx(np.eye(3), abs=0.03)
    assert np.abs(np.cov((moved @ R.T).T) - np.eye(3)).max() > 0.1


def test_exact_distances() -> None:
    """SSP: a record of length 1 moves all entries by 1 in each statistic; AdaSSP: |x|^4 in every direction."""
    rng = _stream()
    for _ in range(5):
        x = rng.standard_normal(4)
        x /= np.linalg.norm(x)
        half, upper = np.outer(x, x), np.triu_indices(4)
        variance = np.where(np.eye(4) > 0, 1.0, 0.5)
        assert (half**2).sum() == pytest.approx(1.0)
        assert (half**2 / variance)[upper].sum() == pytest.approx(1.0)
    assert AsRunSSP(1.0).worst_profile().epsilon_at(1e-6) == pytest.approx(1.5872, abs=1e-4)
    assert AsRunAdaSSP(1.0).worst_profile().epsilon_at(1e-6) < 0.6


def test_methods_by_the_columns_of_the_tables() -> None:
    """All private columns with a statement of their own, none of them a default of anything."""
    methods = as_run_methods()
    assert list(methods) == ["non-private", "ObjPert", "OPS", "SSP", "AdaOPS", "AdaSSP"]
    for name, method in methods.items():
        built = method.build(UNIT, Promise(1.0, 1e-9))
        assert built.coefficients(DATA, 5, _stream()).shape == (5, 3)
        assert method.differs
        assert method.statement == ("" if name == "non-private" else f"W18-X1#code {name}")
        assert inspect.signature(built.coefficients).parameters.keys() == {"dataset", "n_draws", "rng"}
        if name != "non-private":
            assert vars(built)["delta"] == CODE_DELTA
            assert any("1e-6" in words for words in method.differs)


@for_each(
    ("domain", "promise", "words"),
    [
        (Domain(3, 2.0, 1.0), Promise(1.0, 1e-6), "x_bound must be 1"),
        (Domain(3, 1.0, 3.0), Promise(1.0, 1e-6), "y_bound must be 1"),
        (UNIT, Promise(1.0, 1e-6, "replace"), "neighbours must be add-remove"),
    ],
)
def test_what_the_code_is_not_for(domain: Domain, promise: Promise, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        as_run_methods()["SSP"].build(domain, promise)


@for_each("kind", [AsRunSSP, AsRunAdaSSP, AsRunOPS, AsRunAdaOPS, AsRunObjPert])
def test_bad_budgets(kind: type) -> None:
    with pytest.raises(ValueError, match="epsilon must be"):
        kind(0.0)
    with pytest.raises(ValueError, match="delta must be"):
        kind(1.0, 1.0)

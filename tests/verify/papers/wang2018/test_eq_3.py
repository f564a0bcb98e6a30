"""W18, (3): covariances of linear estimators by numpy."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.formula_cases import exact_value, holds

from verify.kernel.statement import Value
from verify.methods.minimax import fixed_design
from verify.methods.rational import Matrix, random_matrix
from verify.papers.wang2018.eq_3 import STATEMENT

GENERIC: dict[str, Value] = {"n": 9, "dim": 2, "X": "generic", "sigma": 1.0}


def _floats(M: Matrix) -> np.ndarray:
    return np.array([[float(v.p) / float(v.q) for v in row] for row in M.tolist()])


X = _floats(fixed_design("generic", 9, 2))
G_INVERSE = np.linalg.inv(X.T @ X)
LEAST_SQUARES = G_INVERSE @ X.T
#: Another unbiased one: random rows minus their projection, which no mean X theta reaches.
OTHER = LEAST_SQUARES + _floats(random_matrix(2, 9, 5, 9)) @ (np.eye(9) - X @ LEAST_SQUARES)
RIDGE = np.linalg.inv(X.T @ X + np.eye(2) / 10) @ X.T


@pytest.mark.parametrize(
    ("version", "estimator", "bound", "other"),
    [
        ("printed", LEAST_SQUARES, 1.0, "least squares"),
        ("printed", OTHER, 1.0, "other"),
        ("bound 1 % larger", LEAST_SQUARES, 1.01, "least squares"),
        ("a ridge estimator (not unbiased)", RIDGE, 1.0, None),
    ],
)
def test_covariance_and_variance(version: str, estimator: np.ndarray, bound: float, other: str | None) -> None:
    """Smallest eigenvalue of covariance minus bound over tr(bound); Var(theta_hat^T x) over its bound, minus 1."""
    case = GENERIC | ({} if other is None else {"estimator": other})
    excess = estimator @ estimator.T - bound * G_INVERSE
    want = np.linalg.eigvalsh(excess)[0] / np.trace(bound * G_INVERSE)
    assert exact_value(STATEMENT, "#covariance", version, case) == pytest.approx(want, rel=1e-6, abs=1e-12)
    x = _floats(random_matrix(2, 1, 9, 7))[:, 0]
    ratio = (x @ excess @ x) / (x @ G_INVERSE @ x * bound)
    assert exact_value(STATEMENT, "#variance", version, case) == pytest.approx(ratio, rel=1e-9, abs=1e-12)
    for part in ("#covariance", "#variance"):
        assert holds(STATEMENT, part, version, case) is (version == "printed")


def test_least_squares_alone_attains_the_three_bounds() -> None:
    """Another unbiased estimator exceeds (1) as a risk, (2) and (3); the largest relative excess by numpy."""
    covariance = OTHER @ OTHER.T
    gaps = (
        np.trace(X @ covariance @ X.T) / 2 - 1,
        np.trace(covariance) / np.trace(G_INVERSE) - 1,
        np.abs(covariance - G_INVERSE).max() / np.trace(G_INVERSE),
    )
    assert np.isclose(np.trace(X @ LEAST_SQUARES), 2)  # (1) is d sigma^2/2 = 1
    value = exact_value(STATEMENT, "#attained", "another unbiased estimator", GENERIC)
    assert value == pytest.approx(max(gaps), rel=1e-9)
    assert holds(STATEMENT, "#attained", "printed", GENERIC | {"estimator": "least squares"})
    assert not holds(STATEMENT, "#attained", "a ridge estimator (not unbiased)", GENERIC)

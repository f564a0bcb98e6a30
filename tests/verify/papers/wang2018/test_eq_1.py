"""W18, (1): least squares by numpy's projection, and a Bayes risk from below."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.formula_cases import claimed, decide, holds

from verify.kernel.statement import Value
from verify.methods.minimax import REPEATED, fixed_design
from verify.papers.wang2018.eq_1 import STATEMENT


def _floats(shape: str, n: int, dim: int) -> np.ndarray:
    return np.array([[float(v.p) / float(v.q) for v in row] for row in fixed_design(shape, n, dim).tolist()])


@pytest.mark.parametrize("shape", ["generic", "duplicated rows", REPEATED])
@pytest.mark.parametrize("sigma", [1.0, 3.0])
def test_risk_of_least_squares(shape: str, sigma: float) -> None:
    """Prediction risk sigma^2 tr(P)/2; with the same responses inside F the excess is -sigma^2 tr(P)/2."""
    X = _floats(shape, 9, 4)
    projection = float(np.trace(X @ np.linalg.pinv(X)))
    case: dict[str, Value] = {"n": 9, "dim": 4, "X": shape, "sigma": sigma}
    for version, sign in (("printed", -1), ("corrected", 1)):
        exact = decide(STATEMENT, "", version, case).exact
        assert exact is not None
        assert exact.value == pytest.approx(sign * sigma**2 * projection / 2, rel=1e-9)
    assert claimed(STATEMENT, "", "printed", case) == pytest.approx(4 * sigma**2 / 2)
    assert claimed(STATEMENT, "", "corrected", case) == pytest.approx(round(projection) * sigma**2 / 2)


def test_excess_of_the_objective_is_negative() -> None:
    """F(theta_hat) - F(theta_0) = -|P noise|^2/2 on any data: never positive, as printed it would average d/2."""
    rng = np.random.Generator(np.random.PCG64DXSM(1))
    X, theta, noise = rng.standard_normal((6, 2)), rng.standard_normal(2), rng.standard_normal(6)
    y = X @ theta + noise
    fit = np.linalg.lstsq(X, y, rcond=None)[0]
    excess = (np.sum((y - X @ fit) ** 2) - np.sum((y - X @ theta) ** 2)) / 2
    assert excess == pytest.approx(-np.sum((X @ np.linalg.pinv(X) @ noise) ** 2) / 2)


@pytest.mark.parametrize(
    ("version", "stated"),
    [
        ("corrected", 0.5),
        ("number of features for the rank", 1.0),
        ("no half", 1.0),
        ("constant 1 % larger", 0.505),
        ("constant 1 % smaller", 0.495),
    ],
)
def test_versions_at_rank_one(version: str, stated: float) -> None:
    case: dict[str, Value] = {"n": 4, "dim": 2, "X": REPEATED, "sigma": 1.0}
    assert claimed(STATEMENT, "", version, case) == pytest.approx(stated)
    assert holds(STATEMENT, "", version, case) is (version == "corrected")

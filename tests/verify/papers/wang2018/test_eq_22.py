"""W18, (22): the law of total covariance by listing, the roots and lognormal moment by numpy and scipy."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.formula_cases import decide, exact_value, holds
from scipy.integrate import quad
from scipy.stats import norm

from verify.methods.rational import Matrix, design, random_matrix
from verify.papers.wang2018.eq_22 import STATEMENT


def _floats(M: Matrix) -> np.ndarray:
    return np.array([[float(v.p) / float(v.q) for v in row] for row in M.tolist()])


def _at(version: str, part: str, *names: str) -> tuple[float, ...]:
    """Return the worst point of a box and the smallest value there."""
    evidence = decide(STATEMENT, part, version, {})
    assert evidence.exact is not None
    return (*(float(str(evidence.found[name])) for name in names), evidence.exact.high)


@pytest.mark.parametrize(
    ("version", "ridge", "factor"), [("printed", 0.0, 1.0), ("1 % larger", 0.0, 1.01), ("with a ridge", 0.1, 1.0)]
)
def test_total_covariance(version: str, ridge: float, factor: float) -> None:
    """Three equally likely pairs of centre and 1/gamma = 1/3, 2/3, 1; every mixture moment by numpy."""
    X, centres = _floats(design("generic", 6, 3, 2)), [_floats(random_matrix(3, 1, 2, 20 + i))[:, 0] for i in range(3)]
    gram = X.T @ X
    inverse, heats = np.linalg.inv(gram), np.array([1 / 3, 2 / 3, 1.0])
    means = np.array([np.linalg.solve(gram + ridge * np.eye(3), gram @ c) for c in centres])
    left = np.cov(means.T, bias=True) + heats.mean() * inverse
    right = factor * heats.mean() * inverse + np.cov(np.array(centres).T, bias=True)
    want = np.abs(left - right).max() / max(np.abs(left).max(), np.abs(right).max())
    value = exact_value(STATEMENT, "#covariance", version, {"X": "generic", "n": 6, "dim": 3, "seed": 2})
    assert value == pytest.approx(want, rel=1e-6, abs=1e-12)
    assert (value == 0) is (version == "printed")


@pytest.mark.parametrize(("version", "divisor"), [("printed", 4.0), ("epsilon over 2.2", 2.2)])
def test_order(version: str, divisor: float) -> None:
    """The root of (8) with its printed product, over epsilon/4, minus 1, at the worst point of the box."""
    ell, epsilon, value = _at(version, "#order", "log", "epsilon")
    root = max(np.roots([(1 + ell) / ell**2 / 2, 1, -epsilon / 2]).real)
    assert value == pytest.approx(root / (epsilon / divisor) - 1, abs=1e-9)
    assert holds(STATEMENT, "#order", version, {}) is (version == "printed")


@pytest.mark.parametrize(
    ("version", "exponent"),
    [
        ("printed", lambda ell: 4.0),
        ("half of the condition", lambda ell: 4.0),
        ("exponent 2", lambda ell: 2.0),
        ("sharp exponent 2 + 2/log(6/delta) cut by 5 %", lambda ell: 0.95 * (2 + 2 / ell)),
    ],
)
def test_lognormal_factor(version: str, exponent: object) -> None:
    """E[exp(2 Delta)]/(Y + B |theta*|)^2 by quadrature over Z, at lambda_min = s 8 B^2 log/epsilon, halved."""
    assert callable(exponent)
    ell, epsilon, s, value = _at(version, "#factor", "log", "epsilon", "s")
    step = np.log1p(1 / (s * 8 * ell / epsilon / 2))  # log(1 + B^2/released)
    noise, shift = step / (epsilon / (4 * ell**0.5)), step / (epsilon / (4 * ell))
    centre = 2 * noise  # of the tilted normal
    moment = quad(
        lambda z: norm.pdf(z) * exp(2 * (noise * z + shift)), centre - 12, centre + 12, points=[centre], limit=200
    )[0]
    assert value == pytest.approx(exponent(ell) - log(moment), abs=1e-7)
    assert holds(STATEMENT, "#factor", version, {}) is (version == "printed")


def test_second_moment_of_least_squares() -> None:
    """|theta_0|^2 + (9/4) tr[(X^T X)^-1] with sigma = 3/2; a trace 1 % larger is off by its share."""
    X, theta = _floats(design("generic", 6, 3, 2)), _floats(random_matrix(3, 1, 2, 3))[:, 0]
    trace = 2.25 * np.trace(np.linalg.inv(X.T @ X))
    square = float(theta @ theta)
    case = {"X": "generic", "n": 6, "dim": 3, "seed": 2}
    assert holds(STATEMENT, "#norm", "printed", case)
    off = exact_value(STATEMENT, "#norm", "trace 1 % larger", case)
    assert off == pytest.approx(0.01 * trace / (square + 1.01 * trace), rel=1e-9)


@given(st.integers(0, 1000), st.integers(0, 1000))
def test_square_of_a_sum(Y: int, B: int) -> None:
    """(Y + b)^2 <= 2 Y^2 + 2 b^2, equality at Y = b."""
    notes = decide(STATEMENT, "#square", "printed", n=Y, dim=1, seed=B).notes
    assert (notes["value"], notes["bound"]) == ((Y + B) ** 2, 2 * Y**2 + 2 * B**2)
    assert holds(STATEMENT, "#square", "printed", n=Y, dim=1, seed=B)
    if Y:
        assert exact_value(STATEMENT, "#square", "1.9 for 2", n=Y, dim=1, seed=Y) == pytest.approx(4 / 3.8)

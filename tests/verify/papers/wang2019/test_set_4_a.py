"""W19, section 4: three choices of A in floats."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.formula_cases import exact_value
from oracles.rational_floats import floats

from verify.methods.rational import design, random_matrix
from verify.papers.wang2019.set_4_a import STATEMENT

PLAIN = {"shape": "generic", "n": 6, "dim": 3, "seed": 3}
X = floats(design("generic", 6, 3, 3))
GRAM = X.T @ X


def test_isotropic() -> None:
    """The largest x'H^-2 x over unit x is 1/lambda_min^2."""
    top = np.linalg.eigvalsh(np.linalg.inv(GRAM) @ np.linalg.inv(GRAM))[-1]
    smallest = np.linalg.eigvalsh(GRAM)[0]
    value = exact_value(STATEMENT, "1", "printed", PLAIN)
    assert value == pytest.approx(top * smallest**2, rel=1e-8)
    assert value == pytest.approx(1.0, rel=1e-8)
    assert exact_value(STATEMENT, "1", "bound cut by 5 %", PLAIN) == pytest.approx(1 / 0.95**2, rel=1e-8)


def test_democratic() -> None:
    assert exact_value(STATEMENT, "2", "printed", PLAIN) == 0.0
    assert exact_value(STATEMENT, "2", "scaled by 1.01", PLAIN) == pytest.approx(0.01 / 1.01)
    rows = [floats(random_matrix(3, 1, 3, 40 + k)).ravel() for k in range(3)]
    left, right = [x @ np.linalg.solve(GRAM, x) for x in rows], [x @ x for x in rows]
    gap = np.abs(np.subtract(left, right)).max() / max(*left, *right)
    assert exact_value(STATEMENT, "2", "the Fisher choice", PLAIN) == pytest.approx(gap, rel=1e-9)


def test_fisher() -> None:
    """X'X/sigma^2 times A^-1/gamma is a multiple of I only for A = X'X."""
    assert exact_value(STATEMENT, "3", "printed", PLAIN) == 0.0
    information = GRAM / 2.25
    for name, A in (("identity for A", np.eye(3)), ("the democratic choice", GRAM @ GRAM)):
        left, right = np.linalg.solve(A, information), np.eye(3) / 2.25
        gap = np.abs(left - right).max() / max(np.abs(left).max(), np.abs(right).max())
        assert exact_value(STATEMENT, "3", name, PLAIN) == pytest.approx(gap, rel=1e-9)

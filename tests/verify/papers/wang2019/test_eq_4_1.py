"""W19, equation 4.1: the covariance of the minimiser, by hand and in floats."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.formula_cases import exact_value
from oracles.rational_floats import floats

from verify.methods.rational import design
from verify.papers.wang2019.eq_4_1 import STATEMENT

PLAIN = {"shape": "generic", "n": 6, "dim": 3, "seed": 3, "sigma^2": 2.25}


def test_by_hand() -> None:
    """X = 1, sigma^2 = 4: as printed nothing is random, the stated variance is 1/gamma = 1; drawn z gives 4/4."""
    assert exact_value(STATEMENT, "", "printed", {"sigma^2": 4.0}) == 1.0
    assert exact_value(STATEMENT, "", "corrected", {"sigma^2": 4.0}) == 0.0
    assert exact_value(STATEMENT, "", "gamma = 4.04/sigma^2", {"sigma^2": 4.0}) == pytest.approx(0.01 / 1.01)


def test_mutants_in_floats() -> None:
    """The minimiser is (X'X)^-1 (X'y - z/2): its covariance is sigma^2/4 (X'X)^-2."""
    X = floats(design("generic", 6, 3, 3))
    inverse = np.linalg.inv(X.T @ X)
    covariance = 2.25 / 4 * inverse @ inverse
    for name, root in (("the Fisher choice", inverse), ("the identity", np.eye(3))):
        stated = 2.25 / 4 * root
        gap = np.abs(covariance - stated).max() / max(np.abs(covariance).max(), np.abs(stated).max())
        assert exact_value(STATEMENT, "", name, PLAIN) == pytest.approx(gap, rel=1e-9)
    assert exact_value(STATEMENT, "", "corrected", PLAIN) == 0.0

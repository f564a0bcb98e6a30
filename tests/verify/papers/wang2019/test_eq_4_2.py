"""W19, equation 4.2: the precision of the posterior, by hand and in floats."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.formula_cases import exact_value
from oracles.rational_floats import floats

from verify.methods.rational import design
from verify.papers.wang2019.eq_4_2 import STATEMENT


def test_by_hand() -> None:
    """exp(-(1 - theta)^2) has precision 2, where gamma X'X = 1; with the half in the exponent it has 1."""
    assert exact_value(STATEMENT, "", "printed", {"gamma": 1.0}) == 0.5
    assert exact_value(STATEMENT, "", "corrected", {"gamma": 1.0}) == 0.0
    assert exact_value(STATEMENT, "", "factor 0.505", {"gamma": 1.0}) == pytest.approx(0.01 / 1.01)


def test_mutants_in_floats() -> None:
    X = floats(design("generic", 6, 3, 3))
    gram, params = X.T @ X, {"shape": "generic", "n": 6, "dim": 3, "seed": 3, "gamma": 0.75}
    for name, A in (("the democratic choice", gram @ gram), ("the identity", np.eye(3))):
        gap = np.abs(gram - A).max() / max(np.abs(gram).max(), np.abs(A).max())
        assert exact_value(STATEMENT, "", name, params) == pytest.approx(gap, rel=1e-9)

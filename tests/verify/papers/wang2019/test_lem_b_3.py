"""W19, Lemma B.3: the determinant and its mutants in floats."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.formula_cases import exact_value
from oracles.rational_floats import floats

from verify.methods.rational import random_matrix
from verify.papers.wang2019.lem_b_3 import STATEMENT

PARAMS = {"dim": 3, "perturbation": "any", "seed": 1}


def test_in_floats() -> None:
    A, c, d = (floats(random_matrix(3, k, 1, i)) for i, k in ((1, 3), (2, 1), (3, 1)))
    inner, left = (d.T @ np.linalg.solve(A, c)).item(), np.linalg.det(A + c @ d.T)
    wrong = {
        "inverse left out": 1 + (d.T @ c).item(),
        "sign reversed": 1 - inner,
        "perturbation scaled by 1.01": 1 + 1.01 * inner,
    }
    for name, factor in wrong.items():
        right = np.linalg.det(A) * factor
        assert exact_value(STATEMENT, "", name, PARAMS) == pytest.approx(
            abs(left - right) / max(abs(left), abs(right)), rel=1e-9
        )
    assert left == pytest.approx(np.linalg.det(A) * (1 + inner), rel=1e-12)
    assert exact_value(STATEMENT, "", "printed", PARAMS) == 0.0

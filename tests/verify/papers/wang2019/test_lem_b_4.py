"""W19, Lemma B.4: moves of singular values, by hand and by numpy."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.formula_cases import claimed, exact_value
from oracles.rational_floats import floats

from verify.methods.rational import random_matrix
from verify.papers.wang2019.lem_b_4 import STATEMENT


def test_equality_by_hand() -> None:
    """diag(3, 6) less 2 I: both move by 2, which is the norm of E."""
    equal = {"m": 3, "n": 2, "E": "diagonal, equality", "seed": 0}
    assert exact_value(STATEMENT, "", "printed", equal) == 1.0
    assert claimed(STATEMENT, "", "printed", equal) == 2.0
    assert exact_value(STATEMENT, "", "bound cut by 5 %", equal) == pytest.approx(1 / 0.95)


@pytest.mark.parametrize("seed", [1, 7])
def test_by_numpy(seed: int) -> None:
    X, E = (floats(random_matrix(5, 4, seed, k)) for k in (1, 2))
    before, after = (np.linalg.svd(M, compute_uv=False) for M in (X, X - E))
    params = {"m": 5, "n": 4, "E": "any", "seed": seed}
    norm = np.linalg.norm(E, 2)
    assert exact_value(STATEMENT, "", "printed", params) == pytest.approx(np.abs(before - after).max() / norm, rel=1e-9)
    assert exact_value(STATEMENT, "", "paired in opposite order", params) == pytest.approx(
        np.abs(before - after[::-1]).max() / norm, rel=1e-9
    )

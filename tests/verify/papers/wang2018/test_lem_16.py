"""W18, Lemma 16: Weyl's bound against numpy's singular values."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.formula_cases import decide, exact_value
from oracles.rational_floats import floats

from verify.methods.rational import random_matrix
from verify.papers.wang2018.lem_16 import STATEMENT


@pytest.mark.parametrize("seed", [6, 7])
def test_largest_move_over_the_norm(seed: int) -> None:
    X, E = (floats(random_matrix(5, 3, seed, i)) for i in (1, 2))
    moves = np.abs(np.linalg.svd(X, compute_uv=False) - np.linalg.svd(X - E, compute_uv=False))
    norm = np.linalg.norm(E, 2)
    evidence = decide(STATEMENT, "", "printed", {"m": 5, "n": 3, "E": "any", "seed": seed})
    assert evidence.exact is not None
    assert evidence.exact.value == pytest.approx(moves.max() / norm, rel=1e-9)
    assert evidence.claim.published == pytest.approx(norm)


def test_equality_on_diagonal_matrices() -> None:
    """diag(3, 6) moved by 2 I: every singular value moves by 2, the norm."""
    at = {"m": 3, "n": 2, "E": "diagonal, equality", "seed": 0}
    assert exact_value(STATEMENT, "", "printed", at) == 1.0
    assert exact_value(STATEMENT, "", "bound cut by 5 %", at) == pytest.approx(1 / 0.95)

"""RW21, Lemma 29: moves of singular values by LAPACK, and a diagonal instance by hand."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.formula_cases import claimed, exact_value

from verify.methods.rational import fraction, random_matrix
from verify.papers.redberg_wang2021.lem_29 import STATEMENT


def test_diagonal_by_hand() -> None:
    """A = diag(3, 6) moved by 2 along itself: both singular values move by 2 = ||E||."""
    equal = {"m": 3, "n": 2, "E": "diagonal, equality", "seed": 0}
    assert exact_value(STATEMENT, "", "printed", equal) == 1.0
    assert exact_value(STATEMENT, "", "bound cut by 5 %", equal) == pytest.approx(20 / 19)
    assert claimed(STATEMENT, "", "printed", equal) == 2.0


@pytest.mark.parametrize("seed", [11, 12])
@pytest.mark.parametrize("version", ["printed", "paired in opposite order"])
def test_random_matrices(version: str, seed: int) -> None:
    A, E = (
        np.array([[float(fraction(M[i, j])) for j in range(3)] for i in range(4)])
        for M in (random_matrix(4, 3, seed, 1), random_matrix(4, 3, seed, 2))
    )
    first, second = (np.linalg.svd(M, compute_uv=False) for M in (A, A - E))
    order = -1 if version == "paired in opposite order" else 1
    ratio = np.abs(first - second[::order]).max() / np.linalg.norm(E, 2)
    found = exact_value(STATEMENT, "", version, m=4, n=3, E="any", seed=seed)
    assert found == pytest.approx(ratio, rel=1e-9)

"""W18, Lemma 4: the error of a perturbed solution, evaluated again in floats and in one dimension by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles.formula_cases import exact_value, holds
from oracles.rational_floats import floats

from verify.methods.rational import design, random_matrix
from verify.papers.wang2018.lem_4 import STATEMENT

PLAIN = {"X": "generic", "n": 6, "dim": 3, "E1": "any", "moment": "X^T y", "seed": 11}


@given(
    seed=st.integers(1, 10_000),
    dim=st.integers(1, 4),
    kind=st.sampled_from(["any", "symmetric"]),
    literal=st.booleans(),
)
def test_the_identity_holds_with_either_moment(seed: int, dim: int, kind: str, literal: bool) -> None:
    """X y for X^T y does no harm, since the same vector stands in both estimates."""
    moment, n = ("X y", dim) if literal else ("X^T y", dim + 3)
    X, E1 = design("generic", n, dim, seed), random_matrix(dim, dim, seed, 3)
    gram = X.transpose() * X
    assume(all(M.det() != 0 for M in (gram, gram + (E1 + E1.transpose() if kind == "symmetric" else E1))))
    assert holds(STATEMENT, "", "printed", PLAIN | {"n": n, "dim": dim, "E1": kind, "moment": moment, "seed": seed})


@pytest.mark.parametrize("wrong", ["sign of the first term", "first term 1 % larger", "plain inverse"])
def test_deviations_of_wrong_forms(wrong: str) -> None:
    """-(A + E1)^-1 E1 theta* + (A + E1)^-1 E2 with one thing wrong, from floats and numpy's inverse."""
    draws = [(6, 3, 11, 0), (6, 1, 11, 2), (3, 3, 11, 3), (3, 1, 11, 4)]
    X, y, E1, E2 = (floats(random_matrix(*d)) for d in draws)
    A, b = X.T @ X, X.T @ y
    theta, P = np.linalg.inv(A) @ b, np.linalg.inv(A + E1)
    first = -P @ E1 @ theta
    right = {
        "sign of the first term": P @ E2 - first,
        "first term 1 % larger": 1.01 * first + P @ E2,
        "plain inverse": np.linalg.inv(A) @ (E2 - E1 @ theta),
    }[wrong]
    left = P @ (b + E2) - theta
    np.testing.assert_allclose(left, first + P @ E2, rtol=1e-9)
    want = np.abs(left - right).max() / max(np.abs(left).max(), np.abs(right).max())
    assert exact_value(STATEMENT, "", wrong, PLAIN) == pytest.approx(want, rel=1e-9)

"""W19, Lemma B.1: both sides in floats."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.formula_cases import exact_value
from oracles.rational_floats import floats

from verify.methods.rational import design, random_matrix
from verify.papers.wang2019.lem_b_1 import STATEMENT

PARAMS = {"shape": "generic", "n": 3, "dim": 3, "E1": "any", "seed": 3}


def test_printed_form_by_hand() -> None:
    """X = [[1, 1], [0, 1]], y = (0, 1), no perturbation: X y moves the estimate from (-1, 1) to (1, 0), by 2 in 2."""
    assert exact_value(STATEMENT, "", "printed", {"shape": "two by two"}) == 1.0
    assert exact_value(STATEMENT, "", "corrected", {"shape": "two by two"}) == 0.0


def test_every_version_in_floats() -> None:
    X, E1 = (floats(M) for M in (design("generic", 3, 3, 3), random_matrix(3, 3, 3, 7)))
    y, E2 = (floats(random_matrix(3, 1, 3, k)).ravel() for k in (11, 13))
    gram, solve = X.T @ X, np.linalg.solve
    plain = solve(gram, X.T @ y)
    moved = solve(gram + E1, X.T @ y + E2)
    pairs = {
        "printed": (solve(gram + E1, X @ y + E2) - plain, solve(gram + E1, E2 - E1 @ plain)),
        "E1 applied to the moved estimate": (moved - plain, solve(gram + E1, E2 - E1 @ moved)),
        "perturbation left out of the inverse": (moved - plain, solve(gram, E2 - E1 @ plain)),
        "E1 scaled by 1.01": (moved - plain, solve(gram + E1, E2 - 1.01 * E1 @ plain)),
    }
    for name, (left, right) in pairs.items():
        gap = np.abs(left - right).max() / np.abs([left, right]).max()
        assert exact_value(STATEMENT, "", name, PARAMS) == pytest.approx(gap, rel=1e-7)
    assert exact_value(STATEMENT, "", "corrected", PARAMS) == 0.0

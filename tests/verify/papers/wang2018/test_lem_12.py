"""W18, Lemma 12: one record and a target of opposite sign by hand, random records by numpy."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.formula_cases import exact_value, holds

from verify.papers.wang2018.lem_12 import STATEMENT

RANDOM = {"data": "random", "n": 5, "dim": 2, "seed": 4, "lam": 0.25}


@given(lam=st.floats(1e-3, 50.0))
def test_one_record_and_its_opposite(lam: float) -> None:
    """theta* = 1/(1 + lambda) without the target (1, -1), 0 with it; the smallest eigenvalues are 1 and 2."""
    change = math.log(1 + 1 / (1 + lam))
    at = {"data": "(1, 1)", "lam": lam}
    assert exact_value(STATEMENT, "#add", "printed", at) == pytest.approx(1.0)
    assert exact_value(STATEMENT, "#remove", "printed", at) == pytest.approx(change / math.log(1 + 1 / (2 + lam)))
    assert exact_value(STATEMENT, "#remove", "corrected", at) == pytest.approx(1.0)
    cut = change / math.log(1 + 0.95 / (1 + lam))
    assert exact_value(STATEMENT, "#add", "bound cut by 5 %", at) == pytest.approx(cut)
    # |theta - theta'| = 1/(1 + lambda), the bound 1/(1 + lambda) (1 + min{1/(1 + lambda), 0})
    assert exact_value(STATEMENT, "#proof", "printed", at) == pytest.approx(1.0)


@given(seed=st.integers(1, 10_000), n=st.integers(0, 6), lam=st.sampled_from([0.01, 1.0, 30.0]))
def test_random_records_stay_below_the_corrected_bounds(seed: int, n: int, lam: float) -> None:
    at = RANDOM | {"seed": seed, "n": n, "lam": lam}
    for part in ("#add", "#proof", "#proof, equality"):
        assert holds(STATEMENT, part, "printed", at)
    assert holds(STATEMENT, "#remove", "corrected", at)


def test_the_equality_needs_the_matrix_with_the_target() -> None:
    assert not holds(STATEMENT, "#proof, equality", "matrix without the target", RANDOM)

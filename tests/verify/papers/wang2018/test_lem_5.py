"""W18, Lemma 5: excess squared error is a squared distance; wrong forms miss it by known shares."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.formula_cases import exact_value, holds

from verify.papers.wang2018.lem_5 import STATEMENT


@given(
    seed=st.integers(1, 10_000),
    dim=st.integers(2, 4),
    X=st.sampled_from(["generic", "duplicated rows", "last feature repeats the first"]),
)
def test_the_identity_holds(seed: int, dim: int, X: str) -> None:
    assert holds(STATEMENT, "", "printed", {"X": X, "n": 7, "dim": dim, "seed": seed})


@pytest.mark.parametrize(("wrong", "share"), [("one half on the right", 1 / 2), ("1 % larger", 0.01 / 1.01)])
def test_deviations_of_wrong_factors(wrong: str, share: float) -> None:
    """Both sides are one number, so a factor c on the right leaves |1 - c|/max(1, c)."""
    assert exact_value(STATEMENT, "", wrong, {"X": "generic", "n": 5, "dim": 3, "seed": 9}) == pytest.approx(share)


@pytest.mark.parametrize("wrong", ["X y in place of X^T y", "ridge estimate for the minimiser"])
def test_another_centre_breaks_it(wrong: str) -> None:
    assert not holds(STATEMENT, "", wrong, {"X": "generic", "n": 3, "dim": 3, "seed": 9})

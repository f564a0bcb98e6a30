"""W18, Lemma 17: stationary points of the squared loss and of smooth losses; the sign by hand."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles.formula_cases import exact_value, holds

from verify.papers.wang2018.lem_17 import STATEMENT

SMALLEST = {"loss": "squared", "n": 0, "dim": 1, "seed": 0}


def test_sign_by_hand() -> None:
    """No data, x = y = lambda = 1: theta = 0, theta' = 1/2 (its gradient is theta - 1 + theta), grad l(theta') = -1/2.

    With the printed sign the right side is 1/2, off by twice the size.
    """
    assert exact_value(STATEMENT, "#second", "printed", SMALLEST) == 2.0
    assert exact_value(STATEMENT, "#second", "corrected", SMALLEST) == 0.0
    assert exact_value(STATEMENT, "#first", "printed", SMALLEST) == 0.0


def test_nothing_moves_where_the_residual_is_zero() -> None:
    at = {"loss": "squared", "n": 0, "dim": 1, "seed": 1278}
    assert holds(STATEMENT, "#second", "printed", at)
    assert exact_value(STATEMENT, "#first", "1 % larger", at) == 0.0


@given(seed=st.integers(1, 10_000), n=st.integers(0, 5), dim=st.integers(1, 3))
def test_squared_loss(seed: int, n: int, dim: int) -> None:
    """Where x = 0 or its residual is 0 nothing moves: then 0 = 0 with any factor, and even with the printed sign."""
    at = {"loss": "squared", "n": n, "dim": dim, "seed": seed}
    assert holds(STATEMENT, "#first", "printed", at)
    assert holds(STATEMENT, "#second", "corrected", at)
    assume(not holds(STATEMENT, "#second", "printed", at))
    for part in ("#first", "#second"):
        assert exact_value(STATEMENT, part, "1 % larger", at) == pytest.approx(0.01 / 1.01)
        assert not holds(STATEMENT, part, "Hessian of the other data", at)


@pytest.mark.parametrize("loss", ["logistic", "Huber"])
def test_smooth_losses(loss: str) -> None:
    at = {"loss": loss, "n": 5, "dim": 2, "seed": 3}
    assert holds(STATEMENT, "#first", "printed", at)
    assert holds(STATEMENT, "#second", "corrected", at)
    assert exact_value(STATEMENT, "#second", "printed", at) == pytest.approx(2.0, abs=0.01)

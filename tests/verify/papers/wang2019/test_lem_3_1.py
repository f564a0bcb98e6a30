"""W19, Lemma 3.1, on X = (1), y = 0, target (1, 1): H = 1, H' = 2, minimisers 0 and 1/2, gradients -1 and -1/2."""

from __future__ import annotations

import pytest
from oracles.formula_cases import exact_value, holds

from verify.papers.wang2019.lem_3_1 import STATEMENT

SMALL = {"loss": "squared"}


def test_signs_by_hand() -> None:
    """The difference is -1/2; the second display gives +1/2 as printed (a deviation of 1 over 1/2), -1/2 corrected."""
    assert exact_value(STATEMENT, "#without", "printed", SMALL) == 2.0
    assert exact_value(STATEMENT, "#without", "corrected", SMALL) == 0.0
    assert exact_value(STATEMENT, "#with", "printed", SMALL) == 0.0


@pytest.mark.parametrize("part", ["#with", "#without"])
def test_mutants_by_hand(part: str) -> None:
    """With the other Hessian or minimiser the right side is -1 or -1/4 for -1/2; scaled it is -1/2.02."""
    assert exact_value(STATEMENT, part, "the other Hessian", SMALL) == 0.5
    assert exact_value(STATEMENT, part, "the other minimiser", SMALL) == 0.5
    assert exact_value(STATEMENT, part, "Hessian scaled by 1.01", SMALL) == pytest.approx(0.01 / 1.01)


@pytest.mark.parametrize("loss", ["logistic", "poisson", "quartic"])
def test_smooth_losses_hold_only_with_the_integrated_hessian(loss: str) -> None:
    params = {"loss": loss, "dim": 2, "n": 3, "seed": 5}
    assert holds(STATEMENT, "#with", "printed", params)
    assert holds(STATEMENT, "#without", "corrected", params)
    assert not holds(STATEMENT, "#without", "printed", params)
    assert not holds(STATEMENT, "#with", "Hessian at the end", params)

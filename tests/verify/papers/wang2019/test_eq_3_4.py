"""W19, equation 3.4, on X = (1, 1), y = 0, target (1, 3): H = 2, H' = 3, theta_hat = 0, theta_hat' = 1, Delta = 1."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.formula_cases import exact_value
from oracles.rational_floats import floats

from verify.methods.rational import design, random_matrix
from verify.papers.wang2019.eq_3_4 import STATEMENT


def test_both_expressions_by_hand() -> None:
    """Squares over Delta^2: (2/3)^2 through H' with r' = 2 as printed, (3/3)^2 with r = 3, (2/2)^2 by H with r'."""
    assert exact_value(STATEMENT, "#first", "printed", {"A": "identity"}) == pytest.approx(4 / 9)
    assert exact_value(STATEMENT, "#first", "corrected", {"A": "identity"}) == 1.0
    assert exact_value(STATEMENT, "#second", "printed", {"A": "identity"}) == 1.0
    assert exact_value(STATEMENT, "#first", "the other residual", {"A": "identity"}) == pytest.approx(4 / 9)
    assert exact_value(STATEMENT, "#second", "the other residual", {"A": "identity"}) == pytest.approx(9 / 4)


def test_leverage_by_hand() -> None:
    """The factor is sqrt(1/2) and sqrt(1/3), the leverages 1/2 and 1/3: in squares over squares 2 and 3."""
    assert exact_value(STATEMENT, "#leverage", "printed", {"design": "X"}) == 2.0
    assert exact_value(STATEMENT, "#leverage", "printed", {"design": "[X, x]"}) == 3.0
    assert exact_value(STATEMENT, "#leverage", "corrected", {"design": "[X, x]"}) == 1.0


def test_printed_first_expression_on_a_random_design_in_floats() -> None:
    """The printed right-hand side over the distance of two least-squares fits, squared: (1 + mu)^-2."""
    X = floats(design("generic", 5, 3, 3))
    x = floats(random_matrix(3, 1, 3, 6)).ravel()
    mu = x @ np.linalg.solve(X.T @ X, x)
    params = {"A": "random", "shape": "generic", "n": 5, "dim": 3, "seed": 3}
    assert exact_value(STATEMENT, "#first", "printed", params) == pytest.approx((1 + mu) ** -2, rel=1e-9)

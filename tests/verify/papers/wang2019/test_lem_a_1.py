"""W19, Lemma A.1: the squared norm of the smoother times h over 2, by hand and by singular values in floats."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.formula_cases import claimed, exact_value
from oracles.rational_floats import floats

from verify.methods.rational import design
from verify.papers.wang2019.lem_a_1 import STATEMENT


def test_by_hand() -> None:
    """X = 1, lambda = 0: norm 1, h = 1, so 1/2 of the printed 2, and 1/0.95 of 0.95; the bound itself is sqrt(2)."""
    one = {"shape": "identity", "n": 1, "dim": 1, "lambda": 0.0, "seed": 0}
    assert exact_value(STATEMENT, "", "printed", one) == pytest.approx(0.5)
    assert exact_value(STATEMENT, "", "numerator 0.95", one) == pytest.approx(1 / 0.95)
    assert claimed(STATEMENT, "", "printed", one) == pytest.approx(2**0.5)


@pytest.mark.parametrize("lam", [2.0**-10, 1.0, 1e3])
def test_by_singular_values(lam: float) -> None:
    X = floats(design("generic", 8, 2, 1))
    s = np.linalg.svd(X, compute_uv=False)
    params = {"shape": "generic", "n": 8, "dim": 2, "lambda": lam, "seed": 1}
    expected = (s / (s**2 + lam)).max() ** 2 * (s.min() ** 2 + lam) / 2
    assert exact_value(STATEMENT, "", "printed", params) == pytest.approx(expected, rel=1e-9)

"""W19, Lemma B.7, by hand on sums of signs and by brute force on matrices."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from oracles.formula_cases import exact_value
from oracles.rational_floats import floats

from verify.methods.rational import random_matrix
from verify.papers.wang2019.lem_b_7 import STATEMENT


def ratio(version: str, **params: float | str) -> float:
    return exact_value(STATEMENT, "", version, {"sum": "scalar", "share": 1.0, **params})


def test_sums_of_signs_by_hand() -> None:
    """One sign: 1/2 over exp(-1/2), exp(-2) for sigma^2 = 1/4. Three signs are 3 with 1/8, at least 1 with 1/2."""
    assert ratio("printed", dim=1, n=1, t=1.0, share=0.25) == pytest.approx(0.5 * math.exp(2.0), rel=1e-12)
    assert ratio("corrected", dim=1, n=1, t=1.0) == pytest.approx(0.5 * math.exp(0.5), rel=1e-12)
    assert ratio("corrected", dim=1, n=3, t=3.0) == pytest.approx(math.exp(1.5) / 8, rel=1e-12)
    assert ratio("corrected", dim=1, n=3, t=0.5) == pytest.approx(math.exp(0.25 / 6) / 2, rel=1e-12)
    assert ratio("corrected", dim=1, n=3, t=4.0) == 0.0
    five = 1 - (7 / 8) ** 5
    assert ratio("corrected", dim=5, n=3, t=3.0) == pytest.approx(five * math.exp(1.5) / 5, rel=1e-12)
    assert ratio("no factor d", dim=5, n=3, t=3.0) == pytest.approx(five * math.exp(1.5), rel=1e-12)
    assert ratio("sigma^2 cut by 10 %", dim=1, n=3, t=3.0, share=0.9) == pytest.approx(math.exp(1.5 / 0.9) / 8)


def test_matrices_by_brute_force() -> None:
    raw = [floats(random_matrix(2, 2, 1, i, scale=1)) for i in range(5)]
    terms = [M + M.T for M in raw]
    norm = np.linalg.norm(sum(A @ A for A in terms), 2)
    t = round(1.5 * math.sqrt(norm) * 64) / 64
    sums = [sum(s * A for s, A in zip(signs, terms, strict=True)) for signs in product((-1, 1), repeat=5)]
    probability = np.mean([np.linalg.eigvalsh(S)[-1] >= t for S in sums])
    params = {"sum": "signs", "dim": 2, "n": 5, "seed": 1, "t over sigma": 1.5, "share": 1.0}
    expected = probability / (2 * math.exp(-t * t / (2 * norm)))
    assert exact_value(STATEMENT, "", "corrected", params) == pytest.approx(expected, rel=1e-9)

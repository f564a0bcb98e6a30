"""RW21, Lemma 25: determinants by Leibniz' sum over permutations."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from math import prod

import pytest
from oracles.formula_cases import exact_value

from verify.methods.rational import fraction, random_matrix
from verify.papers.redberg_wang2021.lem_25 import STATEMENT


def determinant(rows: list[list[Fraction]]) -> Fraction:
    """Return the sum over permutations, each with the sign of its inversions."""
    total = Fraction(0)
    for chosen in permutations(range(len(rows))):
        sign = (-1) ** sum(a > b for i, a in enumerate(chosen) for b in chosen[i + 1 :])
        total += sign * prod((rows[i][j] for i, j in enumerate(chosen)), start=Fraction(1))
    return total


def replaced(A: list[list[Fraction]], column: int, c: list[Fraction]) -> list[list[Fraction]]:
    """Return A with a column replaced: Cramer's rule for A^{-1} c."""
    return [[c[i] if j == column else v for j, v in enumerate(row)] for i, row in enumerate(A)]


@pytest.mark.parametrize("seed", [5, 7])
@pytest.mark.parametrize("version", ["printed", "inverse left out", "sign reversed", "perturbation scaled by 1.01"])
def test_both_sides_in_three_dimensions(version: str, seed: int) -> None:
    raw, *vectors = (random_matrix(3, cols, seed, key) for cols, key in ((3, 1), (1, 2), (1, 3)))
    A = [[fraction(raw[i, j]) for j in range(3)] for i in range(3)]
    c, d = ([fraction(v[i, 0]) for i in range(3)] for v in vectors)
    of_A = determinant(A)
    inner = sum((d[j] * determinant(replaced(A, j, c)) / of_A for j in range(3)), Fraction(0))
    factor = {
        "printed": 1 + inner,
        "inverse left out": 1 + sum((a * b for a, b in zip(c, d, strict=True)), Fraction(0)),
        "sign reversed": 1 - inner,
        "perturbation scaled by 1.01": 1 + Fraction(101, 100) * inner,
    }[version]
    left = determinant([[A[i][j] + c[i] * d[j] for j in range(3)] for i in range(3)])
    right = of_A * factor
    deviation = abs(left - right) / max(abs(left), abs(right))
    assert (deviation == 0) is (version == "printed")
    found = exact_value(STATEMENT, "", version, dim=3, perturbation="any", seed=seed)
    assert found == pytest.approx(float(deviation), rel=1e-12)

"""RW21, Lemma 24: the identity at one by one matrices, in fractions."""

from __future__ import annotations

from fractions import Fraction

import pytest
from oracles.formula_cases import exact_value

from verify.methods.rational import fraction, random_matrix
from verify.papers.redberg_wang2021.lem_24 import STATEMENT


def sides(version: str, seed: int) -> tuple[Fraction, Fraction]:
    """Both sides at the numbers a, c, u, v of a case with dim = rank = 1."""
    a, c, u, v = (fraction(random_matrix(1, 1, seed, key)[0, 0]) for key in (11, 12, 13, 14))
    inner = (c if version == "C in place of its inverse" else 1 / c) + v * u / a
    correction = u * v / (a * a * inner)
    if version == "sign of the correction":
        correction = -correction
    if version == "correction scaled by 1.01":
        correction *= Fraction(101, 100)
    return 1 / (a + u * c * v), 1 / a - correction


@pytest.mark.parametrize(
    "version", ["printed", "C in place of its inverse", "sign of the correction", "correction scaled by 1.01"]
)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_deviation_of_both_sides(version: str, seed: int) -> None:
    left, right = sides(version, seed)
    deviation = abs(left - right) / max(abs(left), abs(right))
    assert (deviation == 0) is (version == "printed")
    found = exact_value(STATEMENT, "", version, dim=1, rank=1, U="any", seed=seed)
    assert found == pytest.approx(float(deviation), rel=1e-12)


def test_larger_sizes_hold_exactly() -> None:
    for rank in (1, 4):
        assert exact_value(STATEMENT, "", "printed", dim=3, rank=rank, U="any", seed=8) == 0.0

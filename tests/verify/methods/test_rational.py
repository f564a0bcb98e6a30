"""Rational linear algebra of the W19 statements: eigenvalues proved by inertia, comparisons decided exactly."""

from fractions import Fraction as F

import pytest

from verify.kernel.verdict import Outcome, judge
from verify.methods.rational import (
    SHAPES,
    at_most,
    between,
    design,
    eigenvalue_bounds,
    identity,
    matrix,
    negative_pivots,
    same,
)


def test_eigenvalues_of_a_matrix_known_by_hand():
    # [[2, 1], [1, 2]] has 1 and 3; the identity has 1 twice
    for M, truth in ((matrix(2, 2, [2, 1, 1, 2]), (1, 3)), (identity(2), (1, 1))):
        for (low, high), value in zip(eigenvalue_bounds(M), truth, strict=True):
            assert low <= value <= high
            assert high - low < F(1, 10**12)


@pytest.mark.parametrize("shape", SHAPES)
def test_eigenvalues_of_designs_sum_to_the_trace(shape):
    X = design(shape, 6, 3, 5)
    H = X.transpose() * X + identity(3)
    bounds = eigenvalue_bounds(H)
    trace = F(int(sum(H[i, i] for i in range(3)).p), int(sum(H[i, i] for i in range(3)).q))
    assert sum(low for low, _ in bounds) <= trace <= sum(high for _, high in bounds)
    assert all(low > 0 for low, _ in bounds)


def test_inertia():
    assert negative_pivots(matrix(2, 2, [1, 2, 2, 1])) == 1
    assert negative_pivots(matrix(2, 2, [0, 1, 1, 0])) is None


def test_comparisons_are_exact():
    assert judge(at_most("x", F(1, 3), F(1, 3)))[0] is Outcome.HOLDS
    assert judge(at_most("x", F(1, 3) + F(1, 10**9), F(1, 3)))[0] is Outcome.FAILS
    assert judge(at_most("x", F(0), F(0)))[0] is Outcome.HOLDS
    assert judge(at_most("x", F(1, 10**9), F(0)))[0] is Outcome.FAILS
    assert judge(same("A", identity(2), identity(2)))[0] is Outcome.HOLDS
    assert judge(same("A", identity(2), matrix(2, 2, [1, 0, 0, F(1)])))[0] is Outcome.HOLDS
    assert judge(same("A", identity(2), matrix(2, 2, [10**9, 0, 0, 10**9 + 1], scale=10**9)))[0] is Outcome.FAILS


def test_a_number_between_two():
    """1/3 is in [0.3, 0.34], not in [0.34, 1]; an interval that reaches over the end is undecided."""
    outcomes = [between("q", F(1, 3), 0.3, 0.34, 0.3), between("q", F(1, 3), 0.34, 1.0, 0.3)]
    outcomes.append(between("q", F(1, 3), 0.3, 0.34, 0.3, upper=F(1, 2)))
    decided = [judge(evidence)[0] for evidence in outcomes]
    assert decided == [Outcome.HOLDS, Outcome.FAILS, Outcome.UNDECIDED]
    assert judge(between("q", F(1), 0.0, 2.0, 1.0, in_domain=False))[0] is Outcome.OUT_OF_DOMAIN

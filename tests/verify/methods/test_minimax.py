"""Minimax risks of small designs by hand."""

from __future__ import annotations

from fractions import Fraction

from flint import fmpq_mat

from verify.methods import minimax


def test_minimax_risks_of_one_and_two_records() -> None:
    """X = (1, 1)^T: rank 1, G = 2; sigma = 2: prediction risk 2, estimation risk 4/2."""
    X = fmpq_mat(2, 1, [1, 1])
    low, high = minimax.prediction_risk(X, Fraction(2))
    assert high == 2
    assert 0 < float(high - low) < 1e-20
    low, high = minimax.estimation_risk(X, Fraction(2))
    assert high == 2
    assert low < high

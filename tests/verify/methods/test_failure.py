"""Failure probabilities: normal and chi-square tails are scipy's, counts contain the truth, noise matrices."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb
from rows import for_each
from scipy import stats

from audits import Budget, StreamKey
from verify.kernel.statement import Case, Standing
from verify.methods import failure


@for_each(("dim", "value"), [(1, 0.3), (5, 9.0), (40, 61.5)])
def test_chi_square_tails_are_scipys(dim: int, value: float) -> None:
    assert float(failure.chi_square_tail(dim, arb(value)).mid()) == pytest.approx(stats.chi2.sf(value, dim), rel=1e-12)
    assert float(failure.chi_square_lower(dim, arb(value)).mid()) == pytest.approx(
        stats.chi2.cdf(value, dim), rel=1e-12
    )
    assert float(failure.normal_tail(arb(value)).mid()) == pytest.approx(2 * stats.norm.sf(math.sqrt(value)), rel=1e-12)


def test_counted_probability_contains_the_truth() -> None:
    """Null: P(Z > 1) = 0.1587 lies in the interval; level 1e-9, 20,000 draws."""
    found = failure.counted(
        lambda n, rng: rng.standard_normal(n) > 1.0, Budget(20_000, 1e-9, StreamKey(11).child("tail")), floats_each=1
    )
    assert found.low < stats.norm.sf(1.0) < found.high
    assert found.high - found.low < 0.04


def test_wigner_matrices_have_unit_variances_everywhere() -> None:
    """Null: every variance is 1 (GOE: 2 on the diagonal). 40,000 draws, 8 standard errors are 0.06, level 1e-13."""
    W = failure.wigner(3, 40_000, np.random.Generator(np.random.PCG64DXSM(5)))
    assert (W.transpose(0, 2, 1) == W).all()
    np.testing.assert_allclose((W**2).mean(axis=0), 1.0, atol=0.06)


def test_failing_has_draws_only_where_the_case_has_them() -> None:
    """P(|Z| > 2) = 0.0455 is allowed at rho = 0.05 by the exact law; 8,000 draws, level 1e-9, contain it."""
    budget = Budget(8_000, 1e-9, StreamKey(3))
    for draws in ((0, 0, 0), (1, 1, 1)):
        case = Case("p", "p", Standing.PRINTED, {}, draws=draws)
        evidence = failure.failing(
            case,
            budget,
            "q",
            0.05,
            exact=lambda: failure.normal_tail(arb(4)),
            draw=lambda n, rng: rng.random(n) < 0.0455,
        )
        assert evidence.exact is not None
        assert evidence.exact.value == pytest.approx(2 * stats.norm.sf(2.0), rel=1e-12)
        assert evidence.exact.high <= evidence.claim.high == 0.05
        assert (evidence.sampled is not None) is any(draws)
        if evidence.sampled is not None:
            assert evidence.sampled.low < 0.0455 < evidence.sampled.high

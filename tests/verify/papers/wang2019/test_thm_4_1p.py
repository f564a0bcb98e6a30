"""W19, proof of Theorem 4.1, on X = (1), y = 0, lambda = gamma = 1, target (1, 2), output 1.

H = 2, H' = 3, mu = 1/2, mu' = 1/3, the estimates are 0 and 2/3; p is N(0, 1/2), p' is N(2/3, 1/3).
"""

from __future__ import annotations

import math

import pytest
from oracles.formula_cases import exact_value, holds
from scipy.stats import norm

from verify.papers.wang2019.thm_4_1p import STATEMENT

ONE = {"gamma": 1.0}
RATIO = norm.logpdf(1, 0, 0.5**0.5) - norm.logpdf(1, 2 / 3, (1 / 3) ** 0.5)


def test_log_density_ratios() -> None:
    """Out of sample the display gives the ratio; in sample the wrong sign adds log(2/3)."""
    out = -math.log(1.5) / 2 + 0.5 * (1 - 4 / 1.5)
    inside = math.log(2 / 3) / 2 + 0.5 * (1 - (2 - 2 / 3) ** 2 / (2 / 3))
    assert out == pytest.approx(RATIO, rel=1e-12)
    assert inside == pytest.approx(RATIO, rel=1e-12)
    assert exact_value(STATEMENT, "#out", "printed", ONE) == pytest.approx(0.0, abs=1e-15)
    assert exact_value(STATEMENT, "#in", "corrected", ONE) == pytest.approx(0.0, abs=1e-15)
    assert exact_value(STATEMENT, "#in", "printed", ONE) == pytest.approx(math.log(2 / 3) / abs(RATIO), rel=1e-12)
    assert exact_value(STATEMENT, "#out", "sign of the logarithm", ONE) == pytest.approx(
        math.log(2 / 3) / abs(RATIO), rel=1e-12
    )
    # one hundredth of (4/3)/2
    assert exact_value(STATEMENT, "#out", "residual term scaled by 1.01", ONE) == pytest.approx(
        4 / 3 / 100 / abs(RATIO), rel=1e-9
    )


def test_matrix_identities() -> None:
    """Deviations over the largest entry, worked out by hand."""
    assert exact_value(STATEMENT, "#det", "printed", ONE) == 0.0
    assert exact_value(STATEMENT, "#det", "leverages exchanged", ONE) == pytest.approx(0.5 / 3)
    assert exact_value(STATEMENT, "#A.2", "printed", ONE) == 0.0
    assert exact_value(STATEMENT, "#A.2", "1 + mu'", ONE) == pytest.approx(1 / 6)  # 1/3 + (1/9)/(4/3) = 5/12 for 1/2
    assert exact_value(STATEMENT, "#A.1", "printed", ONE) == 0.0  # 1/3 - 2 = 1 + 4/3 - 0 - 4
    assert exact_value(STATEMENT, "#A.1", "sign of the cross term", ONE) == pytest.approx(8 / (19 / 3))
    assert exact_value(STATEMENT, "#covariance", "printed", ONE) == pytest.approx((3 - 1 / 3) / 3)
    assert exact_value(STATEMENT, "#covariance", "corrected", ONE) == 0.0


@pytest.mark.parametrize("delta", [0.5, 0.01, 1e-9])
def test_tail_step(delta: float) -> None:
    log = math.log(2 / delta)
    printed = 2 * norm.sf(math.sqrt(log)) / (2 * math.exp(-log) / log)
    corrected = 2 * norm.sf(math.sqrt(2 * log)) / (2 * math.exp(-log) / math.sqrt(2 * log))
    cut = 2 * norm.sf(math.sqrt(1.9 * log)) / (2 * math.exp(-log) / math.sqrt(2 * log))
    assert exact_value(STATEMENT, "#tail", "printed", {"delta": delta}) == pytest.approx(printed, rel=1e-9)
    assert exact_value(STATEMENT, "#tail", "corrected", {"delta": delta}) == pytest.approx(corrected, rel=1e-9)
    assert exact_value(STATEMENT, "#tail", "quantile 1.9 log(2/delta)", {"delta": delta}) == pytest.approx(cut)
    assert exact_value(STATEMENT, "#last", "printed", {"delta": delta}) == pytest.approx(1 / log, rel=1e-12)
    assert holds(STATEMENT, "#last", "printed", {"delta": delta})

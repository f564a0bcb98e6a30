"""W19, the events before (A.4), by hand and by scipy."""

from __future__ import annotations

import math

import pytest
from oracles.formula_cases import claimed, decide, exact_value
from oracles.mechanisms.profiles import gaussian_log_delta
from scipy.stats import norm

from verify.papers.wang2019.eq_a_4 import STATEMENT

ZERO = {"floor": "20", "t": "4", "lambda_min": "1/100", "noise": "0", "moved": "0"}


def test_release() -> None:
    """Noise 2 sqrt(log(4/delta))/epsilon on sensitivity 1, at epsilon/2; corrected it spends delta/4 exactly."""
    point = {"epsilon": 1.0, "delta": 1e-6}
    mu = 1 / (2 * math.sqrt(math.log(4e6)))
    value = exact_value(STATEMENT, "#release", "printed", point)
    assert math.log(value) == pytest.approx(gaussian_log_delta(0.5, mu), rel=1e-9)
    assert claimed(STATEMENT, "#release", "printed", point) == 0.5
    corrected = decide(STATEMENT, "#release", "corrected", point)
    assert corrected.exact is not None
    assert corrected.exact.value == pytest.approx(2.5e-7, rel=1e-6)
    assert corrected.claim.high == pytest.approx(2.5e-7)


@pytest.mark.parametrize("delta", [0.1, 1e-6])
def test_event(delta: float) -> None:
    """log(4/delta)/epsilon is sqrt(log(4/delta))/2 standard deviations."""
    params = {"delta": delta}
    printed = 2 * norm.sf(math.sqrt(math.log(4 / delta)) / 2)
    assert exact_value(STATEMENT, "#event", "printed", params) == pytest.approx(printed, rel=1e-9)
    assert exact_value(STATEMENT, "#event", "corrected", params) == pytest.approx(delta / 2, rel=1e-9)
    cut = 2 * norm.sf(0.9 * norm.isf(delta / 4))
    assert exact_value(STATEMENT, "#event", "quantile cut by 10 %", params) == pytest.approx(cut, rel=1e-9)


def test_spectrum_and_leverage() -> None:
    """Floor 20, lambda_min 1/100, no noise: as printed nothing is added; corrected 20 + 5 - 1/100 are."""
    assert exact_value(STATEMENT, "#spectrum", "printed", ZERO) == pytest.approx(19.99 / 20)
    assert exact_value(STATEMENT, "#A.4", "printed", ZERO) == pytest.approx(1 - 0.01 / 20)
    # corrected: smallest eigenvalue 25, between 20 and 29
    assert exact_value(STATEMENT, "#spectrum", "corrected", ZERO) == pytest.approx(-4 / 20)
    assert exact_value(STATEMENT, "#A.4", "corrected", ZERO) == pytest.approx(1 - 25 / 20)
    # noise at its upper end and the neighbour's release: 1/100 + (20 + 5 - 1/100 - 1 - 4) = 20, with equality
    edge = ZERO | {"noise": "1", "moved": "1"}
    assert exact_value(STATEMENT, "#A.4", "corrected", edge) == 0.0
    assert exact_value(STATEMENT, "#A.4", "shift cut by 10 %", edge) == pytest.approx(0.5 / 20)

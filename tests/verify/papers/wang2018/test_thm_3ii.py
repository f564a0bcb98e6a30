"""W18, Theorem 3(ii): units, the spiked spectrum by hand, the corrected bound's constants retyped."""

from __future__ import annotations

import math

import pytest
from oracles.formula_cases import decide
from oracles.unit_change import assert_units
from scipy.stats import norm

from verify.papers.wang2018.thm_3ii import STATEMENT

SPIKED = {"dim": 10, "constant": 1.0, "delta": 1e-6}
AT = {"dim": 2, "lambda_min": 2.0, "rho": 0.1, "delta": 1e-4, "spectrum": "flat"}


def test_units() -> None:
    assert_units(
        STATEMENT, "#units", "printed",
        lambda s: [s.X**2 * s.theta**2, s.X**4 * s.theta**2 / s.eigenvalue], lambda s: s.Y**2,
    )  # fmt: skip


def test_spiked_spectrum_by_hand() -> None:
    """total = 3 sqrt(log(6/delta) d log(2 d^2/rho)); the error is total/16, the second term 2 log log'/total."""
    log, entries = math.log(6e6), math.log(1000)
    total = 3 * math.sqrt(log * 10 * math.log(2000))
    rate = min(math.sqrt(10 * entries * log), 1.001 * log * entries * 2 / total)
    evidence = decide(STATEMENT, "", "printed", SPIKED)
    assert evidence.notes["error at least"] == pytest.approx(total / 16)
    assert evidence.notes["printed rate"] == pytest.approx(rate)
    assert 90 / 32 / 1.01 < total / 16 / rate < 90 / 32 * 1.2
    assert evidence.exact is not None
    assert evidence.exact.low == pytest.approx(norm.cdf(math.sqrt(log)) / 4)
    far = decide(STATEMENT, "", "printed", SPIKED | {"constant": 4.0}).exact
    assert far is not None
    assert far.low == 0.0


def test_corrected_bound() -> None:
    """tau = 2 s (sqrt(d) + sqrt(log(6/rho))), s = 3 sqrt(log(6/delta)); the bound holds in all of 500 draws."""
    evidence = decide(STATEMENT, "", "corrected", AT, draws=500)
    s = 3 * math.sqrt(math.log(6e4))
    assert evidence.notes["tau"] == pytest.approx(2 * s * (math.sqrt(2) + math.sqrt(math.log(60))))
    assert evidence.claim.low == pytest.approx(0.9)
    assert evidence.sampled is not None
    assert evidence.sampled.value == 1.0


def test_a_36th_of_the_bound_is_too_little() -> None:
    wrong = decide(STATEMENT, "", "bound divided by 36", AT | {"dim": 1, "delta": 1e-6}, draws=8_000)
    assert wrong.sampled is not None
    assert wrong.sampled.high < 0.9

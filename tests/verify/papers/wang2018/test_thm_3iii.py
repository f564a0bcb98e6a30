"""W18, Theorem 3(iii): thresholds and ratios retyped, errors given the event by quadrature and by drawing."""

from __future__ import annotations

import math

import pytest
from oracles.formula_cases import decide, exact_value
from scipy.integrate import quad
from scipy.stats import norm

from verify.papers.wang2018.thm_3iii import STATEMENT

AT = {"what": "error", "dim": 3, "delta": 1e-4, "multiple": 2.0, "Y": 2.0, "theta": 0.5, "sigma": 4.0}


def threshold(dim: int, delta: float) -> float:
    """lambda_min from which max{0, s sqrt(d log(2 d^2/rho)) - released} is 0 on E: rho = 0.05, epsilon = 1."""
    log = math.log(6 / delta)
    s = 3 * math.sqrt(log)
    return s * (math.sqrt(log) + norm.isf(delta / 3) + math.sqrt(dim * math.log(2 * dim**2 / 0.05)))


@pytest.mark.parametrize(("version", "constant"), [("printed", 9.0), ("constant 8.1 (9 is reached)", 8.1)])
def test_excess_with_the_raw_matrix(version: str, constant: float) -> None:
    """E_2 alone: (3 sqrt(log) Y)^2 tr2 over (Y^2 + theta^2 + sigma^2 tr1) tr2 log."""
    trace = 3 / (2 * threshold(3, 1e-4))
    want = 9 * 4 / (4 + 0.25 + 16 * trace)
    evidence = decide(STATEMENT, "@raw", version, AT)
    assert evidence.claim.published == pytest.approx(constant)
    assert evidence.exact is not None
    assert evidence.exact.value == pytest.approx(want, rel=1e-9)


def test_bias_below_the_threshold() -> None:
    """Released eigenvalue 0: theta is shrunk by lambda_min/(lambda_min + total)."""
    at = AT | {"what": "mean", "multiple": 0.1}
    smallest = 0.1 * threshold(3, 1e-4)
    total = 3 * math.sqrt(math.log(6e4)) * math.sqrt(3 * math.log(18 / 0.05))
    assert exact_value(STATEMENT, "@raw", "any alpha", at) == pytest.approx(total / (smallest + total))
    assert exact_value(STATEMENT, "@raw", "printed", at | {"multiple": 1.0}) == 0.0
    assert not decide(STATEMENT, "@raw", "printed", at).claim.in_domain


def test_no_mean_square_with_the_released_matrix() -> None:
    smallest, log = threshold(1, 0.3), math.log(20)
    for constant in (1.0, 1e7):
        evidence = decide(STATEMENT, "@hat", "printed", {"delta": 0.3, "constant": constant})
        allowed = 1 / smallest + constant * (2 + 1 / smallest) / smallest**2 * log
        assert evidence.claim.high == pytest.approx(allowed)
        assert evidence.exact is not None
        assert evidence.exact.low > 1e6 * allowed


@pytest.mark.parametrize(("version", "constant"), [("corrected", 180.0), ("constant 26 (27 is reached)", 26.0)])
def test_error_given_the_event(version: str, constant: float) -> None:
    """One dimension: ((E_2 + x^T noise - E_1 theta)/(a + E_1))^2 given |E_1| <= a/2, by scipy's quadrature."""
    delta, Y, theta, sigma = 0.01, 2.0, 0.5, 3.0
    log = math.log(6 / delta)
    s = 3 * math.sqrt(log)
    a = max(threshold(1, delta), 2 * s * (2 + 2 * math.sqrt(math.log(12 / delta))))

    def weight(e: float) -> float:
        return float(norm.pdf(e, scale=s))

    top = quad(lambda e: ((s * Y) ** 2 + sigma**2 * a + (e * theta) ** 2) / (a + e) ** 2 * weight(e), -a / 2, a / 2)[0]
    want = top / quad(weight, -a / 2, a / 2)[0]
    at = {"dim": 1, "delta": delta, "multiple": 1.0, "Y": Y, "theta": theta, "sigma": sigma}
    evidence = decide(STATEMENT, "@hat", version, at)
    assert evidence.exact is not None
    assert evidence.exact.value == pytest.approx(want, rel=1e-8)
    allowed = sigma**2 / a + constant * (Y**2 + theta**2 + sigma**2 / a) / a**2 * log
    assert evidence.claim.high == pytest.approx(allowed)

"""W18, Proposition 18: both closed forms retyped, privacy against the exact law of a posterior sample."""

from __future__ import annotations

import math

import pytest
from oracles.formula_cases import decide, exact_value
from oracles.mechanisms.profiles import quadratic_delta
from oracles.ops_calibration import target_delta

from verify.papers.wang2018.prop_18 import STATEMENT

AT = {"data": "records x = 0", "target y": 1.0, "epsilon": 0.7, "delta": 1e-3, "n": 40, "dim": 2, "Y": 1.0, "norm": 3.0}


def closed_form(*, floor: float) -> tuple[float, float]:
    """lambda = (C_1 Y^2 n/B^2)^(1/3) (or the floor), gamma = epsilon^2 lambda/(4 log(2/delta) L(lambda)^2)."""
    tail, log = math.log(20), math.log(2000)
    c1 = (2 / 2 + math.sqrt(2 * tail) + tail) * log / 0.7**2
    lam = max((c1 * 40 / 3.0**2) ** (1 / 3), floor * (1 + 2 * log) / 0.7)
    L = math.sqrt(40) / math.sqrt(2 * lam) + 1
    return lam, 0.7**2 * lam / (4 * log * L**2)


@pytest.mark.parametrize(
    ("version", "floor"),
    [("printed", 0.0), ("corrected", 3.0), ("floor 10 times smaller", 0.3), ("epsilon halved", 3.0)],
)
@pytest.mark.parametrize("y", [0.0, 1.0])
def test_privacy_of_the_closed_form(version: str, floor: float, y: float) -> None:
    epsilon = 0.35 if version == "epsilon halved" else 0.7
    evidence = decide(STATEMENT, "#privacy", version, AT | {"target y": y})
    assert evidence.claim.published == epsilon
    assert evidence.exact is not None
    want = target_delta(*closed_form(floor=floor), epsilon, y)
    assert evidence.exact.value == pytest.approx(want, rel=1e-8, abs=1e-300)


def test_records_whose_solution_has_length_b() -> None:
    """One record (1/100, 1), |theta*| = 100 = B: precision gamma (lambda + 1e-4), estimate 0.01/(lambda + 1e-4)."""
    at = {"data": "records (1/B, 1)", "target y": 0.0, "epsilon": 1.0, "delta": 1e-6, "n": 1, "dim": 1, "Y": 1.0}
    tail, log = math.log(20), math.log(2e6)
    lam = ((1 / 2 + math.sqrt(tail) + tail) * log / 100.0**2) ** (1 / 3)
    gamma = lam / (4 * log * (1 / math.sqrt(2 * lam) + 1) ** 2)
    leverage, residual = 1 / (lam + 1e-4), math.sqrt(gamma) * 0.01 / (lam + 1e-4)
    want = max(quadratic_delta(1.0, leverage, residual, backward=b) for b in (False, True))
    assert want == pytest.approx(0.297805, abs=1e-6)
    assert exact_value(STATEMENT, "#privacy", "printed", at | {"norm": 100.0}) == pytest.approx(want, rel=1e-8)


def test_corrected_domain_is_epsilon_up_to_log_2_over_delta() -> None:
    """log(2/delta) = 7.6: epsilon = 7 is inside, 8 outside."""
    for epsilon, inside in ((7.0, True), (8.0, False)):
        assert decide(STATEMENT, "#privacy", "corrected", AT | {"epsilon": epsilon}).claim.in_domain is inside


def test_error_of_a_single_feature() -> None:
    """The noted ridge is the closed form; far below 25 times the order no draw fails, without dimension many do."""
    at = {"epsilon": 1.0, "delta": 1e-3, "n": 1e6, "dim": 1, "Y": 1.0, "norm": 1.0}
    evidence = decide(STATEMENT, "#error", "printed", at)
    tail = math.log(20)
    c1 = (1 / 2 + math.sqrt(tail) + tail) * math.log(2000)
    assert evidence.notes["lambda"] == pytest.approx((c1 * 1e6) ** (1 / 3))
    assert evidence.sampled is not None
    assert evidence.sampled.value == 0.0
    short = decide(STATEMENT, "#error", "power 1/5 of n", at | {"n": 1e13}).sampled
    assert short is not None
    assert short.value > 0.05


def test_printed_ridge_vanishes_with_a_long_parameter() -> None:
    """As B grows lambda falls to 0 and with it all privacy of the design."""
    assert exact_value(STATEMENT, "#privacy", "printed", AT | {"norm": 1e9, "target y": 0.0}) > 0.9

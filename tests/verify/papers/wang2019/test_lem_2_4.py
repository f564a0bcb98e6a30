"""W19, Lemma 2.4, against its text and numbers worked out by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.formula_cases import claimed, decide
from oracles.mechanisms.profiles import gaussian_log_delta
from scipy.optimize import brentq

from verify.papers.wang2019.lem_2_4 import STATEMENT


def test_printed_and_corrected_by_hand() -> None:
    """gamma = 0.01, Delta = 1, delta = 1.25/e: the root is 1, so epsilon is gamma as printed, sqrt(2 gamma) mended."""
    point = {"gamma": 0.01, "sensitivity": 1.0, "delta": 1.25 / math.e}
    assert claimed(STATEMENT, "", "printed", point) == pytest.approx(0.01)
    assert claimed(STATEMENT, "", "corrected", point) == pytest.approx(math.sqrt(0.02))
    assert claimed(STATEMENT, "", "no 2 under the root", point) == pytest.approx(0.1)


@settings(max_examples=30)
@given(st.floats(1e-3, 1e3), st.floats(1e-3, 10.0), st.floats(1e-9, 0.9))
def test_scaling(gamma: float, sensitivity: float, delta: float) -> None:
    """The printed epsilon is linear in gamma, the corrected one (squared) is; both are linear in Delta."""
    one = {"gamma": 1.0, "sensitivity": 1.0, "delta": delta}
    point = {"gamma": gamma, "sensitivity": sensitivity, "delta": delta}
    printed = claimed(STATEMENT, "", "printed", point) / claimed(STATEMENT, "", "printed", one)
    corrected = claimed(STATEMENT, "", "corrected", point) / claimed(STATEMENT, "", "corrected", one)
    assert printed == pytest.approx(gamma * sensitivity, rel=1e-12)
    assert corrected**2 == pytest.approx(gamma * sensitivity**2, rel=1e-12)


def test_exact_delta_is_that_of_two_normal_laws() -> None:
    """Noise of variance 1/gamma on a shift of Delta: the two laws lie sqrt(gamma) Delta standard deviations apart."""
    point = {"gamma": 4.0, "sensitivity": 0.3, "delta": 1e-3}
    found = decide(STATEMENT, "", "corrected", point)
    assert found.exact is not None
    assert math.log(found.exact.value) == pytest.approx(gaussian_log_delta(found.claim.published, 0.6), rel=1e-9)


def test_critical_constant() -> None:
    """The critical factor is 1/(mu sqrt(2 log(1.25e12))) with mu the exact Gaussian-DP parameter of (1, 1e-12)."""
    mu = brentq(lambda m: gaussian_log_delta(1.0, m) - math.log(1e-12), 0.05, 0.5, xtol=1e-14)
    critical = 1.0 / (mu * math.sqrt(2.0 * math.log(1.25e12)))
    point = {"gamma": 1.0, "sensitivity": 1.0, "delta": 1e-3}
    cut = claimed(STATEMENT, "", "constant 2 % below the critical one", point) / claimed(
        STATEMENT, "", "corrected", point
    )
    assert cut == pytest.approx(0.98 * critical, rel=1e-9)


def test_the_corrected_form_claims_nothing_above_1() -> None:
    assert not decide(STATEMENT, "", "corrected", {"gamma": 1.0, "sensitivity": 1.0, "delta": 0.1}).claim.in_domain
    assert decide(STATEMENT, "", "corrected", {"gamma": 1.0, "sensitivity": 0.1, "delta": 0.1}).claim.in_domain

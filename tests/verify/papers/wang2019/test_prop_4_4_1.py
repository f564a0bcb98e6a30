"""W19, Proposition 4.4(1): the refuting probabilities retyped, and the corrected shares from their own formulas."""

from __future__ import annotations

import math

import pytest
from oracles.formula_cases import decide
from oracles.mechanisms.profiles import gaussian_log_delta
from scipy.optimize import brentq
from scipy.stats import norm

from verify.papers.wang2019.prop_4_4_1 import STATEMENT


def test_minimum_word_for_word_has_no_posterior_on_one_side() -> None:
    """41 records, one x = 1: min(1, 41 + b - sigma Z) is positive with probability Phi((41 + b)/sigma)."""
    log = math.log(4 / 0.01)
    name = "min word for word, 40 records x = 0, x = 1 added"
    found = decide(STATEMENT, "", name, {"n": 40, "kappa": 1.0, "epsilon": 1.0, "delta": 0.01})
    assert found.exact is not None
    assert found.exact.low == pytest.approx(norm.cdf((41 + 2 * log) / (2 * math.sqrt(log))), rel=1e-12)
    assert found.claim.high == 0.01


def test_noise_below_what_the_budget_needs() -> None:
    """The distance whose delta at epsilon is delta, over 0.9."""
    mu = brentq(lambda m: gaussian_log_delta(1.0, m) - math.log(1e-6), 0.1, 1.0, xtol=1e-14)
    name = "noise 10 % below what the whole budget needs"
    found = decide(STATEMENT, "", name, {"epsilon": 1.0, "delta": 1e-6})
    assert found.exact is not None
    assert math.log(found.exact.value) == pytest.approx(gaussian_log_delta(1.0, mu / 0.9), rel=1e-9)


@pytest.mark.parametrize("version", ["printed", "each data set's own n"])
def test_the_data_sets_own_n(version: str) -> None:
    """At a release of 0 both posteriors are normal with precisions in the ratio (n + 1)^2/n^2: inside the enclosure."""
    n, kappa, epsilon = 1, 1e-4, 1.0
    found = decide(STATEMENT, "", version, {"n": n, "kappa": kappa, "epsilon": epsilon, "delta": 0.01})
    ratio = (n + 1) ** 2 / n**2
    edge = math.sqrt((2 * epsilon + math.log(ratio)) / (1 - 1 / ratio))
    divergence = 2 * norm.sf(edge / math.sqrt(ratio)) - math.exp(epsilon) * 2 * norm.sf(edge)
    assert found.exact is not None
    assert found.exact.low <= divergence <= found.exact.high
    assert found.exact.high - found.exact.low < 0.1 * divergence


def test_share_of_the_release() -> None:
    """The corrected release spends its quarter of delta exactly."""
    params = {"n": 1000, "dim": 3, "kappa share": 0.5, "epsilon": 1.0, "delta": 1e-6}
    found = decide(STATEMENT, "", "corrected", params | {"leverage share": 1.0, "residual share": 1.0})
    assert found.notes["release, share used"] == pytest.approx(1.0, rel=1e-6)
    assert found.exact is not None
    assert found.exact.high <= 1e-6

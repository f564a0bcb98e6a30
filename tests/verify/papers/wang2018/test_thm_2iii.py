"""W18, Theorem 2(iii): the threshold, the event and the printed sequence from retyped constants; bounds by drawing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from oracles.formula_cases import decide, exact_value
from oracles.ops_calibration import corrected_rule, solve
from scipy.stats import norm

from mechanisms.data.dataset import Dataset
from mechanisms.linear.adaops_wang2018 import AdaOPS2018, CorrectedRule2018, PublishedRule2018
from verify.papers.wang2018.thm_2iii import STATEMENT


@pytest.mark.parametrize("delta", [0.2, 1e-5])
def test_event(delta: float) -> None:
    """The printed shift is 4 log(6/delta)/epsilon itself: E is Z >= 0; corrected the quantile of delta/3."""
    at = {"delta": delta}
    assert exact_value(STATEMENT, ".p", "printed", at) == pytest.approx(0.5 / (delta / 3))
    assert exact_value(STATEMENT, ".p", "corrected", at) == pytest.approx(1.0, rel=1e-8)
    cut = norm.sf(0.9 * norm.isf(delta / 3)) / (delta / 3)
    assert exact_value(STATEMENT, ".p", "quantile cut by 10 %", at) == pytest.approx(cut, rel=1e-8)


@pytest.mark.parametrize("delta", [0.1, 1e-6])
def test_order_in_epsilon(delta: float) -> None:
    """(epsilon/tilde)^2 with tilde the root of (8) as printed, from 1e4 to 1e12."""
    log = math.log(6 / delta)
    square = (1 + log) / log**2

    def ratio(epsilon: float) -> float:
        tilde = max(np.roots([square / 2, 1, -epsilon / 2]).real)
        return float((epsilon / tilde) ** 2)

    want = math.log10(ratio(1e12) / ratio(1e4))
    found = exact_value(STATEMENT, "#covariance", "printed", {"delta": delta, "start": 1e4})
    assert found == pytest.approx(want, rel=1e-6)
    assert want > 7


def test_bias_of_the_printed_algorithm_drawn() -> None:
    """One record x = 1, theta_0 = sigma = 1: the mean of theta is below the noted bound, 20,000 draws."""
    evidence = decide(STATEMENT, "#mean", "printed", {"epsilon": 1.0, "delta": 1e-3})
    rng = np.random.Generator(np.random.PCG64DXSM(3))
    mechanism = AdaOPS2018(PublishedRule2018(1.0, 1e-3))
    y = np.clip(1.0 + rng.standard_normal(200), -1, 1)
    means = [
        mechanism.output(mechanism.draw(Dataset(np.ones((1, 1)), np.array([v]), 1.0, 1.0), 100, rng=rng), 1).mean()
        for v in y
    ]
    assert np.mean(means) < float(evidence.notes["mean at most"])
    assert evidence.exact is not None
    assert evidence.exact.low == pytest.approx(1 - float(evidence.notes["mean at most"]), rel=1e-6)


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.1), (0.1, 1e-6)])
def test_threshold_of_the_spectrum(epsilon: float, delta: float) -> None:
    """The release, at its lowest on E, is at least half of lambda_min and at least the least total of (7)."""
    at = {"epsilon": epsilon, "delta": delta, "multiple": 1.0}
    constants = CorrectedRule2018(epsilon, delta).settings(Dataset(np.zeros((0, 1)), np.zeros(0), 1.0, 1.0))
    loss = constants.shift + constants.sigma * norm.isf(delta / 3)
    want = max(2 * loss, loss + constants.total)
    assert decide(STATEMENT, "#mean", "corrected", at).notes["lambda_min"] == pytest.approx(want)
    assert exact_value(STATEMENT, "#mean", "corrected", at) == 0.0
    assert decide(STATEMENT, "#covariance", "corrected", at).notes["lambda_min"] == pytest.approx(want)
    below = decide(STATEMENT, "#mean", "spectrum 10 % below the threshold", at)
    assert below.notes["lambda_min"] == pytest.approx(0.9 * want)


def test_covariance_at_the_threshold() -> None:
    """gamma from the retyped rule at the lowest release on E; exp(2 Delta) by its lognormal moment; 64 e^4 = 3,494."""
    delta = 0.1
    constants = CorrectedRule2018(1.0, delta).settings(Dataset(np.zeros((0, 1)), np.zeros(0), 1.0, 1.0))
    loss = constants.shift + constants.sigma * norm.isf(delta / 3)
    smallest = max(2 * loss, loss + constants.total)
    released = smallest - loss
    gamma = solve(lambda g: corrected_rule(released, g, delta / 5, 0), 0.5)
    step = math.log(1 + 1 / released)
    moment = 2 * math.exp(2 * step * constants.unit_shift + (2 * step * constants.unit_sigma) ** 2 / 2)
    evidence = decide(STATEMENT, "#covariance", "corrected", {"epsilon": 1.0, "delta": delta, "multiple": 1.0})
    assert evidence.exact is not None
    assert evidence.exact.high == pytest.approx(moment / gamma * smallest / math.log(60), rel=1e-6)
    assert 0 < evidence.exact.low < evidence.exact.high < evidence.claim.high
    assert evidence.claim.published == pytest.approx(3494.26, abs=0.1)
    wrong = decide(STATEMENT, "#covariance", "constant 19")
    assert wrong.claim.published == 19.0

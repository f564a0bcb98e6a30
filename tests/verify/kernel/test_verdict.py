"""One case: every way an interval can lie with respect to what is allowed, and how far from the edge."""

from __future__ import annotations

import math

import pytest

from audits import Estimate
from verify.kernel.statement import Claim, Evidence
from verify.kernel.verdict import Outcome, Reason, decide, inconsistent, judge, margin


def estimate(low: float, high: float, failure_prob: float = 1e-6) -> Estimate:
    return Estimate(low, low, high, failure_prob, 100, "made up")


def claim(low: float, high: float, *, in_domain: bool = True) -> Claim:
    return Claim("a number", low, high, high, in_domain=in_domain)


@pytest.mark.parametrize(
    ("interval", "outcome"),
    [
        ((0.25, 0.75), Outcome.HOLDS),
        ((0.0, 1.0), Outcome.HOLDS),  # the edges belong to what is allowed: a printed strict < is noted, not refuted
        ((1.0, 1.0), Outcome.HOLDS),
        ((1.0, 1.5), Outcome.UNDECIDED),
        ((-0.5, 0.5), Outcome.UNDECIDED),
        ((-1.0, 2.0), Outcome.UNDECIDED),
        ((1.0000001, 1.5), Outcome.FAILS),
        ((-2.0, -1e-300), Outcome.FAILS),
        ((0.5, math.inf), Outcome.UNDECIDED),  # a lower bound alone can refute, never support
        ((1.5, math.inf), Outcome.FAILS),
    ],
)
def test_decide(interval: tuple[float, float], outcome: Outcome) -> None:
    assert decide(claim(0.0, 1.0), estimate(*interval)) is outcome
    assert decide(claim(0.0, 1.0, in_domain=False), estimate(*interval)) is Outcome.OUT_OF_DOMAIN


def test_nothing_is_decided_without_an_estimate() -> None:
    assert decide(claim(0.0, 1.0), None) is Outcome.UNDECIDED


def test_exact_witness_decides_and_must_agree_with_the_sampled_one() -> None:
    exact, near, far = Estimate.proved(1.5, 1.5, "by hand"), estimate(0.5, 2.0), estimate(0.25, 0.75)
    assert judge(Evidence(claim(0.0, 1.0), exact, near)) == (Outcome.FAILS, Reason.NONE)
    assert judge(Evidence(claim(0.0, 1.0), None, near)) == (Outcome.UNDECIDED, Reason.BUDGET)
    assert judge(Evidence(claim(0.0, 1.0), exact, far)) == (Outcome.UNDECIDED, Reason.INCONSISTENT)
    assert not inconsistent(Evidence(claim(0.0, 1.0), exact, near))
    assert not inconsistent(Evidence(claim(0.0, 1.0), exact, estimate(1.5, 2.0)))  # touching intervals agree


@pytest.mark.parametrize(
    ("allowed", "interval", "expected"),
    [
        ((0.0, 1.0), (0.125, 0.75), 0.25),  # 0 is the natural end of a probability, no edge
        ((0.0, 1.0), (-0.5, 0.75), -0.5),  # unless the quantity is below it
        ((0.5, math.inf), (0.75, 0.875), 0.5),
        ((-math.inf, 4.0), (1.0, 5.0), -0.25),
        ((-2.0, 2.0), (1.0, 1.0), 0.5),
        ((0.0, 0.0), (0.0, 0.0), 0.0),
        ((-math.inf, math.inf), (1.0, 1.0), math.inf),
    ],
)
def test_margin(allowed: tuple[float, float], interval: tuple[float, float], expected: float) -> None:
    assert margin(claim(*allowed), estimate(*interval)) == expected


def test_margin_of_nothing() -> None:
    assert math.isnan(margin(claim(0.0, 1.0), None))

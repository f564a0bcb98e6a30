"""W18, Theorem 2(i): the printed releases at their own noise, events by scipy's normal law, the corrected shares."""

from __future__ import annotations

import math

import pytest
from oracles.formula_cases import decide, exact_value
from oracles.mechanisms.profiles import gaussian_log_delta, quadratic_delta
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from verify.papers.wang2018.thm_2i import STATEMENT


@pytest.mark.parametrize(("part", "share"), [(".p1", 1 / 4), ("#all", 1.0)])
@pytest.mark.parametrize("bound", [1.0, 3.0])
def test_printed_eigenvalue(part: str, share: float, bound: float) -> None:
    """Sensitivity B^2, noise sqrt(log(6/delta))/(epsilon/4): a shift of B^2 epsilon/(4 sqrt(log(6/delta)))."""
    at = {"epsilon": 2.0, "delta": 1e-4, "bound": bound}
    mu = bound**2 * 0.5 / math.sqrt(math.log(6e4))
    evidence = decide(STATEMENT, part, "printed", at)
    assert evidence.claim.published == pytest.approx(2 * share)
    assert evidence.claim.high == pytest.approx(1e-4 / (3 if part == ".p1" else 1))
    assert evidence.exact is not None
    assert math.log(evidence.exact.value) == pytest.approx(gaussian_log_delta(2 * share, mu), rel=1e-9)


@pytest.mark.parametrize("delta", [0.4, 1e-3, 1e-10])
def test_events(delta: float) -> None:
    """|Z - sqrt(L)| <= sqrt(L) is 0 <= Z <= 2 sqrt(L); the second event is -sqrt(L) <= Z <= 0, L = log(6/delta)."""
    root = math.sqrt(math.log(6 / delta))
    tail = norm.sf(2 * root) + 0.5
    assert exact_value(STATEMENT, ".p2", "printed", {"delta": delta}) == pytest.approx(tail, rel=1e-11)
    both = norm.sf(root) + 0.5
    assert exact_value(STATEMENT, ".p3", "printed", {"delta": delta}) == pytest.approx(both, rel=1e-11)
    assert decide(STATEMENT, ".p3", "printed", {"delta": delta}).claim.high == pytest.approx(2 * delta / 3)
    for part in (".p2", ".p3"):
        assert exact_value(STATEMENT, part, "corrected", {"delta": delta}) == pytest.approx(delta / 5, rel=1e-9)
        cut = norm.sf(0.9 * norm.isf(delta / 5))
        assert exact_value(STATEMENT, part, "quantile cut by 10 %", {"delta": delta}) == pytest.approx(cut, rel=1e-9)


def test_printed_sample() -> None:
    """No record, bounds 1, released eigenvalue 0 and Delta 0: lambda from (7), gamma from (8) as printed."""
    epsilon, delta = 1.0, 1e-6
    log, tail = math.log(6 / delta), math.log(20)
    bar = (-1 + math.sqrt(1 + 2 * epsilon / 4 / log)) * log  # bar^2/(2 log) + bar = epsilon/4
    c1, c2 = (1 / 2 + math.sqrt(tail) + tail) * log / bar**2, log / (epsilon / 4)
    floor = (1 + log) / (2 * epsilon)
    best = minimize_scalar(
        lambda t: math.log(c1 * (1 + math.exp(-t)) ** (2 * c2) / math.exp(t) + math.exp(t)),
        bounds=(math.log(floor), 20), method="bounded", options={"xatol": 1e-12},
    )  # fmt: skip
    lam = max(math.exp(best.x), floor)
    square = (1 + log) / log**2
    tilde = (-1 + math.sqrt(1 + square * epsilon)) / square  # square/2 tilde^2 + tilde = epsilon/2
    gamma = lam * tilde**2 / log
    want = max(quadratic_delta(epsilon / 2, 1 / lam, math.sqrt(gamma), backward=b) for b in (False, True))
    evidence = decide(STATEMENT, ".p4", "printed", {"epsilon": epsilon, "delta": delta})
    assert evidence.exact is not None
    assert evidence.exact.value == pytest.approx(want, rel=1e-5)
    assert evidence.claim.published == 0.5
    assert evidence.claim.high == pytest.approx(delta / 3)


@pytest.mark.parametrize("at", [{"epsilon": 0.1, "delta": 0.2}, {"epsilon": 4.0, "delta": 1e-8}])
def test_corrected_releases(at: dict[str, float]) -> None:
    """Analytic noise spends exactly delta/5 at epsilon/4, the sample at most delta/5 at epsilon/2."""
    share = at["delta"] / 5
    assert exact_value(STATEMENT, ".p1", "corrected", at) == pytest.approx(share, rel=1e-6)
    one = {**at, "sharper": 1.0, "mu": 1.0, "r": 1.0}
    sample = decide(STATEMENT, ".p4", "corrected", one)
    assert sample.claim.published == at["epsilon"] / 2
    assert sample.exact is not None
    assert sample.exact.high <= share
    whole = decide(STATEMENT, "#all", "corrected", at)
    assert whole.exact is not None
    assert whole.exact.high == pytest.approx(4 * share + sample.exact.high, rel=1e-6)


def test_noise_below_the_whole_budget() -> None:
    """Noise divided by 1.1 below what the whole budget needs exceeds delta; at bound 4 without its square, far more."""
    at = {"epsilon": 1.0, "delta": 1e-6}
    for wrong in (
        "eigenvalue noise divided by more than all budget allows",
        "eigenvalue noise without the square of the bound",
    ):
        assert exact_value(STATEMENT, "#all", wrong, at) > 1.5e-6

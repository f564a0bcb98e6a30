"""W18, Figure 3: the simulation through sufficient statistics against one on the records, and the budget's share."""

from __future__ import annotations

from math import exp, log, sqrt

import numpy as np
import pytest
from oracles.formula_cases import decide, exact_value, holds
from oracles.mechanisms.joint_releases import adaops2018_lam

from verify.papers.wang2018.exp_2 import STATEMENT, bounds, squared_errors

D = 10


def test_simulation_without_noise_of_the_release_is_least_squares() -> None:
    """As epsilon grows the released estimates approach theta*; errors fall with epsilon^-2."""
    rng = np.random.Generator(np.random.PCG64DXSM(8))
    near, far = (np.median(squared_errors("SSP", 1e8, epsilon, 200, rng)) for epsilon in (10.0, 1.0))
    assert far / near == pytest.approx(100.0, rel=0.5)


def _ssp_on_records(n: int, epsilon: float, rng: np.random.Generator, adaptive: bool) -> float:
    """One run on n drawn records: appendix C.1's SSP, or Algorithm 2 on the released matrix (rho = 0.05)."""
    delta, (B, Y) = 1 / n**2, bounds(n)
    X = rng.standard_normal((n, D))
    y = X @ rng.random(D) + rng.standard_normal(n)
    gram, best = X.T @ X, np.linalg.lstsq(X, y, rcond=None)[0]
    scale, lam = sqrt(4 * log(4 / delta)) / epsilon, 0.0
    if adaptive:
        scale = sqrt(log(6 / delta)) / (epsilon / 3)
        smallest = np.linalg.eigvalsh(gram)[0]
        released = smallest + scale * B**2 * rng.standard_normal() - log(6 / delta) / (epsilon / 3) * B**2
        target = sqrt(D * log(6 / delta) * log(2 * D**2 / 0.05)) * B**2 / (epsilon / 3)
        lam = max(0.0, target - max(released, 0.0))
    upper = np.triu(rng.standard_normal((D, D)))
    E1, E2 = scale * B**2 * (upper + np.triu(upper, 1).T), scale * B * Y * rng.standard_normal(D)
    theta = np.linalg.solve(gram + E1 + lam * np.eye(D), X.T @ y + E2)
    return float((theta - best) @ (theta - best))


@pytest.mark.parametrize(("method", "epsilon"), [("SSP", 100.0), ("AdaSSP", 30.0), ("AdaSSP", 300.0)])
def test_errors_are_those_on_records(method: str, epsilon: float) -> None:
    """Null: the same law; the share below the other's median is one half, 400 runs each: 6 standard errors 0.21."""
    rng = np.random.Generator(np.random.PCG64DXSM(21))
    direct = np.array([_ssp_on_records(2_000, epsilon, rng, method == "AdaSSP") for _ in range(400)])
    drawn = squared_errors(method, 2_000, epsilon, 400, rng)
    for share in (0.25, 0.5, 0.75):
        assert np.mean(drawn < np.quantile(direct, share)) == pytest.approx(share, abs=0.2)


def _adaops_on_records(n: int, epsilon: float, rng: np.random.Generator) -> float:
    """One run of Algorithm 1 as printed on n drawn records, (7) minimised by search (rho = 0.05)."""
    delta, (B, Y) = 1 / n**2, bounds(n)
    ell = log(6 / delta)
    X = rng.standard_normal((n, D))
    y = X @ rng.random(D) + rng.standard_normal(n)
    gram, best = X.T @ X, np.linalg.lstsq(X, y, rcond=None)[0]
    noise = sqrt(ell) / (epsilon / 4) * rng.standard_normal() - ell / (epsilon / 4)
    released = max(np.linalg.eigvalsh(gram)[0] + noise, 0.0)
    lam = adaops2018_lam(released, epsilon, delta, 0.05, D, B)
    centre = np.linalg.solve(gram + lam * np.eye(D), X.T @ y)
    step = log(1 + B**2 / (lam + released))
    released_log = log(Y + B * np.linalg.norm(centre)) + step / (epsilon / (4 * sqrt(ell))) * rng.standard_normal()
    lipschitz = B * exp(released_log + step / (epsilon / (4 * ell)))
    tilde = max(np.roots([(1 / ell) * ((1 + ell) / ell) / 2, 1, -epsilon / 2]).real)
    gamma = (released + lam) * tilde**2 / (ell * lipschitz**2)
    theta = rng.multivariate_normal(centre, np.linalg.inv(gram + lam * np.eye(D)) / gamma)
    return float((theta - best) @ (theta - best))


@pytest.mark.parametrize("epsilon", [1.0, 40.0])
def test_adaops_errors_are_those_on_records(epsilon: float) -> None:
    """Null: the same law; the shares below the other's quartiles, 200 runs each: 6 standard errors 0.3."""
    rng = np.random.Generator(np.random.PCG64DXSM(22))
    direct = np.array([_adaops_on_records(1_000, epsilon, rng) for _ in range(200)])
    drawn = squared_errors("AdaOPS", 1_000, epsilon, 400, rng)
    for share in (0.25, 0.5, 0.75):
        assert np.mean(drawn < np.quantile(direct, share)) == pytest.approx(share, abs=0.2)


@pytest.mark.parametrize("n", [10.0, 1e3, 1e12])
@pytest.mark.parametrize(("version", "parts"), [("printed", 3), ("two parts in AdaSSP", 2)])
def test_share_of_the_budget(version: str, parts: int, n: float) -> None:
    """Variance of AdaSSP's noise over that of SSP: log(2 k/delta)/(epsilon/k)^2 over log(4/delta)/(epsilon/2)^2."""
    delta, epsilon = n**-2.0, 0.3
    want = (log(2 * parts / delta) / (epsilon / parts) ** 2) / (log(4 / delta) / (epsilon / 2) ** 2)
    assert exact_value(STATEMENT, "#share", version, n=n) == pytest.approx(want, rel=1e-12)
    assert holds(STATEMENT, "#share", version, n=n) is (version == "printed")


def test_claims_on_few_runs() -> None:
    """Shares of runs among 300: SSP closer than AdaSSP at n = 1e8, and never when their names are exchanged too."""
    case = {"epsilon": 1.0, "n": 1e8}
    first = decide(STATEMENT, "#SSP", "printed", case, draws=300).sampled
    other = decide(STATEMENT, "#SSP", "AdaSSP is better", case, draws=300).sampled
    assert first is not None
    assert other is not None
    assert first.value + other.value == pytest.approx(1.0)
    assert first.value > 0.5
    faster = {"method": "AdaSSP", "epsilon": 1.0, "n": 1e6}
    claims = [decide(STATEMENT, "#faster", v, faster, draws=100) for v in ("printed", "a thousand for ten")]
    assert [evidence.claim.low for evidence in claims] == [0.8, 0.8]
    values = [evidence.sampled.value for evidence in claims if evidence.sampled is not None]
    assert values[0] > 0.8 > values[1]

"""W18-F3, OPS-Balanced: the bound (24) and its corrected form against scipy's chi-square (privacy: test_ops_rules)."""

from __future__ import annotations

import math

import pytest
from oracles.formula_cases import decide, exact_value
from oracles.ops_calibration import RHO, solve
from scipy.optimize import minimize_scalar
from scipy.stats import chi2

from verify.papers.wang2018.set_f3 import STATEMENT

EPSILON, DELTA, N, D, Y = 0.5, 1e-4, 2_000, 3, 0.7


def constants() -> tuple[float, float, float]:
    """Return lambda of (24) with bounds 1 and Y, gamma of the rule, and (24) itself there."""
    log, tail = math.log(2 / DELTA), math.log(1 / RHO)
    c1 = (D / 2 + math.sqrt(D * tail) + tail) * log / min(EPSILON, math.sqrt(EPSILON)) ** 2

    def lipschitz(lam: float) -> float:
        return Y * (math.sqrt(N) / math.sqrt(2 * lam) + 1)

    def bound(lam: float) -> float:
        return c1 * lipschitz(lam) ** 2 / lam + lam

    floor = (1 + log) / EPSILON
    found = minimize_scalar(lambda t: bound(math.exp(t)), bounds=(math.log(floor), 30.0), method="bounded")
    lam = math.exp(found.x)

    def rule(gamma: float) -> float:
        L = lipschitz(lam)
        return math.sqrt(gamma * L**2 * log / lam) + gamma * L**2 / (2 * (lam + 1)) + (1 + log) / (2 * lam)

    return lam, solve(rule, EPSILON), bound(lam)


def test_failure_of_24_and_of_its_correction() -> None:
    """y = 0, X^T X = (n/d) I: the error is e/(e + lambda) chi^2_d/(2 gamma) with e = n/d."""
    lam, gamma, printed = constants()
    tail, share = math.log(1 / RHO), (N / D) / (N / D + lam)
    chance = (D / 2 + math.sqrt(D * tail) + tail) / gamma
    corrected = chance + lam / 2
    bounds = {
        "printed": printed,
        "corrected": corrected,
        "a tenth of the bound": corrected / 10,
        "no cross term, no ridge term": (D / 2 + tail) / gamma,
    }
    at = {"epsilon": EPSILON, "delta": DELTA, "n": float(N), "dim": D, "Y": Y}
    for version, bound in bounds.items():
        want = chi2.sf(2 * gamma * bound / share, D)
        assert exact_value(STATEMENT, ".24", version, at) == pytest.approx(want, rel=1e-4), version
    assert decide(STATEMENT, ".24", "printed", at).claim.published == RHO

"""RW21, Corollary 16: cost and profiles by hand, the condition on a grid, the comparison from T14 and T17."""

from __future__ import annotations

import math

import numpy as np
import pytest
from oracles.formula_cases import claimed, decide, exact_value, holds
from scipy.optimize import brentq
from scipy.stats import norm

from verify.papers.redberg_wang2021.cor_16 import STATEMENT


def gaussian_delta(mu: float, epsilon: float) -> float:
    return norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)


def test_cost_by_hand() -> None:
    """epsilon = 1/2, f'' ||x||^2 = 2 = rho_max/2, log(1.25/delta) = 8: (1/16)/8 times 8 or 1/8, and 1/(4 sqrt 2)."""
    at = {"gradient": 1.0, "hessian": 2.0, "rho_max": 4.0, "epsilon": 0.5, "delta": 1.25 * math.exp(-8.0)}
    linear = 0.25 / math.sqrt(2.0)
    assert claimed(STATEMENT, "@a", "printed", at) == pytest.approx(1 / 1024 + linear)
    assert claimed(STATEMENT, "@b", "printed", at) == pytest.approx(1 / 16 + linear)
    for part in ("@a", "@b"):
        assert claimed(STATEMENT, part, "corrected", at) == pytest.approx(1 / 1024 + linear)
        assert claimed(STATEMENT, part, "no square root of 2", at) == pytest.approx(1 / 1024 + linear - 0.1)
    # noise rho_max sqrt(16)/epsilon = 32: mu = sqrt(1 + 2)/32 with the gradient, sqrt(2)/32 without
    printed, corrected = (decide(STATEMENT, "@a", version, at) for version in ("printed", "corrected"))
    assert printed.exact is not None
    assert corrected.exact is not None
    for found, mu in ((printed, math.sqrt(3.0) / 32), (corrected, math.sqrt(2.0) / 32)):
        assert found.exact.value == pytest.approx(gaussian_delta(mu, 1 / 1024 + linear), rel=1e-6)


def test_critical_factor() -> None:
    """At epsilon = 1, delta = 1e-12 and f'' ||x||^2 = rho_max: mu = 1/(2 sqrt(log(1.25e12)))."""
    log = math.log(1.25e12)
    mu = 0.5 / math.sqrt(log)
    least = brentq(lambda e: gaussian_delta(mu, e) - 1e-12, 0.1, 2.0, xtol=1e-14)
    at = {"hessian": 1.0, "rho_max": 1.0, "epsilon": 1.0, "delta": 1e-12}
    found = claimed(STATEMENT, "@a", "constant 2 % below the critical one", at)
    assert found == pytest.approx(0.98 * least, rel=1e-5)
    assert least / (1 / (8 * log) + math.sqrt(0.5)) == pytest.approx(0.86, abs=1e-3)


def test_condition_on_a_grid() -> None:
    """Logistic loss: f'' ||x||^2/a <= |f'| ||x||/b is (1 - p) r (1/b - p r/a) >= 0."""
    p, r = np.meshgrid(np.linspace(1e-6, 0.999999, 400), np.geomspace(1e-3, 1, 60))
    for part, version, a, b in (
        ("@beta", "printed", 0.25, 0.25), ("@beta", "left denominator 5 % smaller", 0.95 * 0.25, 0.25),
        ("@sigma", "printed", 0.25, 1.0), ("@sigma", "corrected", 0.25, 0.25),
    ):  # fmt: skip
        least = ((1 - p) * r * (1 / b - p * r / a)).min()
        found = decide(STATEMENT, f"#condition{part}", version)
        assert found.exact is not None
        assert bool(least >= 0) is (found.exact.low >= 0) is (a == b)
        assert found.exact.low <= least + 1e-12


def test_comparison_in_advance() -> None:
    """T17.1 with rho_max against T14.1 with xi over sqrt 2, log(1.25/delta) = 8, log(1/delta) = 8 - log 1.25."""
    at = {"epsilon": 0.5, "delta": 1.25 * math.exp(-8.0), "hessian": 0.1, "gradient": 0.9, "rho_max": 0.25, "xi": 1.0}
    t = math.sqrt(2 * (8 - math.log(1.25)))
    mu, nu = 0.9 * 0.5 / 4.0, 0.1 * 0.5 / (0.25 * 4.0 * math.sqrt(2.0))
    gradient, hessian = mu**2 / 2 + mu * t, nu**2 / 2 + nu * t
    for version, share in (("corrected", math.sqrt(0.5)), ("0.68 of it", 0.68)):
        found = exact_value(STATEMENT, "#comparison", version, at)
        assert found == pytest.approx(share * gradient - hessian, rel=1e-9)


def test_comparison_at_an_outcome() -> None:
    """Three records with label -1, lambda = 1/2, sigma = 1, theta = -1.2: Corollary 7 for the record (1, 1) added."""
    u = -1.2
    s = 1 / (1 + math.exp(-u))
    H = 0.5 + 3 * s * (1 - s)
    gradient = 0.5 * u + 3 * s
    loss = abs(-math.log(1 + s * (1 - s) / H) + (1 - s) ** 2 / 2 - gradient * (1 - s))
    at = {"epsilon": 0.5, "delta": 1e-6, "hessian": s * (1 - s), "gradient": 1 - s, "rho_max": 0.25, "xi": 1.0}
    cost = (2 * at["hessian"]) ** 2 / 8 / math.log(1.25e6) + 2 * at["hessian"] / math.sqrt(2.0)
    found = exact_value(STATEMENT, "#comparison", "printed", at | {"theta": u, "lam": 0.5, "opposite": 3})
    assert found == pytest.approx(loss - cost, rel=1e-9)
    assert not holds(STATEMENT, "#comparison", "printed", at | {"theta": u, "lam": 0.5, "opposite": 3})

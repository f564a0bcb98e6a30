"""RW21, Corollary 7: the printed sum typed once more against a literal twin's density ratio; the proof line by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from oracles.formula_cases import decide, exact_value
from oracles.mechanisms.objective_perturbation import gradient, hessian, log_density

from mechanisms import Dataset
from mechanisms.objective.losses import LogisticLoss
from verify.papers.redberg_wang2021.cor_7 import STATEMENT


@pytest.mark.parametrize("sign", [1, -1])
def test_printed_sum_is_the_log_ratio(sign: int) -> None:
    """z outside the data (upper signs) and inside (lower), three dimensions."""
    rng, loss, sigma, lam = np.random.default_rng(7), LogisticLoss(), 1.5, 0.5
    X, y, theta = rng.uniform(-0.5, 0.5, (6, 3)), rng.choice([-1.0, 1.0], 6), rng.standard_normal(3)
    rest, whole = Dataset(X[:5], y[:5], 1.0, 1.0), Dataset(X, y, 1.0, 1.0)
    D, other = (rest, whole) if sign > 0 else (whole, rest)
    x, margin = X[5], y[5] * float(X[5] @ theta)
    slope, curvature = -y[5] / (1 + math.exp(margin)), 1 / (2 + math.exp(margin) + math.exp(-margin))
    mu = x @ np.linalg.inv(hessian(theta, D, loss, lam)) @ x
    printed = (
        -math.log(1 + sign * curvature * mu)
        + (slope * x) @ (slope * x) / (2 * sigma**2)
        + sign * gradient(theta, D, loss, lam) @ (slope * x) / sigma**2
    )
    truth = log_density(theta, D, loss, lam, sigma) - log_density(theta, other, loss, lam, sigma)
    assert printed == pytest.approx(truth, rel=1e-9)


@pytest.mark.parametrize("sign", [1, -1])
def test_the_statement_agrees(sign: int) -> None:
    at = {"dim": 1, "n": 3, "loss": "logistic", "sign": sign, "sigma": 0.5, "lam": 0.5}
    for version in {c.mutant or "printed" for c in STATEMENT.cases if c.part.endswith("bound")}:
        found = decide(STATEMENT, "#bound", version, at)
        assert found.exact is not None
        if version == "printed":
            assert found.exact.high < 1e-11
        else:
            assert found.exact.low > (1e-7 if "1e-6" in version else 1e-2)


@pytest.mark.parametrize(("lam", "u", "sign"), [(1.0, 0.0, 1), (4.0, 1.5, 1), (1.0, 1.5, -1)])
def test_proof_line_in_one_dimension(lam: float, u: float, sign: int) -> None:
    """mu(x) = 1/H with H = lam, or lam + f'' where the record is in the data; mu_1 = -+ f'' mu(x)."""
    curvature = 1 / (2 + math.exp(u) + math.exp(-u))
    mu = 1 / (lam + (curvature if sign < 0 else 0.0))
    left = math.log(1 + sign * curvature * mu)
    at = {"lam": lam, "predictor": u, "sign": sign}
    assert exact_value(STATEMENT, ".p", "printed", at) == pytest.approx(left - math.log(1 + mu))
    assert exact_value(STATEMENT, ".p", "corrected", at) == pytest.approx(0.0, abs=1e-15)
    half = left - math.log(1 + sign * curvature * mu / 2)
    assert exact_value(STATEMENT, ".p", "half of f''", at) == pytest.approx(half)

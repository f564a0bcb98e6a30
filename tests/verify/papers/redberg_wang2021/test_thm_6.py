"""RW21, Theorem 6: the printed sum typed once more, against the density ratio of a literal twin."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.formula_cases import decide
from oracles.mechanisms.objective_perturbation import gradient, hessian, log_density

from mechanisms import Dataset
from mechanisms.objective.losses import LogisticLoss, SquaredLoss
from verify.papers.redberg_wang2021.thm_6 import STATEMENT


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("loss", [LogisticLoss(), SquaredLoss()])
def test_product_form_is_the_log_ratio(loss: LogisticLoss | SquaredLoss, sign: int) -> None:
    """mu_j from the eigenvectors of the target's Hessian (rank 2: two records), one after the other."""
    rng = np.random.default_rng(6)
    X, y, theta = rng.uniform(-0.5, 0.5, (7, 3)), rng.choice([-1.0, 1.0], 7), rng.standard_normal(3)
    sigma, lam = 1.5, 0.5
    rest, target, whole = (Dataset(X[s], y[s], 1.0, 1.0) for s in (slice(0, 5), slice(5, 7), slice(0, 7)))
    D, other = (rest, whole) if sign > 0 else (whole, rest)
    own_gradient = gradient(theta, target, loss, 0.0)
    values, vectors = np.linalg.eigh(hessian(theta, target, loss, 0.0))
    M, product = -hessian(theta, D, loss, lam), 1.0  # grad b, eq. (4)
    for value, u in zip(values, vectors.T, strict=True):
        product *= 1 - sign * value * (u @ np.linalg.solve(M, u))
        M = M - sign * value * np.outer(u, u)
    inner = gradient(theta, D, loss, lam) @ own_gradient
    printed = -np.log(product) + own_gradient @ own_gradient / (2 * sigma**2) + sign * inner / sigma**2
    truth = log_density(theta, D, loss, lam, sigma) - log_density(theta, other, loss, lam, sigma)
    assert printed == pytest.approx(truth, rel=1e-9)


@pytest.mark.parametrize("sign", [1, -1])
def test_the_statement_agrees(sign: int) -> None:
    """Its own instances deviate by rounding only; a wrong sign, half or term by far more than the tolerance."""
    at = {"dim": 2, "rank": 2, "n": 3, "loss": "poisson", "sign": sign, "sigma": 0.5, "lam": 0.5}
    for version in {c.mutant or "printed" for c in STATEMENT.cases}:
        found = decide(STATEMENT, "", version, at)
        assert found.exact is not None
        assert found.claim.high == 1e-9
        if version == "printed":
            assert found.exact.high < 1e-11
        else:
            assert found.exact.low > (1e-7 if "1e-6" in version else 1e-2)

"""RW21, Algorithm 4: coverage of the adaptive report and of its leverage, draw by draw with the literal twin."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.formula_cases import decide
from oracles.report_draws import bound_4, draws
from scipy.stats import norm

from verify.papers.redberg_wang2021.alg_4 import STATEMENT

TINY = {"data": "tiny", "target": "outside", "loss": "logistic", "rho": 0.1}
LOWER = TINY | {"sigma": 4.0, "sigma_2": 0.4, "sigma_3": 0.1, "sigma_4": 0.1, "lam": 100.0}
WIDE = TINY | {"loss": "squared", "sigma": 4.0, "sigma_2": 10.0, "sigma_3": 3.0, "sigma_4": 0.5, "lam": 3.0}
SMALL = TINY | {"loss": "squared", "sigma": 4.0, "sigma_2": 4.0, "sigma_3": 0.01, "sigma_4": 0.1, "lam": 0.1}


@pytest.mark.parametrize("p", [LOWER, WIDE, WIDE | {"target": "inside"}])
@pytest.mark.parametrize("version", ["printed", "corrected"])
def test_report(version: str, p: dict) -> None:
    covered = np.mean([d.loss <= bound_4(p, d, corrected=version == "corrected")[2] for d in draws(p, 1_500)])
    found = decide(STATEMENT, "#report", version, p, draws=20_000)
    assert found.sampled is not None
    assert found.sampled.value == pytest.approx(covered, abs=0.035)
    assert found.claim.low == pytest.approx(0.7)


@pytest.mark.parametrize("p", [WIDE, SMALL])
@pytest.mark.parametrize("version", ["printed", "corrected"])
def test_leverage(version: str, p: dict) -> None:
    """As printed the logarithm of 1 - f'' mu_bar must exist beside."""
    hits = []
    for d in draws(p, 1_500):
        _, mu_bar, _ = bound_4(p | {"loss": "logistic"}, d.__class__(**d.__dict__ | {"second": 0.0}), corrected=True)
        hits.append(d.leverage <= mu_bar * (1 + 1e-12) and (version == "corrected" or d.second * mu_bar < 1))
    found = decide(STATEMENT, ".c", version, p, draws=20_000)
    assert found.sampled is not None
    assert found.sampled.value == pytest.approx(np.mean(hits), abs=0.035)
    assert found.claim.low == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("version", "share"), [("lambda_hat as released", 0.0), ("0.45 of the margin on lambda", 0.45)]
)
def test_margin_on_the_eigenvalue(version: str, share: float) -> None:
    """H = lambda: lambda_hat = H where W <= share z, and H_hat (H + tau sigma_3)/H^2 then is large enough if N <= z."""
    found = decide(STATEMENT, ".c", version, SMALL | {"sigma_3": 1e-6}, draws=20_000)
    assert found.sampled is not None
    assert found.sampled.value == pytest.approx(norm.cdf(share * norm.isf(0.05)) * 0.95, abs=0.015)

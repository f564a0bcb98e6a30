"""RW21, Algorithm 2: coverage of both reports, draw by draw with the literal twin."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.formula_cases import decide
from oracles.report_draws import bound_2, draws

from verify.papers.redberg_wang2021.alg_2 import STATEMENT

TINY = {"data": "tiny", "target": "outside", "loss": "logistic", "rho": 0.1}
LOWER = TINY | {"sigma": 4.0, "sigma_2": 0.4, "sigma_3": 0.1, "lam": 100.0}
UNDEFINED = TINY | {"rho": 0.01, "loss": "squared", "sigma": 4.0, "sigma_2": 4.0, "sigma_3": 0.275, "lam": 2.01}


@pytest.mark.parametrize("p", [LOWER, UNDEFINED, LOWER | {"target": "inside", "sigma_2": 40.0}])
@pytest.mark.parametrize("version", ["printed", "corrected"])
def test_released_quantities(version: str, p: dict) -> None:
    corrected = version == "corrected"
    covered = np.mean([d.loss <= bound_2(p, d, corrected=corrected)[2] for d in draws(p, 1_500)])
    found = decide(STATEMENT, "#dependent", version, p, draws=20_000)
    assert found.sampled is not None
    assert found.sampled.value == pytest.approx(covered, abs=0.035)
    assert found.claim.low == pytest.approx(1 - 3 * p["rho"])


@pytest.mark.parametrize(("target", "loss"), [("outside", "logistic"), ("inside", "squared")])
def test_no_release(target: str, loss: str) -> None:
    p = TINY | {"target": target, "loss": loss, "rho": 0.3, "sigma": 10.0, "sigma_2": 1.0, "sigma_3": 1e-3, "lam": 2.0}
    covered = np.mean([d.loss <= bound_2(p, d, corrected=True, released=False)[2] for d in draws(p, 1_500)])
    found = decide(STATEMENT, "#independent", "printed", p, draws=20_000)
    assert found.sampled is not None
    assert found.sampled.value == pytest.approx(covered, abs=0.035)
    assert found.exact is not None
    assert (found.exact.low, found.claim.low) == pytest.approx((0.7, 0.7))


@pytest.mark.parametrize("share", [0.95, 0.4])
def test_a_share_of_the_margin(share: float) -> None:
    """Large lambda, slope -1/2, no release: -s z sigma <= b <= s z sigma + 1/2, nearly."""
    from scipy.stats import norm

    p = TINY | {"sigma": 10.0, "sigma_2": 1.0, "sigma_3": 1e-3, "lam": 1e6}
    found = decide(STATEMENT, "#independent", f"{share} of the margin", p, draws=20_000)
    s = share * norm.isf(0.05)
    assert found.sampled is not None
    assert found.sampled.value == pytest.approx(norm.cdf(s + 0.05) - norm.cdf(-s), abs=0.015)

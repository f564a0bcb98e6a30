"""RW21, Figure 5: the ceiling of both bounds by maximising over one record's prediction."""

from __future__ import annotations

import math

import pytest
from oracles.formula_cases import decide, exact_value
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from verify.papers.redberg_wang2021.fig_5 import STATEMENT
from verify.papers.redberg_wang2021.figures.rw21_worst_case import ceiling, scales


def bound(margin: float, sigma: float, lam: float) -> float:
    """Algorithm 2 without releases for a unit record at y x^T theta = -margin."""
    s = 1 / (1 + math.exp(-margin))
    return -math.log(1 - s * (1 - s) / lam) + s**2 / (2 * sigma**2) + s * norm.isf(5e-7) / sigma


@pytest.mark.parametrize("lam", [0.5, 27.9])
def test_one_record_at_its_worst_prediction(lam: float) -> None:
    sigma = math.sqrt(8 * math.log(2e6) + 4)
    ceiling = -minimize_scalar(lambda m: -bound(m, sigma, lam), bounds=(-5, 40), method="bounded").fun
    ceiling = max(ceiling, bound(700.0, sigma, lam))
    grid = max(bound(0.1 * i, sigma, lam) for i in range(301))
    at = {"what": "one record", "d": 2, "lambda": lam, "data": 1, "n": 1}
    assert exact_value(STATEMENT, "#ceiling", "printed", at) == pytest.approx(grid / ceiling, rel=1e-5)
    lowered = exact_value(STATEMENT, "#ceiling", "ceiling 5 % lower", at | {"share": 0.95})
    assert lowered == pytest.approx(grid / ceiling / 0.95, rel=1e-5)


def test_what_is_not_stated_is_undecided() -> None:
    assert decide(STATEMENT, "#ceiling", "printed").claim.high == 1.0 + 1e-6
    (plotted,) = [c for c in STATEMENT.cases if c.part.endswith("#plotted")]
    assert plotted.regime == "labels and budgets not stated"


def test_ceiling_against_an_optimiser() -> None:
    chosen = scales(2, 0.5)
    z = norm.isf(5e-7)

    def minus(s: float) -> float:
        return -(-math.log1p(-s * (1 - s) / chosen.lam) + s**2 / (2 * chosen.sigma**2) + s * z / chosen.sigma)

    best = -minimize_scalar(minus, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-12}).fun
    assert ceiling(chosen) == pytest.approx(max(best, -minus(1.0)), rel=1e-8)

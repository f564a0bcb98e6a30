"""W18, (13): how often the error exceeds 20 times the rate, against literal runs in the paper's units."""

from __future__ import annotations

import pytest
from oracles.formula_cases import decide
from oracles.ridge_ssp import Rate, last_of_13, problem, rate_13, rho_at_the_median

from verify.papers.wang2018.eq_13 import STATEMENT


@pytest.mark.parametrize("ratio", [0.01, 10.0])
@pytest.mark.parametrize(
    ("dim", "spectrum", "lam"), [(1, "large", 0.0), (5, "large", 0.0), (5, "large", 0.5), (3, "spread", 2.0)]
)
@pytest.mark.parametrize(("part", "rate"), [("#trace", rate_13), ("#last form", last_of_13)])
def test_bound_at_the_median_of_literal_runs(
    part: str, rate: Rate, dim: int, spectrum: str, ratio: float, lam: float
) -> None:
    """Null: at the rho that puts the bound at the median, as many drawn errors exceed it; 6 standard errors are 0.1."""
    rho, share = rho_at_the_median(problem(dim, spectrum, lam, ratio), rate, 20, 1)
    params = {"dim": dim, "spectrum": spectrum, "lambda": lam, "Y/B|theta*|": ratio, "log(6/delta)": 10.0, "rho": rho}
    sampled = decide(STATEMENT, part, "printed", params, draws=4_000).sampled
    assert sampled is not None
    assert sampled.value == pytest.approx(share, abs=0.1)

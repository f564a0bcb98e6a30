"""W19, Algorithm 1: the probability of a proper posterior, by hand."""

from __future__ import annotations

import math

import pytest
from oracles.formula_cases import claimed, exact_value
from oracles.mechanisms.profiles import gaussian_log_delta
from scipy.optimize import brentq
from scipy.stats import norm

from verify.papers.wang2019.alg_1 import STATEMENT

NUMBERS = {"n": 40, "kappa": 1.0, "epsilon": 1.0, "delta": 0.5}


def test_printed_constants() -> None:
    """min(lambda_min, h + b - sigma Z) > 0: never at lambda_min = 0, else Phi((40 + 2 log 8)/(2 sqrt(log 8)))."""
    assert exact_value(STATEMENT, "", "printed", NUMBERS | {"lambda_min": 0.0}) == 0.0
    log = math.log(8.0)
    tail = norm.sf((40 + 2 * log) / (2 * math.sqrt(log)))
    found = exact_value(STATEMENT, "", "printed", NUMBERS | {"n": 10, "kappa": 5.0, "lambda_min": 1.0})
    assert found == pytest.approx(norm.cdf((2 + 2 * log) / (2 * math.sqrt(log))), rel=1e-12)
    assert exact_value(STATEMENT, "", "printed", NUMBERS | {"lambda_min": 1.0}) == pytest.approx(1 - tail, abs=1e-15)


def test_corrected_constants() -> None:
    """sigma from the normal laws at (epsilon/2, delta/4), b = sigma z + 1, h = n/kappa."""
    epsilon, delta, n, kappa = 8.0, 0.1, 100, 40.0
    sigma = 1 / brentq(lambda m: gaussian_log_delta(epsilon / 2, m) - math.log(delta / 4), 0.5, 20.0, xtol=1e-14)
    shift = n / kappa + sigma * norm.isf(delta / 4) + 1
    params = {"n": n, "kappa": kappa, "epsilon": epsilon, "delta": delta, "lambda_min": 0.0}
    assert exact_value(STATEMENT, "", "corrected", params) == pytest.approx(norm.cdf(shift / sigma), rel=1e-12)
    assert exact_value(STATEMENT, "", "corrected", params | {"lambda_min": 0.5}) == 1.0
    assert claimed(STATEMENT, "", "corrected", params) == 0.95
    cut = exact_value(STATEMENT, "", "shift of 0.9 times the quantile at delta/2", params)
    assert cut == pytest.approx(norm.cdf(0.9 * norm.isf(delta / 2)), rel=1e-9)

"""The rules of W18, appendix F: all four against a retyped rule and its exact law; two scales by integration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from oracles.formula_cases import decide, exact_value
from oracles.ops_calibration import parameters, target_delta
from scipy import stats

from mechanisms.base import BOTH
from mechanisms.data.dataset import Dataset
from mechanisms.data.neighbours import NeighbouringPair
from mechanisms.linear.posterior_sampling import PosteriorSampling
from verify.kernel.statement import Statement
from verify.papers.wang2018 import set_f1, set_f2, set_f3, set_f4

RULES = [
    (set_f1.STATEMENT, "diffuse"),
    (set_f2.STATEMENT, "concentrated"),
    (set_f3.STATEMENT, "balanced"),
    (set_f4.STATEMENT, "conservative"),
]
ZERO = {"data": "records x = 0", "epsilon": 0.8, "delta": 1e-4, "n": 3, "dim": 2}


@pytest.mark.parametrize(("statement", "rule"), RULES)
@pytest.mark.parametrize("n", [0, 5])
def test_worst_target_on_records_x_0(statement: Statement, rule: str, n: int) -> None:
    """Leverage 1/lambda and residual 1 are attained by the target (1, 1): the exact divergence at the retyped rule."""
    for version in ("printed", "corrected"):
        lam, gamma = parameters(rule, printed=version == "printed", epsilon=0.8, delta=1e-4, n=n, dim=2)
        evidence = decide(statement, "@a", version, ZERO | {"n": n})
        assert evidence.claim.published == 0.8
        assert evidence.exact is not None
        rel = 1e-4 if rule == "balanced" else 1e-8  # its ridge is the end of a minimisation
        assert evidence.exact.value == pytest.approx(target_delta(lam, gamma, 0.8), rel=rel)


@pytest.mark.parametrize(("statement", "rule"), RULES)
def test_mutants_are_the_stated_ones(statement: Statement, rule: str) -> None:
    assert decide(statement, "@a", "epsilon cut by 5 %", ZERO).claim.published == pytest.approx(0.76)
    lam, gamma = parameters(rule, printed=True, epsilon=0.8, delta=1e-4, n=3, dim=2)
    rel = 1e-4 if rule == "balanced" else 1e-8
    exact = exact_value(statement, "@a", "no factor 2 under the root", ZERO)
    assert exact == pytest.approx(target_delta(lam, gamma, 0.8), rel=rel)


@pytest.mark.parametrize(("statement", "rule"), RULES)
def test_two_scales_by_integration(statement: Statement, rule: str) -> None:
    """One record x = 0 more changes n from 1 to 2 and so the precision gamma lambda: two centred normal laws."""
    at = {"data": "a record x = 0 joins", "epsilon": 0.05, "delta": 0.1, "n": 1, "dim": 1}
    first, second = (
        math.prod(parameters(rule, printed=True, epsilon=0.05, delta=0.1, n=n, dim=1)) ** -0.5 for n in (1, 2)
    )
    x = np.linspace(-40 * first, 40 * first, 400_001)
    p, q = stats.norm.pdf(x, scale=first), stats.norm.pdf(x, scale=second)
    direct = max(np.trapezoid(np.maximum(a - math.exp(0.05) * b, 0), x) for a, b in ((p, q), (q, p)))
    rel = 1e-3 if rule == "balanced" else 1e-5
    assert exact_value(statement, "@b", "printed", at) == pytest.approx(float(direct), rel=rel, abs=1e-9)
    assert exact_value(statement, "@b", "corrected", at) == 0.0


def test_worst_record_attains_leverage_and_residual() -> None:
    """Records x = 0 and a target (1, 1): leverage 1/lambda and residual sqrt(gamma), in the mechanism's own words."""
    pair = NeighbouringPair.add(Dataset(np.zeros((3, 1)), np.zeros(3), 1.0, 1.0), [1.0], 1.0)
    mechanism = PosteriorSampling(gamma=4.0, lam=0.5)
    assert mechanism.target(pair) == pytest.approx((2.0, 2.0))
    assert max(mechanism.profile(pair).delta_at(1.0, d) for d in BOTH) > 0

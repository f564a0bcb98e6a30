"""W18-F2, OPS-Concentrated: gamma is 1 and the ridge spends all of epsilon (all four rules: test_ops_rules)."""

from __future__ import annotations

import pytest
from oracles.formula_cases import exact_value
from oracles.ops_calibration import corrected_rule, parameters, printed_rule, target_delta

from verify.papers.wang2018.set_f2 import STATEMENT

AT = {"data": "records x = 0", "epsilon": 3.0, "delta": 1e-5, "n": 0, "dim": 1}


@pytest.mark.parametrize("version", ["printed", "corrected"])
def test_ridge_spends_epsilon_at_gamma_1(version: str) -> None:
    printed = version == "printed"
    lam, gamma = parameters("concentrated", printed=printed, epsilon=3.0, delta=1e-5, n=0)
    rule = printed_rule if printed else corrected_rule
    assert gamma == 1.0
    assert rule(lam, 1.0, 1e-5, 0) == pytest.approx(3.0)
    assert exact_value(STATEMENT, "@a", version, AT) == pytest.approx(target_delta(lam, 1.0, 3.0), rel=1e-8)

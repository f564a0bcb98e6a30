"""W18-F1, OPS-Diffuse: half of epsilon is spent by the ridge at gamma = 0 (all four rules: test_ops_rules)."""

from __future__ import annotations

import math

import pytest
from oracles.formula_cases import exact_value
from oracles.ops_calibration import corrected_rule, parameters, printed_rule, target_delta

from verify.papers.wang2018.set_f1 import STATEMENT

AT = {"data": "records x = 0", "epsilon": 2.0, "delta": 2 / math.e**2, "n": 1, "dim": 1}


def test_ridge_by_hand() -> None:
    """log(2/delta) = 2, epsilon = 2: lambda = 3/2 as printed, where the last term of the rule is 1."""
    lam, gamma = parameters("diffuse", printed=True, epsilon=2.0, delta=AT["delta"], n=1)
    assert lam == pytest.approx(1.5)
    assert printed_rule(lam, 0.0, AT["delta"], 1) == pytest.approx(1.0)
    assert printed_rule(lam, gamma, AT["delta"], 1) == pytest.approx(2.0)
    assert exact_value(STATEMENT, "@a", "printed", AT) == pytest.approx(target_delta(lam, gamma, 2.0), rel=1e-8)


def test_corrected_ridge_spends_half() -> None:
    lam, gamma = parameters("diffuse", printed=False, epsilon=2.0, delta=AT["delta"], n=1)
    assert corrected_rule(lam, 0.0, AT["delta"], 1) == pytest.approx(1.0)
    assert exact_value(STATEMENT, "@a", "corrected", AT) == pytest.approx(target_delta(lam, gamma, 2.0), rel=1e-8)

"""W18-F4, OPS-Conservative: the minimiser by hand (privacy: test_ops_rules)."""

from __future__ import annotations

import pytest
from oracles.formula_cases import decide, exact_value

from verify.papers.wang2018.set_f4 import STATEMENT


@pytest.mark.parametrize("theta", [0.0, 3.0, 1e3])
def test_minimiser_does_not_move(theta: float) -> None:
    """C_1/t + t at t = c multiple, sqrt(C_1) = c: 2 c against c/m + c m, whatever (1 + |theta*|)^2 is."""
    at = {"sqrt(C_1)": 5.0, "theta": theta, "multiple": 1.5}
    evidence = decide(STATEMENT, "#minimiser", "printed", at)
    assert evidence.notes["bound"] == pytest.approx((1 + theta) ** 2 * 5 * (1 / 1.5 + 1.5))
    assert exact_value(STATEMENT, "#minimiser", "printed", at) == pytest.approx(2 / (1 / 1.5 + 1.5))


def test_wrong_minimisers() -> None:
    """5 % larger: 1/1.05 + 1.05 against the same at 1.05/1.05 = 1; with |theta*|^2 in the ridge term alone it moves."""
    at = {"sqrt(C_1)": 5.0, "theta": 1.0, "multiple": 1 / 1.05}
    assert exact_value(STATEMENT, "#minimiser", "minimiser 5 % larger", at) == pytest.approx((1 / 1.05 + 1.05) / 2)
    at["multiple"] = 2.0
    want = (4 + 1) / (4 / 2 + 2)
    assert exact_value(STATEMENT, "#minimiser", "ridge term with |theta*| alone", at) == pytest.approx(want)

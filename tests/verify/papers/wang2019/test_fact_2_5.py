"""W19, Fact 2.5, by hand on two outputs."""

from __future__ import annotations

import math

import pytest
from oracles.formula_cases import decide, exact_value, holds

from verify.papers.wang2019.fact_2_5 import STATEMENT


def test_one_half_and_one_twentieth() -> None:
    """exp(epsilon) = 3, delta = 1/2 - 3/20: 1/2 log 3 exceeds delta, 1/20 log 3 does not; the other event is 19/10."""
    params = {"laws": "one half and one twentieth", "exp(epsilon)": 3.0}
    assert decide(STATEMENT, "", "printed", params).notes["delta"] == pytest.approx(0.35)
    assert exact_value(STATEMENT, "", "printed", params) == pytest.approx(math.log(10) / math.log(3))
    assert exact_value(STATEMENT, "", "corrected", params) == pytest.approx(math.log(1.9) / math.log(3))
    assert exact_value(STATEMENT, "", "no condition", params) == pytest.approx(math.log(10) / math.log(3))


@pytest.mark.parametrize("factor", [1.0625, 3.0])
def test_sharpest_laws(factor: float) -> None:
    """P(S) just below (exp(epsilon) + epsilon) P'(S)."""
    found = exact_value(STATEMENT, "", "corrected", {"laws": "sharpest", "exp(epsilon)": factor})
    limit = math.log(factor + math.log(factor)) / math.log(factor)
    assert found == pytest.approx(limit, rel=1e-4)
    assert found < limit < 2


def test_on_the_whole_box() -> None:
    """exp(2 e) - exp(e) - e is positive; exp(1.8 e) - exp(e) - e is not for small e."""
    assert holds(STATEMENT, "", "corrected", {})
    assert not holds(STATEMENT, "", "1.8 epsilon", {})

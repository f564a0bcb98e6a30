"""W19, Proposition 4.3(1), pDP part: (4.5) by hand, and the corrected form from Theorem 4.1."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.formula_cases import claimed

from verify.papers.wang2019.prop_4_3_1a import STATEMENT
from verify.papers.wang2019.thm_4_1 import STATEMENT as THEOREM


def test_by_hand() -> None:
    """h = 4, gamma = 2, r = 3, log = 2: 3 sqrt(2) + 18/8 + (1 + 4)/8 corrected, 3 + 9/4 + 2 (1 + 2)/8 printed."""
    p = {"ridge": 4.0, "gamma": 2.0, "residual": 3.0, "share": 1.0, "delta": 2.0 * math.exp(-2.0)}
    assert claimed(STATEMENT, "", "corrected", p) == pytest.approx(3.0 * math.sqrt(2.0) + 2.25 + 0.625, rel=1e-14)
    assert claimed(STATEMENT, "", "printed", p) == pytest.approx(3.0 + 2.25 + 0.75, rel=1e-14)
    # below 1 the maximum is 1: h = 1/4
    small = p | {"ridge": 0.25}
    assert claimed(STATEMENT, "", "printed", small) == pytest.approx(math.sqrt(16) * 3 + 9 + 12, rel=1e-14)


@settings(max_examples=30)
@given(st.floats(1e-3, 1e4), st.floats(1e-3, 1e3), st.floats(0.0, 100.0), st.floats(1e-9, 0.9))
def test_corrected_is_above_the_corrected_theorem(ridge: float, gamma: float, residual: float, delta: float) -> None:
    """At leverage 1/ridge and any smaller one."""
    p = {"ridge": ridge, "gamma": gamma, "residual": residual, "share": 1.0, "delta": delta}
    for share in (1.0, 0.3):
        at = {"leverage": share / ridge, "residual": math.sqrt(gamma) * residual, "delta": delta}
        assert claimed(THEOREM, "#4.3", "corrected", at) <= claimed(STATEMENT, "", "corrected", p) * (1 + 1e-12)

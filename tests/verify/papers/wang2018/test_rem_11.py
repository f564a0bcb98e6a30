"""W18, Remark 11: epsilon retyped in the paper's letters, the profile of one target against its definition."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.formula_cases import claimed, exact_value
from oracles.mechanisms.profiles import quadratic_delta

from verify.papers.wang2018 import thm_2i
from verify.papers.wang2018.rem_11 import STATEMENT

FACTORS = {"printed": 1.0, "corrected": 2.0, "tail factor 1.7": 1.7}


def remark(*, tail: float, B: float, L: float, gamma: float, total: float, delta: float) -> float:
    """The three terms in the order of the paper; ``total`` is lambda + lambda_min."""
    log = math.log(2 / delta)
    return (
        math.sqrt(tail * gamma * L**2 * log / total)
        + gamma * L**2 / (2 * (total + B**2))
        + (1 + tail * log) * B**2 / (2 * total)
    )


@settings(max_examples=10)
@given(
    B=st.floats(0.1, 10), L=st.floats(0.1, 10), gamma=st.floats(0.01, 100), total=st.floats(0.01, 100),
    delta=st.floats(1e-9, 0.9), version=st.sampled_from(list(FACTORS)),
)  # fmt: skip
def test_epsilon(B: float, L: float, gamma: float, total: float, delta: float, version: str) -> None:
    at = {"leverage": B**2 / total, "residual": math.sqrt(gamma) * L / B, "delta": delta}
    want = remark(tail=FACTORS[version], B=B, L=L, gamma=gamma, total=total, delta=delta)
    assert claimed(STATEMENT, "", version, at) == pytest.approx(want, rel=1e-12)


def test_by_hand() -> None:
    """m = 1, a = 2, delta = 2/e: 2 + 1 + 1 as printed, 2 sqrt 2 + 1 + 3/2 corrected, 3/2 without the residual."""
    at = {"leverage": 1.0, "residual": 2.0, "delta": 2 / math.e}
    assert claimed(STATEMENT, "", "printed", at) == pytest.approx(4.0)
    assert claimed(STATEMENT, "", "corrected", at) == pytest.approx(2 * math.sqrt(2) + 2.5)
    assert claimed(STATEMENT, "", "epsilon cut by 10 %", at) == pytest.approx(0.9 * (2 * math.sqrt(2) + 2.5))
    assert claimed(STATEMENT, "", "no residual", at) == pytest.approx(1.5)


def test_exact_profile_of_one_target() -> None:
    at = {"leverage": 0.5, "residual": 1.5, "delta": 1e-3}
    epsilon = remark(tail=1, B=1, L=1.5, gamma=1, total=2, delta=1e-3)
    want = max(quadratic_delta(epsilon, 0.5, 1.5, backward=b) for b in (False, True))
    assert exact_value(STATEMENT, "", "printed", at) == pytest.approx(want, rel=1e-9)


def test_the_only_record_leaves() -> None:
    """D = {(1, 1)}: lambda_min = 1 and |theta*| = 1/(1 + lambda) as printed; without the record 0 and 0."""
    at = {"gamma": 2.0, "lam": 0.25, "delta": 1e-3}
    printed = remark(tail=1, B=1, L=1 + 1 / 1.25, gamma=2, total=1.25, delta=1e-3)
    corrected = remark(tail=2, B=1, L=1, gamma=2, total=0.25, delta=1e-3)
    assert claimed(thm_2i.STATEMENT, ".p5", "printed", at) == pytest.approx(printed)
    assert claimed(thm_2i.STATEMENT, ".p5", "corrected", at) == pytest.approx(corrected)

"""W18, calibration rule: its right side and the least ridge retyped in the paper's letters."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.formula_cases import claimed, exact_value, holds
from oracles.mechanisms.profiles import quadratic_delta
from oracles.ops_calibration import printed_rule

from verify.papers.wang2018.set_f0 import STATEMENT


def right_side(*, tail: float, B: float, Y: float, n: int, lam: float, gamma: float, delta: float) -> float:
    """The rule with ``tail log(2/delta)`` for the squared quantile, L(lambda) = B Y (sqrt(n) B/sqrt(2 lambda) + 1)."""
    L, log = B * Y * (math.sqrt(n) * B / math.sqrt(2 * lam) + 1), math.log(2 / delta)
    return (
        math.sqrt(tail * gamma * L**2 * log / lam)
        + gamma * L**2 / (2 * (lam + B**2))
        + (1 + tail * log) * B**2 / (2 * lam)
    )


@settings(max_examples=10)
@given(
    B=st.floats(0.1, 5), Y=st.floats(0.1, 5), lam=st.floats(0.01, 100),
    gamma=st.floats(0.01, 100), delta=st.floats(1e-9, 0.9),
)  # fmt: skip
def test_rule_without_data(B: float, Y: float, lam: float, gamma: float, delta: float) -> None:
    """The misprinted sign allows a hundredth of the right side; as it is meant epsilon is at least that."""
    at = {"leverage": B**2 / lam, "residual": math.sqrt(gamma) * Y, "delta": delta}
    given_ = {"B": B, "Y": Y, "n": 0, "lam": lam, "gamma": gamma, "delta": delta}
    one, two = right_side(tail=1, **given_), right_side(tail=2, **given_)
    for part, version, want in (
        (".sign", "printed", one / 100), (".sign", "corrected", two), (".sign", "a hundredth of epsilon", two / 100),
        ("#rule", "printed", one), ("#rule", "no factor 2", one), ("#rule", "corrected", two),
        ("#rule", "epsilon cut by 10 %", 0.9 * two),
    ):  # fmt: skip
        assert claimed(STATEMENT, part, version, at) == pytest.approx(want, rel=1e-12)


def test_the_sign_is_no_finding_about_privacy() -> None:
    """Read as it is meant the rule fails by its missing 2; the misprint has an id of its own."""
    at = {"leverage": 0.01, "residual": 10.0, "delta": 1e-6}
    assert not holds(STATEMENT, "#rule", "printed", at)
    for part in ("#rule", ".sign"):
        assert holds(STATEMENT, part, "corrected", at)


def test_rule_on_data() -> None:
    """Ten records: L(lambda) has the square root of n."""
    at = {"n": 10, "dim": 2, "B": 2.0, "Y": 0.5, "gamma": 0.3, "lam": 7.0, "delta": 1e-4}
    want = right_side(tail=2, B=2.0, Y=0.5, n=10, lam=7.0, gamma=0.3, delta=1e-4)
    assert claimed(STATEMENT, "#rule", "corrected", at) == pytest.approx(want, rel=1e-12)
    one = right_side(tail=1, B=1.0, Y=1.0, n=10, lam=7.0, gamma=0.3, delta=1e-4)
    assert printed_rule(7.0, 0.3, 1e-4, 10) == pytest.approx(one)


@pytest.mark.parametrize(
    ("version", "tail"), [("printed", 1.0), ("corrected", 2.0), ("factor 1.7 of the logarithm", 1.7)]
)
def test_least_ridge(version: str, tail: float) -> None:
    """lambda = (1 + tail log(2/delta)) B^2/(2 epsilon), delta = 2/e^3, B^2/lambda = 1/2: epsilon = (1 + 3 tail)/4."""
    at = {"leverage": 0.5, "delta": 2 / math.e**3}
    epsilon = (1 + 3 * tail) / 4
    assert claimed(STATEMENT, "#reach", version, at) == pytest.approx(epsilon)
    want = max(quadratic_delta(epsilon, 0.5, 0.0, backward=b) for b in (False, True))
    assert exact_value(STATEMENT, "#reach", version, at) == pytest.approx(want, rel=1e-9)

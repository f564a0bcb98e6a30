"""W18, closing remark of section 4: units of the compared rates, and the logarithms between them in floats."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.formula_cases import exact_value
from oracles.unit_change import Sizes, Terms, assert_units

from verify.papers.wang2018.rem_3 import STATEMENT


def over_6(rate: float, s: Sizes) -> tuple[float, ...]:
    """A rate over (6) = d^2 (|X||Theta| + |Y|)^2/(n alpha epsilon^2), one quotient for each term of the sum."""
    return rate / (s.X * s.Theta) ** 2, rate / s.Y**2


@pytest.mark.parametrize(
    ("part", "version", "terms"),
    [
        ("#AdaOPS", "printed", lambda s: over_6(s.theta**2, s)),
        ("#AdaOPS", "corrected", lambda s: over_6(s.X**2 * s.theta**2, s)),
        (
            "#AdaSSP",
            "printed",
            lambda s: [over_6(s.X**p * s.theta**2 / s.eigenvalue ** (p // 4), s)[0] for p in (2, 4)],
        ),
    ],
)
def test_units(part: str, version: str, terms: Terms) -> None:
    assert_units(STATEMENT, part, version, terms, lambda s: 1.0)


@given(
    root=st.sampled_from([1.0, 2.0, 30.0]), n=st.integers(1, 10**6), alpha=st.floats(0.01, 1), share=st.floats(0, 1),
    epsilon=st.floats(0.01, 2), log=st.floats(1.8, 40), tail=st.floats(0, 20),
)  # fmt: skip
def test_corrected_rate_over_both_bounds(
    root: float, n: int, alpha: float, share: float, epsilon: float, log: float, tail: float
) -> None:
    """min{sqrt(k)/epsilon, d k/(n alpha epsilon^2)} term by term against sqrt(K) (5) and K (6), bounds and theta* 1."""
    d = root**2
    k, K = (d + tail) * log + log**2, (1 + tail) * log + log**2
    at = {"root d": root, "n": n, "alpha": alpha, "share": share, "epsilon": epsilon, "log": log, "tail": tail}
    for version, factor, logs in (
        ("printed", 1.0, K), ("a tenth less", 0.9, K), ("no square of the logarithm", 1.0, (1 + tail) * log)
    ):  # fmt: skip
        five = math.sqrt(logs) * math.sqrt(d) * (1 + share) / epsilon
        six = logs * d**2 * (1 + share) ** 2 / (n * alpha * epsilon**2)
        ratios = (math.sqrt(k) / epsilon / five, d * k / (n * alpha * epsilon**2) / six)
        assert exact_value(STATEMENT, "#logarithms", version, at) == pytest.approx(max(ratios) ** 2 / factor, rel=1e-9)

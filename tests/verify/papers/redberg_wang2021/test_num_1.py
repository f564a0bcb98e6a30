"""RW21, supplement D.1: the quantile of GOE(50) against the Tracy-Widom tail at the edge."""

from __future__ import annotations

import math

import pytest
from oracles.formula_cases import decide
from scipy.optimize import brentq

from verify.papers.redberg_wang2021.num_1 import STATEMENT


def edge_quantile(dim: int, tail: float) -> float:
    """2 sqrt(d) + d^(-1/6) s with the leading tail of Tracy and Widom, exp(-2 s^1.5/3)/(4 sqrt(pi) s^0.75) = tail."""

    def gap(s: float) -> float:
        return -2 * s**1.5 / 3 - math.log(4 * math.sqrt(math.pi) * s**0.75) - math.log(tail)

    return 2 * math.sqrt(dim) + dim ** (-1 / 6) * brentq(gap, 1.0, 20.0)


def test_quantile() -> None:
    """The edge scaling is right to about one per cent at d = 50: near 16.97, far from 12; 12 is 16.97/sqrt(2)."""
    found = decide(STATEMENT, "", "corrected")
    assert found.exact is not None
    assert found.exact.value == pytest.approx(edge_quantile(50, 8.465e-6 / 2), rel=0.015)
    assert found.exact.value / math.sqrt(2.0) == pytest.approx(12.0, abs=0.005)
    assert found.claim.published == 16.97
    printed = decide(STATEMENT, "", "printed")
    assert printed.claim.published == 12.0
    assert printed.exact == found.exact


def test_coverage_by_two_tails() -> None:
    """At 16.97 both ends have rho/2; 12 is s = -4.1 at the edge 2 sqrt(50), Tracy-Widom below 0.01 (tables)."""
    found = decide(STATEMENT, "", "corrected", {"what": "coverage", "tau": 16.97}, draws=50)
    assert found.exact is not None
    assert 1.0 - found.exact.value == pytest.approx(8.465e-6, rel=0.05)
    assert found.claim.low == pytest.approx(1.0 - 8.465e-6, abs=1e-15)
    short = decide(STATEMENT, "", "printed", {"what": "coverage", "tau": 12.0}, draws=50)
    assert short.exact is not None
    assert short.exact.high < 0.01**2

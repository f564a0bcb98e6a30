"""W18, SSP: both statistics with the printed noise are one Gaussian mechanism; by the closed form of its divergence."""

from __future__ import annotations

from math import e, log, sqrt

import numpy as np
import pytest
from oracles.formula_cases import claimed, decide, holds
from oracles.verify.w18_small import gaussian_delta
from scipy.optimize import brentq

from verify.papers.wang2018.alg_s1 import STATEMENT


def _distance(epsilon: float, delta: float) -> float:
    """E_1 and E_2 of variance 4 log(4/delta)/epsilon^2 times the squared sensitivities: two releases."""
    return sqrt(2 / (4 * log(4 / delta) / epsilon**2))


@pytest.mark.parametrize(("epsilon", "delta"), [(2.0, 4 / e**2), (0.1, 0.25), (1.0, 0.1), (5.0, 1e-3), (9.0, 0.3)])
def test_exact_divergence(epsilon: float, delta: float) -> None:
    evidence = decide(STATEMENT, "", "corrected", epsilon=epsilon, delta=delta)
    assert evidence.exact is not None
    assert evidence.exact.value == pytest.approx(gaussian_delta(_distance(epsilon, delta), epsilon), rel=1e-6)
    assert evidence.claim.in_domain
    assert evidence.exact.high <= delta


def test_distance_by_hand() -> None:
    """epsilon = 2, delta = 4/e^2: variance 4 * 2/4 = 2, so two releases are at distance 1."""
    assert _distance(2.0, 4 / e**2) == pytest.approx(1.0)


def test_printed_noise_fails_from_an_epsilon_between_9_and_9_1() -> None:
    def excess(epsilon: float, delta: float) -> float:
        return float(gaussian_delta(_distance(epsilon, delta), epsilon)) - delta

    least = min(brentq(excess, 1.0, 200.0, args=(d,)) for d in np.linspace(0.1, 0.5, 81))
    assert 9.0 < least < 9.1
    point = {"epsilon": 10.0, "delta": 0.1}
    assert not holds(STATEMENT, "", "printed", point)
    assert not decide(STATEMENT, "", "corrected", point).claim.in_domain
    assert not holds(STATEMENT, "", "epsilon up to 9.5", epsilon=9.5, delta=0.18)
    assert claimed(STATEMENT, "", "epsilon cut by 5 %", epsilon=8.0, delta=0.1) == pytest.approx(7.6)


def test_small_data_are_less_than_the_worst_record() -> None:
    """On a pair with a record at both bounds the divergence is at most that of two full sensitivities."""
    evidence = decide(STATEMENT, "", "corrected", {"records": 1, "dim": 3, "epsilon": 1.0, "delta": 0.1})
    assert evidence.exact is not None
    assert evidence.sampled is not None
    assert 0 < evidence.exact.high <= float(gaussian_delta(_distance(1.0, 0.1), 1.0)) * (1 + 1e-9)
    assert evidence.sampled.low <= evidence.exact.high

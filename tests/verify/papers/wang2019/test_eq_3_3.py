"""W19, equation 3.3, against numbers worked out by hand and the law of the noise."""

from __future__ import annotations

import math

import pytest
from oracles.formula_cases import claimed, decide
from oracles.mechanisms.profiles import gaussian_log_delta

from verify.papers.wang2019.eq_3_3 import STATEMENT


def test_output_perturbation_by_hand() -> None:
    """Delta = 2, delta = 1.25/e: the root is 1, so the printed epsilon is 2 for every gamma."""
    for gamma in (1.0, 9.0):
        point = {"gamma": gamma, "sensitivity": 2.0, "delta": 1.25 / math.e}
        assert claimed(STATEMENT, "", "printed", point) == pytest.approx(2.0)
        assert claimed(STATEMENT, "", "corrected", point) == pytest.approx(2.0 * math.sqrt(2.0 * gamma))


def test_exact_delta_is_that_of_two_normal_laws() -> None:
    point = {"gamma": 100.0, "sensitivity": 0.01, "delta": 1e-3}
    found = decide(STATEMENT, "", "printed", point)
    assert found.exact is not None
    assert math.log(found.exact.value) == pytest.approx(gaussian_log_delta(found.claim.published, 0.1), rel=1e-9)

"""The three releases of AdaSSP: their joint distance, and the epsilon from which the printed noise is not enough."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from mechanisms import GaussianProfile
from mechanisms.base import BOTH
from verify.papers.wang2018.shared import adaptive_ssp


def test_distance_of_the_three_releases() -> None:
    """sqrt(3) times epsilon/(3 sqrt(log(6/delta))): 1 at epsilon = 3, log(6/delta) = 3."""
    assert adaptive_ssp.together({"epsilon": 3.0, "delta": 6 / math.e**3}) == pytest.approx(1.0)


def test_largest_epsilon_of_the_printed_noise() -> None:
    """The printed noise first fails, over all delta, between 15.5 and 15.9."""

    def excess(epsilon: float, delta: float) -> float:
        mu = epsilon / math.sqrt(3 * math.log(6 / delta))
        return max(GaussianProfile(mu).log_delta_at(epsilon, d) for d in BOTH) - math.log(delta)

    deltas = np.geomspace(1e-12, 0.99, 120)
    least = min(brentq(lambda e, d=d: excess(e, d), 0.1, 200.0) for d in deltas)
    assert adaptive_ssp.LARGEST == 15.5
    assert 15.5 < least < 15.9

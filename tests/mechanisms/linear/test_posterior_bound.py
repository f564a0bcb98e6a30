"""The bound over all targets of at most one leverage and residual: none exceeds it, the largest nearly does."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mechanisms.base import BOTH
from mechanisms.laws.quadratic_profile import quadratic_log_delta
from mechanisms.linear.ops_calibrations import largest_gamma, largest_proved_gamma, proved_delta


@pytest.mark.parametrize("leverage", [0.003, 0.05, 1.0, 20.0])
@pytest.mark.parametrize("scaled", [0.0, 0.3, 4.0])
def test_no_target_exceeds_it(leverage: float, scaled: float) -> None:
    shares = np.concatenate([np.geomspace(1e-4, 1, 40), [0.9999]])
    m, a = (grid.ravel() for grid in np.meshgrid(leverage * shares, scaled * shares, indexing="ij"))
    for epsilon in (0.0, 0.05, 0.5, 2.0):
        bound = proved_delta(leverage, scaled, epsilon)
        for direction in BOTH:
            assert float(np.exp(quadratic_log_delta(epsilon, m, a, direction)).max()) <= bound * (1 + 1e-9)


def test_it_is_nearly_reached_at_a_small_leverage() -> None:
    worst = max(float(quadratic_log_delta(1.0, 0.02, 2.0, direction)) for direction in BOTH)
    assert math.exp(worst) <= proved_delta(0.02, 2.0, 1.0) < 1.4 * math.exp(worst)


@pytest.mark.parametrize("delta", [1e-6, 1e-3, 0.5])
def test_the_largest_gamma(delta: float) -> None:
    m, r = np.array([1e-4, 0.01, 0.05, 0.3]), np.array([1.0, 3.0, 0.2, 1.0])
    gammas = largest_proved_gamma(m, r, 1.0, delta)
    for leverage, residual, gamma in zip(m, r, gammas, strict=True):
        if gamma == 0:  # the leverage alone is too much
            assert proved_delta(float(leverage), 1e-9, 1.0) > delta
            continue
        assert proved_delta(float(leverage), float(residual * np.sqrt(gamma)) * (1 - 1e-6), 1.0) <= delta
        assert proved_delta(float(leverage), float(residual * np.sqrt(gamma)) * (1 + 1e-6), 1.0) > delta
    if delta < 0.3:
        assert (gammas >= largest_gamma(m, r, 1.0, delta)).all()
    assert gammas[0] > 0

"""The error of perturbed statistics given a small noise matrix, against scipy's quadrature."""

from __future__ import annotations

import pytest
from scipy.integrate import quad
from scipy.stats import norm

from audits import Budget, StreamKey
from verify.methods import truncated


def test_conditional_error_against_quadrature() -> None:
    """One dimension, spectrum 20, noise 5: the ball quadrature is that of scipy."""
    setting = truncated.NoisyMoments([20.0], 5.0, 2.0, 1.5, sigma=3.0)

    def weight(u: float) -> float:
        return float(norm.pdf(u * 4.0) * 4.0)

    top = quad(lambda u: (0.01 + 9 / 20 + (1.5 * u) ** 2) / (1 + u) ** 2 * weight(u), -0.5, 0.5)[0]
    assert truncated.exact_error(setting).value == pytest.approx(top / quad(weight, -0.5, 0.5)[0], rel=1e-9)


def test_conditional_error_drawn_agrees_with_quadrature() -> None:
    """Null: same mean in one dimension; betting interval at level 1e-9, 4,000 draws."""
    setting = truncated.NoisyMoments([20.0], 5.0, 2.0, 1.5, sigma=3.0)
    drawn = truncated.sampled_error(setting, Budget(4_000, 1e-9, StreamKey(3)))
    exact = truncated.exact_error(setting)
    assert drawn.low <= exact.low <= exact.high <= drawn.high

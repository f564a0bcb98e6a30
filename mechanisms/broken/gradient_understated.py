"""Broken by degrees: the gradient release with noise ``sigma2 / factor`` (``mu`` times ``factor``)."""

from __future__ import annotations

from ..base import check_positive
from ..data import FloatArray
from ..gradient_release import GradientRelease
from ..losses import GlmLoss


def gradient_understated(
    theta: FloatArray, loss: GlmLoss, lam: float, sigma2: float, *, factor: float = 1.1
) -> GradientRelease:
    """Return the law that is really drawn from when ``GradientRelease(theta, loss, lam, sigma2)`` is claimed."""
    return GradientRelease(theta, loss, lam, sigma2 / check_positive("factor", factor))

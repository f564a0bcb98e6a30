"""Broken by degrees: the Hessian release with noise ``sigma3 / factor`` (``mu`` times ``factor``)."""

from __future__ import annotations

from ..base import check_positive
from ..data import FloatArray
from ..hessian_release import HessianRelease
from ..losses import GlmLoss


def hessian_understated(
    theta: FloatArray, loss: GlmLoss, lam: float, sigma3: float, *, factor: float = 1.1
) -> HessianRelease:
    """Return the law that is really drawn from when ``HessianRelease(theta, loss, lam, sigma3)`` is claimed."""
    return HessianRelease(theta, loss, lam, sigma3 / check_positive("factor", factor))

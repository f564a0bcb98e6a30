"""Broken by degrees: the smallest-eigenvalue release with noise ``sigma4 / factor`` (``mu`` times ``factor``)."""

from __future__ import annotations

from ..base import check_positive
from ..data import FloatArray
from ..eigenvalue_release import EigenvalueRelease
from ..losses import GlmLoss


def eigenvalue_understated(
    theta: FloatArray, loss: GlmLoss, lam: float, sigma4: float, *, factor: float = 1.1
) -> EigenvalueRelease:
    """Return the law that is really drawn from when ``EigenvalueRelease(theta, loss, lam, sigma4)`` is claimed."""
    return EigenvalueRelease(theta, loss, lam, sigma4 / check_positive("factor", factor))

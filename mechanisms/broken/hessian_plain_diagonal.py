"""Broken: the Hessian release with i.i.d. noise of scale ``sigma3`` on the upper triangle, diagonal included.

The matrix is filled symmetrically from one triangle instead of being symmetrised as ``(Z + Z^T)/sqrt(2)``, so the
diagonal has half its variance: ``mu`` is between 1 and sqrt(2) times the claimed one (sqrt(2) for a record on an axis).
"""

from __future__ import annotations

from ..data import FloatArray
from ..hessian_release import HessianRelease, analyze_gauss
from ..losses import GlmLoss


def hessian_plain_diagonal(theta: FloatArray, loss: GlmLoss, lam: float, sigma3: float) -> HessianRelease:
    """Return the law that is really drawn from when ``HessianRelease(theta, loss, lam, sigma3)`` is claimed."""
    return analyze_gauss(theta, loss, lam, sigma3)

"""Broken: the Hessian release with ``(Z + Z^T)/2`` in place of ``(Z + Z^T)/sqrt(2)``.

All noise has half the variance that RW21's Algorithm 6 asks for: ``mu`` is sqrt(2) times the claimed one. One GOE
normalisation is taken for the other.
"""

from __future__ import annotations

import math

from ..data import FloatArray
from ..hessian_release import HessianRelease
from ..losses import GlmLoss


def hessian_half_variance(theta: FloatArray, loss: GlmLoss, lam: float, sigma3: float) -> HessianRelease:
    """Return the law that is really drawn from when ``HessianRelease(theta, loss, lam, sigma3)`` is claimed."""
    return HessianRelease(theta, loss, lam, sigma3 / math.sqrt(2.0))

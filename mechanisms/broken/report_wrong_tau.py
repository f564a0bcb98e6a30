"""Broken: the report's requirement on ``lam`` with ``tau`` of the other GOE normalisation.

``tau`` of ``(Z + Z^T)/2`` is sqrt(2) too small for the noise ``(Z + Z^T)/sqrt(2)`` that is really added, so the inverse
Hessian leaves the sandwich [1/2, 3/2] almost always in higher dimensions (RW21, supplement D.1 quotes such a ``tau``).
"""

from __future__ import annotations

from ..goe import Extreme, GoeLaw, Normalisation


def wrong_tau(dim: int, failure_prob: float) -> float:
    """Return the quantile in the normalisation that the mechanism does not use."""
    return GoeLaw(dim, Extreme.LARGEST_EIGENVALUE, Normalisation.HALF_OFF_DIAGONAL).isf(failure_prob / 2)


def smallest_lam(dim: int, sigma3: float, failure_prob: float) -> float:
    """Return the ``lam`` that the wrong ``tau`` would admit."""
    return 2.0 * sigma3 * wrong_tau(dim, failure_prob)

"""Broken privacy reports. A report is a bound that holds with some probability, and coverage is what refutes it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..base import check_positive
from ..data.dataset import FloatArray
from ..numerics.goe import Extreme, GoeLaw, Normalisation
from ..releases.report_terms import OwnRecord, Releases, ReportForm, ReportScales, ReportTerms, corrected_terms


def one_sided_terms(scales: ReportScales, releases: Releases, x: FloatArray, y: float) -> ReportTerms:
    """Return the corrected terms without the absolute value of the released inner product.

    ``g_bar`` bounds ``g`` from above, not ``|g|``: for negative ``g`` the third term is understated by about
    ``sigma2 ||f' x|| z / sigma^2``. Where the other terms leave little room, coverage falls from ``1 - 3 rho`` to 1/2.
    """
    terms, own = corrected_terms(scales, releases, x, y), OwnRecord.at(scales, releases, x, y)
    g_bar = np.minimum(own.released_inner(releases) + own.gradient_slack(scales), own.gradient_cap(scales))
    return replace(terms, g_bar=g_bar, gradient_term=np.abs(g_bar) / scales.sigma**2)


def short_quantile_form(factor: float) -> ReportForm:
    """Return the corrected form of the report with a ``g_bar`` that is ``factor`` times too small."""
    check_positive("factor", factor)

    def terms(scales: ReportScales, releases: Releases, x: FloatArray, y: float) -> ReportTerms:
        honest = corrected_terms(scales, releases, x, y)
        return replace(honest, g_bar=honest.g_bar / factor, gradient_term=honest.gradient_term / factor)

    return terms


def wrong_tau(dim: int, failure_prob: float) -> float:
    """Return the quantile of ``(Z + Z^T)/2``, sqrt(2) too small for the noise ``(Z + Z^T)/sqrt(2)`` that is added.

    The inverse Hessian leaves the sandwich [1/2, 3/2] almost always in higher dimensions (RW21, supplement D.1 quotes
    such a ``tau``).
    """
    return GoeLaw(dim, Extreme.LARGEST_EIGENVALUE, Normalisation.HALF_OFF_DIAGONAL).isf(failure_prob / 2)


def smallest_lam(dim: int, sigma3: float, failure_prob: float) -> float:
    """Return the ``lam`` that the wrong ``tau`` would admit."""
    return 2.0 * sigma3 * wrong_tau(dim, failure_prob)

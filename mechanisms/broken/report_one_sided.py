"""Broken: the corrected report without the absolute value of the released inner product.

``g_bar`` bounds ``g`` from above, not ``|g|``: for negative ``g`` the third term is understated by about
``sigma2 ||f' x|| z / sigma^2``. Where the other terms leave little room, coverage falls from ``1 - 3 rho`` to 1/2.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..data import FloatArray
from ..report_terms import OwnRecord, Releases, ReportScales, ReportTerms, corrected_terms


def one_sided_terms(scales: ReportScales, releases: Releases, x: FloatArray, y: float) -> ReportTerms:
    """Return the terms with a one-sided ``g_bar``."""
    terms, own = corrected_terms(scales, releases, x, y), OwnRecord.at(scales, releases, x, y)
    g_bar = np.minimum(own.released_inner(releases) + own.gradient_slack(scales), own.gradient_cap(scales))
    return replace(terms, g_bar=g_bar, gradient_term=np.abs(g_bar) / scales.sigma**2)

"""Broken by degrees: the corrected report with its bound on ``|g|`` divided by ``factor``."""

from __future__ import annotations

from dataclasses import replace

from ..base import check_positive
from ..data import FloatArray
from ..report_terms import Releases, ReportForm, ReportScales, ReportTerms, corrected_terms


def short_quantile_form(factor: float) -> ReportForm:
    """Return the form of the report whose ``g_bar`` is ``factor`` times too small."""
    check_positive("factor", factor)

    def terms(scales: ReportScales, releases: Releases, x: FloatArray, y: float) -> ReportTerms:
        honest = corrected_terms(scales, releases, x, y)
        return replace(honest, g_bar=honest.g_bar / factor, gradient_term=honest.gradient_term / factor)

    return terms

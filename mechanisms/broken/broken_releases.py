"""Broken releases at a published parameter and their reports, which are bounds: coverage refutes those."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ..base import check_positive
from ..catalogue import Example, example_pair
from ..data.dataset import FloatArray
from ..numerics.goe import Extreme, GoeLaw, Normalisation
from ..objective.losses import LogisticLoss
from ..releases.eigenvalue_release import EigenvalueRelease
from ..releases.gradient_release import GradientRelease
from ..releases.hessian_release import HessianRelease
from ..releases.report_terms import OwnRecord, Releases, ReportForm, ReportScales, ReportTerms, corrected_terms
from .misstated import Misstated, understated


def hessian_half_variance(claimed: HessianRelease) -> HessianRelease:
    """Return the law of ``(Z + Z^T)/2`` in place of ``(Z + Z^T)/sqrt(2)``: one GOE normalisation for the other.

    All noise has half the variance that RW21's Algorithm 6 asks for: ``mu`` is sqrt(2) times the claimed one.
    """
    return understated(claimed, "sigma3", factor=math.sqrt(2.0))


def hessian_plain_diagonal(claimed: HessianRelease) -> HessianRelease:
    """Return the law of i.i.d. noise of scale ``sigma3`` on the upper triangle, diagonal included.

    The matrix is filled symmetrically from one triangle instead of being symmetrised as ``(Z + Z^T)/sqrt(2)``, so the
    diagonal has half its variance: ``mu`` is between 1 and sqrt(2) times the claimed one (sqrt(2) for a record on an
    axis).
    """
    return replace(claimed, diagonal_factor=1.0)


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


def misstatements() -> dict[str, Example]:
    """Return them, each with a pair that shows it."""
    theta, logistic, labels = np.array([0.4, -0.3]), LogisticLoss(), example_pair("labels")
    hessian, gradient = HessianRelease(theta, logistic, 1.0, 0.2), GradientRelease(theta, logistic, 1.0, 0.6)
    eigenvalue = EigenvalueRelease(theta, logistic, 1.0, 0.05)
    return {
        "eigenvalue_understated": Example(Misstated(eigenvalue, understated(eigenvalue, "sigma4")), labels),
        "gradient_understated": Example(Misstated(gradient, understated(gradient, "sigma2")), labels),
        "hessian_half_variance": Example(Misstated(hessian, hessian_half_variance(hessian)), labels),
        "hessian_plain_diagonal": Example(Misstated(hessian, hessian_plain_diagonal(hessian)), labels),
        "hessian_understated": Example(Misstated(hessian, understated(hessian, "sigma3")), labels),
    }

"""The adaptive report: a released smallest eigenvalue replaces the requirement on ``lam`` (RW21, Algorithm 4).

``printed_adaptive_terms`` is the algorithm as printed; ``corrected_adaptive_terms`` bounds ``|g|`` where the
printed one bounds ``g`` (see ``docs/derivations/privacy_report.md``). Its bound on the leverage is right as printed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base import check_positive
from ..data.dataset import FloatArray
from ..numerics.goe import goe_tau
from .report_terms import OwnRecord, Releases, ReportScales, ReportTerms, log_det_bound


@dataclass(frozen=True, eq=False)
class AdaptiveReleases:
    """The releases of Algorithm 4 in each of ``n_draws`` runs.

    Parameters
    ----------
    releases : Releases
        With gradient and Hessian.
    eigenvalue : (n_draws,) array
        Outputs of ``EigenvalueRelease``.
    sigma4 : float
        Their noise, positive.
    """

    releases: Releases
    eigenvalue: FloatArray
    sigma4: float

    def __post_init__(self) -> None:
        if self.releases.gradient is None or self.releases.hessian is None:
            raise ValueError("releases must hold a gradient and a Hessian for an adaptive report")
        eigenvalue, n_draws = np.asarray(self.eigenvalue, dtype=np.float64), len(self.releases.theta)
        if eigenvalue.shape != (n_draws,) or not np.isfinite(eigenvalue).all():
            raise ValueError(f"eigenvalue must be finite with shape ({n_draws},), got shape {eigenvalue.shape}")
        check_positive("sigma4", self.sigma4)
        object.__setattr__(self, "eigenvalue", eigenvalue)


def eigenvalue_floor(scales: ReportScales, adaptive: AdaptiveReleases) -> FloatArray:
    """Return Algorithm 4's ``max{lam, released - sigma4 z}``: at most ``lambda_min(H)`` except with ``rho/2``."""
    return np.maximum(scales.lam, adaptive.eigenvalue - adaptive.sigma4 * scales.quantile)


def adaptive_leverage(
    scales: ReportScales, adaptive: AdaptiveReleases, x: FloatArray, y: float, floor: FloatArray
) -> FloatArray:
    """Return Algorithm 4's ``mu_bar`` given the floor: the standard branch where it is at least ``2 tau sigma3``."""
    if scales.sigma3 is None:
        raise ValueError("sigma3 must be given for an adaptive report, got sigma3=None")
    own = OwnRecord.at(scales, adaptive.releases, x, y)
    noise = goe_tau(len(own.x), scales.failure_prob) * scales.sigma3  # tau sigma3
    standard = floor >= 2.0 * noise
    factor = (floor + np.where(standard, 1.0, 2.0) * noise) / floor
    quadratic = factor * own.released_quadratic(adaptive.releases, np.where(standard, 0.0, noise))
    return np.asarray(np.minimum(quadratic, (own.x @ own.x) / floor))


def printed_adaptive_terms(scales: ReportScales, adaptive: AdaptiveReleases, x: FloatArray, y: float) -> ReportTerms:
    """Return the terms of RW21's Algorithm 4 as printed; NaN where it takes the logarithm of a negative number."""
    own = OwnRecord.at(scales, adaptive.releases, x, y)
    # A4: f' g_hat^T x + sigma2 ||f' x|| z
    g_bar = own.released_inner(adaptive.releases) + own.gradient_slack(scales)
    mu_bar = adaptive_leverage(scales, adaptive, x, y, eigenvalue_floor(scales, adaptive))
    with np.errstate(invalid="ignore", divide="ignore"):
        log_det = np.abs(-np.log1p(-own.second * mu_bar))
    return own.terms(scales, g_bar, mu_bar, log_det)


def corrected_adaptive_terms(scales: ReportScales, adaptive: AdaptiveReleases, x: FloatArray, y: float) -> ReportTerms:
    """Return the corrected terms: ``g_bar = |f' g_hat^T x| + sigma2 ||f' x|| z``; infinite where ``f'' mu_bar >= 1``.

    A form ``x^T H_hat^{-1} x`` that is not positive (the noise exceeded ``tau``) gives way to ``||x||^2/floor``.
    """
    own = OwnRecord.at(scales, adaptive.releases, x, y)
    g_bar = np.abs(own.released_inner(adaptive.releases)) + own.gradient_slack(scales)
    floor = eigenvalue_floor(scales, adaptive)
    released = adaptive_leverage(scales, adaptive, x, y, floor)
    mu_bar = np.where(released > 0, released, (own.x @ own.x) / floor)
    return own.terms(scales, g_bar, mu_bar, log_det_bound(own.second * mu_bar))

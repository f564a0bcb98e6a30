"""The events of RW21's Algorithm 4 and Theorem 13, over draws of the whole adaptive report.

A setting names data, a target and the public parameters; a draw is the parameter, the released gradient, Hessian and
smallest eigenvalue. Derivations: docs/derivations/privacy_report.md, docs/derivations/redberg_wang2021.md (Theorem 13).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mechanisms.adaptive_report import (
    AdaptiveReleases,
    adaptive_leverage,
    corrected_adaptive_terms,
    eigenvalue_floor,
    printed_adaptive_terms,
)
from mechanisms.data import FloatArray
from mechanisms.goe import goe_tau
from mechanisms.objective_loss_terms import LossTerms
from mechanisms.report_terms import OwnRecord, ReportScales, ReportTerms, draw_releases

from ..statement import Case
from .report_events import Setting, setting

BoolArray = NDArray[np.bool_]
#: A form of the adaptive report: scales, releases, own features, own response.
AdaptiveForm = Callable[[ReportScales, AdaptiveReleases, FloatArray, float], ReportTerms]


def short_margin(share: float) -> AdaptiveForm:
    """Return the corrected report with only ``share`` of the margin on the released inner product."""

    def form(scales: ReportScales, adaptive: AdaptiveReleases, x: FloatArray, y: float) -> ReportTerms:
        terms, own = corrected_adaptive_terms(scales, adaptive, x, y), OwnRecord.at(scales, adaptive.releases, x, y)
        g_bar = terms.g_bar - (1.0 - share) * own.gradient_slack(scales)
        return replace(terms, g_bar=g_bar, gradient_term=g_bar / scales.sigma**2)

    return form


FORMS: dict[str, AdaptiveForm] = {
    "printed": printed_adaptive_terms,
    "corrected": corrected_adaptive_terms,
    "0.4 of the margin": short_margin(0.4),
    "no margin": short_margin(0.0),
}


@dataclass(frozen=True, eq=False)
class Draws:
    """What one batch of the adaptive report holds; arrays of shape ``(n_draws,)``."""

    own: OwnRecord
    adaptive: AdaptiveReleases
    truth: LossTerms
    leverage: FloatArray
    smallest: FloatArray  # lambda_min(H) at each output
    floor: FloatArray  # lambda_hat, after Algorithm 4 has lowered the released value

    @property
    def absolute_sum(self) -> FloatArray:
        """The sum of the absolute terms of the loss."""
        return np.asarray(
            np.abs(self.truth.log_det_term) + self.truth.quadratic_term + np.abs(self.truth.gradient_term)
        )


def draw(here: Setting, sigma4: float, n_draws: int, rng: np.random.Generator) -> Draws:
    """Return a batch of independent runs of Algorithms 1 and 4 on the first data set of the pair."""
    data, scales = here.pair.first, here.scales
    releases = draw_releases(here.mechanism, data, scales, n_draws, rng=rng)
    smallest = np.asarray(np.linalg.eigvalsh(here.mechanism.hessian(releases.theta, data))[:, 0], dtype=np.float64)
    adaptive = AdaptiveReleases(releases, smallest + sigma4 * rng.standard_normal(n_draws), sigma4)
    return Draws(
        OwnRecord.at(scales, releases, here.pair.x, here.pair.y),
        adaptive,
        here.mechanism.loss_terms(releases.theta, here.pair),
        here.mechanism.leverage(releases.theta, data, here.pair.x),
        smallest,
        eigenvalue_floor(scales, adaptive),
    )


def bound(here: Setting, draws: Draws, form: AdaptiveForm) -> FloatArray:
    """Return ``epsilon1_bar`` of a form of the report; NaN where it takes the logarithm of a negative number."""
    return form(here.scales, draws.adaptive, here.pair.x, here.pair.y).epsilon1_bar


def leverage_bound(here: Setting, draws: Draws, floor: FloatArray) -> FloatArray:
    """Return Algorithm 4's ``mu_bar`` for a given floor."""
    return adaptive_leverage(here.scales, draws.adaptive, here.pair.x, here.pair.y, floor)


def noise_norm(here: Setting) -> float:
    """Return ``tau sigma_3``."""
    assert here.scales.sigma3 is not None
    return goe_tau(here.pair.dataset.dim, here.scales.failure_prob) * here.scales.sigma3


def any_lambda(case: Case) -> Setting:
    """Return the setting of a case without Algorithm 2's requirement on lambda, which Algorithm 4 does not have."""
    return setting(case, required=False)


def sqrt_log(rho: float) -> float:
    """Return ``sqrt(2 log(2/rho))``."""
    return math.sqrt(2.0 * math.log(2.0 / rho))

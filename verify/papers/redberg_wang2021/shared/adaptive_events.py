"""Runs of RW21's adaptive report (Algorithm 4) for one record: parameter, gradient, Hessian and smallest eigenvalue.

Derivations: docs/derivations/privacy_report.md, docs/derivations/redberg_wang2021.md (Theorem 13).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from mechanisms.data.dataset import FloatArray
from mechanisms.objective.objective_loss_terms import LossTerms
from mechanisms.releases.adaptive_report import (
    AdaptiveReleases,
    adaptive_leverage,
    corrected_adaptive_terms,
    eigenvalue_floor,
)
from mechanisms.releases.report_terms import OwnRecord, ReportScales, ReportTerms, draw_releases

from .report_events import TINY, ReportSetting

#: A form of the adaptive report: scales, releases, own features, own response.
AdaptiveForm = Callable[[ReportScales, AdaptiveReleases, FloatArray, float], ReportTerms]
#: sigma_2 = sigma/10, where the one-sided bound fails.
LOWER = TINY | {"sigma": 4.0, "sigma_2": 0.4, "sigma_3": 0.1, "sigma_4": 0.1, "lam": 100.0}


def short_margin(share: float) -> AdaptiveForm:
    """Return the corrected report with only ``share`` of the margin on the released inner product."""

    def form(scales: ReportScales, adaptive: AdaptiveReleases, x: FloatArray, y: float) -> ReportTerms:
        terms, own = corrected_adaptive_terms(scales, adaptive, x, y), OwnRecord.at(scales, adaptive.releases, x, y)
        g_bar = terms.g_bar - (1.0 - share) * own.gradient_slack(scales)
        return replace(terms, g_bar=g_bar, gradient_term=g_bar / scales.sigma**2)

    return form


@dataclass(frozen=True, eq=False)
class AdaptiveDraws:
    """A batch of independent runs of Algorithms 1 and 4 on the first data set of a pair; arrays of shape ``(n_draws,)``."""

    setting: ReportSetting
    own: OwnRecord
    adaptive: AdaptiveReleases
    truth: LossTerms
    leverage: FloatArray
    smallest: FloatArray  # lambda_min(H) at each output

    @classmethod
    def of(cls, setting: ReportSetting, sigma4: float, n_draws: int, rng: np.random.Generator) -> "AdaptiveDraws":
        """Draw the batch."""
        mechanism, pair, scales = setting.mechanism, setting.pair, setting.scales
        releases = draw_releases(mechanism, pair.first, scales, n_draws, rng=rng)
        smallest = np.asarray(np.linalg.eigvalsh(mechanism.hessian(releases.theta, pair.first))[:, 0], dtype=np.float64)
        return cls(
            setting,
            OwnRecord.at(scales, releases, pair.x, pair.y),
            AdaptiveReleases(releases, smallest + sigma4 * rng.standard_normal(n_draws), sigma4),
            mechanism.loss_terms(releases.theta, pair),
            mechanism.leverage(releases.theta, pair.first, pair.x),
            smallest,
        )

    @property
    def loss(self) -> FloatArray:
        """The absolute value of the loss."""
        return np.asarray(np.abs(self.truth.total))

    @property
    def absolute_sum(self) -> FloatArray:
        """The sum of the absolute terms of the loss."""
        terms = np.abs(self.truth.log_det_term) + self.truth.quadratic_term + np.abs(self.truth.gradient_term)
        return np.asarray(terms)

    @property
    def floor(self) -> FloatArray:
        """``lambda_hat``, after Algorithm 4 has lowered the released value."""
        return eigenvalue_floor(self.setting.scales, self.adaptive)

    def bound(self, form: AdaptiveForm) -> FloatArray:
        """Return ``epsilon1_bar`` of a form of the report; NaN where it takes the logarithm of a negative number."""
        return form(self.setting.scales, self.adaptive, self.setting.pair.x, self.setting.pair.y).epsilon1_bar

    def leverage_bound(self, floor: FloatArray) -> FloatArray:
        """Return Algorithm 4's ``mu_bar`` for a given floor."""
        return adaptive_leverage(self.setting.scales, self.adaptive, self.setting.pair.x, self.setting.pair.y, floor)

"""What a name on the mechanism axis stands for: a mechanism set up for a target (epsilon, delta) by a published rule.

The claim of a cell is that the mechanism, set up so, is (epsilon, delta)-private between the two data sets of the cell.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from mechanisms import (
    GaussianOutput,
    LogisticLoss,
    NeighbouringPair,
    ObjectivePerturbation,
    PosteriorSampling,
    PseudoHuberLoss,
    SmoothedHingeLoss,
    WhiteBox,
)
from mechanisms.gaussian_calibration import analytic_sigma, classical_sigma
from mechanisms.losses import GlmLoss
from mechanisms.objective_calibration import calibrate_t5
from mechanisms.ops_calibrations import CorrectedOPSCalibration, PublishedOPSCalibration
from mechanisms.ridge import RidgeMap
from mechanisms.sufficient_statistics import SufficientStatistics

from ..wang2019 import lem_2_4, thm_4_1

#: Ridge of the recipes whose rule does not choose one.
LAM = 1.0

LOSSES: Mapping[str, Callable[[], GlmLoss]] = {
    "logistic": LogisticLoss,
    "pseudo-huber": PseudoHuberLoss,
    "smoothed-hinge": SmoothedHingeLoss,
}
SQUARED = "squared"
#: Losses whose response is a label, -1 or +1.
LABELS = ("logistic", "smoothed-hinge")


@dataclass(frozen=True)
class Setup:
    """A mechanism set up for a cell; out of domain where its rule claims nothing there, with the reason."""

    mechanism: WhiteBox | None
    out_of_domain: str = ""


Build = Callable[[str, NeighbouringPair, float, float], Setup]


@dataclass(frozen=True)
class Recipe:
    """One name on the mechanism axis.

    Attributes
    ----------
    build : callable
        ``build(loss, pair, epsilon, delta)``; the sizes and public bounds are those of ``pair.first``.
    losses : tuple of str
        The losses it is defined for.
    exact : bool
        Whether the law of the loss is known, so that nothing is drawn.
    rule : str
        Where the rule is printed or derived.
    """

    build: Build
    losses: tuple[str, ...]
    exact: bool
    rule: str


def _ops(kind: type[PublishedOPSCalibration] | type[CorrectedOPSCalibration], rule: str) -> Build:
    def build(_: str, pair: NeighbouringPair, epsilon: float, delta: float) -> Setup:
        data = pair.first
        chosen = getattr(kind(epsilon, delta, data.n_records + 1, data.dim, data.x_bound, data.y_bound), rule)()
        return Setup(PosteriorSampling(chosen.gamma, chosen.lam))

    return build


def _per_instance(tail: float) -> Build:
    """Return the rule "the largest gamma at which (4.3) is at most epsilon for this target" (W19, Theorem 4.1)."""

    def build(_: str, pair: NeighbouringPair, epsilon: float, delta: float) -> Setup:
        leverage, residual = PosteriorSampling(1.0, LAM).target(pair)

        def excess(log_gamma: float) -> float:
            scaled = abs(residual) * math.exp(0.5 * log_gamma)
            point = {"leverage": leverage, "residual": scaled, "delta": delta}
            return thm_4_1.out_of_sample(point, tail=tail) - epsilon

        # |centre| falls before it grows: the largest root is bracketed from far above, where the bound is large
        low, high = -60.0, 60.0
        if excess(high) <= 0:
            return Setup(None, "every gamma is allowed: the target's residual is zero")
        crossing = _last_allowed(excess, low, high)
        if crossing is None:
            return Setup(None, "no gamma is small enough: the leverage alone uses up epsilon")
        gamma = math.exp(float(brentq(excess, *crossing, xtol=1e-13, rtol=1e-13)) - 1e-12)
        return Setup(PosteriorSampling(gamma, LAM))

    return build


def _last_allowed(excess: Callable[[float], float], low: float, high: float) -> tuple[float, float] | None:
    """Return the last step of a walk downwards from ``high`` on which the excess becomes negative."""
    above = high
    for below in np.arange(high - 0.25, low, -0.25).tolist():
        if excess(below) < 0:
            return below, above
        above = below
    return None


def _gaussian(sigma: Callable[[float, float, float], float], limit: float = math.inf) -> Build:
    """Return ridge plus noise with ``sigma(sensitivity, epsilon, delta)`` at the pair's own sensitivity."""

    def build(_: str, pair: NeighbouringPair, epsilon: float, delta: float) -> Setup:
        dim = pair.first.dim
        shift = GaussianOutput.isotropic(1.0, dim, RidgeMap(LAM)).sensitivity(pair)
        if shift == 0.0:
            return Setup(None, "the target does not move the estimate: any noise will do")
        words = "" if epsilon <= limit else f"the rule is for epsilon at most {limit:g}"
        return Setup(GaussianOutput.isotropic(sigma(shift, epsilon, delta), dim, RidgeMap(LAM)), words)

    return build


def _sigma_exact(sensitivity: float, epsilon: float, delta: float) -> float:
    """Return the least sigma, a millionth larger: with equality the claim would be decided by rounding."""
    return analytic_sigma(sensitivity, epsilon, delta) * (1 + 1e-6)


def _sigma_printed(sensitivity: float, epsilon: float, delta: float) -> float:
    """Return the sigma at which W19, Lemma 2.4, as printed gives ``epsilon`` (it is linear in gamma)."""
    unit = lem_2_4.epsilon_published({"gamma": 1.0, "sensitivity": sensitivity, "delta": delta})
    return math.sqrt(unit / epsilon)


def _ssp(*, published: bool) -> Build:
    def build(_: str, pair: NeighbouringPair, epsilon: float, delta: float) -> Setup:
        rule = SufficientStatistics.published if published else SufficientStatistics.calibrated
        data = pair.first
        return Setup(rule(epsilon, delta, x_bound=data.x_bound, y_bound=data.y_bound, lam=LAM))

    return build


def _objective(*, published: bool) -> Build:
    def build(loss: str, pair: NeighbouringPair, epsilon: float, delta: float) -> Setup:
        data, chosen = pair.first, LOSSES[loss]()
        found = calibrate_t5(chosen, epsilon, delta, x_bound=data.x_bound, y_bound=data.y_bound)
        sigma = found.sigma_published if published else found.sigma_corrected
        return Setup(ObjectivePerturbation(chosen, sigma, found.lam))

    return build


_LINEAR = (SQUARED,)
_GLM = tuple(LOSSES)
RECIPES: Mapping[str, Recipe] = {
    "ops-diffuse": Recipe(_ops(PublishedOPSCalibration, "diffuse"), _LINEAR, True, "W18-F1, as printed"),
    "ops-diffuse-corrected": Recipe(_ops(CorrectedOPSCalibration, "diffuse"), _LINEAR, True, "W18-F1, corrected"),
    "ops-concentrated": Recipe(_ops(PublishedOPSCalibration, "concentrated"), _LINEAR, True, "W18-F2, as printed"),
    "ops-concentrated-corrected": Recipe(
        _ops(CorrectedOPSCalibration, "concentrated"), _LINEAR, True, "W18-F2, corrected"
    ),
    "ops-per-instance": Recipe(_per_instance(1.0), _LINEAR, True, "W19-T4.1 (4.3), as printed, lam = 1"),
    "ops-per-instance-corrected": Recipe(_per_instance(2.0), _LINEAR, True, "W19-T4.1 (4.3), corrected, lam = 1"),
    "gaussian-printed": Recipe(_gaussian(_sigma_printed), _LINEAR, True, "W19-L2.4, as printed, ridge with lam = 1"),
    "gaussian-classical": Recipe(_gaussian(classical_sigma, 1.0), _LINEAR, True, "W19-L2.4, corrected, lam = 1"),
    "gaussian-analytic": Recipe(_gaussian(_sigma_exact), _LINEAR, True, "exact calibration, lam = 1"),
    "ssp": Recipe(_ssp(published=True), _LINEAR, True, "W18, appendix C.1, as printed"),
    "ssp-calibrated": Recipe(_ssp(published=False), _LINEAR, True, "exact joint calibration"),
    "objective-perturbation": Recipe(_objective(published=True), _GLM, False, "RW21-T5, as printed"),
    "objective-perturbation-corrected": Recipe(_objective(published=False), _GLM, False, "RW21-T5, corrected"),
}
ALL_LOSSES = (SQUARED, *LOSSES)

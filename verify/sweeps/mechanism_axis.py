"""What a name on the mechanism axis stands for: the mechanisms' own recipes, and those of the statements' formulas."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
import scipy

from mechanisms import NeighbouringPair, PosteriorSampling, catalogue
from mechanisms.linear.gaussian_output import calibrated
from mechanisms.offers import LAM, LINEAR, LOSSES, SQUARED, Build, Offered, Recipe

from ..papers.wang2019 import lem_2_4, thm_4_1


def _per_instance(tail: float) -> Build:
    """Return the rule "the largest gamma at which (4.3) is at most epsilon for this target" (W19, Theorem 4.1)."""

    def build(_: str, pair: NeighbouringPair, epsilon: float, delta: float) -> Offered:
        leverage, residual = PosteriorSampling(1.0, LAM).target(pair)

        def excess(log_gamma: float) -> float:
            scaled = abs(residual) * math.exp(0.5 * log_gamma)
            point = {"leverage": leverage, "residual": scaled, "delta": delta}
            return thm_4_1.out_of_sample(point, tail=tail) - epsilon

        # |centre| falls before it grows: the largest root is bracketed from far above, where the bound is large
        low, high = -60.0, 60.0
        if excess(high) <= 0:
            return Offered(None, "every gamma is allowed: the target's residual is zero")
        crossing = _last_allowed(excess, low, high)
        if crossing is None:
            return Offered(None, "no gamma is small enough: the leverage alone uses up epsilon")
        gamma = math.exp(float(scipy.optimize.brentq(excess, *crossing, xtol=1e-13, rtol=1e-13)) - 1e-12)
        return Offered(PosteriorSampling(gamma, LAM))

    return build


def _last_allowed(excess: Callable[[float], float], low: float, high: float) -> tuple[float, float] | None:
    """Return the last step of a walk downwards from ``high`` on which the excess becomes negative."""
    above = high
    for below in np.arange(high - 0.25, low, -0.25).tolist():
        if excess(below) < 0:
            return below, above
        above = below
    return None


def _sigma_printed(sensitivity: float, epsilon: float, delta: float) -> float:
    """Return the sigma at which W19, Lemma 2.4, as printed gives ``epsilon`` (it is linear in gamma)."""
    unit = lem_2_4.epsilon_published({"gamma": 1.0, "sensitivity": sensitivity, "delta": delta})
    return math.sqrt(unit / epsilon)


_OWN = {
    "ops-per-instance": Recipe(_per_instance(1.0), LINEAR, True, "W19-T4.1 (4.3), as printed, lam = 1"),
    "ops-per-instance-corrected": Recipe(_per_instance(2.0), LINEAR, True, "W19-T4.1 (4.3), corrected, lam = 1"),
    "gaussian-printed": Recipe(calibrated(_sigma_printed), LINEAR, True, "W19-L2.4, as printed, ridge with lam = 1"),
}
#: In the order in which they are offered.
_FAMILIES = ("ops-diffuse", "ops-concentrated", "ops-per", "gaussian-printed", "gaussian", "ssp", "objective")
RECIPES: Mapping[str, Recipe] = dict(
    sorted(
        (catalogue.recipes() | _OWN).items(),
        key=lambda item: next((i for i, own in enumerate(_FAMILIES) if item[0].startswith(own)), len(_FAMILIES)),
    )
)
ALL_LOSSES = (SQUARED, *LOSSES)

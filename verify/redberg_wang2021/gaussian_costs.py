"""What RW21 states about adding normal noise to a number or a vector: a tail bound of the privacy loss as epsilon.

The loss of releasing a statistic whose change has norm ``r`` under noise ``s`` is normal with mean ``mu^2/2`` and
standard deviation ``mu = r/s``, in both directions. ``P(L > mu^2/2 + mu t) = Phi(-t) <= exp(-t^2/2)/2``.
"""

from __future__ import annotations

import math

from audits import Estimate
from mechanisms import Direction
from mechanisms.profiles import GaussianProfile

from ..evidence import FORMULA_ERROR, coverage_evidence
from ..formal import FormalClaim, Version
from ..search import Axis, Point
from ..statement import Evidence, Observer, Value

#: Absolute allowance for the final float64 subtraction of two proved brackets.
ROUNDING = 1e-15
DELTAS = (0.5, 1e-1, 1e-3, 1e-6, 1e-9, 1e-12)
#: Scales of the grid cases: the statistic's change and the noise.
RATIOS: dict[str, tuple[Value, ...]] = {"norm": (0.0, 1e-3, 0.1, 1.0, 30.0), "sigma": (0.5, 20.0), "delta": DELTAS}

#: Where the mutants are tried: far out, the quadratic term decides.
FAR: dict[str, Value] = {"norm": 1e3, "sigma": 1e-2, "delta": 1e-12}


def epsilon_tail(p: Point, *, constant: float = 1.0, scale: float = 1.0) -> float:
    """Return ``r^2/(2 s^2) + r sqrt(2 log(constant/delta))/s``, times ``scale``."""
    ratio = p["norm"] / p["sigma"]
    return scale * (ratio**2 / 2.0 + ratio * math.sqrt(2.0 * math.log(constant / p["delta"])))


def gaussian_claim(constant: float, **more: Version) -> FormalClaim:
    """Return the claim that :func:`epsilon_tail` is right at every scale, with its mutants and ``more`` versions."""
    return FormalClaim(
        profile=lambda p: GaussianProfile(p["norm"] / p["sigma"]),
        box={"norm": Axis(1e-3, 1e3), "sigma": Axis(1e-2, 1e2), "delta": Axis(1e-12, 0.99)},
        versions={
            "printed": Version(lambda p: epsilon_tail(p, constant=constant)),
            "epsilon cut by 5 %": Version(lambda p: epsilon_tail(p, constant=constant, scale=0.95)),
            "no quadratic term": Version(
                lambda p: epsilon_tail(p, constant=constant) - 0.5 * (p["norm"] / p["sigma"]) ** 2
            ),
            "no 2 under the root": Version(
                lambda p: (
                    0.5 * (p["norm"] / p["sigma"]) ** 2
                    + p["norm"] / p["sigma"] * math.sqrt(math.log(constant / p["delta"]))
                )
            ),
            **more,
        },
        observer=Observer.TRANSCRIPT,
        conditioned_on="the released parameter",
    )


def ex_post_evidence(p: Point, epsilon: float, level: float) -> Evidence:
    """Enclose ``P(|L| <= epsilon)`` over the noise, from the tails above epsilon and above -epsilon."""
    profile = GaussianProfile(p["norm"] / p["sigma"])
    wide, narrow = epsilon * (1.0 + FORMULA_ERROR), epsilon * (1.0 - FORMULA_ERROR)
    above = {t: profile.tail_bracket(t, Direction.FORWARD) for t in (-wide, -narrow, narrow, wide)}
    low = above[-narrow].low - above[narrow].high - ROUNDING
    high = above[-wide].high - above[wide].low + ROUNDING
    return coverage_evidence(
        "probability that the ex-post loss is at most epsilon in absolute value",
        level,
        exact=Estimate.proved(low, high, "closed form, ball arithmetic"),
        conditioned_on="the released parameter",
    )

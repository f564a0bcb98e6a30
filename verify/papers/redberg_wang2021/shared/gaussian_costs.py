"""What RW21 states about adding normal noise to a number or a vector: a tail bound of the privacy loss as epsilon.

The loss of releasing a statistic whose change has norm ``r`` under noise ``s`` is normal with mean ``mu^2/2`` and
standard deviation ``mu = r/s``, in both directions. ``P(L > mu^2/2 + mu t) = Phi(-t) <= exp(-t^2/2)/2``.
"""

import math
from collections.abc import Callable, Iterable
from functools import partial

from audits import Estimate
from mechanisms import Direction, GaussianProfile

from ....kernel.box_search import Axis, Point
from ....kernel.formal import FormalClaim, numbers
from ...kit import FORMULA_ERROR, At, Case, Display, Evidence, Form, Mutant, Observer, coverage_evidence

RELEASED = "the released parameter"
#: Absolute allowance for the final float64 subtraction of two proved brackets.
ROUNDING = 1e-15
DELTAS = (0.5, 1e-1, 1e-3, 1e-6, 1e-9, 1e-12)
#: Scales of the grid cases: the statistic's change and the noise.
RATIOS = {"norm": (0.0, 1e-3, 0.1, 1.0, 30.0), "sigma": (0.5, 20.0), "delta": DELTAS}
#: Where the mutants are tried: far out, the quadratic term decides.
FAR = {"norm": 1e3, "sigma": 1e-2, "delta": 1e-12}


def epsilon_tail(p: Point, *, constant: float = 1.0, scale: float = 1.0) -> float:
    """Return ``r^2/(2 s^2) + r sqrt(2 log(constant/delta))/s``, times ``scale``."""
    ratio = p["norm"] / p["sigma"]
    return scale * (ratio**2 / 2.0 + ratio * math.sqrt(2.0 * math.log(constant / p["delta"])))


def gaussian(share: float = 1.0, *, largest: float = 0.99, conditioned_on: str = RELEASED) -> FormalClaim:
    """Return the claims about a release with ``mu = share r/s``, searched over all scales and delta up to ``largest``."""
    return FormalClaim(
        profile=lambda p: GaussianProfile(share * p["norm"] / p["sigma"]),
        box={"norm": Axis(1e-3, 1e3), "sigma": Axis(1e-2, 1e2), "delta": Axis(1e-12, largest)},
        observer=Observer.TRANSCRIPT if conditioned_on else Observer.OUTPUT,
        conditioned_on=conditioned_on,
    )


COST = gaussian()


def cost_display(
    typst: str, cases: Iterable[At], *, title: str = "", constant: float = 1.0, claim: FormalClaim = COST
) -> Display:
    """Return the display that ``epsilon_tail`` is right at every scale, with its mutants."""
    epsilon = partial(epsilon_tail, constant=constant)

    def halved(p: Point) -> float:
        root = math.sqrt(math.log(constant / p["delta"]))
        return 0.5 * (p["norm"] / p["sigma"]) ** 2 + p["norm"] / p["sigma"] * root

    return Display(
        title,
        Form(typst, claim.of(epsilon), cases),
        mutants={
            "epsilon cut by 5 %": Mutant(claim.of(partial(epsilon, scale=0.95)), FAR, severity=0.05),
            "no quadratic term": Mutant(claim.of(lambda p: epsilon(p) - 0.5 * (p["norm"] / p["sigma"]) ** 2), FAR),
            "no 2 under the root": Mutant(claim.of(halved), FAR),
        },
    )


def ex_post(
    case: Case,
    *,
    epsilon: Callable[[Point], float],
    failure: float = 1.0,
    share: float = 1.0,
    conditioned_on: str = RELEASED,
) -> Evidence:
    """Enclose ``P(|L| <= epsilon)``, which is to be ``1 - failure delta``, from the tails above epsilon and -epsilon."""
    p = numbers(case)
    profile, bound = GaussianProfile(share * p["norm"] / p["sigma"]), epsilon(p)
    wide, narrow = bound * (1.0 + FORMULA_ERROR), bound * (1.0 - FORMULA_ERROR)
    above = {t: profile.tail_bracket(t, Direction.FORWARD) for t in (-wide, -narrow, narrow, wide)}
    low = above[-narrow].low - above[narrow].high - ROUNDING
    high = above[-wide].high - above[wide].low + ROUNDING
    return coverage_evidence(
        "probability that the ex-post loss is at most epsilon in absolute value",
        1.0 - failure * p["delta"],
        exact=Estimate.proved(low, high, "closed form, ball arithmetic"),
        conditioned_on=conditioned_on,
    )

"""W19, Proposition 4.3(1), pDP part: (4.3) with the leverage replaced by 1/(lambda_n + lambda_min).

The worst direction of x attains that leverage, so the exact law of the loss there decides.
"""

import math

from mechanisms.laws.quadratic_profile import QuadraticProfile
from reports.row import Figure

from ...kernel.box_search import Axis, Point
from ...kernel.formal import FormalClaim
from ...kernel.statement_plots import profile_figure
from ..kit import Form, Mutant, over, search, smallest, statement


def bound(p: Point, *, tail: float = 2.0, misprint: bool = False) -> float:
    """Return (4.5) at ``ridge = lambda_n + lambda_min``; ``tail`` multiplies log(2/delta), ``misprint`` keeps the last gamma."""
    ridge, gamma, r, log = p["ridge"], p["gamma"], p["residual"], tail * math.log(2.0 / p["delta"])
    last = (gamma if misprint else 1.0) * (1.0 + log) / (2.0 * ridge)
    return math.sqrt(gamma * log / ridge) * r + gamma * r * r / (2.0 * max(ridge, 1.0)) + last


def published(p: Point) -> float:
    """Return (4.5) as printed."""
    return bound(p, tail=1.0, misprint=True)


CLAIM = FormalClaim(
    profile=lambda p: QuadraticProfile(p["share"] / p["ridge"], math.sqrt(p["gamma"]) * p["residual"]),
    box={
        "ridge": Axis(1e-4, 1e6),
        "gamma": Axis(1e-6, 1e4),
        "residual": Axis(1e-3, 1e3),
        "share": Axis(1e-3, 1.0),
        "delta": Axis(1e-12, 0.999),
    },
)

TAIL = {"ridge": 100.0, "gamma": 1.0, "residual": 10.0, "share": 1.0, "delta": 1e-6}
LAST = {"ridge": 1.0, "gamma": 0.01, "residual": 0.0, "share": 1.0, "delta": 0.01}
EDGE = {"ridge": 1e-4, "gamma": 1e-6, "residual": 0.0, "share": 1.0, "delta": 1e-12}
AXES = {
    "ridge": (1e-3, 0.5, 1.0, 100.0, 1e6), "gamma": (1e-4, 100.0), "residual": (0.0, 1.0, 30.0),
    "share": (1.0, 0.1), "delta": (1e-1, 1e-12),
}  # fmt: skip


def figures(seed: int) -> tuple[Figure, ...]:
    """Return the exact profile at a small gamma, where the printed epsilon almost vanishes."""
    point = LAST | {"residual": 1.0}
    bounds = {"printed": published(point), "corrected": bound(point)}
    setting = "Leverage 1, residual 1, gamma = 1/100: the change of covariance does not depend on gamma"
    title = "Exact profile of one posterior sample at a small gamma"
    return (profile_figure("w19-p431a", title, CLAIM.profile(point), 0.01, bounds, setting),)


FORMULA = (
    "epsilon_n = sqrt(({factor}gamma_n log(2/delta))/(lambda_n + lambda_min)) abs(y - x^T hat(theta)) + "
    "(gamma_n abs(y - x^T hat(theta))^2)/(2 max{{lambda_n + lambda_min, 1}}) + {last}/(2 (lambda_n + lambda_min))"
)

STATEMENT = statement(
    "W19-P4.3.1a",
    domain="||x|| <= 1, lambda_n + lambda_min > 0, gamma_n > 0, any data set and target outside it, both directions. Decided for "
    "lambda_n + lambda_min in [1e-4, 1e6], gamma in [1e-6, 1e4], residual in [1e-3, 1e3] (and 0), leverage down to 1/1000 of its bound, "
    "delta in [1e-12, 0.999]",
    summary="Two faults: the tail of Theorem 4.1, and a gamma_n in the last term, which does not depend on gamma_n: for small gamma_n the printed "
    "epsilon tends to 0 while the loss does not. Corrected it is tight within 5 %.",
    derivation="docs/derivations/wang2019_section_4.md, Proposition 4.3(1), pDP and DP",
    title="every data set, every target",
    printed=Form(
        FORMULA.format(factor="", last="(gamma_n (1 + log(2/delta)))"),
        CLAIM.of(published),
        [
            smallest("X'X = 100, X'y = 0, lambda = 0, target (1, 10): the tail", TAIL),
            smallest("X = [1], y = 0, lambda = 0, target (1, 0), gamma = 1/100: the last term", LAST),
            search(quick=False),
        ],
    ),
    corrected=Form(
        FORMULA.format(factor="2 ", last="(1 + 2 log(2/delta))"),
        CLAIM.of(bound),
        [
            *(smallest("a case that refutes the printed form", params) for params in (TAIL, LAST)),
            *over("ridge, gamma, residual, leverage share, delta", AXES, quick_every=23),
            search(quick=False),
        ],
    ),
    wrong="The normal tail lacks its factor 2, and the last term has a gamma_n that Theorem 4.1 does not have.",
    mutants={
        "epsilon cut by 5 %": Mutant(
            CLAIM.of(lambda p: 0.95 * bound(p)), EDGE | {"residual": 1000.0, "gamma": 1e4}, severity=0.05
        ),
        "tail factor 1.6": Mutant(CLAIM.of(lambda p: bound(p, tail=1.6)), EDGE),
        "gamma in the last term": Mutant(CLAIM.of(lambda p: bound(p, misprint=True)), LAST),
    },
    figures=figures,
)

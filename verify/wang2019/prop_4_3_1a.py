"""W19, Proposition 4.3(1), pDP part: (4.3) with the leverage replaced by 1/(lambda_n + lambda_min).

The worst direction of x attains that leverage, so the exact law of the loss there decides
(docs/derivations/wang2019_section_4.md, Proposition 4.3(1), pDP and DP).
"""

from __future__ import annotations

import math

from mechanisms.quadratic_profile import QuadraticProfile
from reports.row import Figure

from ..cases import adversarial, case, grid, mutant
from ..formal import FormalClaim, Version
from ..plots import profile_figure
from ..search import Axis, Point
from ..statement import Case, Formula, Part, Role, Standing, Statement, Value

ID = "W19-P4.3.1a"


def bound(p: Point, *, tail: float = 2.0, misprint: bool = False, scale: float = 1.0) -> float:
    """Return (4.5) at ``ridge = lambda_n + lambda_min``; ``tail`` multiplies log(2/delta), ``misprint`` keeps the last gamma."""
    ridge, gamma, r, log = p["ridge"], p["gamma"], p["residual"], tail * math.log(2.0 / p["delta"])
    last = (gamma if misprint else 1.0) * (1.0 + log) / (2.0 * ridge)
    return scale * (math.sqrt(gamma * log / ridge) * r + gamma * r * r / (2.0 * max(ridge, 1.0)) + last)


CLAIM = FormalClaim(
    profile=lambda p: QuadraticProfile(p["share"] / p["ridge"], math.sqrt(p["gamma"]) * p["residual"]),
    box={
        "ridge": Axis(1e-4, 1e6),
        "gamma": Axis(1e-6, 1e4),
        "residual": Axis(1e-3, 1e3),
        "share": Axis(1e-3, 1.0),
        "delta": Axis(1e-12, 0.999),
    },
    versions={
        "printed": Version(lambda p: bound(p, tail=1.0, misprint=True)),
        "corrected": Version(bound),
        "epsilon cut by 5 %": Version(lambda p: bound(p, scale=0.95)),
        "tail factor 1.6": Version(lambda p: bound(p, tail=1.6)),
        "gamma in the last term": Version(lambda p: bound(p, misprint=True)),
    },
)


def _cases() -> tuple[Case, ...]:
    corrected = Standing.CORRECTED
    tail: dict[str, Value] = {"ridge": 100.0, "gamma": 1.0, "residual": 10.0, "share": 1.0, "delta": 1e-6}
    last: dict[str, Value] = {"ridge": 1.0, "gamma": 0.01, "residual": 0.0, "share": 1.0, "delta": 0.01}
    edge: dict[str, Value] = {"ridge": 1e-4, "gamma": 1e-6, "residual": 0.0, "share": 1.0, "delta": 1e-12}
    axes: dict[str, tuple[Value, ...]] = {
        "ridge": (1e-3, 0.5, 1.0, 100.0, 1e6),
        "gamma": (1e-4, 100.0),
        "residual": (0.0, 1.0, 30.0),
        "share": (1.0, 0.1),
        "delta": (1e-1, 1e-12),
    }
    words = (
        (tail, "X'X = 100, X'y = 0, lambda = 0, target (1, 10): the tail"),
        (last, "X = [1], y = 0, lambda = 0, target (1, 0), gamma = 1/100: the last term"),
    )
    return (
        *(case(ID, Standing.PRINTED, p, role=Role.COUNTEREXAMPLE, regime=text) for p, text in words),
        adversarial(ID, Standing.PRINTED, quick=False),
        *(
            case(ID, corrected, p, role=Role.COUNTEREXAMPLE, regime="a case that refutes the printed form")
            for p, _ in words
        ),
        *grid(ID, corrected, axes, regime="ridge, gamma, residual, leverage share, delta", quick_every=23),
        adversarial(ID, corrected, quick=False),
        mutant(ID, "epsilon cut by 5 %", edge | {"residual": 1000.0, "gamma": 1e4}, severity=0.05),
        mutant(ID, "tail factor 1.6", edge),
        mutant(ID, "gamma in the last term", last),
    )


def figures(seed: int) -> tuple[Figure, ...]:
    """Return the exact profile at a small gamma, where the printed epsilon almost vanishes."""
    point = {"ridge": 1.0, "gamma": 0.01, "residual": 1.0, "share": 1.0, "delta": 0.01}
    bounds = {name: CLAIM.versions[name].epsilon(point) for name in ("printed", "corrected")}
    setting = "Leverage 1, residual 1, gamma = 1/100: the change of covariance does not depend on gamma"
    title = "Exact profile of one posterior sample at a small gamma"
    return (profile_figure("w19-p431a", title, CLAIM.profile(point), 0.01, bounds, setting),)


_FIRST = "abs(y - x^T hat(theta)) + (gamma_n abs(y - x^T hat(theta))^2)/(2 max{lambda_n + lambda_min, 1})"

STATEMENT = Statement(
    id=ID,
    paper="wang2019",
    kind="proposition",
    title="Per-instance privacy of one posterior sample for every bounded target",
    locator="Proposition 4.3(1), first sentence, equation (4.5)",
    domain=(
        "||x|| <= 1, lambda_n + lambda_min > 0, gamma_n > 0, any data set and target outside it, both directions. Decided for "
        "lambda_n + lambda_min in [1e-4, 1e6], gamma in [1e-6, 1e4], residual in [1e-3, 1e3] (and 0), leverage down to 1/1000 of its bound, "
        "delta in [1e-12, 0.999]"
    ),
    summary=(
        "Two faults: the tail of Theorem 4.1, and a gamma_n in the last term, which does not depend on gamma_n: for small gamma_n the printed "
        "epsilon tends to 0 while the loss does not. Corrected it is tight within 5 %."
    ),
    parts=(
        Part(
            ID,
            "every data set, every target",
            Formula(
                f"epsilon_n = sqrt((gamma_n log(2/delta))/(lambda_n + lambda_min)) {_FIRST} + (gamma_n (1 + log(2/delta)))/(2 (lambda_n + lambda_min))",
                "epsilon = sqrt(gamma log(2/delta)/h) |r| + gamma r^2/(2 max(h, 1)) + gamma (1 + log(2/delta))/(2 h), h = lambda + lambda_min, r = y - x'theta",
            ),
            Formula(
                f"epsilon_n = sqrt((2 gamma_n log(2/delta))/(lambda_n + lambda_min)) {_FIRST} + (1 + 2 log(2/delta))/(2 (lambda_n + lambda_min))",
                "epsilon = sqrt(2 gamma log(2/delta)/h) |r| + gamma r^2/(2 max(h, 1)) + (1 + 2 log(2/delta))/(2 h), h = lambda + lambda_min, r = y - x'theta",
            ),
            "The normal tail lacks its factor 2, and the last term has a gamma_n that Theorem 4.1 does not have.",
            "docs/derivations/wang2019_section_4.md, Proposition 4.3(1), pDP and DP",
        ),
    ),
    cases=_cases(),
    check=CLAIM.check,
    figures=figures,
)

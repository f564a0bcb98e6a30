"""RW21, Corollary 16: cost of the report when its noise is calibrated to the (epsilon, delta) of the main algorithm.

Two readings of the printed epsilon (the place of log(1.25/delta) is lost in the source): both are tried. In the condition the
symbol of the right denominator is lost: beta (the smoothness, as the left one) and sigma are tried. The formula is the
cost of the Hessian release alone; Algorithm 2 releases the gradient as well. With ``s = (rho_max/epsilon) sqrt(2 log(1.25/delta))``
both releases are jointly Gaussian with ``mu^2 = f'^2 ||x||^2/s^2 + f''^2 ||x||^4/(2 s^2)``.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from flint import arb

from audits import Estimate
from mechanisms import GaussianProfile

from ...kernel.box_search import Axis, Point
from ...kernel.formal import FormalClaim, numbers
from ...methods.ball_density import Rows, log_ratio
from ...methods.boxes import on_box
from ..kit import At, Case, Claim, Display, Evidence, Form, Mutant, Observer, over, search, smallest, statement
from .shared.gaussian_costs import epsilon_tail

#: Largest exact cost of the Hessian release over the printed one on the box, at its corner epsilon = 1, delta = 1e-12 and
#: f'' ||x||^2 = rho_max (tested against the profile).
CRITICAL = 0.8599862658545683


def noise(p: Point) -> float:
    """Return ``sigma_2 = rho_max sqrt(2 log(1.25/delta))/epsilon``."""
    return p["rho_max"] * math.sqrt(2.0 * math.log(1.25 / p["delta"])) / p["epsilon"]


def cost(p: Point, *, power: int = -1, scale: float = 1.0) -> float:
    """Return the printed epsilon; ``power`` is that of ``log(1.25/delta)`` in its first term."""
    ratio = p["epsilon"] * p["hessian"] / p["rho_max"]
    return scale * (ratio**2 / 8.0 * math.log(1.25 / p["delta"]) ** power + ratio / math.sqrt(2.0))


def _inside(p: Point, epsilon: float) -> bool:
    return p["hessian"] <= p["rho_max"] and p["epsilon"] < 1.0 + 1e-12


BOX = {"hessian": Axis(1e-3, 1e2), "rho_max": Axis(1e-2, 1e2), "epsilon": Axis(1e-3, 1.0), "delta": Axis(1e-12, 0.5)}
#: The claim about the Hessian release alone (as corrected), and about both releases (as printed).
ALONE = FormalClaim(
    profile=lambda p: GaussianProfile(p["hessian"] / math.sqrt(2.0) / noise(p)),
    box=BOX,
    observer=Observer.TRANSCRIPT,
    conditioned_on="the released parameter",
)
BOTH = replace(
    ALONE,
    profile=lambda p: GaussianProfile(math.hypot(p["gradient"], p["hessian"] / math.sqrt(2.0)) / noise(p)),
    box={"gradient": Axis(1e-3, 1e2), **BOX},
)

CONDITION_BOX = {"p": Axis(1e-6, 0.999999, log=False), "r": Axis(1e-3, 1.0)}


def _condition(case: Case, *, left: float = 0.25, right: float = 0.25) -> Evidence:
    """Decide the condition for the logistic loss: ``|f'| = 1 - p``, ``f'' = p (1 - p)``, ``||x|| = r``, over a box.

    It says ``f'' ||x||^2/left <= |f'| ||x||/right``; rho_max and beta are 1/4.
    """

    def gap(p: Mapping[str, Any]) -> Any:
        return (1 / arb(right) - p["p"] * p["r"] / arb(left)) * (1 - p["p"]) * p["r"]

    return on_box("right side minus left side, logistic loss", gap, CONDITION_BOX, smooth=True)


def _below_the_loss(case: Case) -> Evidence:
    """Compare the cost with the loss of the main algorithm at an outcome (as printed).

    The condition's lost symbol is taken at its largest, sigma = 1, which implies it for beta = 1/4.
    """
    p = numbers(case) | {"xi": 1.0}
    paid = cost(p)
    others: Rows = [((1.0,), -1.0)] * case.whole("opposite")
    loss = log_ratio("logistic", others, [*others, ((1.0,), 1.0)], [p["theta"]], 1.0, p["lam"])
    low, high = min(abs(loss.low), abs(loss.high)), max(abs(loss.low), abs(loss.high))
    low = 0.0 if loss.low <= 0.0 <= loss.high else low
    method = "ball arithmetic of the density ratio"
    exact = Estimate.proved(low - paid * (1.0 + 1e-13), high - paid * (1.0 - 1e-13), method)
    return _compared("ex-post loss of Theorem 6 at the outcome minus the cost", p, exact)


def _below_the_gradient(case: Case, *, share: float = math.sqrt(0.5)) -> Evidence:
    """Compare the cost of the Hessian with a share of that of the gradient, in advance (as corrected)."""
    p = numbers(case)
    # the gradient release at noise xi sqrt(2 log(1.25/delta))/epsilon, T14.1, and the Hessian release, T17.1
    mu = p["gradient"] * p["epsilon"] / (p["xi"] * math.sqrt(2.0 * math.log(1.25 / p["delta"])))
    nu = p["epsilon"] * p["hessian"] / (p["rho_max"] * 2.0 * math.sqrt(math.log(1.25 / p["delta"])))
    gradient, hessian = (epsilon_tail({"norm": ratio, "sigma": 1.0, "delta": p["delta"]}) for ratio in (mu, nu))
    gap, error = share * gradient - hessian, 1e-12 * max(abs(gradient), abs(hessian))
    exact = Estimate.proved(gap - error, gap + error, "float64 with an error bound")
    return _compared("cost of the gradient over sqrt(2) minus cost of the Hessian", p, exact)


def _compared(quantity: str, p: Point, exact: Estimate) -> Evidence:
    domain = p["hessian"] / p["rho_max"] <= p["gradient"] / p["xi"] * (1.0 + 1e-12)
    claim = Claim(quantity, 0.0, math.inf, cost(p), in_domain=domain, observer=Observer.TRANSCRIPT)
    return Evidence(claim, exact=exact, notes={"cost": cost(p)})


TOO_SMALL = {"left denominator 5 % smaller": Mutant(_condition, {"on": "the box"}, severity=0.05, left=0.95 * 0.25)}
SHORT = {"gradient": 0.1, "hessian": 0.01, "rho_max": 1.0, "epsilon": 0.5, "delta": 1e-6}
SCALES = {
    "hessian": (1e-3, 0.1, 1.0), "rho_max": (1.0, 30.0), "epsilon": (0.01, 0.5, 1.0), "delta": (0.5, 1e-3, 1e-12)
}  # fmt: skip
CORNER = {"hessian": 1.0, "rho_max": 1.0, "epsilon": 1.0, "delta": 1e-12}
# logistic loss, x = 1, y = 1, three records with the other label: at theta = -1.2 the terms of the loss nearly cancel
THETA = -1.2
P = 1.0 / (1.0 + math.exp(-THETA))
RECORD = {"epsilon": 0.5, "delta": 1e-6, "hessian": P * (1 - P), "gradient": 1 - P, "rho_max": 0.25, "xi": 1.0}
OUTCOME = RECORD | {"theta": THETA, "lam": 0.5, "opposite": 3}
RECORDS = [
    RECORD | {"epsilon": e, "delta": d, "hessian": h, "gradient": g}
    for e in (0.01, 0.5, 1.0)
    for d in (0.5, 1e-3, 1e-12)
    for h, g in ((0.001, 0.004), (0.1, 0.9), (0.25, 1.0))
]


def _cost_of_both(title: str, exponent: str, power: int) -> Display:
    """Return one reading of the printed cost: log(1.25/delta) to a power in its first term."""
    return Display(
        title,
        Form(
            "epsilon(dot) = (epsilon^2 (f''(dot))^2 norm(x)^4)/(8 rho_\"max\"^2) [log(1.25/delta)]^"
            + exponent
            + ' + (epsilon f\'\'(dot) norm(x)^2)/(rho_"max" sqrt(2)) quad "for Algorithm 2"',
            BOTH.of(partial(cost, power=power), _inside),
            [smallest("||x|| = 1/10, f' = f'' = 1", SHORT), search(quick=False)],
        ),
        Form(
            '"release of" hat(H)^P: quad epsilon(dot) = (epsilon^2 (f\'\'(dot))^2 norm(x)^4)/(8 rho_"max"^2 log(1.25/delta))'
            " + (epsilon f''(dot) norm(x)^2)/(rho_\"max\" sqrt(2))",
            ALONE.of(cost, _inside),
            [
                At("the case that refutes the printed form", SHORT),
                *over("scales and delta", SCALES, quick_every=11),
                search(quick=False),
            ],
        ),
        "Algorithm 2 releases the gradient too, at a cost of order |f'| ||x||, which the formula leaves out; for a short x that "
        "is the larger cost, and the release is not private at the stated level.",
        {
            "constant 2 % below the critical one": Mutant(
                ALONE.of(partial(cost, scale=0.98 * CRITICAL), _inside), CORNER, severity=0.02
            ),
            "no square root of 2": Mutant(
                ALONE.of(lambda p: cost(p) - 0.4 * p["epsilon"] * p["hessian"] / p["rho_max"], _inside), CORNER
            ),
        },
    )


STATEMENT = statement(
    "RW21-C16",
    domain="sigma_2 = rho_max sqrt(2 log(1.25/delta))/epsilon, epsilon < 1, rho_max the largest f'' ||x||^2 (not defined in the "
    "text), add or remove one record; given the released parameter. Decided for epsilon in [1e-3, 1], delta in "
    "[1e-12, 0.5], f'' ||x||^2 up to rho_max",
    summary="The formula is the cost of releasing the Hessian alone, and true of that (with the logarithm in the denominator), loose by 14 % at "
    "least; Algorithm 2 releases the gradient too, wherever the logarithm stands. The symbol of the condition's right denominator is lost "
    "in our copy: with beta the condition is true in logistic regression. An ex-post loss can be 0, so no cost is always below it.",
    derivation="docs/derivations/redberg_wang2021.md, Corollary 16",
    displays={
        "@a": _cost_of_both("cost of Algorithm 2; the logarithm in the denominator", "(-1)", -1),
        "@b": _cost_of_both("cost of Algorithm 2; the logarithm in the numerator", "(+1)", 1),
        "#condition@beta": Display(
            "the condition in logistic regression, for all ||x|| <= 1; beta read",
            Form(
                '(f\'\'(dot) norm(x)^2)/rho_"max" <= (abs(f\'(dot)) norm(x))/beta, quad rho_"max" = beta = 1/4',
                _condition,
                [At("proved on the box")],
            ),
            mutants=TOO_SMALL,
        ),
        "#condition@sigma": Display(
            "the condition in logistic regression, for all ||x|| <= 1; sigma read",
            Form(
                '(f\'\'(dot) norm(x)^2)/rho_"max" <= (abs(f\'(dot)) norm(x))/sigma, quad rho_"max" = 1/4, quad sigma = 1',
                partial(_condition, right=1.0),
                [smallest("logistic loss, on the box", {})],
            ),
            Form(
                '(f\'\'(dot) norm(x)^2)/rho_"max" <= (abs(f\'(dot)) norm(x))/sigma, quad sigma <= rho_"max" = 1/4',
                _condition,
                [At("proved on the box")],
            ),
            "With the noise scale in the place of the lost symbol the condition asks for sigma at most 1/4; at sigma = 1 it fails as soon "
            "as 4 p ||x|| exceeds 1. With gamma, delta or lambda it would have no meaning, or that of sigma.",
            TOO_SMALL,
        ),
        "#comparison": Display(
            "under the condition the cost is below the ex-post loss of Theorem 6",
            Form(
                '"under the condition, whichever symbol it has:" epsilon(dot) < epsilon_1 (hat(theta)^P, D, D_(plus.minus z))',
                _below_the_loss,
                [smallest("three records, lambda = 1/2, sigma = 1, theta = -1.2", OUTCOME)],
            ),
            Form(
                "(f''(dot) norm(x)^2)/rho_\"max\" <= (abs(f'(dot)) norm(x))/xi ==> epsilon_3 <= epsilon_2/sqrt(2), quad"
                ' sigma_2 = xi/epsilon sqrt(2 log(1.25/delta)) quad "for the gradient (T14.1, T17.1)"',
                _below_the_gradient,
                [At("the same record, in advance", RECORD), *(At("scales and delta", p) for p in RECORDS)],
            ),
            "The ex-post loss is an absolute value of terms that may cancel, down to 0 at some outcomes; the cost is a fixed "
            "positive number.",
            {
                "0.68 of it": Mutant(
                    _below_the_gradient, RECORD | {"hessian": 0.25, "gradient": 1.0}, severity=0.04, share=0.68
                )
            },
        ),
    },
)

"""W18, (14): the ridge that balances the bound (13), and when none is best.

With ``a = d B^2 (Y^2 + B^2 |theta*|^2) log log/epsilon^2`` the last form of (13) is ``a/(lambda + lambda_min) + lambda |theta*|^2``.
In the two ratios ``r = Y/(B |theta*|)`` and ``m = lambda_min/lambda_14`` everything else cancels: proved on boxes
(docs/derivations/wang2018_appendix_c.md, section 7).
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

from flint import arb

from mechanisms.numerics.balls import Ball

from ...kernel.box_search import Axis
from ...methods.boxes import on_box
from ...methods.enclosed import decades_evidence, enclosed
from ..kit import At, Case, Display, Evidence, Form, Mutant, over, statement


def _at_14(r: Ball) -> Ball:
    """Return the first term of (13) over the second at lambda = (14)."""
    return (1 + r * r) / (1 + r) ** 2


def _balance(case: Case, *, ratio: Callable[[Ball], Ball] = _at_14) -> Evidence:
    """Enclose the ratio of the two terms at ``r``, or prove that it is in [0.4999, 1] on a box in s = r/(1 + r)."""
    if "r" in case.params:
        return enclosed("first term over second at (14)", lambda: ratio(arb(case.number("r"))), 0.5, 1.0, 1.0)
    return on_box(
        "room of the ratio in [0.4999, 1]",  # the product of what is left to both
        lambda p: 2 * p["s"] * (1 - p["s"]) * (p["s"] * p["s"] + (1 - p["s"]) * (1 - p["s"]) - 0.4999),
        {"s": Axis(1e-6, 1 - 1e-6, log=False)},
        smooth=True,
    )


def _none(case: Case, *, threshold: float = 1.0) -> Evidence:
    """(13) at lambda = t (14) minus (13) at 0, over t |theta*|^2 (14), rescaled; s = r/(1 + r).

    ``threshold``, in units of (14), is where lambda_min must lie for lambda = 0 to be best.
    """
    quantity = "loss of a ridge (13), rescaled"

    def slack(p: Mapping[str, Any]) -> Ball:
        s, m = p["s"], p["m"] * threshold
        return m * (m + p["t"]) - s * s - (1 - s) * (1 - s)

    if case.params:
        point = {name: arb(case.number(name)) for name in ("s", "m", "t")}
        return enclosed(quantity, lambda: slack(point), 0.0, math.inf, 0.0)
    box = {"s": Axis(1e-3, 0.999, log=False), "m": Axis(1.0, 1e3), "t": Axis(0.0, 1e3, log=False)}
    return on_box(quantity, slack, box, smooth=True)


def _order(case: Case, *, power: float = 1.0) -> Evidence:
    """Follow the balanced bound, of order 1/epsilon, over the stated order epsilon^-power."""
    return decades_evidence(
        "|decades| of the balanced bound over its order, epsilon from 1 to 1e-8", 8 * abs(1 - power)
    )


EDGE = {"s": 2.0**-30, "m": 1.0, "t": 2.0**-10}

STATEMENT = statement(
    "W18-E14",
    domain="The last form of (13) as a function of lambda, theta* not 0; Theta(.) with constant 1. Proved for "
    "Y/(B |theta*|) in [1e-6, 1e6] (the threshold: [1e-3, 1e3], lambda_min up to 1000 times (14))",
    summary="True with constant 1: at (14) the first term is between half of the second and all of it, the bound is at most twice "
    "sqrt(d) (B Y |theta*| + B^2 |theta*|^2) sqrt(log log)/epsilon, and lambda = 0 minimises the bound once lambda_min is at least (14).",
    displays={
        "#balance": Display(
            "balance of the two terms at lambda_min = 0",
            Form(
                "lambda = Theta(sqrt(d log(6\\/delta) log(2 d^2\\/rho)) ((norm(cal(X)) norm(cal(Y)))/norm(theta^*)"
                " + norm(cal(X))^2)\\/epsilon)",
                _balance,
                [At("proved on the box"), *over("single ratios", {"r": (1.0, 2.0**-40, 2.0**40, 0.125, 3.0)})],
            ),
            mutants={
                "no responses in (14)": Mutant(_balance, {"r": 8.0}, ratio=lambda r: 1 + r * r),
                "product for the sum in (14)": Mutant(_balance, {"r": 0.125}, ratio=lambda r: (1 + r * r) / (r * r)),
            },
        ),
        "#order": Display(
            "order of the balanced bound",
            Form("F(hat(theta)_lambda) - F(theta^*) = O(sqrt(d)\\/epsilon)", _order, [At("sequence in epsilon")]),
            mutants={
                "bound of order 1/epsilon^2": Mutant(_order, {}, power=2.0),
                "bound of order epsilon^(-0.8)": Mutant(_order, {}, severity=0.2, power=0.8),
            },
        ),
        "#no ridge": Display(
            "no ridge above the balance",
            Form(
                'lambda_min >= "(14)" ==> lambda = 0 "is best, rate" d\\/(lambda_min epsilon^2)',
                _none,
                [At("proved on the box"), At("next to the threshold", EDGE)],
            ),
            mutants={"threshold 5 % lower": Mutant(_none, [EDGE, {}], severity=0.05, threshold=0.95)},
        ),
    },
)

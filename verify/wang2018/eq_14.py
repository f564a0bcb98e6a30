"""W18, (14): the ridge that balances the bound (13), and when none is best.

With ``a = d B^2 (Y^2 + B^2 |theta*|^2) log log/epsilon^2`` the last form of (13) is ``a/(lambda + lambda_min) + lambda |theta*|^2``.
In the two ratios ``r = Y/(B |theta*|)`` and ``m = lambda_min/lambda_14`` everything else cancels: proved on boxes
(docs/derivations/wang2018_appendix_c.md, section 7).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from flint import arb

from audits import Budget, Estimate
from mechanisms.balls import Ball, enclose

from ..boxes import box_evidence, prove_nonnegative
from ..cases import case, grid, mutant
from ..formal import version_name
from ..search import Axis
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Standing, Statement
from .failure import growth_evidence

ID = "W18-E14"
BALANCE, NONE, ORDER = f"{ID}#balance", f"{ID}#no ridge", f"{ID}#order"

#: Where lambda_min must lie for lambda = 0 to be best, in units of (14).
THRESHOLDS = {"printed": 1.0, "threshold 5 % lower": 0.95}


def check(case: Case, budget: Budget) -> Evidence:
    """Decide one case of one part."""
    version = version_name(case)
    if case.part == BALANCE:
        return _balance(case, version)
    if case.part == NONE:
        return _none(case, version)
    power = {"printed": 1.0, "bound of order 1/epsilon^2": 2.0, "bound of order epsilon^(-0.8)": 0.8}[version]
    return growth_evidence("|decades| of the balanced bound over its order, epsilon from 1 to 1e-8", 8 * abs(1 - power))


def _terms_ratio(r: Ball, version: str) -> Ball:
    """Return the first term of (13) over the second at lambda = (14): (1 + r^2)/(1 + r)^2."""
    if version == "no responses in (14)":
        return 1 + r * r
    if version == "product for the sum in (14)":
        return (1 + r * r) / (r * r)
    return (1 + r * r) / (1 + r) ** 2


def _balance(case: Case, version: str) -> Evidence:
    if "r" in case.params:
        found = enclose(lambda: _terms_ratio(arb(case.number("r")), version))
        claim = Claim("first term over second at (14)", 0.5, 1.0, 1.0, observer=Observer.OUTPUT)
        return Evidence(claim, exact=Estimate.proved(found.low, found.high, "ball arithmetic"))
    box = {"s": Axis(1e-6, 1 - 1e-6, log=False)}

    def slack(p: Mapping[str, Any]) -> Ball:
        # with s = r/(1 + r) the ratio is s^2 + (1 - s)^2; times what is left to 1 and to 0.4999
        ratio = p["s"] * p["s"] + (1 - p["s"]) * (1 - p["s"])
        if version == "no responses in (14)":
            ratio = ratio / ((1 - p["s"]) * (1 - p["s"]))
        return 2 * p["s"] * (1 - p["s"]) * (ratio - 0.4999) if version == "printed" else 1 - ratio

    return box_evidence("room of the ratio in [0.4999, 1]", prove_nonnegative(slack, box, smooth=True), box)


def _none(case: Case, version: str) -> Evidence:
    """(13) at lambda = t (14) minus (13) at 0, over t |theta*|^2 (14), rescaled; s = r/(1 + r)."""
    scale = THRESHOLDS[version]

    def slack(p: Mapping[str, Any]) -> Ball:
        s, m = p["s"], p["m"] * scale
        return m * (m + p["t"]) - s * s - (1 - s) * (1 - s)

    if "s" in case.params:
        found = enclose(lambda: slack({name: arb(case.number(name)) for name in ("s", "m", "t")}))
        claim = Claim("loss of a ridge (13), rescaled", 0.0, math.inf, 0.0, observer=Observer.OUTPUT)
        return Evidence(claim, exact=Estimate.proved(found.low, found.high, "ball arithmetic"))
    box = {"s": Axis(1e-3, 0.999, log=False), "m": Axis(1.0, 1e3), "t": Axis(0.0, 1e3, log=False)}
    return box_evidence("loss of a ridge (13), rescaled", prove_nonnegative(slack, box, smooth=True), box)


def _cases() -> tuple[Case, ...]:
    printed = Standing.PRINTED
    edge = {"s": 2.0**-30, "m": 1.0, "t": 2.0**-10}
    return (
        case(BALANCE, printed, {}, regime="proved on the box"),
        *grid(BALANCE, printed, {"r": (1.0, 2.0**-40, 2.0**40, 0.125, 3.0)}, regime="single ratios"),
        mutant(BALANCE, "no responses in (14)", {"r": 8.0}),
        mutant(BALANCE, "product for the sum in (14)", {"r": 0.125}),
        case(NONE, printed, {}, regime="proved on the box"),
        case(NONE, printed, edge, regime="next to the threshold"),
        mutant(NONE, "threshold 5 % lower", edge, severity=0.05),
        mutant(NONE, "threshold 5 % lower", {}, severity=0.05),
        case(ORDER, printed, {}, regime="sequence in epsilon"),
        mutant(ORDER, "bound of order 1/epsilon^2", {}),
        mutant(ORDER, "bound of order epsilon^(-0.8)", {}, severity=0.2),
    )


STATEMENT = Statement(
    id=ID,
    paper="wang2018",
    kind="equation",
    title="The ridge that balances the bound on the optimisation error",
    locator="Equation 14 and the text after it, appendix C.2",
    domain=(
        "The last form of (13) as a function of lambda, theta* not 0; Theta(.) with constant 1. Proved for "
        "Y/(B |theta*|) in [1e-6, 1e6] (the threshold: [1e-3, 1e3], lambda_min up to 1000 times (14))"
    ),
    summary=(
        "True with constant 1: at (14) the first term is between half of the second and all of it, the bound is at most twice "
        "sqrt(d) (B Y |theta*| + B^2 |theta*|^2) sqrt(log log)/epsilon, and lambda = 0 minimises the bound once lambda_min is at least (14)."
    ),
    parts=(
        Part(
            BALANCE,
            "balance of the two terms at lambda_min = 0",
            Formula(
                "lambda = Theta(sqrt(d log(6\\/delta) log(2 d^2\\/rho)) ((norm(cal(X)) norm(cal(Y)))/norm(theta^*)"
                " + norm(cal(X))^2)\\/epsilon)",
                "lambda = Theta(sqrt(d log(6/delta) log(2d^2/rho)) (B Y/||theta*|| + B^2)/epsilon)",
            ),
        ),
        Part(
            ORDER,
            "order of the balanced bound",
            Formula(
                "F(hat(theta)_lambda) - F(theta^*) = O(sqrt(d)\\/epsilon)", "the bound is of the order sqrt(d)/epsilon"
            ),
        ),
        Part(
            NONE,
            "no ridge above the balance",
            Formula(
                'lambda_min >= "(14)" ==> lambda = 0 "is best, rate" d\\/(lambda_min epsilon^2)',
                "lambda_min at least (14) implies that lambda = 0 is best, with the rate d/(lambda_min epsilon^2)",
            ),
        ),
    ),
    cases=_cases(),
    check=check,
)

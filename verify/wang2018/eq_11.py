"""W18, (11) and its companion: the noise of both statistics in the inverse Gram metric.

O(.) is decided with explicit constants: 2 for the moment's noise, 4 - 2/d (Lemma 6, corrected) for the Gram matrix's
(docs/derivations/wang2018_appendix_c.md, section 3).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, fmpq

from audits import Budget, Estimate

from ..cases import case, grid, mutant
from ..formal import version_name
from ..statement import Case, Evidence, Formula, Part, Standing, Statement, Value
from . import lem_6
from .failure import chi_square_tail, counted, failure_evidence, normal_tail, proved_probability

ID = "W18-E11"
MOMENT, GRAM = f"{ID}#moment", f"{ID}#Gram matrix"
DRAWS = (2_000, 8_000, 200_000)

#: Constant of the moment's bound, and the argument of its logarithm (d/rho as printed).
VERSIONS: dict[str, tuple[Fraction, Callable[[int, Any], Any]]] = {
    "printed": (Fraction(2), lambda d, rho: d / rho),
    "constant cut by 10 %": (Fraction(9, 5), lambda d, rho: d / rho),
    "no dependence on rho": (Fraction(2), lambda d, rho: arb(d) + 2),
}


def check(case: Case, budget: Budget) -> Evidence:
    """Decide the failure probability of the bound with its constant, at unit noise (everything is homogeneous)."""
    dim, rho, shape = case.whole("dim"), case.number("rho"), case.text("spectrum")
    if case.part == GRAM:
        constant = lem_6.CONSTANTS["corrected" if version_name(case) == "printed" else version_name(case)](dim)
        ratio = constant / (2 - Fraction(1, dim))
        companion = proved_probability(lambda: normal_tail(_ball(ratio) * (2 * dim**2 / arb(rho)).log()))
        return failure_evidence("bound on E_1 theta*, inverse Gram matrix nearly of rank one", rho, exact=companion)
    constant, argument = VERSIONS[version_name(case)]
    exact: Estimate | None = None
    if shape == "flat":
        exact = proved_probability(lambda: chi_square_tail(dim, _ball(constant) * dim * argument(dim, arb(rho)).log()))
    sampled = None
    if any(case.draws):
        bound = float(constant) * np.log(float(argument(dim, rho)))
        sampled = _sampled(shape, dim, bound, budget)
    return failure_evidence("bound on |E_2|^2 in the inverse Gram metric", rho, exact=exact, sampled=sampled)


def _ball(value: Fraction) -> Any:
    return arb(fmpq(value.numerator, value.denominator))


def _sampled(shape: str, dim: int, bound: float, budget: Budget) -> Estimate:
    weights = np.ones(dim) if shape == "flat" else np.geomspace(1.0, 1e-4, dim)
    weights = weights / weights.sum()

    def failing(size: int, rng: np.random.Generator) -> np.ndarray:
        return np.asarray(rng.standard_normal((size, dim)) ** 2 @ weights > bound)

    return counted(failing, budget, floats_each=dim)


def _cases() -> tuple[Case, ...]:
    printed = Standing.PRINTED
    rare: dict[str, Value] = {"spectrum": "flat", "dim": 1, "rho": 1e-30}
    return (
        *grid(
            MOMENT,
            printed,
            {"spectrum": ("flat", "spread"), "dim": (1, 3, 20), "rho": (0.9, 0.3, 0.05)},
            regime="dimension, spectrum and rho",
            draws=DRAWS,
            quick_every=5,
        ),
        *grid(
            MOMENT,
            printed,
            {"spectrum": ("flat",), "dim": (1, 2, 20, 200), "rho": (0.999, 1e-3, 1e-12, 1e-30)},
            regime="exact law",
        ),
        *grid(
            GRAM,
            printed,
            {"spectrum": ("rank one",), "dim": (1, 2, 20, 200), "rho": (0.9, 1e-3, 1e-12, 1e-30)},
            regime="exact law (the metrics of Lemma 6)",
        ),
        case(MOMENT, printed, rare | {"rho": 1e-100}, regime="exact law"),
        mutant(MOMENT, "constant cut by 10 %", rare, severity=0.1),
        mutant(MOMENT, "no dependence on rho", rare),
        mutant(GRAM, "constant cut by 10 %", rare | {"spectrum": "rank one"}, severity=0.1),
    )


STATEMENT = Statement(
    id=ID,
    paper="wang2018",
    kind="equation",
    title="Noise of the sufficient statistics in the inverse Gram metric",
    locator="Equation 11 and the display before it, appendix C.1",
    domain=(
        "Noise of AdaSSP: variances B^4 log(6/delta)/(epsilon/3)^2 and B^2 Y^2 log(6/delta)/(epsilon/3)^2, X^T X invertible, "
        "with probability 1 - rho (left out in print). Decided with constants, for d <= 200, rho in [1e-100, 0.999]"
    ),
    summary=(
        "True with constant 2 for the moment and 4 - 2/d for the Gram matrix, the least possible as rho tends to 0. (The noise "
        "of appendix C.1's SSP has 4 log(4/delta), which is smaller than 9 log(6/delta).)"
    ),
    parts=(
        Part(
            MOMENT,
            "noise of the moment, (11)",
            Formula(
                'norm(E_2)_((X^T X)^(-1))^2 = O((norm(cal(X))^2 norm(cal(Y))^2 op("tr")[(X^T X)^(-1)] log(6\\/delta)'
                " log(d\\/rho))/(epsilon^2\\/9))",
                "||E2||^2 in the metric (X'X)^-1 = O(B^2 Y^2 tr[(X'X)^-1] log(6/delta) log(d/rho)/(epsilon^2/9))",
            ),
        ),
        Part(
            GRAM,
            "noise of the Gram matrix, the companion",
            Formula(
                'norm(E_1 theta^*)_((X^T X)^(-1))^2 = O((norm(cal(X))^4 norm(theta^*)^2 op("tr")[(X^T X)^(-1)]'
                " log(6\\/delta) log(2 d^2\\/rho))/(epsilon^2\\/9))",
                "||E1 theta*||^2 in the metric (X'X)^-1 = O(B^4 ||theta*||^2 tr[(X'X)^-1] log(6/delta) log(2 d^2/rho)"
                "/(epsilon^2/9))",
            ),
        ),
    ),
    cases=_cases(),
    check=check,
)

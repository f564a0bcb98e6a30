"""W18, Lemma 9: the optimisation error of a normal law around a minimiser, half of a chi-square over gamma.

The same two bounds as in Lemma 8, halved, and the same mistake in the second (docs/derivations/wang2018_appendix_d.md,
section 1).
"""

from __future__ import annotations

from typing import Any

from audits import Budget

from ..cases import grid, mutant
from ..formal import version_name
from ..statement import Case, Evidence, Formula, Part, Standing, Statement, Value
from ..wang2019.rational import column, design, quadratic, random_matrix, same
from .lem_8 import DOC, WRONG, fmpq_of, shared_cases, short_evidence, tail_evidence

ID = "W18-L9"
TAIL, SHORT, EXCESS = f"{ID}#tail", f"{ID}#short", f"{ID}#excess"


def check(case: Case, budget: Budget) -> Evidence:
    """Decide a bound, or that the excess of a quadratic is half the squared distance in its Hessian's metric."""
    if case.part != EXCESS:
        return tail_evidence(case) if case.part == TAIL else short_evidence(case)
    dim, seed = case.whole("dim"), case.whole("seed")
    root = design("generic", dim + 1, dim, seed)
    H, slope, theta = root.transpose() * root, random_matrix(dim, 1, seed, 2), random_matrix(dim, 1, seed, 3)
    best = -(H.inv() * slope)

    def value(at: Any) -> Any:
        return fmpq_of(quadratic(at, H)) / 2 + (slope.transpose() * at)[0, 0]

    metric = H.inv() if version_name(case) == "inverse Hessian for the metric" else H
    left = value(theta) - value(best)
    return same("excess of a quadratic", column(left), column(quadratic(theta - best, metric) / 2))


def _cases() -> tuple[Case, ...]:
    plain: dict[str, Value] = {"dim": 3, "seed": 4}
    return (
        *shared_cases(TAIL, SHORT),
        *grid(EXCESS, Standing.PRINTED, {"dim": (1, 2, 4), "seed": (1, 2)}, regime="quadratics"),
        mutant(EXCESS, "inverse Hessian for the metric", plain),
    )


_LEFT = "F(tilde(theta)) - F(theta^*)"

STATEMENT = Statement(
    id=ID,
    paper="wang2018",
    kind="lemma",
    title="Optimisation error of a normal law around a minimiser",
    locator="Lemma 9, appendix D.1",
    domain=(
        "F a convex quadratic with invertible Hessian, gamma > 0, 0 < rho < 1. Bounds decided exactly for d <= 1000, rho in "
        "[1e-30, 0.999]; proved for sqrt(d) <= 100 in the second"
    ),
    summary="True but for the short bound 2.5 d log(1/rho)/gamma, which fails for rho > 1/e, as in Lemma 8.",
    parts=(
        Part(
            TAIL,
            "error with probability 1 - rho",
            Formula(
                _LEFT + " <= (d + 2 sqrt(d log(1\\/rho)) + 2 log(1\\/rho))/(2 gamma)",
                "F(theta) - F(theta*) <= (d + 2 sqrt(d log(1/rho)) + 2 log(1/rho))/(2 gamma) with probability 1 - rho",
            ),
        ),
        Part(
            SHORT,
            "the shorter bound",
            Formula(
                "(d + 2 sqrt(d log(1\\/rho)) + 2 log(1\\/rho))/(2 gamma) <= (2.5 d log(1\\/rho))/gamma, quad 0 < rho < 1",
                "(d + 2 sqrt(d log(1/rho)) + 2 log(1/rho))/(2 gamma) <= 2.5 d log(1/rho)/gamma for 0 < rho < 1",
            ),
            Formula(
                "(d + 2 sqrt(d log(1\\/rho)) + 2 log(1\\/rho))/(2 gamma) <= (2.5 d log(1\\/rho))/gamma, quad 0 < rho <= 1\\/e",
                "the same for 0 < rho <= 1/e",
            ),
            WRONG,
            DOC,
        ),
        Part(
            EXCESS,
            "the excess is half a squared distance",
            Formula(
                _LEFT + " = 1/2 norm(tilde(theta) - theta^*)_(nabla^2 F)^2",
                "F(theta) - F(theta*) = 1/2 ||theta - theta*||^2 in the metric of the Hessian",
            ),
        ),
    ),
    cases=_cases(),
    check=check,
)

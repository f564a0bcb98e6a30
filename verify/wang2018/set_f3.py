"""W18, appendix F: OPS-Balanced; privacy in two readings (:mod:`.ops_rules`), and the bound (24) that is minimised.

(24) has the error of a sample with ``gamma = epsilon^2 lambda/(log(2/delta) L^2)``; the calibrated gamma is smaller, by 4 or more where
the ridge is at its floor (docs/derivations/wang2018_appendix_ef.md, section 6).
"""

from __future__ import annotations

import math

from flint import arb

from audits import Budget
from mechanisms.balls import Ball
from mechanisms.ops_calibrations import PublishedOPSCalibration

from ..cases import case, grid, mutant
from ..formal import version_name
from ..statement import Case, Evidence, Formula, Part, Role, Standing, Statement, Value
from . import ops_rules
from .failure import chi_square_tail, failure_evidence, proved_probability

ID = "W18-F3"
BOUND = f"{ID}#24"
RHO = 0.05


def check(case: Case, budget: Budget) -> Evidence:
    """Decide the promise of the rule, or (24) for y = 0 and X^T X a multiple of the identity, exactly."""
    if case.part != BOUND:
        return ops_rules.check(case, "balanced")
    version, n, dim, y_bound = version_name(case), case.number("n"), case.whole("dim"), case.number("Y")
    rule = PublishedOPSCalibration(case.number("epsilon"), case.number("delta"), int(n), dim, 1.0, y_bound)
    found, eigenvalue = rule.balanced(rho=RHO), n / dim
    if version == "printed":
        c1 = rule.c1(min(rule.epsilon, math.sqrt(rule.epsilon)), RHO)
        bound = c1 * float(rule.lipschitz(found.lam)) ** 2 / found.lam + found.lam
    else:
        cross = 0.0 if version.startswith("no cross term") else math.sqrt(dim * math.log(1 / RHO))
        bound = (dim / 2 + cross + math.log(1 / RHO)) / found.gamma
        bound += 0.0 if version.startswith("no cross term") else found.lam / 2
        bound *= 0.1 if version == "a tenth of the bound" else 1.0

    def failing() -> Ball:  # theta* = 0: F(theta) - F(theta*) = eigenvalue/(eigenvalue + lambda) chi^2_d/(2 gamma)
        share = arb(eigenvalue) / (arb(eigenvalue) + arb(found.lam))
        return chi_square_tail(dim, 2 * arb(found.gamma) * arb(bound) / share)

    return failure_evidence(
        "(24) with the calibrated gamma", RHO, exact=proved_probability(failing), conditioned_on="y = 0, X^T X = (n/d) I",
        notes={"lambda over its floor": found.lam / rule.diffuse_lam, "gamma": found.gamma},
    )  # fmt: skip


def _cases() -> tuple[Case, ...]:
    hard: dict[str, Value] = {"epsilon": 0.1, "delta": 1e-3, "n": 1e7, "dim": 1000, "Y": 4e-4}
    axes: dict[str, tuple[Value, ...]] = {
        "epsilon": (0.1, 1.0, 10.0), "delta": (1e-3, 1e-9), "n": (1e3, 1e7), "dim": (1, 30, 1000), "Y": (1e-3, 1.0),
    }  # fmt: skip
    words = "d = 1000, n = 1e7, X^T X = (n/d) I, y = 0, Y = 4e-4"
    return (
        *ops_rules.cases(ID),
        case(BOUND, Standing.PRINTED, hard, role=Role.COUNTEREXAMPLE, regime=words),
        case(BOUND, Standing.CORRECTED, hard, role=Role.COUNTEREXAMPLE, regime=words),
        *grid(BOUND, Standing.CORRECTED, axes, regime="budgets, sizes and bounds, exact law", quick_every=7),
        mutant(BOUND, "no cross term, no ridge term", hard | {"dim": 30}),
        mutant(BOUND, "a tenth of the bound", hard | {"Y": 0.1}),
    )


STATEMENT = Statement(
    id=ID,
    paper="wang2018",
    kind="calibration",
    title="OPS-Balanced: the ridge that minimises a utility bound",
    locator="Appendix F, item 3 and equation 24",
    domain=ops_rules.DOMAIN
    + ". (24): rho = 0.05, B = 1, gamma as calibrated, decided exactly for y = 0, d <= 1000, n <= 1e7",
    summary=ops_rules.SUMMARY + " The bound (24) that is minimised is not one on the calibrated sample's error.",
    parts=(
        *ops_rules.parts(
            ID,
            "OPS-Balanced",
            Formula(
                'lambda = op("argmin")_(lambda >= (1 + log(2\\/delta)) norm(cal(X))^2\\/epsilon) (C_1 L(lambda)^2)/lambda + lambda B^2,'
                ' quad gamma "calibrated"',
                "lambda minimises C_1 L(lambda)^2/lambda + lambda B^2 over lambda >= (1 + log(2/delta)) B_x^2/epsilon, gamma calibrated by F0",
            ),
            Formula(
                'lambda "as printed, with the corrected floor and" R, quad gamma "the largest with" quad '
                + ops_rules.CORRECTED,
                "lambda as printed with the corrected floor and residual, gamma the largest with "
                + ops_rules.CORRECTED_TEXT,
            ),
        ),
        Part(
            BOUND,
            "the bound that is minimised, (24)",
            Formula(
                "F(hat(theta)) - F(theta^*) <= (C_1 (min(epsilon, sqrt(epsilon)), delta, rho, d) L(lambda)^2)/lambda + lambda B^2",
                "F(theta) - F(theta*) <= C_1(min(epsilon, sqrt(epsilon)), delta, rho, d) L(lambda)^2/lambda + lambda B^2 with probability 1 - rho",
            ),
            Formula(
                "F(hat(theta)) - F(theta^*) <= (d\\/2 + sqrt(d log(1\\/rho)) + log(1\\/rho))/gamma + 1/2 lambda B^2",
                "F(theta) - F(theta*) <= (d/2 + sqrt(d log(1/rho)) + log(1/rho))/gamma + lambda B^2/2 with probability 1 - rho",
            ),
            "It is derived for a gamma that spends all of epsilon on one term of the rule; the calibrated gamma is smaller.",
            "docs/derivations/wang2018_appendix_ef.md, section 6",
        ),
    ),
    cases=_cases(),
    check=check,
)

"""W18, (4): the distribution-free lower bound, quoted; its units, and the ridge that is said to match it."""

from __future__ import annotations

from audits import Budget

from ..statement import Case, Evidence, Formula, Part, Statement
from .scaling import EIGENVALUE, LOSS, Rate, rate_of

ID = "W18-E4"
RATES = (
    Rate(
        f"{ID}#units",
        "units of the three terms of (4)",
        LOSS,
        ("Theta^2 X^2", "n Y^2", "d Y^2", "n^1/2 Theta X Y"),
        Formula(
            "min{n norm(cal(Y))^2, norm(Theta)^2 norm(cal(X))^2 + d norm(cal(Y))^2, sqrt(n) norm(Theta) norm(cal(X)) norm(cal(Y))}",
            "min{n ||Y||^2, ||Theta||^2 ||X||^2 + d ||Y||^2, sqrt(n) ||Theta|| ||X|| ||Y||} is a loss",
        ),
    ),
    Rate(
        f"{ID}@a",
        "ridge that matches (4), at every bound of the features",
        EIGENVALUE,
        ("d^0",),
        Formula(
            '"ridge regression with" lambda = 1 "matches" (4)',
            "ridge regression with lambda = 1 matches (4), any ||X||",
        ),
        ("X^2",),
        Formula("lambda = norm(cal(X))^2", "lambda = ||X||^2"),
        "A ridge is added to X^T X and has its unit; lambda = 1 is meant where ||X|| = 1.",
        "docs/derivations/wang2018_rates.md, section 3",
        reading="a",
    ),
)


def check(case: Case, budget: Budget) -> Evidence:
    """Decide the units; the bound itself has no finite test."""
    return rate_of(RATES, case).check(case)


STATEMENT = Statement(
    id=ID,
    paper="wang2018",
    kind="equation",
    title="Distribution-free lower bound",
    locator="Equation 4, section 3.1 (Shamir 2015, times n)",
    domain="n >= 1 i.i.d. records of any law on a ball, Theta a ball, every measurable theta_hat(X, y) in Theta",
    summary=(
        "Quoted: an infimum over all estimators and a supremum over all laws up to an unnamed constant has no finite test. Its units are "
        "right, and it is the cited theorem with ||x|| <= ||X|| times n. The remark that lambda = 1 matches it can only be meant for ||X|| = 1."
    ),
    parts=(
        Part(
            f"{ID}#bound",
            "the lower bound",
            Formula(
                "inf_hat(theta) sup_cal(P) [EE[n R(hat(theta))] - inf_(theta in Theta) n R(theta)] gt.tilde min{n norm(cal(Y))^2,"
                " norm(Theta)^2 norm(cal(X))^2 + d norm(cal(Y))^2, sqrt(n) norm(Theta) norm(cal(X)) norm(cal(Y))}",
                "inf over theta_hat of sup over P of E[n R(theta_hat)] - inf n R >= c min{n ||Y||^2, ||Theta||^2 ||X||^2 + d ||Y||^2, "
                "sqrt(n) ||Theta|| ||X|| ||Y||}",
            ),
        ),
        *(rate.part() for rate in RATES),
        Part(
            f"{ID}@b",
            "ridge that matches (4), features bounded by 1",
            Formula(
                '"ridge regression with" lambda = 1 "matches" (4) "for" norm(cal(X)) = 1',
                "lambda = 1 matches (4) where ||X|| = 1",
            ),
            reading="b",
        ),
    ),
    cases=tuple(case for rate in RATES for case in rate.cases()),
    check=check,
)

"""W18, Table 1: optimisation error of the surveyed algorithms; units of every row, exactly."""

from __future__ import annotations

from audits import Budget

from ..statement import Case, Evidence, Formula, Part, Statement
from .scaling import LOSS, NUMBER, Rate, rate_of

ID = "W18-T1"
NOTES = "docs/derivations/wang2018_rates.md, section 3"
MISSING = "The square of the features' bound is missing: without it the entry is no loss."


def _rate(
    label: str, title: str, printed: str, typst: str, text: str, corrected: str = "", fix: tuple[str, str] | None = None
) -> Rate:
    """Return one entry of the table; ``fix`` holds the corrected formula."""
    return Rate(
        f"{ID}#{label}",
        f"units of the entry: {title}",
        LOSS,
        (printed,),
        Formula(typst, text),
        (corrected,) if corrected else (),
        Formula(*fix) if fix else None,
        MISSING if fix else "",
        NOTES if fix else "",
    )


_STRONG = ("d^2 Theta^2 alpha^-1 n^-1 epsilon^-2 log", "d^2 X^2 Theta^2 alpha^-1 n^-1 epsilon^-2 log")

RATES = (
    _rate(
        "NoisySGD",
        "NoisySGD, A.1 and A.2",
        "d^1/2 log^1/2 X^2 Theta^2 epsilon^-1",
        "(sqrt(d log(n/delta)) norm(cal(X))^2 norm(Theta)^2)/epsilon",
        "sqrt(d log(n/delta)) ||X||^2 ||Theta||^2/epsilon",
    ),
    _rate(
        "NoisySGD convex",
        "NoisySGD, A.1 to A.3",
        _STRONG[0],
        "(d^2 log(n/delta) norm(Theta)^2)/(alpha^* n epsilon^2)",
        "d^2 log(n/delta) ||Theta||^2/(alpha* n epsilon^2)",
        _STRONG[1],
        (
            "(d^2 log(n/delta) norm(cal(X))^2 norm(Theta)^2)/(alpha^* n epsilon^2)",
            "d^2 log(n/delta) ||X||^2 ||Theta||^2/(alpha* n epsilon^2)",
        ),
    ),
    _rate(
        "ObjPert",
        "ObjPert, A.1 and A.2",
        "d^1/2 log^1/2 X^2 Theta theta epsilon^-1",
        "(sqrt(d log(1/delta)) norm(cal(X))^2 norm(Theta) norm(theta^*))/epsilon",
        "sqrt(d log(1/delta)) ||X||^2 ||Theta|| ||theta*||/epsilon",
    ),
    _rate(
        "ObjPert convex",
        "ObjPert, A.1 to A.3",
        _STRONG[0],
        "(d^2 log(1/delta) norm(Theta)^2)/(alpha^* n epsilon^2)",
        "d^2 log(1/delta) ||Theta||^2/(alpha* n epsilon^2)",
        _STRONG[1],
        (
            "(d^2 log(1/delta) norm(cal(X))^2 norm(Theta)^2)/(alpha^* n epsilon^2)",
            "d^2 log(1/delta) ||X||^2 ||Theta||^2/(alpha* n epsilon^2)",
        ),
    ),
    _rate(
        "OPS",
        "OPS, pure epsilon",
        "d X^2 Theta^2 epsilon^-1",
        "(d norm(cal(X))^2 norm(Theta)^2)/epsilon",
        "d ||X||^2 ||Theta||^2/epsilon",
    ),
    _rate(
        "SSP",
        "SSP",
        "d^2 log X^2 theta^2 alpha^-1 n^-1 epsilon^-2",
        "(d^2 log(1/delta) norm(cal(X))^2 norm(theta^*)^2)/(alpha n epsilon^2)",
        "d^2 log(1/delta) ||X||^2 ||theta*||^2/(alpha n epsilon^2)",
    ),
    Rate(
        f"{ID}#SSP n",
        "units of the requirement of SSP",
        NUMBER,
        ("n^-1 d^3/2 log alpha^-1 epsilon^-1",),
        Formula(
            "n = Omega((d^(1.5) log(4/delta))/(alpha epsilon))",
            "n of order at least d^1.5 log(4/delta)/(alpha epsilon)",
        ),
    ),
    Rate(
        f"{ID}#adaptive",
        "units of the entry: AdaOPS and AdaSSP",
        LOSS,
        ("d^2 theta^2 alpha^-1 n^-1 epsilon^-2 log", "d^1/2 log^1/2 X^2 theta^2 epsilon^-1"),
        Formula(
            "(sqrt(d log(1/delta)) norm(cal(X))^2 norm(theta^*)^2)/epsilon and (d^2 log(1/delta) norm(theta^*)^2)/(alpha n epsilon^2)",
            "min of sqrt(d log(1/delta)) ||X||^2 ||theta*||^2/epsilon and d^2 log(1/delta) ||theta*||^2/(alpha n epsilon^2)",
        ),
        ("d^2 X^2 theta^2 alpha^-1 n^-1 epsilon^-2 log", "d^1/2 log^1/2 X^2 theta^2 epsilon^-1"),
        Formula(
            "(sqrt(d log(1/delta)) norm(cal(X))^2 norm(theta^*)^2)/epsilon and (d^2 log(1/delta) norm(cal(X))^2 norm(theta^*)^2)/(alpha n epsilon^2)",
            "min of sqrt(d log(1/delta)) ||X||^2 ||theta*||^2/epsilon and d^2 log(1/delta) ||X||^2 ||theta*||^2/(alpha n epsilon^2)",
        ),
        MISSING,
        NOTES,
    ),
)


def check(case: Case, budget: Budget) -> Evidence:
    """Decide the units of one entry."""
    return rate_of(RATES, case).check(case)


STATEMENT = Statement(
    id=ID,
    paper="wang2018",
    kind="table",
    title="Optimisation error of the surveyed algorithms",
    locator="Table 1, section 3.2",
    domain=(
        "F(theta_hat) - F(theta*) up to constants, in expectation for NoisySGD, else with probability 1 - rho; ||Y|| <= ||X|| ||Theta||, "
        "||Y|| <= C ||X|| ||theta*||; assumptions as in the rows"
    ),
    summary=(
        "Three entries (NoisySGD and ObjPert under A.3, the second term of AdaOPS and AdaSSP) lack ||X||^2 and are wrong for every constant "
        "as ||X|| grows. With it all units are right; that the surveyed rates hold at all is quoted and has no finite test here. "
        "AdaOPS and AdaSSP are decided in W18-TH2ii and W18-TH3ii."
    ),
    parts=(
        *(rate.part() for rate in RATES),
        Part(
            f"{ID}#rates",
            "the quoted rates themselves",
            Formula('F(hat(theta)) - F(theta^*) = O("entry")', "F(theta_hat) - F(theta*) = O(entry), every row"),
        ),
    ),
    cases=tuple(case for rate in RATES for case in rate.cases()),
    check=check,
)

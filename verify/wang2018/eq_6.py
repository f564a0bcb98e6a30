"""W18, (6): private lower bound for strongly convex losses, quoted; units, footnote 1, and how it meets (5)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from audits import Budget

from ..cases import case as one_case
from ..cases import grid, mutant
from ..formal import version_name
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Role, Standing, Statement, Value
from ..wang2019.rational import proved
from .scaling import EIGENVALUE, LOSS, NUMBER, Rate, rate_of

ID = "W18-E6"
FOOTNOTE, MEETING = f"{ID}#footnote", f"{ID}#meeting"
NOTES = "docs/derivations/wang2018_rates.md, section 3"
RATES = (
    Rate(
        f"{ID}#units",
        "units of the terms of (6)",
        LOSS,
        ("d^2 X^2 Theta^2 n^-1 alpha^-1 epsilon^-2", "d^2 Y^2 n^-1 alpha^-1 epsilon^-2", "n Y^2"),
        Formula(
            "min{n norm(cal(Y))^2, (d^2 (norm(cal(X)) norm(Theta) + norm(cal(Y)))^2)/(n alpha^* epsilon^2)}",
            "min{n ||Y||^2, d^2 (||X|| ||Theta|| + ||Y||)^2/(n alpha* epsilon^2)} is a loss",
        ),
    ),
    Rate(
        f"{ID}#condition",
        "units of the condition on alpha*",
        NUMBER,
        ("d^3/2 X^0 n^-1 epsilon^-1", "d^3/2 Y X^-1 Theta^-1 n^-1 epsilon^-1"),
        Formula(
            "alpha^* >= (d^(1.5) (norm(cal(X)) norm(Theta) + norm(cal(Y))))/(n norm(cal(X)) norm(Theta) epsilon)",
            "alpha* >= d^1.5 (||X|| ||Theta|| + ||Y||)/(n ||X|| ||Theta|| epsilon) is a pure number",
        ),
    ),
    Rate(
        f"{ID}#footnote units",
        "units of footnote 1",
        EIGENVALUE,
        ("d^1/2 L epsilon^-1",),
        Formula("lambda_min >= sqrt(d) L/epsilon", "lambda_min >= sqrt(d) L/epsilon"),
        ("d^1/2 L Theta^-1 epsilon^-1",),
        Formula("lambda_min >= (sqrt(d) L^*) / (norm(Theta) epsilon)", "lambda_min >= sqrt(d) L*/(||Theta|| epsilon)"),
        "The Lipschitz constant must be divided by the radius of the parameter domain.",
        NOTES,
    ),
)


def check(case: Case, budget: Budget) -> Evidence:
    """Decide units, the substitution of footnote 1, or the value of (6) where its condition is an equality."""
    if case.part not in (FOOTNOTE, MEETING):
        return rate_of(RATES, case).check(case)
    B, R, Y, epsilon, s = (Fraction(case.number(name)) for name in ("B", "radius", "Y", "epsilon", "root d"))
    n, d = case.whole("n"), s**2
    alpha = s**3 * (B * R + Y) / (n * B * R * epsilon)
    factor = Fraction(11, 10) if version_name(case) == "a tenth more" else Fraction(1)
    lipschitz = B * (B * R + Y)
    if case.part == FOOTNOTE:
        stated = s * lipschitz / epsilon * (1 if version_name(case) == "printed" else 1 / R) * factor
        claim = Claim("lambda_min at the condition over the footnote's", 1.0, 1.0, 1.0, observer=Observer.OUTPUT)
        return Evidence(claim, exact=proved(alpha * n * B**2 / d / stated))
    strong = d**2 * (B * R + Y) ** 2 / (n * alpha * epsilon**2)
    claim = Claim("(6) over (5) where alpha* is the least allowed", 1.0, 1.0, 1.0, observer=Observer.OUTPUT)
    return Evidence(claim, exact=proved(strong / (factor * s * lipschitz * R / epsilon)))


def _cases() -> tuple[Case, ...]:
    axes: dict[str, Sequence[Value]] = {
        "B": (0.125, 4.0),
        "radius": (0.25, 8.0),
        "Y": (0.5, 2.0),
        "epsilon": (0.125, 1.0),
        "root d": (1.0, 3.0),
        "n": (10, 1000),
    }
    smallest: dict[str, Value] = {"B": 1.0, "radius": 2.0, "Y": 1.0, "epsilon": 1.0, "root d": 1.0, "n": 10}
    return (
        *(case for rate in RATES for case in rate.cases()),
        one_case(FOOTNOTE, Standing.PRINTED, smallest, role=Role.COUNTEREXAMPLE, regime="radius 2"),
        one_case(FOOTNOTE, Standing.CORRECTED, smallest, role=Role.COUNTEREXAMPLE, regime="radius 2"),
        *grid(FOOTNOTE, Standing.CORRECTED, axes, regime="substitution", quick_every=13),
        *grid(MEETING, Standing.PRINTED, axes, regime="substitution", quick_every=13),
        mutant(FOOTNOTE, "a tenth more", smallest, severity=0.1),
        mutant(MEETING, "a tenth more", smallest, severity=0.1),
    )


STATEMENT = Statement(
    id=ID,
    paper="wang2018",
    kind="equation",
    title="Private lower bound, strongly convex losses",
    locator="Equation 6 and footnote 1, section 3.1 (from Bassily, Smith and Thakurta 2014)",
    domain="delta < 1/n, n large, some (X, Y, Theta), data sets with alpha >= alpha*, every (epsilon, delta)-DP theta_hat",
    summary=(
        "The bound is quoted and has no finite test; its units are right and at the least allowed alpha* it equals (5). Footnote 1 has "
        "the wrong unit: it lacks the radius of the parameter domain. As (5), it is empty word for word at Theta = {0}."
    ),
    parts=(
        Part(
            f"{ID}#bound",
            "the lower bound",
            Formula(
                'inf_(hat(theta) "is" (epsilon, delta)"-DP") sup_(X in cal(S), y) [F(hat(theta)) - inf_Theta F] gt.tilde min{n norm(cal(Y))^2,'
                " (d^2 (norm(cal(X)) norm(Theta) + norm(cal(Y)))^2)/(n alpha^* epsilon^2)}",
                "inf over (epsilon, delta)-DP theta_hat of sup over data with alpha >= alpha* of F(theta_hat) - inf F >= c min{n ||Y||^2, "
                "d^2 (||X|| ||Theta|| + ||Y||)^2/(n alpha* epsilon^2)}",
            ),
        ),
        *(rate.part() for rate in RATES),
        Part(
            FOOTNOTE,
            "footnote 1: the condition on the smallest eigenvalue",
            Formula(
                '"the condition requires" lambda_min >= sqrt(d) L/epsilon',
                "the condition requires lambda_min >= sqrt(d) L/epsilon",
            ),
            Formula(
                '"the condition requires" lambda_min >= (sqrt(d) L^*) / (norm(Theta) epsilon)',
                "the condition requires lambda_min >= sqrt(d) L*/(||Theta|| epsilon)",
            ),
            "The Lipschitz constant must be divided by the radius of the parameter domain; L is L* = ||X|| (||X|| ||Theta|| + ||Y||).",
            NOTES,
        ),
        Part(
            MEETING,
            "(6) equals (5) at the least allowed alpha*",
            Formula(
                "(d^2 (norm(cal(X)) norm(Theta) + norm(cal(Y)))^2)/(n alpha^* epsilon^2) = sqrt(d) L^* norm(Theta)/epsilon",
                "d^2 (||X|| ||Theta|| + ||Y||)^2/(n alpha* epsilon^2) = sqrt(d) L* ||Theta||/epsilon",
            ),
        ),
    ),
    cases=_cases(),
    check=check,
)

"""W18, (5): private lower bound for Lipschitz losses, quoted; its units and its agreement with the cited form."""

from __future__ import annotations

from fractions import Fraction

from audits import Budget

from ..cases import grid, mutant
from ..formal import version_name
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Standing, Statement
from ..wang2019.rational import proved
from .scaling import LOSS, Rate, rate_of

ID = "W18-E5"
CITED = f"{ID}#cited"
RATES = (
    Rate(
        f"{ID}#units",
        "units of the terms of (5)",
        LOSS,
        ("d^1/2 X^2 Theta^2 epsilon^-1", "d^1/2 X Theta Y epsilon^-1", "n Y^2"),
        Formula(
            "min{n norm(cal(Y))^2, sqrt(d) (norm(cal(X))^2 norm(Theta)^2 + norm(cal(X)) norm(Theta) norm(cal(Y)))/epsilon}",
            "min{n ||Y||^2, sqrt(d) (||X||^2 ||Theta||^2 + ||X|| ||Theta|| ||Y||)/epsilon} is a loss",
        ),
    ),
)


def check(case: Case, budget: Budget) -> Evidence:
    """Decide the units, or that the numerator is the Lipschitz constant times the radius."""
    if case.part != CITED:
        return rate_of(RATES, case).check(case)
    B, R, Y = (Fraction(case.number(name)) for name in ("B", "radius", "Y"))
    factor = Fraction(11, 10) if case.standing is Standing.MUTANT else Fraction(1)
    rest = Fraction(0) if version_name(case) == "no term without the responses" else B**2 * R
    cited = factor * (rest + B * Y) * R
    value = (B**2 * R**2 + B * R * Y) / cited - 1
    claim = Claim("printed numerator over L* ||Theta||, minus 1", 0.0, 0.0, 0.0, observer=Observer.OUTPUT)
    return Evidence(claim, exact=proved(value))


STATEMENT = Statement(
    id=ID,
    paper="wang2018",
    kind="equation",
    title="Private lower bound, Lipschitz losses",
    locator="Equation 5, section 3.1 (from Bassily, Smith and Thakurta 2014)",
    domain="delta < 1/n, n large, some (X, Y, Theta), every (epsilon, delta)-DP theta_hat; a supremum over data sets is implied",
    summary=(
        "Quoted: an infimum over all private algorithms has no finite test. Units are right and the numerator is L* ||Theta|| of the cited "
        "bound. Word for word it is empty, since 'some triplet' may be Theta = {0}, where both sides are 0."
    ),
    parts=(
        Part(
            f"{ID}#bound",
            "the lower bound",
            Formula(
                'inf_(hat(theta) "is" (epsilon, delta)"-DP") sup_(X, y) [F(hat(theta)) - inf_Theta F] gt.tilde min{n norm(cal(Y))^2,'
                " sqrt(d) (norm(cal(X))^2 norm(Theta)^2 + norm(cal(X)) norm(Theta) norm(cal(Y)))/epsilon}",
                "inf over (epsilon, delta)-DP theta_hat of sup over (X, y) of F(theta_hat) - inf F >= c min{n ||Y||^2, "
                "sqrt(d) (||X||^2 ||Theta||^2 + ||X|| ||Theta|| ||Y||)/epsilon}",
            ),
        ),
        *(rate.part() for rate in RATES),
        Part(
            CITED,
            "numerator and the cited Lipschitz constant times the radius",
            Formula(
                "norm(cal(X))^2 norm(Theta)^2 + norm(cal(X)) norm(Theta) norm(cal(Y)) = L^* norm(Theta)",
                "||X||^2 ||Theta||^2 + ||X|| ||Theta|| ||Y|| = L* ||Theta||",
            ),
        ),
    ),
    cases=(
        *(case for rate in RATES for case in rate.cases()),
        *grid(
            CITED,
            Standing.PRINTED,
            {"B": (2.0**-10, 1.0, 8.0), "radius": (2.0**-10, 1.0, 8.0), "Y": (2.0**-10, 1.0, 8.0)},
            regime="bounds",
            quick_every=9,
        ),
        mutant(CITED, "a tenth more", {"B": 1.0, "radius": 1.0, "Y": 1.0}, severity=0.1),
        mutant(CITED, "no term without the responses", {"B": 1.0, "radius": 1.0, "Y": 1.0}),
    ),
    check=check,
)

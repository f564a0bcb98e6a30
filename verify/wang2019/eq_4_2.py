"""W19, equation 4.2: the choice A = X^T X and one-posterior sampling, in rational arithmetic.

The precision of the printed posterior is twice ``gamma X^T X``; with the half that W19-T4.1 has, it is the precision
of (3.2) (docs/derivations/wang2019_sections_2_3.md, equations 4.1 and 4.2).
"""

from __future__ import annotations

from fractions import Fraction

from flint import fmpq_mat

from audits import Budget

from ..cases import case, grid, mutant
from ..formal import version_name
from ..statement import Case, Evidence, Formula, Part, Role, Standing, Statement, Value
from .rational import SHAPES, Matrix, column, design, fraction, identity, matrix, random_matrix, same

ID = "W19-E4.2"
#: Factor of gamma in the exponent.
FACTORS = {"printed": Fraction(1), "corrected": Fraction(1, 2), "factor 0.505": Fraction(505, 1000)}


def check(case: Case, budget: Budget) -> Evidence:
    """Compare the precision of the posterior, by exact second differences of its exponent, with ``gamma A``."""
    if "n" not in case.params:
        X, y = matrix(1, 1, [1]), matrix(1, 1, [1])
    else:
        n, dim, seed = case.whole("n"), case.whole("dim"), case.whole("seed")
        X, y = design(case.text("shape"), n, dim, seed), random_matrix(n, 1, seed, 5)
    dim, gamma, version = X.ncols(), Fraction(case.number("gamma")), version_name(case)
    factor = FACTORS.get(version, Fraction(1, 2))

    def exponent(at: Matrix) -> Fraction:
        residual = y - X * at
        return factor * gamma * fraction((residual.transpose() * residual)[0, 0])

    def at(*ones: int) -> Matrix:
        return matrix(dim, 1, [sum(int(i == j) for i in ones) for j in range(dim)])

    pairs = [(i, j) for i in range(dim) for j in range(dim)]
    entries = [exponent(at(i, j)) - exponent(at(i)) - exponent(at(j)) + exponent(at()) for i, j in pairs]
    precision = fmpq_mat(dim, dim, column(*entries).entries())
    H = X.transpose() * X
    A = {"the democratic choice": H * H, "the identity": identity(dim)}.get(version, H)
    return same("precision of the posterior against gamma A", precision, A * column(gamma)[0, 0])


def _cases() -> tuple[Case, ...]:
    printed, corrected = Standing.PRINTED, Standing.CORRECTED
    smallest: dict[str, Value] = {"gamma": 1.0}
    plain: dict[str, Value] = {"shape": "generic", "n": 6, "dim": 3, "seed": 3, "gamma": 0.75}
    axes: dict[str, tuple[Value, ...]] = {
        "shape": SHAPES,
        "n": (6,),
        "dim": (1, 2, 4),
        "seed": (1, 2),
        "gamma": (2.0**-10, 0.75),
    }
    return (
        case(ID, printed, smallest, role=Role.COUNTEREXAMPLE, regime="X = 1, gamma = 1: variance 1/2 against 1"),
        case(ID, printed, plain, regime="random design"),
        case(ID, corrected, smallest, role=Role.COUNTEREXAMPLE, regime="the case that refutes the printed form"),
        *grid(ID, corrected, axes, regime="designs", quick_every=5),
        mutant(ID, "the democratic choice", plain),
        mutant(ID, "the identity", plain),
        mutant(ID, "factor 0.505", plain, severity=0.01),
    )


STATEMENT = Statement(
    id=ID,
    paper="wang2019",
    kind="equation",
    title="One-posterior sampling as the Fisher choice",
    locator="Equation 4.2",
    domain="Linear regression, X^T X invertible, the same gamma as in (3.2) and W19-T4.1. Decided exactly for n = 6, d <= 4",
    summary=(
        "A factor 2: A = X^T X does give this family of posteriors, but with the paper's gamma its noise is half as large (in variance) as "
        "that of (3.2) and of W19-T4.1. Up to a relabelling of gamma the statement is right."
    ),
    parts=(
        Part(
            ID,
            "the law of the output",
            printed=Formula(
                "Pr(theta | X, bold(y)) prop e^(-gamma norm(bold(y) - X theta)^2)",
                "P(theta | X, y) proportional to exp(-gamma ||y - X theta||^2) has covariance (X'X)^-1/gamma",
            ),
            corrected=Formula(
                "Pr(theta | X, bold(y)) prop e^(-gamma/2 norm(bold(y) - X theta)^2)",
                "P(theta | X, y) proportional to exp(-gamma/2 ||y - X theta||^2) has covariance (X'X)^-1/gamma",
            ),
            what_went_wrong="The 1/2 in the exponent, which W19-T4.1 has, is missing: the covariance is A^-1/(2 gamma), not the A^-1/gamma of (3.2).",
            derivation="docs/derivations/wang2019_sections_2_3.md, equations 4.1 and 4.2",
        ),
    ),
    cases=_cases(),
    check=check,
)

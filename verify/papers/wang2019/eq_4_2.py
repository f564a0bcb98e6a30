"""W19, equation 4.2: the choice A = X^T X and one-posterior sampling, in rational arithmetic.

The precision of the printed posterior is twice ``gamma X^T X``; with the half that W19-T4.1 has, it is the precision
of (3.2) (docs/derivations/wang2019_sections_2_3.md, equations 4.1 and 4.2).
"""

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from ...methods.rational import SHAPES, Matrix, column, fraction, hessian, identity, matrix, same, scalar
from ..kit import At, Case, Evidence, Form, Mutant, over, refuting, smallest, statement
from .shared.regressions import records


def _precision(
    case: Case, *, factor: Fraction = Fraction(1, 2), choice: Callable[[Matrix], Matrix] = lambda gram: gram
) -> Evidence:
    """Compare the precision of the posterior ``exp(-factor gamma |y - X theta|^2)`` with ``gamma A``, a ``choice`` of A."""
    X, y = records(case) if "n" in case.params else (matrix(1, 1, [1]), matrix(1, 1, [1]))
    gamma = Fraction(case.number("gamma"))

    def exponent(at: Matrix) -> Fraction:
        residual = y - X * at
        return factor * gamma * fraction((residual.transpose() * residual)[0, 0])

    precision = hessian(exponent, column(*[0] * X.ncols()))
    stated = choice(X.transpose() * X) * scalar(gamma)
    return same("precision of the posterior against gamma A", precision, stated)


SMALLEST = {"gamma": 1.0}
PLAIN = {"shape": "generic", "n": 6, "dim": 3, "seed": 3, "gamma": 0.75}
DESIGNS = {"shape": SHAPES, "n": (6,), "dim": (1, 2, 4), "seed": (1, 2), "gamma": (2.0**-10, 0.75)}
FORMULA = (
    "Pr(theta | X, bold(y)) prop e^(-{factor} norm(bold(y) - X theta)^2): quad "
    '"Cov"(theta | X, bold(y)) = 1/gamma (X^T X)^(-1)'
)

STATEMENT = statement(
    "W19-E4.2",
    domain="Linear regression, X^T X invertible, the same gamma as in (3.2) and W19-T4.1. Decided exactly for n = 6, d <= 4",
    summary="A factor 2: A = X^T X does give this family of posteriors, but with the paper's gamma its noise is half as large (in variance) as "
    "that of (3.2) and of W19-T4.1. Up to a relabelling of gamma the statement is right.",
    derivation="docs/derivations/wang2019_sections_2_3.md, equations 4.1 and 4.2",
    title="the law of the output",
    printed=Form(
        FORMULA.format(factor="gamma"),
        partial(_precision, factor=Fraction(1)),
        [smallest("X = 1, gamma = 1: variance 1/2 against 1", SMALLEST), At("random design", PLAIN)],
    ),
    corrected=Form(
        FORMULA.format(factor="gamma/2"), _precision, [refuting(SMALLEST), *over("designs", DESIGNS, quick_every=5)]
    ),
    wrong="The 1/2 in the exponent, which W19-T4.1 has, is missing: the covariance is A^-1/(2 gamma), not the A^-1/gamma of (3.2).",
    mutants={
        "the democratic choice": Mutant(_precision, PLAIN, choice=lambda gram: gram * gram),
        "the identity": Mutant(_precision, PLAIN, choice=lambda gram: identity(gram.nrows())),
        "factor 0.505": Mutant(_precision, PLAIN, severity=0.01, factor=Fraction(505, 1000)),
    },
)

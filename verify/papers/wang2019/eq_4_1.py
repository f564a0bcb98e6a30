"""W19, equation 4.1: the choice A = (X^T X)^2 and objective perturbation, in rational arithmetic.

The output is affine in the linear term, so its covariance is exact. As printed the wrong variable is drawn.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from flint import fmpq_mat

from ...methods.rational import SHAPES, Matrix, column, identity, matrix, same, scalar
from ..kit import Case, Evidence, Form, Mutant, over, refuting, smallest, statement
from .shared.regressions import records


def minimiser(X: Matrix, y: Matrix, linear: Matrix) -> Matrix:
    """Return the stationary point of ``|y - X theta|^2 + <linear, theta>``."""
    return (X.transpose() * X * 2).solve(X.transpose() * y * 2 - linear)


def _covariance(
    case: Case,
    *,
    drawn: bool = True,
    choice: Callable[[Matrix], Matrix] = lambda gram: gram * gram,
    scale: Fraction = Fraction(4),
) -> Evidence:
    """Compare the covariance of the minimiser with ``A^-1/gamma``, A a ``choice`` for ``X^T X``, gamma = scale/sigma^2.

    Unless the linear term is ``drawn`` nothing is random.
    """
    X, y = records(case) if "n" in case.params else (matrix(1, 1, [1]), matrix(1, 1, [1]))
    dim, variance = X.ncols(), Fraction(case.number("sigma^2"))
    start = minimiser(X, y, column(*[0] * dim))
    moves = [minimiser(X, y, column(*(int(i == j) for j in range(dim)))) - start for i in range(dim)]
    response = fmpq_mat(dim, dim, [entry for move in moves for entry in move.entries()]).transpose()
    covariance = response * response.transpose() * (scalar(variance) if drawn else 0)
    stated = (choice(X.transpose() * X) * scalar(scale / variance)).inv()
    return same("covariance of the output against A^-1/gamma", covariance, stated)


SMALLEST = {"sigma^2": 4.0}
PLAIN = {"shape": "generic", "n": 6, "dim": 3, "seed": 3, "sigma^2": 2.25}
DESIGNS = {"shape": SHAPES, "n": (6,), "dim": (1, 2, 4), "seed": (1, 2), "sigma^2": (2.0**-10, 2.25)}
FORMULA = (
    'hat(theta) = op("argmin")_theta norm(bold(y) - X theta)^2 + chevron.l z, theta chevron.r, quad {drawn} '
    'tilde.op cal(N)(0, sigma^2 I): quad "Cov"(hat(theta)) = 1/gamma (X^T X)^(-2)'
)

STATEMENT = statement(
    "W19-E4.1",
    domain="Linear regression, X^T X invertible, Theta the whole space. Decided exactly for n = 6, d <= 4",
    summary="A misprint: the linear term z is what is drawn. With it, gamma of (3.2) is 4/sigma^2; the implementation is `DemocraticOutput`.",
    derivation="docs/derivations/wang2019_sections_2_3.md, equations 4.1 and 4.2",
    title="the law of the output",
    printed=Form(
        FORMULA.format(drawn="theta"), partial(_covariance, drawn=False), [smallest("X = 1, y = 1", SMALLEST)]
    ),
    corrected=Form(
        FORMULA.format(drawn="z") + ", quad gamma = 4\\/sigma^2",
        _covariance,
        [refuting(SMALLEST), *over("designs", DESIGNS, quick_every=5)],
    ),
    wrong="theta stands for z in front of the normal law: as printed the minimised variable is drawn and the output is not random.",
    mutants={
        "the Fisher choice": Mutant(_covariance, PLAIN, choice=lambda gram: gram),
        "the identity": Mutant(_covariance, PLAIN, choice=lambda gram: identity(gram.nrows())),
        "gamma = 4.04/sigma^2": Mutant(_covariance, PLAIN, severity=0.01, scale=Fraction(404, 100)),
    },
)

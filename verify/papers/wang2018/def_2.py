"""W18, section 2: ridge objective, normalised smallest eigenvalue, Lipschitz constants.

The printed ridge objective has its minimiser at half the ridge, and the printed Lipschitz constant of F is that of one
record's loss (docs/derivations/wang2018_rates.md, section 1). Everything is decided in rational arithmetic.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from flint import fmpq, fmpq_mat

from ...methods.rational import (
    SHAPES,
    Matrix,
    at_most,
    between,
    design,
    eigenvalue_bounds,
    fraction,
    identity,
    random_matrix,
    scalar,
    trace,
)
from ..kit import At, Case, Display, Evidence, Form, Mutant, Role, over, smallest, statement


def _data(case: Case) -> tuple[Matrix, Matrix]:
    n, dim, shape = case.whole("n"), case.whole("dim"), case.text("X")
    if shape == "identity":
        return identity(dim), fmpq_mat(dim, 1, [1] * dim)
    if shape == "ones":
        return fmpq_mat(n, dim, [1] * (n * dim)), fmpq_mat(n, 1, [1] * n)
    return design(shape, n, dim, 18), random_matrix(n, 1, dim, 19)


def _ridge(case: Case, *, penalty: int | fmpq) -> Evidence:
    """Return the largest entry of the objective's gradient at the claimed minimiser, relative to X^T y.

    ``penalty`` is the coefficient of ``lambda theta`` in the gradient.
    """
    X, y = _data(case)
    ridge = identity(X.ncols(), scalar(Fraction(case.number("lam"))))
    gram, moment = X.transpose() * X, X.transpose() * y
    theta = (gram + ridge).inv() * moment
    gradient = gram * theta - moment + ridge * theta * penalty
    size = max(abs(fraction(e)) for e in moment.entries()) or Fraction(1)
    gap = max(abs(fraction(e)) for e in gradient.entries()) / size
    quantity = "gradient at the ridge solution over the largest entry of X^T y"
    return between(quantity, gap, 0.0, 0.0, 0.0, notes={"n": X.nrows(), "dim": X.ncols()})


def _alpha(case: Case, *, factor: Callable[[int], Fraction]) -> Evidence:
    """Enclose alpha, with the smallest bound of the features that the rows allow; ``factor`` over n stands for d/n."""
    X, _ = _data(case)
    n, dim = X.nrows(), X.ncols()
    gram = X.transpose() * X
    low, high = eigenvalue_bounds(gram)[0]
    low, high = max(low, Fraction(0)), min(max(high, Fraction(0)), trace(gram) / dim)  # 0 to the mean eigenvalue
    square = max(sum((fraction(X[i, j]) ** 2 for j in range(dim)), Fraction(0)) for i in range(n))
    share = factor(dim) / n / square
    method = "Sylvester's inertia, rational"
    return between("alpha", low * share, 0.0, 1.0, 1.0, upper=high * share, method=method)


def _lipschitz(case: Case, *, records: int | None = 1, share: Fraction = Fraction(1), responses: int = 1) -> Evidence:
    """Compare the gradient of ``records`` (all n where None) with the printed constant, at its worst.

    All records are (B e_1, Y), and theta = -Theta e_1. ``responses`` weighs the constant's term B Y.
    """
    n = case.whole("n") if records is None else records
    B, Y, radius = (Fraction(case.number(name)) for name in ("B", "Y", "radius"))
    return at_most("norm of the gradient", n * B * (B * radius + Y), share * (B**2 * radius + responses * B * Y))


ONE = {"n": 1, "dim": 1, "X": "ones"}
RIDGE = smallest("one record (1, 1), lambda = 1", ONE | {"lam": 1.0})
TWO = {"n": 2, "B": 1.0, "Y": 1.0, "radius": 1.0}

STATEMENT = statement(
    "W18-D2",
    derivation="docs/derivations/wang2018_rates.md, section 1",
    domain="Any data with bounded rows; lambda > 0 for the ridge; n >= 1 for alpha. Rational designs, lambda in [1e-6, 1e6]",
    summary="Two slips: the ridge penalty lacks its half (the printed objective is minimised at ridge 2 lambda), and L* is the Lipschitz "
    "constant of one record's loss, F having n times that. alpha is in [0, 1] as stated. Implemented in `mechanisms.linear.regression_scales`.",
    displays={
        "#ridge": Display(
            "the ridge solution minimises the ridge objective",
            Form(
                'theta^*_lambda = (X^T X + lambda I)^(-1) X^T y = op("argmin") F_lambda, quad F_lambda (theta) = F(theta) + lambda norm(theta)^2',
                partial(_ridge, penalty=2),
                [RIDGE],
            ),
            Form(
                'theta^*_lambda = op("argmin") F_lambda, quad F_lambda (theta) = F(theta) + lambda/2 norm(theta)^2',
                partial(_ridge, penalty=1),
                [
                    RIDGE,
                    *over(
                        "designs and ridges",
                        {"n": (1, 5, 20), "dim": (1, 2, 4), "X": SHAPES, "lam": (1e-6, 1.0, 1e6)},
                        quick_every=11,
                    ),
                ],
            ),
            "F carries a half and the penalty does not, so the gradient at theta*_lambda is lambda theta*_lambda.",
            {
                "penalty 1 % heavier": Mutant(_ridge, RIDGE.params, severity=0.01, penalty=fmpq(101, 100)),
                "no penalty": Mutant(_ridge, RIDGE.params, penalty=0),
            },
        ),
        "#alpha": Display(
            "range of the normalised eigenvalue",
            Form(
                "alpha := lambda_min (X^T X) d/(n norm(X)^2), quad 0 <= alpha <= 1",
                partial(_alpha, factor=Fraction),
                [
                    At("alpha = 1: one record at the bound", ONE, Role.EDGE),
                    At("fewer records than features", {"n": 3, "dim": 4, "X": "generic"}, Role.EDGE),
                    *over("designs", {"n": (4, 12, 40), "dim": (1, 2, 4), "X": SHAPES}, quick_every=9),
                ],
            ),
            mutants={
                "a tenth larger": Mutant(_alpha, ONE, severity=0.1, factor=lambda d: Fraction(11 * d, 10)),
                "no dimension": Mutant(_alpha, {"n": 4, "dim": 4, "X": "identity"}, factor=lambda d: Fraction(d**2)),
            },
        ),
        "#lipschitz": Display(
            "Lipschitz constant",
            Form(
                'L^* := norm(cal(X))^2 norm(Theta) + norm(cal(X)) norm(cal(Y)) "is the global Lipschitz constant of" F',
                partial(_lipschitz, records=None),
                [smallest("two equal records", TWO)],
            ),
            Form(
                'L^* "is the Lipschitz constant of one record\'s loss," quad n L^* "that of" F',
                _lipschitz,
                [
                    smallest("two equal records", TWO),
                    *over(
                        "bounds and radius",
                        {"n": (1, 2, 10), "B": (0.001, 1.0, 50.0), "Y": (0.5, 100.0), "radius": (0.01, 1.0, 1000.0)},
                        quick_every=9,
                    ),
                ],
            ),
            "F is a sum over n records; the constant is that of one of them.",
            {
                "constant cut by 10 %": Mutant(_lipschitz, TWO, severity=0.1, share=Fraction(9, 10)),
                "no responses": Mutant(_lipschitz, TWO, responses=0),
            },
        ),
    },
)

"""W18, Lemma 4: the error of sufficient statistics perturbation, an identity of rational matrices.

It holds for any vector b in place of the moment, if the same stands in both estimates: so the misprint ``X y`` for
``X^T y`` does no harm here (docs/derivations/wang2018_appendix_c.md, section 1).
"""

from collections.abc import Callable
from functools import partial

from flint import fmpq

from ...methods.rational import SHAPES, Matrix, design, identity, random_matrix, same
from ..kit import At, Case, Evidence, Form, Mutant, over, statement

#: A right-hand side, from the Gram matrix, the moment and both noises.
Right = Callable[[Matrix, Matrix, Matrix, Matrix], Matrix]


def _right(gram: Matrix, moment: Matrix, E1: Matrix, E2: Matrix, *, first: int | fmpq = -1) -> Matrix:
    """Return ``first (X^T X + E_1)^-1 E_1 theta* + (X^T X + E_1)^-1 E_2``."""
    return (gram + E1).inv() * (E2 + first * (E1 * gram.inv() * moment))


def _noisy_estimate(gram: Matrix, moment: Matrix, E1: Matrix, E2: Matrix) -> Matrix:
    inverse = (gram + E1).inv()
    return inverse * (E2 - E1 * inverse * (moment + E2))


def _error(case: Case, *, right: Right = _right) -> Evidence:
    """Compare the error of the noisy estimate with a right-hand side, in rational arithmetic."""
    n, dim, seed = case.whole("n"), case.whole("dim"), case.whole("seed")
    X, y = design(case.text("X"), n, dim, seed), random_matrix(n, 1, seed, 2)
    E1, E2 = random_matrix(dim, dim, seed, 3), random_matrix(dim, 1, seed, 4)
    gram = X.transpose() * X
    E1 = {
        "any": E1,
        "symmetric": E1 + E1.transpose(),
        "none": E1 * 0,
        "makes the matrix indefinite": -2 * gram + identity(dim),
    }[case.text("E1")]
    moment = X * y if case.text("moment") == "X y" else X.transpose() * y
    error = (gram + E1).inv() * (moment + E2) - gram.inv() * moment
    return same("noisy minus plain estimate against the right-hand side", error, right(gram, moment, E1, E2))


NOISES = {
    "X": SHAPES, "n": (6,), "dim": (1, 2, 5), "E1": ("any", "symmetric", "none", "makes the matrix indefinite"),
    "moment": ("X^T y",), "seed": (1,),
}  # fmt: skip
PLAIN = {"X": "generic", "n": 5, "dim": 3, "E1": "any", "moment": "X^T y", "seed": 2}
LITERAL = {"X": "generic", "n": 1, "dim": 1, "E1": "any", "moment": "X y", "seed": 3}

STATEMENT = statement(
    "W18-L4",
    domain="Any X, y, E_1 (d x d, symmetric or not), E_2 for which X^T X and X^T X + E_1 are invertible; decided exactly for "
    "n <= 6, d <= 5; the proof is two lines",
    summary="True. X y is a misprint for X^T y (undefined unless n = d), harmless here because the same vector stands in both "
    "estimates: the identity holds for any vector in its place.",
    title="error identity",
    printed=Form(
        "hat(theta) - theta^* = -(X^T X + E_1)^(-1) E_1 theta^* + (X^T X + E_1)^(-1) E_2,"
        " quad theta^* = (X^T X)^(-1) X y, quad hat(theta) = (X^T X + E_1)^(-1) (X y + E_2)",
        _error,
        [
            *over("designs and perturbations", NOISES, quick_every=5),
            *(At("X y taken literally, X square", LITERAL | {"n": d, "dim": d}) for d in (1, 2, 4)),
        ],
    ),
    mutants={
        "sign of the first term": Mutant(_error, PLAIN, right=partial(_right, first=1)),
        "first term 1 % larger": Mutant(_error, PLAIN, severity=0.01, right=partial(_right, first=fmpq(-101, 100))),
        "E1 applied to the noisy estimate": Mutant(_error, PLAIN, right=_noisy_estimate),
        "plain inverse": Mutant(
            _error, PLAIN, right=lambda gram, moment, E1, E2: gram.inv() * (E2 - E1 * gram.inv() * moment)
        ),
    },
)

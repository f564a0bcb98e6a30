"""W18, Lemma 5: excess squared error as a distance, an identity of rational numbers.

Minimisers may be many (a singular Gram matrix): the identity needs only ``X^T (y - X theta*) = 0``
(docs/derivations/wang2018_appendix_c.md, section 1).
"""

from collections.abc import Callable

from flint import fmpq, fmpq_mat

from ...methods.rational import SHAPES, Matrix, column, design, identity, quadratic, random_matrix, same
from ..kit import Case, Evidence, Form, Mutant, over, statement

DEFICIENT = "last feature repeats the first"


def minimiser(X: Matrix, y: Matrix) -> Matrix:
    """Return the least-squares solution of smallest norm, exactly (also for a singular Gram matrix).

    ``(X^T X)^+ X^T y = X^T (X X^T)^+ y``; here the repeated feature shares its coefficient equally with the first.
    """
    dim = X.ncols()
    gram = X.transpose() * X
    if gram.rank() == dim:
        return gram.inv() * (X.transpose() * y)
    fewer = fmpq_mat([row[:-1] for row in X.tolist()])
    part = (fewer.transpose() * fewer).inv() * (fewer.transpose() * y)
    entries = [part[i, 0] for i in range(dim - 1)]
    entries[0] = entries[0] / 2
    return column(*entries, entries[0])


def _ridge(X: Matrix, y: Matrix) -> Matrix:
    return (X.transpose() * X + identity(X.ncols(), fmpq(1, 100))).inv() * (X.transpose() * y)


def _excess(case: Case, *, centre: Callable[[Matrix, Matrix], Matrix] = minimiser, factor: int | fmpq = 1) -> Evidence:
    """Compare the excess over ``centre`` with ``factor`` times the squared distance from it, in rational arithmetic."""
    n, dim, seed, shape = case.whole("n"), case.whole("dim"), case.whole("seed"), case.text("X")
    X, y = design("generic" if shape == DEFICIENT else shape, n, dim, seed), random_matrix(n, 1, seed, 2)
    if shape == DEFICIENT:
        for i in range(n):
            X[i, dim - 1] = X[i, 0]
    theta, best = random_matrix(dim, 1, seed, 3), centre(X, y)
    left = quadratic(y - X * theta, identity(n)) - quadratic(y - X * best, identity(n))
    right = quadratic(theta - best, X.transpose() * X * factor)
    return same("excess of the squared residuals", column(left), column(right))


PLAIN = {"X": "generic", "n": 3, "dim": 3, "seed": 3}

STATEMENT = statement(
    "W18-L5",
    domain="Any X, y and theta, theta* a least-squares solution (the paper's pseudo-inverse); decided exactly for n <= 8, d <= 4",
    summary="True for every least-squares solution. The paper's own line has X y for X^T y in theta*, with which the identity "
    "would fail (a mutant); section 2 defines theta* rightly.",
    title="excess squared error",
    printed=Form(
        "norm(y - X theta)^2 - norm(y - X theta^*)^2 = (theta - theta^*)^T X^T X (theta - theta^*)"
        " = norm(theta - theta^*)_(X^T X)^2",
        _excess,
        [
            *over("designs", {"X": SHAPES, "n": (5, 8), "dim": (1, 2, 4), "seed": (1, 2)}, quick_every=5),
            *over(
                "singular Gram matrix, theta* of smallest norm",
                {"X": (DEFICIENT,), "n": (4, 7), "dim": (2, 4), "seed": (1,)},
            ),
        ],
    ),
    mutants={
        "X y in place of X^T y": Mutant(_excess, PLAIN, centre=lambda X, y: (X.transpose() * X).inv() * (X * y)),
        "one half on the right": Mutant(_excess, PLAIN, factor=fmpq(1, 2)),
        "1 % larger": Mutant(_excess, PLAIN, severity=0.01, factor=fmpq(101, 100)),
        "ridge estimate for the minimiser": Mutant(_excess, PLAIN, centre=_ridge),
    },
)

"""W19, Lemma B.4 (Weyl): singular values move by at most the norm of the perturbation; proved by exact inertia."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from ...methods.rational import Matrix, between, eigenvalue_bounds, fraction, matrix, random_matrix
from ..kit import At, Case, Display, Evidence, Form, Mutant, Params, Value, over, statement

Range = tuple[Fraction, Fraction]


def _singular_values(M: Matrix) -> list[Range]:
    """Return proved bounds of the singular values, ascending; exact for a diagonal matrix."""
    if all(M[i, j] == 0 for i in range(M.nrows()) for j in range(M.ncols()) if i != j):
        return [(v, v) for v in sorted(abs(fraction(M[j, j])) for j in range(M.ncols()))]
    return [(_root(low, -1), _root(high, 1)) for low, high in eigenvalue_bounds(M.transpose() * M)]


def _root(value: Fraction, side: int) -> Fraction:
    """Return a number on the given side of the square root (the float root is right to one unit in the last place)."""
    near = math.sqrt(max(0.0, math.nextafter(float(value), side * math.inf)))
    return Fraction(max(0.0, math.nextafter(near, side * math.inf)))


def _move(case: Case, *, reverse: bool = False, squared: bool = False, share: Fraction = Fraction(1)) -> Evidence:
    """Decide the largest move of a singular value over ``share`` of the norm of the perturbation.

    ``reverse`` pairs the largest with the smallest; ``squared`` takes the eigenvalues of the Gram matrices.
    """
    X, E = _matrices(case)
    first, second, norm = _singular_values(X), _singular_values(X - E), _singular_values(E)[-1]
    if reverse:
        second = second[::-1]
    if squared:
        first, second = ([(a * a, b * b) for a, b in values] for values in (first, second))
    low = max(max(a[0] - b[1], b[0] - a[1], Fraction(0)) for a, b in zip(first, second, strict=True))
    high = max(max(a[1] - b[0], b[1] - a[0]) for a, b in zip(first, second, strict=True))
    words, bound, method = (
        "largest move of a singular value over the norm of E",
        share * norm[1],
        "inertia, rational arithmetic",
    )
    return between(words, low / bound, 0.0, 1.0, float(bound), upper=high / (share * norm[0]), method=method)


def _matrices(case: Case) -> tuple[Matrix, Matrix]:
    rows, cols, seed = case.whole("m"), case.whole("n"), case.whole("seed")
    X, E = random_matrix(rows, cols, seed, 1), random_matrix(rows, cols, seed, 2)
    kind = case.text("E")
    if kind == "diagonal, equality":  # X = diag(3, 6, …), E = 2 on the diagonal: every singular value moves by 2
        X = matrix(rows, cols, [3 * (j + 1) * (i == j) for i in range(rows) for j in range(cols)])
        E = matrix(rows, cols, [2 * (i == j) for i in range(rows) for j in range(cols)])
    if kind == "small":
        E = E / 100_000
    if kind == "rank one":
        E = random_matrix(rows, 1, seed, 3) * random_matrix(1, cols, seed, 4)
    return X, E


#: Kinds of perturbation in a grid.
PERTURBATIONS = ("any", "small", "rank one")


def weyl(formula: str, sizes: Mapping[str, Sequence[Value]], plain: Params, *, quick_every: int) -> Display:
    """Return the display of the bound, decided with equality and at ``sizes``, with two of its mutants at ``plain``."""
    equal = {"m": 3, "n": 2, "E": "diagonal, equality", "seed": 0}
    return Display(
        "move of singular values",
        printed=Form(
            formula, _move, [At("equality, exact", equal), *over("random matrices", sizes, quick_every=quick_every)]
        ),
        mutants={
            "bound cut by 5 %": Mutant(_move, equal, severity=0.05, share=Fraction(19, 20)),
            "paired in opposite order": Mutant(_move, plain, reverse=True),
            "eigenvalues of the Gram matrices": Mutant(_move, plain, squared=True),
        },
    )


STATEMENT = statement(
    "W19-LB.4",
    domain="X, Y real m x n with m >= n. Decided by exact inertia for m = 5, n <= 5; the theorem itself is classical",
    summary="True and tight: equality where E moves a singular direction along itself.",
    displays={
        "": weyl(
            "X - Y = E ==> abs(sigma_i (X) - sigma_i (Y)) <= norm(E)_2",
            {"m": (5,), "n": (1, 2, 5), "E": PERTURBATIONS, "seed": (1, 2, 3)},
            {"m": 5, "n": 4, "E": "small", "seed": 4},
            quick_every=4,
        )
    },
)

"""W19, Lemma B.4 (Weyl): singular values move by at most the norm of the perturbation; proved by exact inertia."""

from __future__ import annotations

import math
from fractions import Fraction

from audits import Budget

from ..cases import case, grid, mutant
from ..formal import version_name
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Standing, Statement, Value
from .rational import Matrix, eigenvalue_bounds, fraction, matrix, proved, random_matrix

ID = "W19-LB.4"
Range = tuple[Fraction, Fraction]


def singular_values(M: Matrix) -> list[Range]:
    """Return proved bounds of the singular values, ascending; exact for a diagonal matrix."""
    if all(M[i, j] == 0 for i in range(M.nrows()) for j in range(M.ncols()) if i != j):
        return [(v, v) for v in sorted(abs(fraction(M[j, j])) for j in range(M.ncols()))]
    return [(_root(low, -1), _root(high, 1)) for low, high in eigenvalue_bounds(M.transpose() * M)]


def _root(value: Fraction, side: int) -> Fraction:
    """Return a number on the given side of the square root (the float root is right to one unit in the last place)."""
    near = math.sqrt(max(0.0, math.nextafter(float(value), side * math.inf)))
    return Fraction(max(0.0, math.nextafter(near, side * math.inf)))


def check(case: Case, budget: Budget) -> Evidence:
    """Decide the largest move of a singular value over the norm of the perturbation."""
    X, E = _matrices(case)
    Y, norm = X - E, singular_values(E)[-1]
    version = version_name(case)
    first, second = singular_values(X), singular_values(Y)
    if version == "paired in opposite order":
        second = second[::-1]
    if version == "eigenvalues of the Gram matrices":
        first, second = ([(a * a, b * b) for a, b in each] for each in (first, second))
    scale = Fraction(19, 20) if version == "bound cut by 5 %" else Fraction(1)
    low = max(max(a[0] - b[1], b[0] - a[1], Fraction(0)) for a, b in zip(first, second, strict=True))
    high = max(max(a[1] - b[0], b[1] - a[0]) for a, b in zip(first, second, strict=True))
    claim = Claim(
        "largest move of a singular value over the norm of E",
        0.0,
        1.0,
        float(scale * norm[1]),
        observer=Observer.OUTPUT,
    )
    return Evidence(
        claim, exact=proved(low / (scale * norm[1]), high / (scale * norm[0]), "inertia, rational arithmetic")
    )


def _matrices(case: Case) -> tuple[Matrix, Matrix]:
    rows, cols, seed = case.whole("m"), case.whole("n"), case.whole("seed")
    X, E = random_matrix(rows, cols, seed, 1), random_matrix(rows, cols, seed, 2)
    kind = case.text("E")
    if kind == "diagonal, equality":  # X = diag(3, 6, …), E = 2 on the diagonal: every singular value moves by 2
        shape = [[3 * (j + 1) if i == j else 0 for j in range(cols)] for i in range(rows)]
        X = matrix(rows, cols, [v for row in shape for v in row])
        E = matrix(rows, cols, [2 * (i == j) for i in range(rows) for j in range(cols)])
    if kind == "small":
        E = E / 100_000
    if kind == "rank one":
        E = random_matrix(rows, 1, seed, 3) * random_matrix(1, cols, seed, 4)
    return X, E


def _cases() -> tuple[Case, ...]:
    axes: dict[str, tuple[Value, ...]] = {
        "m": (5,),
        "n": (1, 2, 5),
        "E": ("any", "small", "rank one"),
        "seed": (1, 2, 3),
    }
    equal: dict[str, Value] = {"m": 3, "n": 2, "E": "diagonal, equality", "seed": 0}
    plain: dict[str, Value] = {"m": 5, "n": 4, "E": "small", "seed": 4}
    return (
        case(ID, Standing.PRINTED, equal, regime="equality, exact"),
        *grid(ID, Standing.PRINTED, axes, regime="random matrices", quick_every=4),
        mutant(ID, "bound cut by 5 %", equal, severity=0.05),
        mutant(ID, "paired in opposite order", plain),
        mutant(ID, "eigenvalues of the Gram matrices", plain),
    )


STATEMENT = Statement(
    id=ID,
    paper="wang2019",
    kind="lemma",
    title="Weyl's bound for singular values",
    locator="Appendix B, Lemma B.4",
    domain="X, Y real m x n with m >= n. Decided by exact inertia for m = 5, n <= 5; the theorem itself is classical",
    summary="True and tight: equality where E moves a singular direction along itself.",
    parts=(
        Part(
            ID,
            "move of singular values",
            printed=Formula(
                "X - Y = E ==> abs(sigma_i (X) - sigma_i (Y)) <= norm(E)_2",
                "X - Y = E implies |sigma_i(X) - sigma_i(Y)| <= ||E||",
            ),
        ),
    ),
    cases=_cases(),
    check=check,
)

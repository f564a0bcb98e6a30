"""W19, section 4: condition (d) of Propositions 4.3 and 4.4, and how soon it is said to hold.

Rows of two random signs over sqrt(2) meet (a) and (b) with m = M = 1; their Gram matrix is known from one binomial sum. The
corrected sample size is the matrix Chernoff bound, decided on binomial laws (docs/derivations/wang2019_section_4.md, condition (d)).
"""

import math
from fractions import Fraction
from functools import partial

from flint import arb, fmpq_mat

from mechanisms.numerics.balls import Ball

from ...methods.enclosed import enclosed
from ...methods.rational import Matrix, between, design, eigenvalue_bounds
from ..kit import At, Case, Decide, Display, Evidence, Form, Mutant, over, refuting, smallest, statement

#: -1/2 + log(2)/2 of the Chernoff bound, with the sign changed.
RATE = 0.5 * (1.0 - math.log(2.0))


def _matrix(case: Case, *, outer: bool = False, repeated: bool = False) -> Evidence:
    """Enclose the smallest eigenvalue of X'X (or X X'), which (d) wants to be positive; ``repeated``: one column twice."""
    X = design(case.text("shape"), case.whole("n"), case.whole("dim"), 7)
    if repeated:
        X = fmpq_mat(X.nrows(), X.ncols() + 1, [e for row in X.tolist() for e in (*row, row[0])])
    low, high = _smallest_eigenvalue(X * X.transpose() if outer else X.transpose() * X)
    method = "rational arithmetic: rank, Sylvester's inertia"
    return between("smallest eigenvalue", low, 1e-12, math.inf, 0.0, upper=high, method=method)


def _smallest_eigenvalue(square: Matrix) -> tuple[Fraction, Fraction]:
    """Return proved bounds of the smallest eigenvalue of a positive semidefinite matrix; 0 where it is singular."""
    if square.det() == 0:
        return Fraction(0), Fraction(0)
    return eigenvalue_bounds(square)[0]


def _printed_n(case: Case) -> int:
    """Return the smallest n that the printed condition allows."""
    dim, n = case.whole("dim"), 2
    while not n > max(10 * dim, 10 * dim ** (-2 / 3) * math.log(n)):
        n += 1
    return n


def _chernoff_n(case: Case, scale: float) -> int:
    """Return the smallest n that the corrected condition allows, its right side times ``scale``."""
    dim, m = case.whole("dim"), case.number("m")
    low, high = 2, 10**9
    while low < high:  # n - c log n grows from n = c on, and c log n exceeds n below
        n = (low + high) // 2
        enough = n * m / dim * RATE >= scale * (10.0 * math.log(n) + math.log(dim))
        low, high = (low, n) if enough else (n + 1, high)
    return low


def failure(law: str, n: int, m: float) -> Ball:
    """Return the probability that (d) fails for n records of a law."""
    if law == "two signs":  # Gram matrix [[n, S], [S, n]]/2: smallest eigenvalue (n - |S|)/2, to exceed n/4
        ways = sum(math.comb(n, k) for k in range(n + 1) if 4 * abs(n - 2 * k) >= 2 * n)
        return arb(ways) / arb(2) ** n
    if law == "normal":  # one feature: P(chi-square_n <= n/2)
        return 1 - (arb(n) / 4).gamma_upper(arb(n) / 2, 1)
    # one feature, x = +-1 with probability m, else 0: P(Bin(n, m) <= n m/2)
    p = arb(m)
    term = total = (1 - p) ** n
    for k in range(1, math.floor(Fraction(n) * Fraction(m) / 2) + 1):
        term = term * (n - k + 1) / k * p / (1 - p)
        total = total + term
    return total


def _size(case: Case, n: int) -> Evidence:
    """Enclose n^10 times the probability that (d) fails."""
    words, method = "n^10 times the probability that (d) fails", "exact law, ball arithmetic"
    law, m = case.text("law"), case.number("m")
    return enclosed(words, lambda: failure(law, n, m) * arb(n) ** 10, 0.0, 1.0, 1.0, method=method, notes={"n": n})


def _chernoff(scale: float = 1.0) -> Decide:
    """Return the check of the corrected sample size times ``scale``."""

    def check(case: Case) -> Evidence:
        return _size(case, _chernoff_n(case, scale))

    return check


PLAIN = {"shape": "generic", "n": 3, "dim": 1}
SHAPES = {"shape": ("generic", "nearly collinear", "one long row"), "n": (5, 8), "dim": (1, 3)}
SIGNS = {"law": "two signs", "dim": 2, "m": 1.0}

STATEMENT = statement(
    "W19-S4.C",
    domain="(a)-(c) are assumptions, nothing to check; n records in rows of X (as everywhere else in the section), alpha = m in (b). Sample size: rows of two "
    "signs, one feature in {-1, 0, 1} with m from 1e-4 to 0.9, one normal feature",
    summary="X X^T has rank d and cannot exceed a multiple of the identity for n > d: X^T X is meant. The stated sample size is far too small: at n = 21 rows of two signs "
    "are collinear with probability 2^-20, against 21^-10 = 6e-14, so that no alpha > 0 saves it. The matrix Chernoff bound asks for n m/d of order log n + log d; "
    "its sample size cannot be cut by 10 % for n around 1e7.",
    derivation="docs/derivations/wang2019_section_4.md, condition (d)",
    displays={
        "#d": Display(
            "condition (d) can hold",
            printed=Form(
                "X X^T succ (alpha n)/(2 d) I, quad n > d",
                partial(_matrix, outer=True),
                [smallest("three records of one feature", PLAIN)],
            ),
            corrected=Form(
                "X^T X succ (alpha n)/(2 d) I",
                _matrix,
                [refuting(PLAIN), *over("designs of full rank", SHAPES, quick_every=5)],
            ),
            wrong="The transpose is on the wrong factor.",
            mutants={"one column repeated": Mutant(_matrix, PLAIN, repeated=True)},
        ),
        "#size": Display(
            "how soon it holds",
            printed=Form(
                "n > max(10 d, 10 d^(-2\\/3) log n) ==> PP[(d)] >= 1 - n^(-10)",
                lambda case: _size(case, _printed_n(case)),
                [
                    smallest("rows of two signs, n = 21", SIGNS),
                    At("one normal feature, n = 36", {"law": "normal", "dim": 1, "m": 1.0}),
                ],
            ),
            corrected=Form(
                "(n m)/d (1 - log 2)/2 >= 10 log n + log d ==> PP[(d)] >= 1 - n^(-10), quad alpha = m",
                _chernoff(),
                [
                    smallest("the law that refutes the printed form", SIGNS),
                    *over("one feature, mostly 0", {"law": ("rare ones",), "dim": (1,), "m": (0.9, 0.3, 0.01, 1e-4)}),
                ],
            ),
            wrong="Failure has a probability exponential in n m/d, which 10 d or 10 log n records do not bring below n^-10.",
            mutants={
                "sample size cut by 10 %": Mutant(
                    _chernoff(0.9), {"law": "rare ones", "dim": 1, "m": 1e-4}, severity=0.1
                )
            },
        ),
    },
)

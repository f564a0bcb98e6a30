"""W19, section 4: condition (d) of Propositions 4.3 and 4.4, and how soon it is said to hold.

Rows of two random signs over sqrt(2) meet (a) and (b) with m = M = 1; their Gram matrix is known from one binomial sum. The
corrected sample size is the matrix Chernoff bound, decided on binomial laws (docs/derivations/wang2019_section_4.md, condition (d)).
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb, fmpq_mat

from audits import Budget, Estimate
from mechanisms.balls import Ball, enclose

from ..cases import case, grid, mutant
from ..formal import version_name
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Role, Standing, Statement, Value
from .rational import Matrix, design, eigenvalue_bounds, proved

ID = "W19-S4.C"
MATRIX, SIZE = f"{ID}#d", f"{ID}#size"
#: -1/2 + log(2)/2 of the Chernoff bound, with the sign changed.
RATE = 0.5 * (1.0 - math.log(2.0))


def check(case: Case, budget: Budget) -> Evidence:
    """Decide the matrix of (d) on a rational design, or the probability at the smallest stated n."""
    return _matrix(case) if case.part == MATRIX else _size(case)


def _matrix(case: Case) -> Evidence:
    """Enclose the smallest eigenvalue of the stated matrix; (d) wants it to be positive."""
    X = design(case.text("shape"), case.whole("n"), case.whole("dim"), 7)
    version = version_name(case)
    if version == "one column repeated":
        X = fmpq_mat(X.nrows(), X.ncols() + 1, [e for row in X.tolist() for e in (*row, row[0])])
    square = X * X.transpose() if version == "printed" else X.transpose() * X
    low, high = _smallest(square)
    claim = Claim("smallest eigenvalue", 1e-12, math.inf, 0.0, observer=Observer.OUTPUT)
    return Evidence(claim, exact=proved(low, high, "rational arithmetic: rank, Sylvester's inertia"))


def _smallest(square: Matrix) -> tuple[Fraction, Fraction]:
    """Return proved bounds of the smallest eigenvalue of a positive semidefinite matrix; 0 where it is singular."""
    if square.det() == 0:
        return Fraction(0), Fraction(0)
    return eigenvalue_bounds(square)[0]


def smallest_n(case: Case) -> int:
    """Return the smallest n that the version's condition allows."""
    dim, m, version = case.whole("dim"), case.number("m"), version_name(case)
    n = 2
    if version == "printed":
        while not n > max(10 * dim, 10 * dim ** (-2 / 3) * math.log(n)):
            n += 1
        return n
    scale = {"sample size cut by 10 %": 0.9}.get(version, 1.0)
    low, high = 2, 10**9
    while low < high:  # n - c log n grows from n = c on, and c log n exceeds n below
        n = (low + high) // 2
        enough = n * m / dim * RATE >= scale * (10.0 * math.log(n) + math.log(dim))
        low, high = (low, n) if enough else (n + 1, high)
    return low


def _size(case: Case) -> Evidence:
    """Enclose n^10 times the probability that (d) fails."""
    n, m, law = smallest_n(case), case.number("m"), case.text("law")

    def failure() -> Ball:
        if law == "two signs":  # Gram matrix [[n, S], [S, n]]/2: smallest eigenvalue (n - |S|)/2, to exceed n/4
            total = sum(math.comb(n, k) for k in range(n + 1) if 4 * abs(n - 2 * k) >= 2 * n)
            return arb(total) / arb(2) ** n
        if law == "normal":  # one feature: P(chi-square_n <= n/2)
            return 1 - (arb(n) / 4).gamma_upper(arb(n) / 2, 1)
        # one feature, x = +-1 with probability m, else 0: P(Bin(n, m) <= n m/2)
        p = arb(m)
        term = (1 - p) ** n
        total_ball = term
        for k in range(1, math.floor(Fraction(n) * Fraction(m) / 2) + 1):
            term = term * (n - k + 1) / k * p / (1 - p)
            total_ball += term
        return total_ball

    found = enclose(lambda: failure() * arb(n) ** 10)
    claim = Claim("n^10 times the probability that (d) fails", 0.0, 1.0, 1.0, observer=Observer.OUTPUT)
    return Evidence(claim, exact=Estimate.proved(found.low, found.high, "exact law, ball arithmetic"), notes={"n": n})


def _cases() -> tuple[Case, ...]:
    shapes: dict[str, tuple[Value, ...]] = {
        "shape": ("generic", "nearly collinear", "one long row"),
        "n": (5, 8),
        "dim": (1, 3),
    }
    plain: dict[str, Value] = {"shape": "generic", "n": 3, "dim": 1}
    signs: dict[str, Value] = {"law": "two signs", "dim": 2, "m": 1.0}
    rare: dict[str, Value] = {"law": "rare ones", "dim": 1, "m": 1e-4}
    return (
        case(MATRIX, Standing.PRINTED, plain, role=Role.COUNTEREXAMPLE, regime="three records of one feature"),
        case(
            MATRIX, Standing.CORRECTED, plain, role=Role.COUNTEREXAMPLE, regime="the case that refutes the printed form"
        ),
        *grid(MATRIX, Standing.CORRECTED, shapes, regime="designs of full rank", quick_every=5),
        mutant(MATRIX, "one column repeated", plain),
        case(SIZE, Standing.PRINTED, signs, role=Role.COUNTEREXAMPLE, regime="rows of two signs, n = 21"),
        case(SIZE, Standing.PRINTED, {"law": "normal", "dim": 1, "m": 1.0}, regime="one normal feature, n = 36"),
        case(SIZE, Standing.CORRECTED, signs, role=Role.COUNTEREXAMPLE, regime="the law that refutes the printed form"),
        *grid(
            SIZE,
            Standing.CORRECTED,
            {"law": ("rare ones",), "dim": (1,), "m": (0.9, 0.3, 0.01, 1e-4)},
            regime="one feature, mostly 0",
        ),
        mutant(SIZE, "sample size cut by 10 %", rare, severity=0.1),
    )


STATEMENT = Statement(
    id=ID,
    paper="wang2019",
    kind="setting",
    title="Conditions (a) to (d) and the sample size behind (d)",
    locator="Section 4.1, conditions (a)-(d) and the sentence after them",
    domain=(
        "(a)-(c) are assumptions, nothing to check; n records in rows of X (as everywhere else in the section), alpha = m in (b). Sample size: rows of two "
        "signs, one feature in {-1, 0, 1} with m from 1e-4 to 0.9, one normal feature"
    ),
    summary=(
        "X X^T has rank d and cannot exceed a multiple of the identity for n > d: X^T X is meant. The stated sample size is far too small: at n = 21 rows of two signs "
        "are collinear with probability 2^-20, against 21^-10 = 6e-14, so that no alpha > 0 saves it. The matrix Chernoff bound asks for n m/d of order log n + log d; "
        "its sample size cannot be cut by 10 % for n around 1e7."
    ),
    parts=(
        Part(
            MATRIX,
            "condition (d) can hold",
            Formula(
                "X X^T succ (alpha n)/(2 d) I", "X X' > (alpha n/(2d)) I in the order of symmetric matrices, n > d"
            ),
            Formula("X^T X succ (alpha n)/(2 d) I", "X'X > (alpha n/(2d)) I in the order of symmetric matrices"),
            "The transpose is on the wrong factor.",
            "docs/derivations/wang2019_section_4.md, condition (d)",
        ),
        Part(
            SIZE,
            "how soon it holds",
            Formula(
                "n > max(10 d, 10 d^(-2\\/3) log n) ==> PP[(d)] >= 1 - n^(-10)",
                "n > max(10 d, 10 d^(-2/3) log n) implies (d) with probability at least 1 - n^-10",
            ),
            Formula(
                "(n m)/d (1 - log 2)/2 >= 10 log n + log d ==> PP[(d)] >= 1 - n^(-10), quad alpha = m",
                "(n m/d)(1 - log 2)/2 >= 10 log n + log d implies (d) with alpha = m with probability at least 1 - n^-10",
            ),
            "Failure has a probability exponential in n m/d, which 10 d or 10 log n records do not bring below n^-10.",
            "docs/derivations/wang2019_section_4.md, condition (d)",
        ),
    ),
    cases=_cases(),
    check=check,
)

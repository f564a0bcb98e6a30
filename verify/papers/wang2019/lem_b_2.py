"""W19, Lemma B.2: the Sherman-Morrison-Woodbury formula, an identity of rational matrices.

As printed the factor ``V`` is missing in front of the last inverse, so that the product is not even defined unless
``U`` is square (docs/derivations/wang2019_sections_2_3.md, Lemma B.2).
"""

from fractions import Fraction
from functools import partial

from ...methods.rational import matrix, random_matrix, same, scalar
from ..kit import At, Case, Evidence, Form, Mutant, over, refuting, smallest, statement


def _inverse(case: Case, *, last: bool = True, inner: bool = True, scale: Fraction = Fraction(1)) -> Evidence:
    """Compare both sides; ``last``: V stands before the last inverse, ``inner``: C^-1 (not C) inside, times ``scale``.

    Without V the right side exists only for as many columns of U as rows of A.
    """
    dim, rank, seed = case.whole("dim"), case.whole("rank"), case.whole("seed")
    if seed == 0:  # the smallest counterexample
        A, U, C, V = (matrix(1, 1, [k]) for k in (1, 1, 1, 2))
    else:
        A, C = random_matrix(dim, dim, seed, 1), random_matrix(rank, rank, seed, 2)
        U, V = random_matrix(dim, rank, seed, 3), random_matrix(rank, dim, seed, 4)
    inverse = A.inv()
    correction = inverse * U * ((C.inv() if inner else C) + V * inverse * U).inv() * (V if last else 1) * inverse
    words = "inverse of A + U C V against the right-hand side"
    return same(words, (A + U * C * V).inv(), inverse - correction * scalar(scale))


SMALLEST = {"dim": 1, "rank": 1, "seed": 0}
THIN = {"dim": 4, "rank": 2, "seed": 6}
FORMULA = "(A + U C V)^(-1) = A^(-1) - A^(-1) U (C^(-1) + V A^(-1) U)^(-1) {last}A^(-1)"

STATEMENT = statement(
    "W19-LB.2",
    domain="A, C and C^-1 + V A^-1 U invertible, compatible sizes; decided exactly for sizes up to 5",
    summary="A misprint: the factor V is missing. Where the paper uses the lemma (A.2), it uses the right form.",
    derivation="docs/derivations/wang2019_sections_2_3.md, Lemma B.2",
    title="inverse of a perturbed matrix",
    printed=Form(
        FORMULA.format(last=""),
        partial(_inverse, last=False),
        [smallest("A = U = C = 1, V = 2: 1/3 against 2/3", SMALLEST), At("square U", {"dim": 3, "rank": 3, "seed": 5})],
    ),
    corrected=Form(
        FORMULA.format(last="V "),
        _inverse,
        [
            refuting(SMALLEST),
            *over("random integers over 8", {"dim": (1, 2, 5), "rank": (1, 2, 5), "seed": (1, 2)}, quick_every=4),
        ],
    ),
    wrong="The factor V in front of the last inverse of A is missing.",
    mutants={
        "C in place of its inverse": Mutant(_inverse, THIN, inner=False),
        "correction scaled by 1.01": Mutant(_inverse, THIN, severity=0.01, scale=Fraction(101, 100)),
    },
)

"""RW21, Lemma 24: the Sherman-Morrison-Woodbury formula, an identity of rational matrices."""

from ...methods.rational import random_matrix, same
from ..kit import Case, Evidence, Form, Mutant, over, statement


def _woodbury(case: Case, *, hundredths: int = 100, inner_inverse: bool = True) -> Evidence:
    """Compare both sides in rational arithmetic, the correction counted ``hundredths`` of a hundred times."""
    dim, rank, seed = case.whole("dim"), case.whole("rank"), case.whole("seed")
    A, C = random_matrix(dim, dim, seed, 11), random_matrix(rank, rank, seed, 12)
    U, V = random_matrix(dim, rank, seed, 13), random_matrix(rank, dim, seed, 14)
    if case.params["U"] == "zero":
        U = U * 0
    inverse, inner = A.inv(), C.inv() if inner_inverse else C
    correction = inverse * U * (inner + V * inverse * U).inv() * V * inverse
    return same("inverse of A + U C V", (A + U * C * V).inv(), inverse - correction * hundredths / 100)


SIZES = {"dim": (1, 2, 5), "rank": (1, 2, 5), "U": ("any", "zero"), "seed": (1, 2)}
PLAIN = {"dim": 4, "rank": 2, "U": "any", "seed": 3}

STATEMENT = statement(
    "RW21-L24",
    domain="A, C and C^-1 + V A^-1 U invertible, compatible sizes; decided exactly for sizes up to 5",
    summary="True, an identity (the same lemma is misprinted in W19, Lemma B.2).",
    title="inverse of a perturbed matrix",
    printed=Form(
        "(A + U C V)^(-1) = A^(-1) - A^(-1) U (C^(-1) + V A^(-1) U)^(-1) V A^(-1)",
        _woodbury,
        over("random integers over 8", SIZES, quick_every=5),
    ),
    mutants={
        "C in place of its inverse": Mutant(_woodbury, PLAIN, inner_inverse=False),
        "sign of the correction": Mutant(_woodbury, PLAIN, hundredths=-100),
        "correction scaled by 1.01": Mutant(_woodbury, PLAIN, severity=0.01, hundredths=101),
    },
)

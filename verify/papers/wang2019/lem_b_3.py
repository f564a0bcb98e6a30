"""W19, Lemma B.3: the determinant of a rank-one perturbation, an identity of rational numbers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flint import fmpq_mat

from ...methods.rational import random_matrix, same
from ..kit import Case, Display, Evidence, Form, Mutant, Params, Value, over, statement

PERTURBATIONS = ("any", "zero", "singular result")
#: What multiplies det(A), from ``d^T A^-1 c`` and ``d^T c``.
Factor = Callable[[Any, Any], Any]


def _determinant(factor: Factor) -> Callable[[Case], Evidence]:
    """Return the comparison of both sides in rational arithmetic."""

    def check(case: Case) -> Evidence:
        dim, seed = case.whole("dim"), case.whole("seed")
        A, c, d = random_matrix(dim, dim, seed, 1), random_matrix(dim, 1, seed, 2), random_matrix(dim, 1, seed, 3)
        if case.params["perturbation"] == "zero":
            c = c * 0
        if case.params["perturbation"] == "singular result":  # d' A^-1 c = -1
            c = c / -(d.transpose() * A.inv() * c)[0, 0]
        inner, plain = (d.transpose() * A.inv() * c)[0, 0], (d.transpose() * c)[0, 0]
        left, right = (A + c * d.transpose()).det(), A.det() * factor(inner, plain)
        return same("determinant of A + c d'", fmpq_mat(1, 1, [left]), fmpq_mat(1, 1, [right]))

    return check


def rank_one_determinant(sizes: Mapping[str, Sequence[Value]], plain: Params, *, quick_every: int) -> Display:
    """Return the display of the identity, decided at ``sizes``, with its mutants at ``plain``."""
    return Display(
        "determinant of A + c d^T",
        printed=Form(
            "det(A + c d^T) = det(A) (1 + d^T A^(-1) c)",
            _determinant(lambda inner, plain: 1 + inner),
            over("random integers over 8, A not symmetric", sizes, quick_every=quick_every),
        ),
        mutants={
            "inverse left out": Mutant(_determinant(lambda inner, plain: 1 + plain), plain),
            "sign reversed": Mutant(_determinant(lambda inner, plain: 1 - inner), plain),
            "perturbation scaled by 1.01": Mutant(
                _determinant(lambda inner, plain: 1 + inner * 101 / 100), plain, severity=0.01
            ),
        },
    )


STATEMENT = statement(
    "W19-LB.3",
    domain="A invertible, c and d of its size; decided exactly for sizes up to 8, a singular result included",
    summary="True, an identity.",
    displays={
        "": rank_one_determinant(
            {"dim": (1, 2, 3, 8), "perturbation": PERTURBATIONS, "seed": (1, 2)},
            {"dim": 3, "perturbation": "any", "seed": 1},
            quick_every=5,
        )
    },
)

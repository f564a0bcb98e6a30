"""RW21, Lemma 25: the determinant of a rank-one perturbation; the same identity as W19, Lemma B.3, decided by its check."""

from __future__ import annotations

from ..cases import grid, mutant
from ..statement import Case, Formula, Part, Standing, Statement, Value
from ..wang2019.lem_b_3 import check

ID = "RW21-L25"


def _cases() -> tuple[Case, ...]:
    axes: dict[str, tuple[Value, ...]] = {
        "dim": (1, 2, 4),
        "perturbation": ("any", "zero", "singular result"),
        "seed": (5, 6),
    }
    plain: dict[str, Value] = {"dim": 3, "perturbation": "any", "seed": 7}
    return (
        *grid(ID, Standing.PRINTED, axes, regime="random integers over 8, A not symmetric", quick_every=4),
        mutant(ID, "inverse left out", plain),
        mutant(ID, "sign reversed", plain),
        mutant(ID, "perturbation scaled by 1.01", plain, severity=0.01),
    )


STATEMENT = Statement(
    id=ID,
    paper="redberg_wang2021",
    kind="lemma",
    title="Determinant of a rank-one perturbation",
    locator="Supplement G, Lemma 25",
    domain="A invertible, c and d of its size; decided exactly for sizes up to 4, a singular result included",
    summary="True, an identity.",
    parts=(
        Part(
            ID,
            "determinant of A + c d^T",
            Formula("det(A + c d^T) = det(A) (1 + d^T A^(-1) c)", "det(A + c d') = det(A) (1 + d' A^-1 c)"),
        ),
    ),
    cases=_cases(),
    check=check,
)

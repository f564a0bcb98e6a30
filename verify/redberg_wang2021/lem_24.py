"""RW21, Lemma 24: the Sherman-Morrison-Woodbury formula, an identity of rational matrices."""

from __future__ import annotations

from audits import Budget

from ..cases import grid, mutant
from ..formal import version_name
from ..statement import Case, Evidence, Formula, Part, Standing, Statement, Value
from ..wang2019.rational import random_matrix, same

ID = "RW21-L24"


def check(case: Case, budget: Budget) -> Evidence:
    """Compare both sides in rational arithmetic."""
    dim, rank, seed = case.whole("dim"), case.whole("rank"), case.whole("seed")
    A, C = random_matrix(dim, dim, seed, 11), random_matrix(rank, rank, seed, 12)
    U, V = random_matrix(dim, rank, seed, 13), random_matrix(rank, dim, seed, 14)
    if case.params["U"] == "zero":
        U = U * 0
    version, inverse = version_name(case), A.inv()
    inner = C if version == "C in place of its inverse" else C.inv()
    scale = 101 if version == "correction scaled by 1.01" else 100
    sign = -1 if version == "sign of the correction" else 1
    correction = inverse * U * (inner + V * inverse * U).inv() * V * inverse * scale / 100
    return same("inverse of A + U C V", (A + U * C * V).inv(), inverse - correction * sign)


def _cases() -> tuple[Case, ...]:
    axes = {"dim": (1, 2, 5), "rank": (1, 2, 5), "U": ("any", "zero"), "seed": (1, 2)}
    plain: dict[str, Value] = {"dim": 4, "rank": 2, "U": "any", "seed": 3}
    return (
        *grid(ID, Standing.PRINTED, axes, regime="random integers over 8", quick_every=5),
        mutant(ID, "C in place of its inverse", plain),
        mutant(ID, "sign of the correction", plain),
        mutant(ID, "correction scaled by 1.01", plain, severity=0.01),
    )


STATEMENT = Statement(
    id=ID,
    paper="redberg_wang2021",
    kind="lemma",
    title="Sherman-Morrison-Woodbury formula",
    locator="Supplement G, Lemma 24",
    domain="A, C and C^-1 + V A^-1 U invertible, compatible sizes; decided exactly for sizes up to 5",
    summary="True, an identity (the same lemma is misprinted in W19, Lemma B.2).",
    parts=(
        Part(
            ID,
            "inverse of a perturbed matrix",
            Formula(
                "(A + U C V)^(-1) = A^(-1) - A^(-1) U (C^(-1) + V A^(-1) U)^(-1) V A^(-1)",
                "(A + U C V)^-1 = A^-1 - A^-1 U (C^-1 + V A^-1 U)^-1 V A^-1",
            ),
        ),
    ),
    cases=_cases(),
    check=check,
)

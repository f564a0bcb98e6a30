"""W19, Lemma B.2: the Sherman-Morrison-Woodbury formula, an identity of rational matrices.

As printed the factor ``V`` is missing in front of the last inverse, so that the product is not even defined unless
``U`` is square (docs/derivations/wang2019_sections_2_3.md, Lemma B.2).
"""

from __future__ import annotations

from audits import Budget

from ..cases import case, grid, mutant
from ..formal import version_name
from ..statement import Case, Evidence, Formula, Part, Role, Standing, Statement, Value
from .rational import matrix, random_matrix, same

ID = "W19-LB.2"


def check(case: Case, budget: Budget) -> Evidence:
    """Compare both sides in rational arithmetic; the printed form needs as many columns of U as rows of A."""
    dim, rank, seed = case.whole("dim"), case.whole("rank"), case.whole("seed")
    if seed == 0:  # the smallest counterexample
        A, U, C, V = (matrix(1, 1, [k]) for k in (1, 1, 1, 2))
    else:
        A, C = random_matrix(dim, dim, seed, 1), random_matrix(rank, rank, seed, 2)
        U, V = random_matrix(dim, rank, seed, 3), random_matrix(rank, dim, seed, 4)
    inverse, inner = A.inv(), (C.inv() + V * A.inv() * U).inv()
    version = version_name(case)
    if version == "printed":
        right = inverse - inverse * U * inner * inverse
    elif version == "C in place of its inverse":
        right = inverse - inverse * U * (C + V * inverse * U).inv() * V * inverse
    elif version == "correction scaled by 1.01":
        right = inverse - inverse * U * inner * V * inverse * 101 / 100
    else:
        right = inverse - inverse * U * inner * V * inverse
    return same("inverse of A + U C V against the right-hand side", (A + U * C * V).inv(), right)


def _cases() -> tuple[Case, ...]:
    printed, corrected = Standing.PRINTED, Standing.CORRECTED
    smallest: dict[str, Value] = {"dim": 1, "rank": 1, "seed": 0}
    square: dict[str, Value] = {"dim": 3, "rank": 3, "seed": 5}
    thin: dict[str, Value] = {"dim": 4, "rank": 2, "seed": 6}
    return (
        case(ID, printed, smallest, role=Role.COUNTEREXAMPLE, regime="A = U = C = 1, V = 2: 1/3 against 2/3"),
        case(ID, printed, square, regime="square U"),
        case(ID, corrected, smallest, role=Role.COUNTEREXAMPLE, regime="the case that refutes the printed form"),
        *grid(
            ID,
            corrected,
            {"dim": (1, 2, 5), "rank": (1, 2, 5), "seed": (1, 2)},
            regime="random integers over 8",
            quick_every=4,
        ),
        mutant(ID, "C in place of its inverse", thin),
        mutant(ID, "correction scaled by 1.01", thin, severity=0.01),
    )


STATEMENT = Statement(
    id=ID,
    paper="wang2019",
    kind="lemma",
    title="Sherman-Morrison-Woodbury formula",
    locator="Appendix B, Lemma B.2",
    domain="A, C and C^-1 + V A^-1 U invertible, compatible sizes; decided exactly for sizes up to 5",
    summary="A misprint: the factor V is missing. Where the paper uses the lemma (A.2), it uses the right form.",
    parts=(
        Part(
            ID,
            "inverse of a perturbed matrix",
            printed=Formula(
                "(A + U C V)^(-1) = A^(-1) - A^(-1) U (C^(-1) + V A^(-1) U)^(-1) A^(-1)",
                "(A + U C V)^-1 = A^-1 - A^-1 U (C^-1 + V A^-1 U)^-1 A^-1",
            ),
            corrected=Formula(
                "(A + U C V)^(-1) = A^(-1) - A^(-1) U (C^(-1) + V A^(-1) U)^(-1) V A^(-1)",
                "(A + U C V)^-1 = A^-1 - A^-1 U (C^-1 + V A^-1 U)^-1 V A^-1",
            ),
            what_went_wrong="The factor V in front of the last inverse of A is missing.",
            derivation="docs/derivations/wang2019_sections_2_3.md, Lemma B.2",
        ),
    ),
    cases=_cases(),
    check=check,
)

"""W19, Lemma B.3: the determinant of a rank-one perturbation, an identity of rational numbers."""

from __future__ import annotations

from flint import fmpq_mat

from audits import Budget

from ..cases import grid, mutant
from ..formal import version_name
from ..statement import Case, Evidence, Formula, Part, Standing, Statement, Value
from .rational import matrix, random_matrix, same

ID = "W19-LB.3"


def check(case: Case, budget: Budget) -> Evidence:
    """Compare both sides in rational arithmetic."""
    dim, seed = case.whole("dim"), case.whole("seed")
    A, c, d = random_matrix(dim, dim, seed, 1), random_matrix(dim, 1, seed, 2), random_matrix(dim, 1, seed, 3)
    if case.params["perturbation"] == "zero":
        c = c * 0
    if case.params["perturbation"] == "singular result":  # d' A^-1 c = -1
        c = c / -(d.transpose() * A.inv() * c)[0, 0]
    inner = (d.transpose() * A.inv() * c)[0, 0]
    version = version_name(case)
    factor = {
        "inverse left out": 1 + (d.transpose() * c)[0, 0],
        "sign reversed": 1 - inner,
        "perturbation scaled by 1.01": 1 + inner * 101 / 100,
    }.get(version, 1 + inner)
    left = (A + c * d.transpose()).det()
    return same("determinant of A + c d'", matrix(1, 1, [left]), fmpq_mat(1, 1, [A.det() * factor]))


def _cases() -> tuple[Case, ...]:
    axes = {"dim": (1, 2, 3, 8), "perturbation": ("any", "zero", "singular result"), "seed": (1, 2)}
    plain: dict[str, Value] = {"dim": 3, "perturbation": "any", "seed": 1}
    return (
        *grid(ID, Standing.PRINTED, axes, regime="random integers over 8, A not symmetric", quick_every=5),
        mutant(ID, "inverse left out", plain),
        mutant(ID, "sign reversed", plain),
        mutant(ID, "perturbation scaled by 1.01", plain, severity=0.01),
    )


STATEMENT = Statement(
    id=ID,
    paper="wang2019",
    kind="lemma",
    title="Determinant of a rank-one perturbation",
    locator="Appendix B, Lemma B.3",
    domain="A invertible, c and d of its size; decided exactly for sizes up to 8, a singular result included",
    summary="True, an identity.",
    parts=(
        Part(
            ID,
            "determinant of A + c d^T",
            printed=Formula("det(A + c d^T) = det(A) (1 + d^T A^(-1) c)", "det(A + c d') = det(A) (1 + d' A^-1 c)"),
        ),
    ),
    cases=_cases(),
    check=check,
)

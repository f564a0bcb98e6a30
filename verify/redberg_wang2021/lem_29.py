"""RW21, Lemma 29 (Weyl): singular values move by at most the norm of the perturbation; W19, Lemma B.4's check."""

from __future__ import annotations

from ..cases import case, grid, mutant
from ..statement import Case, Formula, Part, Standing, Statement, Value
from ..wang2019.lem_b_4 import check

ID = "RW21-L29"


def _cases() -> tuple[Case, ...]:
    axes = {"m": (4,), "n": (1, 3, 4), "E": ("any", "small", "rank one"), "seed": (11, 12)}
    equal: dict[str, Value] = {"m": 3, "n": 2, "E": "diagonal, equality", "seed": 0}
    plain: dict[str, Value] = {"m": 4, "n": 3, "E": "small", "seed": 13}
    return (
        case(ID, Standing.PRINTED, equal, regime="equality, exact"),
        *grid(ID, Standing.PRINTED, axes, regime="random matrices", quick_every=5),
        mutant(ID, "bound cut by 5 %", equal, severity=0.05),
        mutant(ID, "paired in opposite order", plain),
        mutant(ID, "eigenvalues of the Gram matrices", plain),
    )


STATEMENT = Statement(
    id=ID,
    paper="redberg_wang2021",
    kind="lemma",
    title="Weyl's bound for singular values",
    locator="Supplement G, Lemma 29, equation (6)",
    domain="A, E real m x n with m >= n. Decided by exact inertia for m = 4, n <= 4; the theorem itself is classical",
    summary="True and tight: equality where E moves a singular direction along itself.",
    parts=(
        Part(
            ID,
            "move of singular values",
            Formula(
                "max_(i in [n]) abs(sigma_i (A) - sigma_i (A+E)) <= norm(E)_2",
                "max_i |sigma_i(A) - sigma_i(A+E)| <= ||E||",
            ),
        ),
    ),
    cases=_cases(),
    check=check,
)

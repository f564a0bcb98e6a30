"""W19, Lemma B.1: how least squares moves when its moments are perturbed.

An identity of rational matrices. As printed ``X y`` stands for ``X^T y``: where both make sense (a square ``X``) the
identity fails (docs/derivations/wang2019_sections_2_3.md, Lemma B.1).
"""

from __future__ import annotations

from typing import Any

from audits import Budget

from ..cases import case, grid, mutant
from ..formal import version_name
from ..statement import Case, Evidence, Formula, Part, Role, Standing, Statement, Value
from .rational import SHAPES, design, identity, matrix, random_matrix, same

ID = "W19-LB.1"


def check(case: Case, budget: Budget) -> Evidence:
    """Compare both sides in rational arithmetic, on the named design with random perturbations."""
    X, y, E1, E2 = _data(case)
    version = version_name(case)
    moment = X * y if version == "printed" else X.transpose() * y
    gram = X.transpose() * X
    theta = gram.inv() * (X.transpose() * y)
    moved = (gram + E1).inv() * (moment + E2)
    right = {
        "E1 applied to the moved estimate": (gram + E1).inv() * (E2 - E1 * moved),
        "perturbation left out of the inverse": gram.inv() * (E2 - E1 * theta),
        "E1 scaled by 1.01": (gram + E1).inv() * (E2 - E1 * theta * 101 / 100),
    }.get(version, (gram + E1).inv() * (E2 - E1 * theta))
    return same("moved minus plain estimate against the right-hand side", moved - theta, right)


def _data(case: Case) -> tuple[Any, Any, Any, Any]:
    if case.params.get("shape") == "two by two":
        return matrix(2, 2, [1, 1, 0, 1]), matrix(2, 1, [0, 1]), matrix(2, 2, [0] * 4), matrix(2, 1, [0, 0])
    n, dim, seed = case.whole("n"), case.whole("dim"), case.whole("seed")
    X = design(case.text("shape"), n, dim, seed)
    E1 = random_matrix(dim, dim, seed, 7)
    if case.params["E1"] == "ridge":
        E1 = identity(dim, 3)
    if case.params["E1"] == "none":
        E1 = E1 * 0
    return X, random_matrix(n, 1, seed, 11), E1, random_matrix(dim, 1, seed, 13)


def _cases() -> tuple[Case, ...]:
    printed, corrected = Standing.PRINTED, Standing.CORRECTED
    axes: dict[str, tuple[Value, ...]] = {
        "shape": SHAPES,
        "n": (6,),
        "dim": (1, 2, 5),
        "E1": ("any", "ridge", "none"),
        "seed": (1,),
    }
    smallest: dict[str, Value] = {"shape": "two by two"}
    plain: dict[str, Value] = {"shape": "generic", "n": 6, "dim": 3, "E1": "any", "seed": 2}
    square: dict[str, Value] = {"shape": "generic", "n": 3, "dim": 3, "E1": "any", "seed": 3}
    return (
        case(ID, printed, smallest, role=Role.COUNTEREXAMPLE, regime="X = [[1, 1], [0, 1]], y = (0, 1), E1 = E2 = 0"),
        case(ID, printed, square, regime="square X"),
        case(ID, corrected, smallest, role=Role.COUNTEREXAMPLE, regime="the case that refutes the printed form"),
        case(ID, corrected, square, regime="square X"),
        *grid(ID, corrected, axes, regime="designs and perturbations, E1 not symmetric", quick_every=5),
        mutant(ID, "E1 applied to the moved estimate", plain),
        mutant(ID, "perturbation left out of the inverse", plain),
        mutant(ID, "E1 scaled by 1.01", plain, severity=0.01),
    )


_RIGHT = "(X^T X + E_1)^(-1) (E_2 - E_1 hat(theta))"

STATEMENT = Statement(
    id=ID,
    paper="wang2019",
    kind="lemma",
    title="Perturbed moments of least squares",
    locator="Appendix B, Lemma B.1",
    domain="Any X, y, E_1 (d x d), E_2 (d) for which X^T X and X^T X + E_1 are invertible; decided exactly for n <= 6, d <= 5",
    summary="A misprint: a transpose is missing. The identity is right with it.",
    parts=(
        Part(
            ID,
            "the moved estimate",
            printed=Formula(
                "hat(theta)' = (X^T X + E_1)^(-1) (X bold(y) + E_2) ==> hat(theta)' - hat(theta) = " + _RIGHT,
                "theta' = (X'X + E1)^-1 (X y + E2) implies theta' - theta_hat = (X'X + E1)^-1 (E2 - E1 theta_hat)",
            ),
            corrected=Formula(
                "hat(theta)' = (X^T X + E_1)^(-1) (X^T bold(y) + E_2) ==> hat(theta)' - hat(theta) = " + _RIGHT,
                "theta' = (X'X + E1)^-1 (X'y + E2) implies theta' - theta_hat = (X'X + E1)^-1 (E2 - E1 theta_hat)",
            ),
            what_went_wrong="The transpose of X is missing in front of y; for a rectangular X the product is not even defined.",
            derivation="docs/derivations/wang2019_sections_2_3.md, Lemma B.1",
        ),
    ),
    cases=_cases(),
    check=check,
)

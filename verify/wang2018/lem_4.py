"""W18, Lemma 4: the error of sufficient statistics perturbation, an identity of rational matrices.

It holds for any vector b in place of the moment, if the same stands in both estimates: so the misprint ``X y`` for
``X^T y`` does no harm here (docs/derivations/wang2018_appendix_c.md, section 1).
"""

from __future__ import annotations

from flint import fmpq

from audits import Budget

from ..cases import case, grid, mutant
from ..formal import version_name
from ..statement import Case, Evidence, Formula, Part, Standing, Statement, Value
from ..wang2019.rational import SHAPES, design, identity, random_matrix, same

ID = "W18-L4"


def check(case: Case, budget: Budget) -> Evidence:
    """Compare both sides in rational arithmetic."""
    n, dim, seed, version = case.whole("n"), case.whole("dim"), case.whole("seed"), version_name(case)
    X, y = design(case.text("X"), n, dim, seed), random_matrix(n, 1, seed, 2)
    E1, E2 = random_matrix(dim, dim, seed, 3), random_matrix(dim, 1, seed, 4)
    if case.text("E1") == "symmetric":
        E1 = E1 + E1.transpose()
    if case.text("E1") == "none":
        E1 = E1 * 0
    if case.text("E1") == "makes the matrix indefinite":
        E1 = -2 * (X.transpose() * X) + identity(dim)
    gram = X.transpose() * X
    moment = X * y if case.text("moment") == "X y" else X.transpose() * y
    theta, inverse = gram.inv() * moment, (gram + E1).inv()
    moved = inverse * (moment + E2)
    first, second = -(inverse * E1 * theta), inverse * E2
    right = {
        "sign of the first term": second - first,
        "first term 1 % larger": first * fmpq(101, 100) + second,
        "E1 applied to the noisy estimate": second - inverse * E1 * moved,
        "plain inverse": gram.inv() * (E2 - E1 * theta),
    }.get(version, first + second)
    return same("noisy minus plain estimate against the right-hand side", moved - theta, right)


def _cases() -> tuple[Case, ...]:
    axes: dict[str, tuple[Value, ...]] = {
        "X": SHAPES,
        "n": (6,),
        "dim": (1, 2, 5),
        "E1": ("any", "symmetric", "none", "makes the matrix indefinite"),
        "moment": ("X^T y",),
        "seed": (1,),
    }
    plain: dict[str, Value] = {"X": "generic", "n": 5, "dim": 3, "E1": "any", "moment": "X^T y", "seed": 2}
    return (
        *grid(ID, Standing.PRINTED, axes, regime="designs and perturbations", quick_every=5),
        *(
            case(
                ID,
                Standing.PRINTED,
                {"X": "generic", "n": dim, "dim": dim, "E1": "any", "moment": "X y", "seed": 3},
                regime="X y taken literally, X square",
            )
            for dim in (1, 2, 4)
        ),
        mutant(ID, "sign of the first term", plain),
        mutant(ID, "first term 1 % larger", plain, severity=0.01),
        mutant(ID, "E1 applied to the noisy estimate", plain),
        mutant(ID, "plain inverse", plain),
    )


STATEMENT = Statement(
    id=ID,
    paper="wang2018",
    kind="lemma",
    title="Error of sufficient statistics perturbation",
    locator="Lemma 4, appendix C.1",
    domain=(
        "Any X, y, E_1 (d x d, symmetric or not), E_2 for which X^T X and X^T X + E_1 are invertible; decided exactly for "
        "n <= 6, d <= 5; the proof is two lines"
    ),
    summary=(
        "True. X y is a misprint for X^T y (undefined unless n = d), harmless here because the same vector stands in both "
        "estimates: the identity holds for any vector in its place."
    ),
    parts=(
        Part(
            ID,
            "error identity",
            Formula(
                "hat(theta) - theta^* = -(X^T X + E_1)^(-1) E_1 theta^* + (X^T X + E_1)^(-1) E_2,"
                " quad theta^* = (X^T X)^(-1) X y, quad hat(theta) = (X^T X + E_1)^(-1) (X y + E_2)",
                "theta_hat - theta* = -(X'X + E1)^-1 E1 theta* + (X'X + E1)^-1 E2 for theta* = (X'X)^-1 X y and "
                "theta_hat = (X'X + E1)^-1 (X y + E2)",
            ),
        ),
    ),
    cases=_cases(),
    check=check,
)

"""W18, Lemma 5: excess squared error as a distance, an identity of rational numbers.

Minimisers may be many (a singular Gram matrix): the identity needs only ``X^T (y - X theta*) = 0``
(docs/derivations/wang2018_appendix_c.md, section 1).
"""

from __future__ import annotations

from flint import fmpq, fmpq_mat

from audits import Budget

from ..cases import grid, mutant
from ..formal import version_name
from ..statement import Case, Evidence, Formula, Part, Standing, Statement, Value
from ..wang2019.rational import SHAPES, Matrix, column, design, identity, quadratic, random_matrix, same

ID = "W18-L5"
DEFICIENT = "last feature repeats the first"


def minimiser(X: Matrix, y: Matrix) -> Matrix:
    """Return the least-squares solution of smallest norm, exactly (also for a singular Gram matrix).

    ``(X^T X)^+ X^T y = X^T (X X^T)^+ y``; here the repeated feature shares its coefficient equally with the first.
    """
    dim = X.ncols()
    gram = X.transpose() * X
    if gram.rank() == dim:
        return gram.inv() * (X.transpose() * y)
    fewer = fmpq_mat([row[:-1] for row in X.tolist()])
    part = (fewer.transpose() * fewer).inv() * (fewer.transpose() * y)
    entries = [part[i, 0] for i in range(dim - 1)]
    entries[0] = entries[0] / 2
    return column(*entries, entries[0])


def check(case: Case, budget: Budget) -> Evidence:
    """Compare both sides in rational arithmetic."""
    n, dim, seed, version = case.whole("n"), case.whole("dim"), case.whole("seed"), version_name(case)
    shape = case.text("X")
    X, y = design("generic" if shape == DEFICIENT else shape, n, dim, seed), random_matrix(n, 1, seed, 2)
    if shape == DEFICIENT:
        for i in range(n):
            X[i, dim - 1] = X[i, 0]
    theta, best = random_matrix(dim, 1, seed, 3), minimiser(X, y)
    if version == "X y in place of X^T y":
        best = (X.transpose() * X).inv() * (X * y)
    if version == "ridge estimate for the minimiser":
        best = (X.transpose() * X + identity(dim, fmpq(1, 100))).inv() * (X.transpose() * y)
    metric = X.transpose() * X * (fmpq(101, 100) if version == "1 % larger" else 1)
    if version == "one half on the right":
        metric = metric / 2
    left = quadratic(y - X * theta, identity(n)) - quadratic(y - X * best, identity(n))
    return same("excess of the squared residuals", column(left), column(quadratic(theta - best, metric)))


def _cases() -> tuple[Case, ...]:
    axes: dict[str, tuple[Value, ...]] = {"X": SHAPES, "n": (5, 8), "dim": (1, 2, 4), "seed": (1, 2)}
    plain: dict[str, Value] = {"X": "generic", "n": 3, "dim": 3, "seed": 3}
    return (
        *grid(ID, Standing.PRINTED, axes, regime="designs", quick_every=5),
        *grid(
            ID,
            Standing.PRINTED,
            {"X": (DEFICIENT,), "n": (4, 7), "dim": (2, 4), "seed": (1,)},
            regime="singular Gram matrix, theta* of smallest norm",
        ),
        mutant(ID, "X y in place of X^T y", plain),
        mutant(ID, "one half on the right", plain),
        mutant(ID, "1 % larger", plain, severity=0.01),
        mutant(ID, "ridge estimate for the minimiser", plain),
    )


STATEMENT = Statement(
    id=ID,
    paper="wang2018",
    kind="lemma",
    title="Excess squared error is a squared distance",
    locator="Lemma 5, appendix C.1",
    domain="Any X, y and theta, theta* a least-squares solution (the paper's pseudo-inverse); decided exactly for n <= 8, d <= 4",
    summary=(
        "True for every least-squares solution. The paper's own line has X y for X^T y in theta*, with which the identity "
        "would fail (a mutant); section 2 defines theta* rightly."
    ),
    parts=(
        Part(
            ID,
            "excess squared error",
            Formula(
                "norm(y - X theta)^2 - norm(y - X theta^*)^2 = (theta - theta^*)^T X^T X (theta - theta^*)"
                " = norm(theta - theta^*)_(X^T X)^2",
                "||y - X theta||^2 - ||y - X theta*||^2 = (theta - theta*)' X'X (theta - theta*)",
            ),
        ),
    ),
    cases=_cases(),
    check=check,
)

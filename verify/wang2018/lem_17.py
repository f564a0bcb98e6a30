"""W18, Lemma 17: stability of a stationary point when one loss is added.

The first equality is true, the second has the wrong sign (docs/derivations/wang2018_appendix_ef.md, section 2).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import fmpq

from audits import Budget
from mechanisms.data import Dataset
from mechanisms.losses import LogisticLoss
from mechanisms.neighbours import NeighbouringPair
from mechanisms.sensitivity import HuberLoss, SmoothProblem

from ..cases import case, grid, mutant
from ..evidence import identity_evidence
from ..formal import version_name
from ..statement import Case, Evidence, Formula, Part, Role, Standing, Statement, Value
from ..wang2019.rational import column, generator, identity, random_matrix, same

ID = "W18-L17"
FIRST, SECOND = f"{ID}#first", f"{ID}#second"
TOLERANCE = 1e-7


def check(case: Case, budget: Budget) -> Evidence:
    """Compare both sides: exactly for the squared loss, to the solver's residual for others."""
    return _squared(case) if case.text("loss") == "squared" else _smooth(case)


def _sign(case: Case) -> int:
    return -1 if case.part == SECOND and version_name(case) == "printed" else 1


def _squared(case: Case) -> Evidence:
    n, dim, seed, version = case.whole("n"), case.whole("dim"), case.whole("seed"), version_name(case)
    X, y, x = (
        random_matrix(max(n, 1), dim, seed, 1),
        random_matrix(max(n, 1), 1, seed, 2),
        random_matrix(dim, 1, seed, 3),
    )
    target, lam = fmpq(5, 2), fmpq(1, 2)
    if n == 0:
        X, y = X * 0, y * 0
    if seed == 0:  # one dimension, no data, x = y = lambda = 1
        X, y, x, target, lam = column(0), column(0), column(1), fmpq(1), fmpq(1)
    H = X.transpose() * X + identity(dim, lam)
    joined = H + x * x.transpose()
    theta, other = H.inv() * (X.transpose() * y), joined.inv() * (X.transpose() * y + x * target)

    def gradient(at: Any) -> Any:
        return x * ((x.transpose() * at)[0, 0] - target)

    swapped = version == "Hessian of the other data"
    if case.part == FIRST:
        right = (H if swapped else joined).inv() * gradient(theta)
    else:
        right = (joined if swapped else H).inv() * gradient(other) * _sign(case)
    if version == "1 % larger":
        right = right * fmpq(101, 100)
    return same("change of the stationary point", theta - other, right)


def _smooth(case: Case) -> Evidence:
    n, dim = case.whole("n"), case.whole("dim")
    rng = generator(n, dim, case.whole("seed"))
    loss = LogisticLoss() if case.text("loss") == "logistic" else HuberLoss(0.5)
    X = rng.standard_normal((n, dim))
    y = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    pair = NeighbouringPair.add(Dataset(X, y, 10.0, 10.0), rng.standard_normal(dim), 1.0)
    problem = SmoothProblem(loss, lam=0.5)
    stability, change = problem.stability(pair), problem.change(pair)
    right = stability.with_target if case.part == FIRST else _sign(case) * stability.without_target
    size = max(float(np.abs(change).max()), 1e-3)
    gap = float(np.abs(change - right).max()) / size
    return identity_evidence("change of the minimiser", gap, 1e-8, TOLERANCE, method="quadrature along the segment")


def _cases() -> tuple[Case, ...]:
    printed, corrected = Standing.PRINTED, Standing.CORRECTED
    smallest: dict[str, Value] = {"loss": "squared", "n": 0, "dim": 1, "seed": 0}
    exact: dict[str, tuple[Value, ...]] = {"loss": ("squared",), "n": (0, 1, 6), "dim": (1, 3), "seed": (1, 2)}
    smooth: dict[str, tuple[Value, ...]] = {"loss": ("logistic", "Huber"), "n": (1, 20), "dim": (1, 4), "seed": (1,)}
    plain: dict[str, Value] = {"loss": "squared", "n": 6, "dim": 3, "seed": 3}
    one = "no data, d = 1, x = y = lambda = 1: -1/2 = 1/2"
    return (
        *grid(FIRST, printed, exact, regime="squared loss, exact"),
        *grid(FIRST, printed, smooth, regime="logistic and Huber loss"),
        mutant(FIRST, "Hessian of the other data", plain),
        mutant(FIRST, "1 % larger", plain, severity=0.01),
        case(SECOND, printed, smallest, role=Role.COUNTEREXAMPLE, regime=one),
        case(SECOND, printed, {"loss": "logistic", "n": 20, "dim": 4, "seed": 1}, regime="logistic loss"),
        case(SECOND, corrected, smallest, role=Role.COUNTEREXAMPLE, regime="no data, d = 1, x = y = lambda = 1"),
        *grid(SECOND, corrected, exact, regime="squared loss, exact"),
        *grid(SECOND, corrected, smooth, regime="logistic and Huber loss"),
        mutant(SECOND, "Hessian of the other data", plain),
        mutant(SECOND, "1 % larger", plain, severity=0.01),
    )


def _display(sign: str, inner: str, at: str) -> str:
    return f"hat(theta) - hat(theta)' = {sign}[integral_0^1 (sum_i nabla^2 ell(eta_t, z_i){inner} + nabla^2 r(eta_t)) dif t]^(-1) nabla ell({at}, z)"


_WITHOUT = "theta - theta' = {sign}[integral of the Hessian without z]^-1 grad l(theta', z)"

STATEMENT = Statement(
    id=ID,
    paper="wang2018",
    kind="lemma",
    title="Stability of a stationary point",
    locator="Lemma 17, appendix E",
    domain=(
        "Losses and regulariser with absolutely continuous gradients, stationary points with and without z, integrated Hessians invertible. "
        "Decided exactly for the squared loss, to 1e-7 for logistic and Huber losses"
    ),
    summary="The first equality is true. The second has a minus sign too much: the gradient already points the right way.",
    parts=(
        Part(
            FIRST,
            "with the added loss in the Hessian",
            Formula(
                _display("", " + nabla^2 ell(eta_t, z)", "hat(theta)"),
                "theta - theta' = [integral of the Hessian with z]^-1 grad l(theta, z)",
            ),
        ),
        Part(
            SECOND,
            "without the added loss in the Hessian",
            Formula(_display("-", "", "hat(theta)'"), _WITHOUT.format(sign="-")),
            Formula(_display("", "", "hat(theta)'"), _WITHOUT.format(sign="")),
            "A minus sign too much.",
            "docs/derivations/wang2018_appendix_ef.md, section 2",
        ),
    ),
    cases=_cases(),
    check=check,
)

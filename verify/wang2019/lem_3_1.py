"""W19, Lemma 3.1: the stability identity, each equality by itself.

Quadratic losses are decided in rational arithmetic. For smooth losses the problem is built around two chosen points:
a linear and a diagonal quadratic regulariser make them stationary exactly, and the integrated Hessian is enclosed by
rigorous quadrature. The second display has the wrong sign (docs/derivations/wang2019_facts.md, section 2).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from flint import acb, arb, arb_mat, ctx

from audits import Budget, Estimate
from mechanisms import Relation

from ..cases import case, grid, mutant
from ..formal import version_name
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Role, Standing, Statement, Value
from .rational import SHAPES, Matrix, design, generator, identity, matrix, random_matrix, same, stack

ID = "W19-L3.1"
WITH, WITHOUT = f"{ID}#with", f"{ID}#without"
TOLERANCE = 1e-12
Ball = Any

#: First and second derivative of each loss in the linear predictor.
SLOPES: dict[str, tuple[Callable[[Ball, float], Ball], Callable[[Ball, float], Ball]]] = {
    "logistic": (lambda u, y: -y / ((y * u).exp() + 1), lambda u, y: 1 / ((u / 2).exp() + (-u / 2).exp()) ** 2),
    "poisson": (lambda u, y: u.exp() - y, lambda u, y: u.exp()),
    "quartic": (lambda u, y: (u - y) ** 3, lambda u, y: 3 * (u - y) ** 2),
}
#: Sign in front of each display, and mutants: the Hessian's factor.
SIGNS = {(WITH, "printed"): 1, (WITHOUT, "printed"): -1}


def check(case: Case, budget: Budget) -> Evidence:
    """Decide one display for quadratic or for smooth losses."""
    return _quadratic(case) if case.params["loss"] == "squared" else _smooth(case)


def _quadratic(case: Case) -> Evidence:
    """Compare both sides for half squared losses and a ridge, in rational arithmetic."""
    if "n" not in case.params:  # X = (1), y = 0, target (1, 1)
        X, y, x, target, lam = matrix(1, 1, [1]), matrix(1, 1, [0]), matrix(1, 1, [1]), matrix(1, 1, [1]), 0
    else:
        n, dim, seed, lam = (case.whole(k) for k in ("n", "dim", "seed", "lam"))
        X, y = design(case.text("shape"), n, dim, seed), random_matrix(n, 1, seed, 5)
        x, target = random_matrix(dim, 1, seed, 6), random_matrix(1, 1, seed, 7)
        if case.params["target"] == "zero":
            x = x * 0
    H = X.transpose() * X + identity(X.ncols(), lam)
    joined = H + x * x.transpose()
    theta = H.inv() * (X.transpose() * y)
    moved = joined.inv() * (stack(X, x).transpose() * stack(y, target))

    def gradient(at: Matrix) -> Matrix:
        return x * (x.transpose() * at - target)

    version = version_name(case)
    hessian, point = (joined, theta) if case.part == WITH else (H, moved)
    if version == "the other Hessian":
        hessian = H if case.part == WITH else joined
    if version == "the other minimiser":
        point = moved if case.part == WITH else theta
    right = hessian.inv() * gradient(point) * SIGNS.get((case.part, version), 1)
    if version == "Hessian scaled by 1.01":
        right = right * 100 / 101
    return same("difference of the minimisers against the right-hand side", theta - moved, right, relation=Relation.ADD)


def _smooth(case: Case) -> Evidence:
    """Enclose both sides at two points that are made stationary."""
    loss, dim, n, seed = case.text("loss"), case.whole("dim"), case.whole("n"), case.whole("seed")
    rng = generator(seed, dim, n)
    rows = [([float(v or 3) / 8 for v in rng.integers(-8, 9, dim)], _response(loss, rng)) for _ in range(n + 1)]
    theta, moved = ([float(v) / 8 for v in rng.integers(-8, 9, dim)] for _ in range(2))
    moved = [b if a != b else b + 0.5 for a, b in zip(theta, moved, strict=True)]
    old, ctx.prec = ctx.prec, 128
    try:
        deviation = _deviation(case, loss, rows[:-1], rows[-1], theta, moved)
    finally:
        ctx.prec = old
    claim = Claim(
        "relative deviation of the two sides", 0.0, TOLERANCE, 0.0, relation=Relation.ADD, observer=Observer.OUTPUT
    )
    return Evidence(claim, exact=Estimate.proved(*deviation, "rigorous quadrature, ball arithmetic"))


def _response(loss: str, rng: np.random.Generator) -> float:
    return float(2 * rng.integers(0, 2) - 1) if loss == "logistic" else float(rng.integers(0, 6)) + 0.3125


Row = tuple[list[float], float]


def _deviation(
    case: Case, loss: str, rows: Sequence[Row], target: Row, theta: Sequence[float], moved: Sequence[float]
) -> tuple[float, float]:
    first, second = SLOPES[loss]
    dim, version = len(theta), version_name(case)

    def predictor(row: Row, at: Sequence[Any]) -> Ball:
        return sum((arb(a) * b for a, b in zip(row[0], at, strict=True)), arb(0))

    def gradient(data: Sequence[Row], at: Sequence[float]) -> list[Ball]:
        return [sum((first(predictor(row, at), row[1]) * row[0][j] for row in data), arb(0)) for j in range(dim)]

    # sum l + lin'theta + theta' diag theta / 2 is stationary at theta, and with the target's loss at moved
    without, within = gradient(rows, theta), gradient([*rows, target], moved)
    ridge = [(b - a) / (arb(s) - t) for a, b, s, t in zip(without, within, theta, moved, strict=True)]

    def curvature(row: Row) -> Ball:
        u, v = predictor(row, theta), predictor(row, moved)
        if version == "Hessian at the end":
            return second(u, row[1])
        return acb.integral(lambda t, _: second(acb(v) + t * acb(u - v), row[1]), 0, 1).real

    data = [*rows, target] if (case.part == WITH) != (version == "the other Hessian") else list(rows)
    weights = [curvature(row) for row in data]
    entries = [
        sum((w * row[0][i] * row[0][j] for w, row in zip(weights, data, strict=True)), ridge[i] if i == j else arb(0))
        for i in range(dim)
        for j in range(dim)
    ]
    at = theta if (case.part == WITH) != (version == "the other minimiser") else moved
    score = gradient([target], at)
    right = arb_mat(dim, dim, entries).solve(arb_mat(dim, 1, score)).entries()
    factor = SIGNS.get((case.part, version), 1)
    scale = max(abs(a - b) for a, b in zip(theta, moved, strict=True))
    gaps = [abs(arb(a) - b - factor * r) / scale for a, b, r in zip(theta, moved, right, strict=True)]
    low, high = (max(float(g.lower()) for g in gaps), max(float(g.upper()) for g in gaps))
    return max(0.0, math.nextafter(low, -math.inf)), math.nextafter(high, math.inf)


def _cases() -> tuple[Case, ...]:
    printed, corrected = Standing.PRINTED, Standing.CORRECTED
    quadratic: dict[str, tuple[Value, ...]] = {
        "loss": ("squared",),
        "shape": SHAPES,
        "target": ("any", "zero"),
        "n": (5,),
        "dim": (1, 3),
        "lam": (0, 2),
        "seed": (1,),
    }
    smooth: dict[str, tuple[Value, ...]] = {"loss": tuple(SLOPES), "dim": (1, 2, 4), "n": (0, 1, 6), "seed": (1, 2)}
    smallest: dict[str, Value] = {"loss": "squared"}
    curved: dict[str, Value] = {"loss": "logistic", "dim": 2, "n": 6, "seed": 3}
    out: list[Case] = [
        case(WITHOUT, printed, smallest, role=Role.COUNTEREXAMPLE, regime="X = (1), y = 0, target (1, 1)"),
        case(WITHOUT, printed, curved, regime="logistic loss"),
        case(WITHOUT, corrected, smallest, role=Role.COUNTEREXAMPLE, regime="the case that refutes the printed form"),
    ]
    for part, standing in ((WITH, printed), (WITHOUT, corrected)):
        out += [
            *grid(part, standing, quadratic, regime="squared loss, exact", quick_every=5),
            *grid(part, standing, smooth, regime="smooth losses, rigorous quadrature", quick_every=9),
            mutant(part, "the other Hessian", smallest),
            mutant(part, "the other minimiser", smallest),
            mutant(part, "Hessian at the end", curved),
            mutant(part, "Hessian scaled by 1.01", smallest, severity=0.01),
        ]
    return tuple(out)


_SUM = "integral_0^1 (sum_i nabla^2 ell(eta_t, z_i){extra} + nabla^2 r(eta_t)) d t"
_BOTH = "hat(theta) - hat(theta)' = {sign}[" + _SUM + "]^(-1) nabla ell({at}, z)"
_TEXT = "theta_hat - theta_hat' = {sign}(integral over t of sum of Hessians {extra}the target's, at eta_t)^-1 grad l({at}, z)"


def _formula(sign: str, extra: str, at: str) -> Formula:
    return Formula(
        _BOTH.format(
            sign=sign,
            extra=" + nabla^2 ell(eta_t, z)" if extra == "with " else "",
            at="hat(theta)" if at == "theta_hat" else "hat(theta)'",
        ),
        _TEXT.format(sign=sign, extra=extra, at=at),
    )


STATEMENT = Statement(
    id=ID,
    paper="wang2019",
    kind="lemma",
    title="Stability identity",
    locator="Lemma 3.1",
    domain=(
        "Loss and regulariser with absolutely continuous gradients, theta_hat and theta_hat' stationary without and with the target, "
        "invertible integrated Hessian; eta_t on the segment between them. Decided for squared, logistic, Poisson and quartic losses, d <= 4"
    ),
    summary=(
        "The first display is right. The second has the wrong sign; the sensitivity, which is a norm, is not affected. The proof's "
        "remark that one t makes the integrand equal to the integral is false for vectors, and is not needed."
    ),
    parts=(
        Part(WITH, "Hessian with the target, gradient without", _formula("", "with ", "theta_hat")),
        Part(
            WITHOUT,
            "Hessian without the target, gradient with",
            _formula("-", "without ", "theta_hat'"),
            corrected=_formula("", "without ", "theta_hat'"),
            what_went_wrong="The minus sign: both the gradient's sign and the order of the difference change, so that it stays a plus.",
            derivation="docs/derivations/wang2019_facts.md, section 2",
        ),
    ),
    cases=_cases(),
    check=check,
)

"""W18, Lemma 12: how much the logarithm of the Lipschitz constant moves when a record joins or leaves.

True for a record that joins, and then tight. For one that leaves the smallest eigenvalue must be that of the data without it
(docs/derivations/wang2018_appendix_d.md, section 3).
"""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial

from flint import arb, fmpq, fmpq_mat

from audits import Budget
from mechanisms import Relation
from mechanisms.numerics.balls import Ball

from ...kernel.box_search import Axis, Point, worst_point
from ...methods.enclosed import enclosed
from ...methods.rational import (
    Matrix,
    column,
    eigenvalue_bounds,
    fraction,
    generator,
    identity,
    quadratic,
    same,
    scalar,
)
from ..kit import At, Case, Display, Evidence, Form, Mutant, Role, over, search, smallest, statement
from ..wang2019.shared.regressions import Regression

#: Equality is attained; a ball around 1 is told from 1 to this relative tolerance.
TOLERANCE = 1e-12
UNIT = Axis(-1.0, 1.0, log=False)
BOX = {"x1": UNIT, "x2": UNIT, "y1": UNIT, "y2": UNIT, "y": UNIT, "lam": Axis(1e-4, 1e2)}


def _floor(data: Regression, *, joined: bool) -> tuple[fmpq, fmpq]:
    """Return bounds of lambda_min + lambda of the data with or without the record."""
    ridge, lam = identity(data.X.ncols(), data.lam), fraction(data.lam)
    gram = (data.joined if joined else data.H) - ridge
    if gram.nrows() == 1:
        low = high = fraction(gram[0, 0])
    else:
        low, high = eigenvalue_bounds(gram)[0]
    return scalar(max(Fraction(0), low) + lam), scalar(max(Fraction(0), high) + lam)


def _between(low: fmpq, high: fmpq) -> Ball:
    return arb(low).union(arb(high))


def _norm(theta: Matrix) -> Ball:
    square = sum((v * v for v in theta.entries()), fmpq(0))
    return abs(arb(theta[0, 0])) if theta.nrows() == 1 else arb(square).sqrt()


def _data(case: Case, point: Point | None = None) -> Regression:
    """Return the data of a case, or the two records in one dimension at a point of the search; ``B = Y = 1``."""
    if point is not None:
        p = {name: fmpq(*value.as_integer_ratio()) for name, value in point.items()}
        return Regression(column(p["x1"], p["x2"]), column(p["y1"], p["y2"]), column(1), column(p["y"]), p["lam"])
    lam = fmpq(*case.number("lam").as_integer_ratio())
    if case.params["data"] == "(1, 1)":
        return Regression(column(1), column(1), column(1), column(-1), lam)
    n, dim, seed = case.whole("n"), case.whole("dim"), case.whole("seed")
    rng = generator(n, dim, seed)

    def unit_ball(rows: int) -> list[list[fmpq]]:
        raw = rng.integers(-100, 101, (rows, dim))
        return [[fmpq(int(v), max(1, math.isqrt(int(r @ r)) + 1)) for v in r] for r in raw]

    X = fmpq_mat(unit_ball(n)) if n else fmpq_mat(1, dim, [0] * dim)
    y = column(*[fmpq(int(v), 100) for v in rng.integers(-100, 101, max(n, 1))])
    return Regression(X, y, fmpq_mat(unit_ball(1)).transpose(), column(1 if seed % 2 else -1), lam)


def _worst(budget: Budget, joined: bool, scale: float) -> Point:
    """Return the worst two records in one dimension, the target x = 1 with response y."""

    def objective(p: Point) -> float:
        smaller = p["x1"] ** 2 + p["x2"] ** 2
        theta = (p["x1"] * p["y1"] + p["x2"] * p["y2"]) / (smaller + p["lam"])
        other = (p["x1"] * p["y1"] + p["x2"] * p["y2"] + p["y"]) / (smaller + 1 + p["lam"])
        floor = smaller + p["lam"] + joined
        return abs(math.log((1 + abs(theta)) / (1 + abs(other)))) / math.log1p(scale / floor)

    return worst_point(BOX, objective, budget)


def _change(
    case: Case, budget: Budget, *, relation: Relation = Relation.ADD, joined: bool = False, scale: float = 1.0
) -> Evidence:
    """Decide |log ratio of 1 + norm| over log(1 + scale/(lambda_min + lambda)), of the data with the target if ``joined``."""
    point = _worst(budget, joined, scale) if case.role is Role.ADVERSARIAL else None
    data = _data(case, point)
    floor = _floor(data, joined=joined)

    def ratio() -> Ball:
        first, second = (_norm(fit) for fit in data.fits)
        return abs(((1 + first) / (1 + second)).log()) / (1 + arb(scale) / _between(*floor)).log()

    return replace(
        _share("change of log(Y + B |theta*|) over the stated sensitivity", ratio, relation), found=point or {}
    )


def _step(case: Case, *, scale: float = 1.0) -> Evidence:
    """Decide the move of the estimate over ``scale`` times the bound of the proof."""
    data = _data(case)
    floor, (without, within) = _floor(data, joined=False), data.fits

    def ratio() -> Ball:
        return _norm(without - within) * _between(*floor) / (scale * (1 + _norm(without).min(_norm(within))))

    return _share("move of the estimate over its bound", ratio, Relation.ADD)


def _share(quantity: str, ratio: Callable[[], Ball], relation: Relation) -> Evidence:
    """Decide that a ratio is at most 1."""
    method = "rational and ball arithmetic"
    return enclosed(quantity, ratio, 0.0, 1.0 + TOLERANCE, 1.0, relation=relation, method=method)


def _equality(case: Case, *, joined: bool = True) -> Evidence:
    """Compare the squared move with the proof's, by the matrix with the target (or without it)."""
    data = _data(case)
    without, within = data.fits
    inverse = (data.joined if joined else data.H).inv()
    right = data.residual(without) ** 2 * quadratic(data.x, inverse * inverse)
    left = quadratic(without - within, identity(data.X.ncols()))
    return same("squared move of the estimate", column(left), column(right))


SHARP = {"data": "(1, 1)", "lam": 0.5}
EQUAL = At("equality: X = [1], y = 1, target (1, -1)", SHARP)
LEAVES = smallest("X = [1], y = 1, target (1, -1) leaves [1, 1]; lambda = 1/2", SHARP)
RANDOM = over(
    "random data",
    {"data": ("random",), "n": (0, 1, 3, 20), "dim": (1, 2, 4), "seed": (1, 2), "lam": (2.0**-10, 1.0, 64.0)},
    quick_every=7,
)
_leaving = partial(_change, relation=Relation.REMOVE)
_BOUND = (
    "abs(log((norm(cal(Y)) + norm(cal(X)) norm(hat(theta)))/(norm(cal(Y)) + norm(cal(X)) norm(hat(theta)'))))"
    " <= log(1 + norm(cal(X))^2/(lambda_min + lambda))"
)

STATEMENT = statement(
    "W18-L12",
    domain="Any (X, y) and any record within the bounds, lambda fixed, lambda_min + lambda > 0; one record joins or leaves (Definition 1). "
    "Decided exactly for n <= 20, d <= 4, lambda in [1/1024, 64], and by search over two records in d = 1",
    summary="True and tight for a record that joins, as in its proof. Where a record may leave as well (Definition 1), lambda_min must be that "
    "of the data without it: log 2 against log 1.5 for X = [1, 1], y = (1, -1), lambda near 0.",
    derivation="docs/derivations/wang2018_appendix_d.md, section 3",
    displays={
        "#add": Display(
            "a record joins",
            Form(_BOUND, _change, [EQUAL, *RANDOM, search()]),
            mutants={"bound cut by 5 %": Mutant(_change, [SHARP, None], severity=0.05, scale=0.95)},
        ),
        "#remove": Display(
            "a record leaves",
            Form(_BOUND, partial(_leaving, joined=True), [LEAVES, search()]),
            Form(f'{_BOUND}, quad lambda_min "of the data without the record"', _leaving, [LEAVES, *RANDOM, search()]),
            "The proof adds a record; without one the smallest eigenvalue may be smaller than lambda_min.",
            {"bound cut by 5 %": Mutant(_leaving, SHARP, severity=0.05, scale=0.95)},
        ),
        "#proof": Display(
            "bound of the proof, alpha = Y, beta = B",
            Form(
                "norm(hat(theta) - hat(theta)') <= beta/(lambda_min + lambda) (alpha + beta min{norm(hat(theta)'), norm(hat(theta))})",
                _step,
                [EQUAL, *RANDOM],
            ),
            mutants={"bound cut by 5 %": Mutant(_step, SHARP, severity=0.05, scale=0.95)},
            proof=True,
        ),
        "#proof, equality": Display(
            "equality of the proof",
            Form(
                "norm(hat(theta) - hat(theta)') = abs(y - x^T hat(theta)) sqrt(x^T ([X, x]^T [X, x] + lambda I)^(-2) x)",
                _equality,
                RANDOM,
            ),
            mutants={
                "matrix without the target": Mutant(
                    _equality, {"data": "random", "n": 3, "dim": 2, "seed": 3, "lam": 1.0}, joined=False
                )
            },
            proof=True,
        ),
    },
)

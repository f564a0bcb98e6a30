"""W19, Lemma 3.1: the stability identity, each equality by itself.

Quadratic losses are decided in rational arithmetic. For smooth losses the problem is built around two chosen points:
a linear and a diagonal quadratic regulariser make them stationary exactly, and the integrated Hessian is enclosed by
rigorous quadrature. The second display has the wrong sign (docs/derivations/wang2019_facts.md, section 2).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from flint import acb, arb, arb_mat, ctx

from audits import Estimate
from mechanisms import Relation
from mechanisms.numerics.balls import Ball

from ...methods.rational import SHAPES, generator, matrix, same, scalar
from ..kit import At, Case, Claim, Display, Evidence, Form, Mutant, Observer, over, refuting, smallest, statement
from .shared.regressions import Regression, regression

TOLERANCE = 1e-12
#: A record: features and response.
Row = tuple[list[float], float]

#: First and second derivative of each loss in the linear predictor.
SLOPES: dict[str, tuple[Callable[[Ball, float], Ball], Callable[[Ball, float], Ball]]] = {
    "logistic": (lambda u, y: -y / ((y * u).exp() + 1), lambda u, y: 1 / ((u / 2).exp() + (-u / 2).exp()) ** 2),
    "poisson": (lambda u, y: u.exp() - y, lambda u, y: u.exp()),
    "quartic": (lambda u, y: (u - y) ** 3, lambda u, y: 3 * (u - y) ** 2),
}


@dataclass(frozen=True)
class Identity:
    """A right-hand side, decided for quadratic or for smooth losses.

    ``joined``: the Hessian has seen the target; ``moved``: the gradient is taken at the minimiser that has; ``at_end``: the
    Hessian is that at the other minimiser, not its integral; ``sign`` and ``scale`` multiply.
    """

    joined: bool
    moved: bool
    sign: int = 1
    scale: Fraction = Fraction(1)
    at_end: bool = False

    def __call__(self, case: Case) -> Evidence:
        """Decide one case."""
        return self.quadratic(case) if case.params["loss"] == "squared" else self.smooth(case)

    def quadratic(self, case: Case) -> Evidence:
        """Compare both sides for half squared losses and a ridge, in rational arithmetic."""
        if "n" in case.params:
            data = regression(case, case.whole("lam"))
            if case.params["target"] == "zero":
                data = replace(data, x=data.x * 0)
        else:  # X = (1), y = 0, target (1, 1)
            data = Regression(*(matrix(1, 1, [v]) for v in (1, 0, 1, 1)))
        theta, moved = data.fits
        gradient = data.x * -scalar(data.residual(moved if self.moved else theta))
        right = (data.joined if self.joined else data.H).inv() * gradient * scalar(self.sign * self.scale)
        words = "difference of the minimisers against the right-hand side"
        return same(words, theta - moved, right, relation=Relation.ADD)

    def smooth(self, case: Case) -> Evidence:
        """Enclose both sides at two points that are made stationary."""
        loss, dim, n, seed = case.text("loss"), case.whole("dim"), case.whole("n"), case.whole("seed")
        rng = generator(seed, dim, n)
        rows = [([float(v or 3) / 8 for v in rng.integers(-8, 9, dim)], _response(loss, rng)) for _ in range(n + 1)]
        theta, moved = ([float(v) / 8 for v in rng.integers(-8, 9, dim)] for _ in range(2))
        moved = [b if a != b else b + 0.5 for a, b in zip(theta, moved, strict=True)]
        with ctx.workprec(128):
            low, high = self._deviation(loss, rows[:-1], rows[-1], theta, moved)
        words = "relative deviation of the two sides"
        claim = Claim(words, 0.0, TOLERANCE, 0.0, relation=Relation.ADD, observer=Observer.OUTPUT)
        return Evidence(claim, exact=Estimate.proved(low, high, "rigorous quadrature, ball arithmetic"))

    def _deviation(
        self, loss: str, rows: Sequence[Row], target: Row, theta: Sequence[float], moved: Sequence[float]
    ) -> tuple[float, float]:
        first, second = SLOPES[loss]
        dim = len(theta)

        def predictor(row: Row, at: Sequence[Any]) -> Ball:
            return sum((arb(a) * b for a, b in zip(row[0], at, strict=True)), arb(0))

        def gradient(data: Sequence[Row], at: Sequence[float]) -> list[Ball]:
            return [sum((first(predictor(row, at), row[1]) * row[0][j] for row in data), arb(0)) for j in range(dim)]

        # sum l + lin'theta + theta' diag theta / 2 is stationary at theta, and with the target's loss at moved
        without, within = gradient(rows, theta), gradient([*rows, target], moved)
        ridge = [(b - a) / (arb(s) - t) for a, b, s, t in zip(without, within, theta, moved, strict=True)]

        def curvature(row: Row) -> Ball:
            u, v = predictor(row, theta), predictor(row, moved)
            if self.at_end:
                return second(u, row[1])
            return acb.integral(lambda t, _: second(acb(v) + t * acb(u - v), row[1]), 0, 1).real

        data = [*rows, target] if self.joined else list(rows)
        weights = [curvature(row) for row in data]
        entries = [
            sum((w * x[i] * x[j] for w, (x, _) in zip(weights, data, strict=True)), ridge[i] if i == j else arb(0))
            for i in range(dim)
            for j in range(dim)
        ]
        score = gradient([target], moved if self.moved else theta)
        right = arb_mat(dim, dim, entries).solve(arb_mat(dim, 1, score)).entries()
        scale = max(abs(a - b) for a, b in zip(theta, moved, strict=True))
        gaps = [abs(arb(a) - b - self.sign * r) / scale for a, b, r in zip(theta, moved, right, strict=True)]
        low, high = (max(float(g.lower()) for g in gaps), max(float(g.upper()) for g in gaps))
        return max(0.0, math.nextafter(low, -math.inf)), math.nextafter(high, math.inf)


def _response(loss: str, rng: np.random.Generator) -> float:
    return float(2 * rng.integers(0, 2) - 1) if loss == "logistic" else float(rng.integers(0, 6)) + 0.3125


#: The two displays: Hessian with the target and gradient without it, and the other way round.
WITH, WITHOUT = Identity(joined=True, moved=False), Identity(joined=False, moved=True)
SMALLEST = {"loss": "squared"}
CURVED = {"loss": "logistic", "dim": 2, "n": 6, "seed": 3}
QUADRATIC = {
    "loss": ("squared",), "shape": SHAPES, "target": ("any", "zero"), "n": (5,), "dim": (1, 3), "lam": (0, 2),
    "seed": (1,),
}  # fmt: skip
SMOOTH = {"loss": tuple(SLOPES), "dim": (1, 2, 4), "n": (0, 1, 6), "seed": (1, 2)}
CASES = [
    *over("squared loss, exact", QUADRATIC, quick_every=5),
    *over("smooth losses, rigorous quadrature", SMOOTH, quick_every=9),
]


def _mutants(right: Identity) -> dict[str, Mutant]:
    """Return the mutants of a right-hand side."""
    return {
        "the other Hessian": Mutant(replace(right, joined=not right.joined), SMALLEST),
        "the other minimiser": Mutant(replace(right, moved=not right.moved), SMALLEST),
        "Hessian at the end": Mutant(replace(right, at_end=True), CURVED),
        "Hessian scaled by 1.01": Mutant(replace(right, scale=Fraction(100, 101)), SMALLEST, severity=0.01),
    }


def _formula(sign: str, extra: str, at: str) -> str:
    return (
        f"hat(theta) - hat(theta)' = {sign}[integral_0^1 (sum_i nabla^2 ell(eta_t, z_i){extra} + nabla^2 r(eta_t)) d t]^(-1) "
        f"nabla ell({at}, z)"
    )


STATEMENT = statement(
    "W19-L3.1",
    domain="Loss and regulariser with absolutely continuous gradients, theta_hat and theta_hat' stationary without and with the target, "
    "invertible integrated Hessian; eta_t on the segment between them. Decided for squared, logistic, Poisson and quartic losses, d <= 4",
    summary="The first display is right. The second has the wrong sign; the sensitivity, which is a norm, is not affected. The proof's "
    "remark that one t makes the integrand equal to the integral is false for vectors, and is not needed.",
    derivation="docs/derivations/wang2019_facts.md, section 2",
    displays={
        "#with": Display(
            "Hessian with the target, gradient without",
            printed=Form(_formula("", " + nabla^2 ell(eta_t, z)", "hat(theta)"), WITH, CASES),
            mutants=_mutants(WITH),
        ),
        "#without": Display(
            "Hessian without the target, gradient with",
            printed=Form(
                _formula("-", "", "hat(theta)'"),
                replace(WITHOUT, sign=-1),
                [smallest("X = (1), y = 0, target (1, 1)", SMALLEST), At("logistic loss", CURVED)],
            ),
            corrected=Form(_formula("", "", "hat(theta)'"), WITHOUT, [refuting(SMALLEST), *CASES]),
            wrong="The minus sign: both the gradient's sign and the order of the difference change, so that it stays a plus.",
            mutants=_mutants(WITHOUT),
        ),
    },
)

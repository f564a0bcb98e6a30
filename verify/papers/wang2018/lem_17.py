"""W18, Lemma 17: stability of a stationary point when one loss is added.

The first equality is true, the second has the wrong sign (docs/derivations/wang2018_appendix_ef.md, section 2).
"""

from functools import partial
from typing import Any

import numpy as np
from flint import fmpq

from mechanisms.data.dataset import Dataset
from mechanisms.data.neighbours import NeighbouringPair
from mechanisms.objective.losses import LogisticLoss
from mechanisms.objective.sensitivity import HuberLoss, SmoothProblem

from ...methods.rational import Matrix, column, generator, identity, random_matrix, same
from ..kit import At, Case, Display, Evidence, Form, Mutant, identity_evidence, over, smallest, statement

TOLERANCE = 1e-7


def _change(case: Case, *, first: bool, factor: int | fmpq = 1, swapped: bool = False) -> Evidence:
    """Compare the move of the stationary point with ``factor`` times the first or the second right-hand side.

    Exactly for the squared loss, to the solver's residual for others; ``swapped`` takes the Hessian of the other data.
    """
    if case.text("loss") != "squared":
        return _smooth(case, first=first, factor=float(factor))
    n, dim, seed = case.whole("n"), case.whole("dim"), case.whole("seed")
    X, y, x = (
        random_matrix(*shape, seed, i) for i, shape in enumerate(((max(n, 1), dim), (max(n, 1), 1), (dim, 1)), 1)
    )
    target, lam = fmpq(5, 2), fmpq(1, 2)
    if n == 0:
        X, y = X * 0, y * 0
    if seed == 0:  # one dimension, no data, x = y = lambda = 1
        X, y, x, target, lam = column(0), column(0), column(1), fmpq(1), fmpq(1)
    H = X.transpose() * X + identity(dim, lam)
    joined = H + x * x.transpose()
    theta, other = H.inv() * (X.transpose() * y), joined.inv() * (X.transpose() * y + x * target)

    def gradient(at: Matrix) -> Any:
        return x * ((x.transpose() * at)[0, 0] - target)

    matrix = joined if first is not swapped else H
    right = factor * (matrix.inv() * gradient(theta if first else other))
    return same("change of the stationary point", theta - other, right)


def _smooth(case: Case, *, first: bool, factor: float) -> Evidence:
    n, dim = case.whole("n"), case.whole("dim")
    rng = generator(n, dim, case.whole("seed"))
    loss = LogisticLoss() if case.text("loss") == "logistic" else HuberLoss(0.5)
    X = rng.standard_normal((n, dim))
    y = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    pair = NeighbouringPair.add(Dataset(X, y, 10.0, 10.0), rng.standard_normal(dim), 1.0)
    problem = SmoothProblem(loss, lam=0.5)
    stability, change = problem.stability(pair), problem.change(pair)
    right = factor * (stability.with_target if first else stability.without_target)
    size = max(float(np.abs(change).max()), 1e-3)
    gap = float(np.abs(change - right).max()) / size
    return identity_evidence("change of the minimiser", gap, 1e-8, TOLERANCE, method="quadrature along the segment")


SMALLEST = {"loss": "squared", "n": 0, "dim": 1, "seed": 0}
CASES = [
    *over("squared loss, exact", {"loss": ("squared",), "n": (0, 1, 6), "dim": (1, 3), "seed": (1, 2)}),
    *over("logistic and Huber loss", {"loss": ("logistic", "Huber"), "n": (1, 20), "dim": (1, 4), "seed": (1,)}),
]
PLAIN = {"loss": "squared", "n": 6, "dim": 3, "seed": 3}


def _mutants(first: bool) -> dict[str, Mutant]:
    return {
        "Hessian of the other data": Mutant(_change, PLAIN, first=first, swapped=True),
        "1 % larger": Mutant(_change, PLAIN, severity=0.01, first=first, factor=fmpq(101, 100)),
    }


def _display(sign: str, inner: str, at: str) -> str:
    return f"hat(theta) - hat(theta)' = {sign}[integral_0^1 (sum_i nabla^2 ell(eta_t, z_i){inner} + nabla^2 r(eta_t)) dif t]^(-1) nabla ell({at}, z)"


STATEMENT = statement(
    "W18-L17",
    domain="Losses and regulariser with absolutely continuous gradients, stationary points with and without z, integrated Hessians invertible. "
    "Decided exactly for the squared loss, to 1e-7 for logistic and Huber losses",
    summary="The first equality is true. The second has a minus sign too much: the gradient already points the right way.",
    derivation="docs/derivations/wang2018_appendix_ef.md, section 2",
    displays={
        "#first": Display(
            "with the added loss in the Hessian",
            Form(_display("", " + nabla^2 ell(eta_t, z)", "hat(theta)"), partial(_change, first=True), CASES),
            mutants=_mutants(True),
        ),
        "#second": Display(
            "without the added loss in the Hessian",
            Form(
                _display("-", "", "hat(theta)'"),
                partial(_change, first=False, factor=-1),
                [
                    smallest("no data, d = 1, x = y = lambda = 1: -1/2 = 1/2", SMALLEST),
                    At("logistic loss", {"loss": "logistic", "n": 20, "dim": 4, "seed": 1}),
                ],
            ),
            Form(
                _display("", "", "hat(theta)'"),
                partial(_change, first=False),
                [smallest("no data, d = 1, x = y = lambda = 1", SMALLEST), *CASES],
            ),
            "A minus sign too much.",
            _mutants(False),
        ),
    },
)

"""RW21, Corollary 7: the ex-post loss of objective perturbation for generalised linear models.

The printed formula, evaluated from leverage and gradient, is decided as ``.shared.density_identity`` says. The proof line
C7.p loses the factor f'' of the leverage.
"""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from flint import arb

from mechanisms.data.dataset import Dataset
from mechanisms.numerics.balls import Ball
from mechanisms.objective.objective_perturbation import ObjectivePerturbation
from reports.row import Figure

from ...kernel.statement_plots import roc_figure
from ...methods.ball_density import slopes
from ...methods.enclosed import enclosed
from ..kit import Case, Display, Evidence, Form, Mutant, over, smallest, statement
from .shared.density_identity import LOSSES, WRONG, RandomOutcome, fair_record, identity_display


def _terms(at: RandomOutcome) -> tuple[float, float, float]:
    """Return the three printed terms: everything from the data set D that the outcome was drawn from."""
    mechanism = ObjectivePerturbation(LOSSES[at.loss], sigma=at.sigma, lam=at.lam)
    inside = len(at.y) if at.sign < 0 else len(at.y) - 1
    dataset, x, y = Dataset(at.X[:inside], at.y[:inside], 1.0, 1.0), at.X[-1], np.asarray(at.y[-1])
    point, u = at.theta[None, :], np.asarray(x @ at.theta)
    first, second = float(mechanism.loss.first(u, y)), float(mechanism.loss.second(u, y))
    leverage = float(mechanism.leverage(point, dataset, x)[0])
    gradient = -mechanism.noise(point, dataset)[0]  # grad J(theta; D), RW21 eq. (3)
    variance = mechanism.sigma**2
    return (
        -math.log1p(at.sign * second * leverage),
        first**2 * float(x @ x) / (2.0 * variance),
        at.sign * first * float(gradient @ x) / variance,
    )


def _line(case: Case, *, right: Callable[[float, Ball], Ball]) -> Evidence:
    """Enclose left minus right side in one dimension, n = 0, x = 1: mu_1 = f'' mu, mu(x) = 1/lambda.

    ``right`` gives from the sign and f'' what stands before mu(x).
    """
    lam, predictor, sign = case.number("lam"), case.number("predictor"), case.number("sign")

    def gap() -> Ball:
        second = slopes("logistic", arb(predictor), 1.0)[1]
        hessian = arb(lam) if sign > 0 else arb(lam) + second  # z outside, or inside, the data
        leverage = 1 / hessian
        return (1 + sign * second * leverage).log() - (1 + right(sign, second) * leverage).log()

    return enclosed("left side minus right side", gap, -1e-12, 1e-12, 0.0)


SHAPES = {
    "dim": (1, 2, 6), "n": (0, 1, 30), "loss": ("logistic", "squared", "poisson"), "sign": (1, -1),
    "sigma": (0.5, 10.0), "lam": (1e-3, 0.5),
}  # fmt: skip
SMALLEST = {"lam": 1.0, "predictor": 0.0, "sign": 1}


def figures(seed: int) -> tuple[Figure, ...]:
    """Return the likelihood-ratio attack on one record of ``fair``."""
    mechanism, pair, setting = fair_record()
    title = "Likelihood-ratio attack on objective perturbation"
    return (roc_figure("rw21-c7", title, mechanism, pair, None, seed, setting, n_draws=4_000),)


STATEMENT = statement(
    "RW21-C7",
    derivation="docs/derivations/redberg_wang2021.md, Corollary 7",
    domain="l(theta; z) = f(x^T theta; y) convex and twice differentiable, b ~ N(0, sigma^2 I), one record added or removed, "
    "every outcome; sigma, lambda and r public. Decided for dim 1 to 6, 0 to 30 records, three losses",
    summary="True, and an equality. A line of its proof drops the factor f'' of the leverage.",
    displays={
        "#bound": identity_display(
            "ex-post loss of a generalised linear model",
            "epsilon <= abs(-log(1 plus.minus f''(dot) mu(x)) + 1/(2 sigma^2) norm(nabla ell)_2^2 plus.minus 1/sigma^2"
            " nabla J^T nabla ell), quad mu(x) = x^T (nabla^2 J)^(-1) x, quad nabla ell = f'(dot) x",
            _terms,
            SHAPES,
            WRONG,
            {"dim": 3, "n": 5, "loss": "logistic", "sign": -1, "sigma": 2.0, "lam": 0.5},
            quick_every=13,
            responses={"poisson": (0.0, 1.0)},
        ),
        ".p": Display(
            printed=Form(
                "log product_(j=1)^d (1 + mu_j) = log(1 + mu(x))",
                partial(_line, right=lambda sign, second: arb(1)),
                [smallest("one record x = 1, lambda = 1, f'' = 1/4", SMALLEST)],
            ),
            corrected=Form(
                "log product_(j=1)^d (1 minus.plus mu_j) = log(1 plus.minus f''(dot) mu(x))",
                partial(_line, right=lambda sign, second: sign * second),
                over("one dimension", {"lam": (1.0, 4.0), "predictor": (0.0, 1.5), "sign": (1, -1)}),
            ),
            wrong="The only non-zero eigenvalue of the target's Hessian is f'' ||x||^2, so f'' must multiply mu(x).",
            mutants={"half of f''": Mutant(_line, SMALLEST, right=lambda sign, second: sign * (second / 2))},
        ),
    },
    figures=figures,
)

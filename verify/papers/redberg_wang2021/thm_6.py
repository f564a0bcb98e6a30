"""RW21, Theorem 6: the ex-post loss of objective perturbation for any convex, twice differentiable loss.

The printed product form is evaluated literally (`mechanisms.objective.objective_loss_terms.product_form_terms`) and decided
as ``.shared.density_identity`` says.
"""

import numpy as np

from mechanisms.data.dataset import FloatArray
from mechanisms.objective.objective_loss_terms import product_form_terms
from reports.row import Figure

from ...kernel.statement_plots import loss_figure
from ...methods.ball_density import Rows
from ..kit import statement
from .shared.density_identity import LOSSES, WRONG, RandomOutcome, fair_record, identity_display


def _terms(at: RandomOutcome) -> tuple[float, float, float]:
    """Return the printed terms at one outcome; the target's Hessian has as many ranks as it has rows."""
    gradient, hessian = _derivatives(at.loss, at.pair[0], at.theta)
    loss_gradient, loss_hessian = _derivatives(at.loss, at.target, at.theta)
    terms = product_form_terms(
        hessian + at.lam * np.eye(at.theta.size),
        loss_hessian,
        gradient + at.lam * at.theta,
        loss_gradient,
        sign=at.sign,
        sigma=at.sigma,
    )
    return float(terms.log_det_term[0]), float(terms.quadratic_term[0]), float(terms.gradient_term[0])


def _derivatives(loss: str, rows: Rows, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the float64 gradient and Hessian of the summed loss of some rows."""
    gradient, hessian = np.zeros(theta.size), np.zeros((theta.size, theta.size))
    for x, y in rows:
        row, predictor, response = np.asarray(x), np.asarray(np.dot(x, theta)), np.asarray(y)
        gradient += float(LOSSES[loss].first(predictor, response)) * row
        hessian += float(LOSSES[loss].second(predictor, response)) * np.outer(row, row)
    return gradient, hessian


SHAPES = {
    "dim": (1, 2, 5), "rank": (1, 3), "n": (0, 1, 20), "loss": ("logistic", "squared", "poisson"),
    "sign": (1, -1), "sigma": (0.5, 10.0), "lam": (0.5,),
}  # fmt: skip


def figures(seed: int) -> tuple[Figure, ...]:
    """Return the drawn losses of one record of ``fair``."""
    mechanism, pair, setting = fair_record()
    title = "Ex-post loss of objective perturbation"
    return (loss_figure("rw21-t6", title, mechanism, pair, {}, seed, setting, n_draws=4_000),)


STATEMENT = statement(
    "RW21-T6",
    domain="L + r convex and twice differentiable, b ~ N(0, sigma^2 I), one record added or removed, every outcome; sigma, "
    "lambda and r public. Decided for dim 1 to 5, target Hessians of rank 1 to 3, 0 to 20 records",
    summary="True as an identity: the printed sum is the log density ratio itself, so the bound is attained.",
    displays={
        "": identity_display(
            "product form of the ex-post loss",
            "epsilon_1 = abs(-log product_(j=1)^d (1 minus.plus mu_j) + 1/(2 sigma^2) norm(nabla ell (hat(theta)^P; z))_2^2"
            " plus.minus 1/sigma^2 nabla J(hat(theta)^P; D)^T nabla ell (hat(theta)^P; z))",
            _terms,
            SHAPES,
            WRONG | {"no determinant term": (0.0, 1.0, 1.0)},
            {"dim": 3, "rank": 2, "n": 5, "loss": "logistic", "sign": 1, "sigma": 2.0, "lam": 0.5},
            quick_every=11,
        )
    },
    figures=figures,
)

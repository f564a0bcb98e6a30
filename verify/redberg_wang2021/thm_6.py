"""RW21, Theorem 6: the ex-post loss of objective perturbation for any convex, twice differentiable loss.

The printed product form is evaluated literally (`mechanisms.objective_loss_terms.product_form_terms`) and compared
with the log density ratio in ball arithmetic, built from the values of the loss alone; in one dimension with the
derivative of the exact distribution function; and with draws through a change of measure.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from audits import Budget
from mechanisms import NeighbouringPair
from mechanisms.data import FloatArray
from mechanisms.embedded import load
from mechanisms.losses import GlmLoss, LogisticLoss, PoissonLoss, SquaredLoss
from mechanisms.objective_loss_terms import LossTerms, product_form_terms
from mechanisms.objective_perturbation import ObjectivePerturbation
from reports.row import Figure

from ..ball_density import Rows, as_rows, cdf_log_ratio, deviation, log_ratio
from ..cases import case, grid, mutant
from ..evidence import identity_evidence
from ..formal import version_name
from ..plots import loss_figure
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Standing, Statement, Value
from ..witness import tail_identity_gap

ID = "RW21-T6"
TOLERANCE = 1e-9
LOSSES: dict[str, GlmLoss] = {"logistic": LogisticLoss(), "squared": SquaredLoss(), "poisson": PoissonLoss()}
#: Largest gap of a change-of-measure identity that the sampled cases allow (a printed band, in probability).
GAP = 0.1


def printed(terms: LossTerms) -> float:
    """Return the signed sum whose absolute value Theorem 6 prints."""
    return float(terms.total[0])


VERSIONS: dict[str, Callable[[LossTerms], float]] = {
    "printed": printed,
    "sign of the determinant term": lambda t: float((-t.log_det_term + t.quadratic_term + t.gradient_term)[0]),
    "sign of the gradient term": lambda t: float((t.log_det_term + t.quadratic_term - t.gradient_term)[0]),
    "no half in the quadratic term": lambda t: float((t.log_det_term + 2.0 * t.quadratic_term + t.gradient_term)[0]),
    "no determinant term": lambda t: float((t.quadratic_term + t.gradient_term)[0]),
    "gradient term 1e-6 larger": lambda t: float((t.log_det_term + t.quadratic_term + (1 + 1e-6) * t.gradient_term)[0]),
}


def check(case: Case, budget: Budget) -> Evidence:
    """Decide one case: a random instance at several outcomes, or draws on real data."""
    return _sampled(case, budget) if "data" in case.params else _instances(case, budget)


def _instances(case: Case, budget: Budget) -> Evidence:
    """Compare the printed formula with the density ratio at random outcomes; the worst deviation decides."""
    dim, rank, n, loss = case.whole("dim"), case.whole("rank"), case.whole("n"), case.text("loss")
    sign, sigma, lam = case.number("sign"), case.number("sigma"), case.number("lam")
    rng = budget.key.child("instances").rng()
    formula, worst = VERSIONS[version_name(case)], 0.0
    for _ in range(8):
        X, y = rng.uniform(-1, 1, (n + rank, dim)) / np.sqrt(dim), rng.choice([-1.0, 1.0], n + rank)
        theta = rng.standard_normal(dim)
        rows, target = as_rows(X[:n], y[:n]), as_rows(X[n:], y[n:])
        first, second = (rows, [*rows, *target]) if sign > 0 else ([*rows, *target], rows)
        value = formula(_terms(loss, first, target, theta, sign=sign, sigma=sigma, lam=lam))
        truth = log_ratio(loss, first, second, theta.tolist(), sigma, lam)
        worst = max(worst, deviation(value, truth))
        if dim == 1:
            worst = max(worst, deviation(value, cdf_log_ratio(loss, first, second, float(theta[0]), sigma, lam)))
    return identity_evidence(
        "largest relative deviation from the log density ratio, 8 outcomes",
        worst,
        0.0,
        TOLERANCE,
        conditioned_on="the outcome",
        method="ball arithmetic of the density ratio",
    )


def _terms(
    loss: str, first: Rows, target: Rows, theta: FloatArray, *, sign: float, sigma: float, lam: float
) -> LossTerms:
    """Return the printed terms at one outcome; the target's Hessian has as many ranks as it has rows."""
    dim = theta.size
    gradient, hessian = _derivatives(loss, first, theta)
    loss_gradient, loss_hessian = _derivatives(loss, target, theta)
    return product_form_terms(
        hessian + lam * np.eye(dim), loss_hessian, gradient + lam * theta, loss_gradient, sign=sign, sigma=sigma
    )


def _derivatives(loss: str, rows: Rows, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the float64 gradient and Hessian of the summed loss of some rows."""
    gradient, hessian = np.zeros(theta.size), np.zeros((theta.size, theta.size))
    for x, y in rows:
        row, predictor, response = np.asarray(x), np.asarray(np.dot(x, theta)), np.asarray(y)
        gradient += float(LOSSES[loss].first(predictor, response)) * row
        hessian += float(LOSSES[loss].second(predictor, response)) * np.outer(row, row)
    return gradient, hessian


def _sampled(case: Case, budget: Budget) -> Evidence:
    mechanism = ObjectivePerturbation(LogisticLoss(), sigma=case.number("sigma"), lam=case.number("lam"))
    dataset, record = load(case.text("data")), case.whole("record")
    if case.text("relation") == "add":
        pair = NeighbouringPair.remove(dataset, record).swapped()
    else:
        pair = NeighbouringPair.remove(dataset, record)
    gap = tail_identity_gap(mechanism, pair, 0.0, budget)
    claim = Claim(
        "gap of the change-of-measure identities", -GAP, GAP, 0.0, relation=pair.relation, observer=Observer.OUTPUT
    )
    return Evidence(claim, sampled=gap)


def _cases() -> tuple[Case, ...]:
    shape: dict[str, Value] = {"dim": 3, "rank": 2, "n": 5, "loss": "logistic", "sign": 1, "sigma": 2.0, "lam": 0.5}
    real: dict[str, Value] = {"data": "fair", "record": 3, "sigma": 4.0, "lam": 0.5}
    draws = (2_000, 8_000, 200_000)
    return (
        *grid(
            ID,
            Standing.PRINTED,
            {
                "dim": (1, 2, 5),
                "rank": (1, 3),
                "n": (0, 1, 20),
                "loss": ("logistic", "squared", "poisson"),
                "sign": (1, -1),
                "sigma": (0.5, 10.0),
                "lam": (0.5,),
            },
            regime="random instances; target inside and outside the data",
            quick_every=11,
        ),
        case(
            ID, Standing.PRINTED, real | {"relation": "remove"}, regime="draws on real data", draws=draws, quick=False
        ),
        case(ID, Standing.PRINTED, real | {"relation": "add"}, regime="draws on real data", draws=draws, quick=False),
        *(mutant(ID, name, shape, severity=1e-6 if "1e-6" in name else None) for name in VERSIONS if name != "printed"),
    )


def figures(seed: int) -> tuple[Figure, ...]:
    """Return the drawn losses of one record of ``fair``."""
    mechanism = ObjectivePerturbation(LogisticLoss(), sigma=4.0, lam=0.5)
    pair = NeighbouringPair.remove(load("fair"), 3)
    setting = "Record 3 of fair removed, logistic loss, sigma = 4, lambda = 0.5"
    title = "Ex-post loss of objective perturbation"
    return (loss_figure("rw21-t6", title, mechanism, pair, {}, seed, setting, n_draws=4_000),)


STATEMENT = Statement(
    id=ID,
    paper="redberg_wang2021",
    kind="theorem",
    title="Ex-post loss of objective perturbation, any convex loss",
    locator="Theorem 6",
    domain=(
        "L + r convex and twice differentiable, b ~ N(0, sigma^2 I), one record added or removed, every outcome; sigma, "
        "lambda and r public. Decided for dim 1 to 5, target Hessians of rank 1 to 3, 0 to 20 records"
    ),
    summary="True as an identity: the printed sum is the log density ratio itself, so the bound is attained.",
    parts=(
        Part(
            ID,
            "product form of the ex-post loss",
            printed=Formula(
                "epsilon_1 = abs(-log product_(j=1)^d (1 minus.plus mu_j) + 1/(2 sigma^2) norm(nabla ell (hat(theta)^P; z))_2^2"
                " plus.minus 1/sigma^2 nabla J(hat(theta)^P; D)^T nabla ell (hat(theta)^P; z))",
                "epsilon_1 = |-log prod_j (1 -+ mu_j) + ||grad l||^2/(2 sigma^2) +- grad J' grad l / sigma^2|",
            ),
        ),
    ),
    cases=_cases(),
    check=check,
    figures=figures,
)

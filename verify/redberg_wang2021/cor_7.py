"""RW21, Corollary 7: the ex-post loss of objective perturbation for generalised linear models.

The printed formula, evaluated from leverage and gradient, is compared with the log density ratio in ball arithmetic
(built from the values of the loss alone), with the derivative of the exact distribution function in one dimension,
and with draws through a change of measure. The proof line C7.p loses the factor f'' of the leverage.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from flint import arb

from audits import Budget, Estimate
from mechanisms import NeighbouringPair
from mechanisms.balls import enclose
from mechanisms.data import Dataset, FloatArray
from mechanisms.embedded import load
from mechanisms.losses import LogisticLoss
from mechanisms.objective_perturbation import ObjectivePerturbation
from reports.row import Figure

from ..ball_density import as_rows, cdf_log_ratio, deviation, log_ratio, slopes
from ..cases import case, grid, mutant
from ..evidence import identity_evidence
from ..formal import version_name
from ..plots import roc_figure
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Role, Standing, Statement, Value
from ..witness import tail_identity_gap
from .thm_6 import GAP, LOSSES, TOLERANCE

ID, BOUND, LINE = "RW21-C7", "RW21-C7#bound", "RW21-C7.p"


def printed(log_det: float, quadratic: float, gradient: float) -> float:
    """Return the signed sum whose absolute value Corollary 7 prints."""
    return log_det + quadratic + gradient


VERSIONS: dict[str, Callable[[float, float, float], float]] = {
    "printed": printed,
    "sign of the determinant term": lambda d, q, g: -d + q + g,
    "sign of the gradient term": lambda d, q, g: d + q - g,
    "no half in the quadratic term": lambda d, q, g: d + 2.0 * q + g,
    "gradient term 1e-6 larger": lambda d, q, g: d + q + (1.0 + 1e-6) * g,
}


def check(case: Case, budget: Budget) -> Evidence:
    """Decide one case: a random instance, draws on real data, or the proof line."""
    if case.part == LINE:
        return _proof_line(case)
    return _sampled(case, budget) if "data" in case.params else _instances(case, budget)


def _instances(case: Case, budget: Budget) -> Evidence:
    """Compare the printed formula with the density ratio at random outcomes; the worst deviation decides."""
    dim, n, loss = case.whole("dim"), case.whole("n"), case.text("loss")
    sign, sigma, lam = case.number("sign"), case.number("sigma"), case.number("lam")
    mechanism = ObjectivePerturbation(LOSSES[loss], sigma=sigma, lam=lam)
    rng, worst = budget.key.child("instances").rng(), 0.0
    for _ in range(8):
        X, y = (
            rng.uniform(-1, 1, (n + 1, dim)) / np.sqrt(dim),
            rng.choice([-1.0, 1.0] if loss != "poisson" else [0.0, 1.0], n + 1),
        )
        theta = rng.standard_normal(dim)
        smaller, larger = as_rows(X[:n], y[:n]), as_rows(X, y)
        first, second = (smaller, larger) if sign > 0 else (larger, smaller)
        dataset = Dataset(X[:n], y[:n], 1.0, 1.0) if sign > 0 else Dataset(X, y, 1.0, 1.0)
        value = VERSIONS[version_name(case)](*_terms(mechanism, dataset, theta, X[n], float(y[n]), sign))
        worst = max(worst, deviation(value, log_ratio(loss, first, second, theta.tolist(), sigma, lam)))
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
    mechanism: ObjectivePerturbation, dataset: Dataset, theta: FloatArray, x: FloatArray, y: float, sign: float
) -> tuple[float, float, float]:
    """Return the three printed terms: everything from the data set D that the outcome was drawn from."""
    point, u = theta[None, :], np.asarray(x @ theta)
    first = float(mechanism.loss.first(u, np.asarray(y)))
    second = float(mechanism.loss.second(u, np.asarray(y)))
    leverage = float(mechanism.leverage(point, dataset, x)[0])
    gradient = -mechanism.noise(point, dataset)[0]  # grad J(theta; D), RW21 eq. (3)
    variance = mechanism.sigma**2
    return (
        -math.log1p(sign * second * leverage),
        first**2 * float(x @ x) / (2.0 * variance),
        sign * first * float(gradient @ x) / variance,
    )


def _sampled(case: Case, budget: Budget) -> Evidence:
    mechanism = ObjectivePerturbation(LogisticLoss(), sigma=case.number("sigma"), lam=case.number("lam"))
    pair = NeighbouringPair.remove(load(case.text("data")), case.whole("record"))
    if case.text("relation") == "add":
        pair = pair.swapped()
    gap = tail_identity_gap(mechanism, pair, 0.0, budget)
    claim = Claim(
        "gap of the change-of-measure identities", -GAP, GAP, 0.0, relation=pair.relation, observer=Observer.OUTPUT
    )
    return Evidence(claim, sampled=gap)


def _proof_line(case: Case) -> Evidence:
    """Enclose the difference of the two sides in one dimension, n = 0, x = 1: mu_1 = f'' mu, mu(x) = 1/lambda."""
    lam, predictor, sign = case.number("lam"), case.number("predictor"), case.number("sign")

    def gap() -> object:
        second = slopes("logistic", arb(predictor), 1.0)[1]
        hessian = arb(lam) if sign > 0 else arb(lam) + second  # z outside, or inside, the data
        leverage = 1 / hessian
        left = (1 + sign * second * leverage).log()
        factor = arb(1) if version_name(case) == "printed" else second
        if version_name(case) == "half of f''":
            factor = second / 2
        return left - (1 + (sign if version_name(case) != "printed" else 1) * factor * leverage).log()

    bracket = enclose(gap)
    claim = Claim("left side minus right side", -1e-12, 1e-12, 0.0, observer=Observer.OUTPUT)
    return Evidence(claim, exact=Estimate.proved(bracket.low, bracket.high, "ball arithmetic"))


def _cases() -> tuple[Case, ...]:
    shape: dict[str, Value] = {"dim": 3, "n": 5, "loss": "logistic", "sign": -1, "sigma": 2.0, "lam": 0.5}
    real: dict[str, Value] = {"data": "fair", "record": 3, "sigma": 4.0, "lam": 0.5}
    line = {"lam": (1.0, 4.0), "predictor": (0.0, 1.5), "sign": (1, -1)}
    smallest: dict[str, Value] = {"lam": 1.0, "predictor": 0.0, "sign": 1}
    draws = (2_000, 8_000, 200_000)
    return (
        *grid(
            BOUND,
            Standing.PRINTED,
            {
                "dim": (1, 2, 6),
                "n": (0, 1, 30),
                "loss": ("logistic", "squared", "poisson"),
                "sign": (1, -1),
                "sigma": (0.5, 10.0),
                "lam": (1e-3, 0.5),
            },
            regime="random instances; target inside and outside the data",
            quick_every=13,
        ),
        case(
            BOUND,
            Standing.PRINTED,
            real | {"relation": "remove"},
            regime="draws on real data",
            draws=draws,
            quick=False,
        ),
        case(
            BOUND, Standing.PRINTED, real | {"relation": "add"}, regime="draws on real data", draws=draws, quick=False
        ),
        *(
            mutant(BOUND, name, shape, severity=1e-6 if "1e-6" in name else None)
            for name in VERSIONS
            if name != "printed"
        ),
        case(
            LINE, Standing.PRINTED, smallest, role=Role.COUNTEREXAMPLE, regime="one record x = 1, lambda = 1, f'' = 1/4"
        ),
        *grid(LINE, Standing.CORRECTED, line, regime="one dimension"),
        mutant(LINE, "half of f''", smallest),
    )


def figures(seed: int) -> tuple[Figure, ...]:
    """Return the likelihood-ratio attack on one record of ``fair``."""
    mechanism = ObjectivePerturbation(LogisticLoss(), sigma=4.0, lam=0.5)
    pair = NeighbouringPair.remove(load("fair"), 3)
    setting = "Record 3 of fair removed, logistic loss, sigma = 4, lambda = 0.5"
    title = "Likelihood-ratio attack on objective perturbation"
    return (roc_figure("rw21-c7", title, mechanism, pair, None, seed, setting, n_draws=4_000),)


STATEMENT = Statement(
    id=ID,
    paper="redberg_wang2021",
    kind="corollary",
    title="Ex-post loss of objective perturbation, generalised linear models",
    locator="Corollary 7",
    domain=(
        "l(theta; z) = f(x^T theta; y) convex and twice differentiable, b ~ N(0, sigma^2 I), one record added or removed, "
        "every outcome; sigma, lambda and r public. Decided for dim 1 to 6, 0 to 30 records, three losses"
    ),
    summary="True, and an equality. A line of its proof drops the factor f'' of the leverage.",
    parts=(
        Part(
            BOUND,
            "ex-post loss of a generalised linear model",
            printed=Formula(
                "epsilon <= abs(-log(1 plus.minus f''(dot) mu(x)) + 1/(2 sigma^2) norm(nabla ell)_2^2 plus.minus 1/sigma^2"
                " nabla J^T nabla ell), quad mu(x) = x^T (nabla^2 J)^(-1) x, quad nabla ell = f'(dot) x",
                "epsilon <= |-log(1 +- f'' mu(x)) + ||grad l||^2/(2 sigma^2) +- grad J' grad l / sigma^2|, "
                "mu(x) = x'(grad^2 J)^-1 x, grad l = f' x",
            ),
        ),
        Part(
            LINE,
            "a line of the proof",
            printed=Formula(
                "log product_(j=1)^d (1 + mu_j) = log(1 + mu(x))", "log prod_j (1 + mu_j) = log(1 + mu(x))"
            ),
            corrected=Formula(
                "log product_(j=1)^d (1 minus.plus mu_j) = log(1 plus.minus f''(dot) mu(x))",
                "log prod_j (1 -+ mu_j) = log(1 +- f'' mu(x))",
            ),
            what_went_wrong="The only non-zero eigenvalue of the target's Hessian is f'' ||x||^2, so f'' must multiply mu(x).",
            derivation="docs/derivations/redberg_wang2021.md, Corollary 7",
        ),
    ),
    cases=_cases(),
    check=check,
    figures=figures,
)

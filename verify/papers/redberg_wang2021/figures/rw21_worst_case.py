"""The worst case over a data set of ex-post loss and of both bounds on it: what RW21's Figures 4 and 5 draw."""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import ndtri

from mechanisms import Dataset, LogisticLoss, ObjectivePerturbation
from mechanisms.data.dataset import FloatArray, row_norms
from mechanisms.data.synthetic import sphere_labels
from mechanisms.laws.gaussian_calibration import analytic_sigma
from mechanisms.numerics.goe import goe_tau
from mechanisms.objective.objective_calibration import calibrate_t5
from mechanisms.releases.report_terms import Releases, ReportScales, draw_releases, log_det_bound

#: Chosen: the budgets of each release, and both failure probabilities (RW21 uses 1e-6 in its section 4.2).
EPSILON, DELTA = 1.0, 1e-6
#: The two rules that labels are drawn by, as a temperature: the sign of the score, or the logistic model.
LABELS = {"sign of the score": 0.0, "logistic model": 1.0}


@cache
def scales(dim: int, lam: float = 0.0) -> ReportScales:
    """Return the parameters of both reports: Theorem 5, the analytic Gaussian mechanism, lambda as Algorithm 2 needs.

    Parameters
    ----------
    dim : int
    lam : float
        Used instead of the least admissible lambda when positive.
    """
    loss = LogisticLoss()
    base = calibrate_t5(loss, EPSILON, DELTA, x_bound=1.0, y_bound=1.0)
    sigma2 = analytic_sigma(loss.xi(1.0, 1.0), EPSILON, DELTA)
    sigma3 = analytic_sigma(loss.beta / math.sqrt(2.0), EPSILON, DELTA)
    least = max(base.lam, 2 * sigma3 * goe_tau(dim, DELTA))
    return ReportScales(loss, base.sigma_corrected, lam or least, DELTA, sigma2, sigma3)


@dataclass(frozen=True)
class Worst:
    """The largest values over the records of a data set: the ex-post loss, and both bounds."""

    exact: float
    independent: float
    dependent: float


def bounds(scales: ReportScales, releases: Releases, dataset: Dataset) -> tuple[FloatArray, FloatArray]:
    """Return both corrected bounds (DATA-INDEP, DATA-DEP) of every record at one release, shape ``(n_records,)``.

    The same numbers as ``corrected_terms``, for all records at once.
    """
    X, theta = dataset.X, releases.theta[0]
    assert releases.gradient is not None
    assert releases.hessian is not None
    assert scales.sigma2 is not None
    first, second = scales.loss.first(X @ theta, dataset.y), scales.loss.second(X @ theta, dataset.y)
    norms = row_norms(X)
    slope, z = np.abs(first) * norms, -float(ndtri(0.5 * scales.failure_prob))
    quadratic = slope**2 / (2 * scales.sigma**2)
    cap, lever = scales.sigma * slope * z, norms**2 / scales.lam
    free = log_det_bound(second * lever) + quadratic + cap / scales.sigma**2
    g_bar = np.minimum(np.abs(first * (X @ releases.gradient[0])) + scales.sigma2 * slope * z, cap)
    released = 1.5 * np.einsum("ij,ji->i", X, np.linalg.solve(releases.hessian[0], X.T))
    mu_bar = np.where(released > 0, np.minimum(released, lever), lever)
    return free, log_det_bound(second * mu_bar) + quadratic + g_bar / scales.sigma**2


def run(
    n_records: int, dim: int, temperature: float, lam: float, rng: np.random.Generator
) -> tuple[ObjectivePerturbation, Dataset, Releases, ReportScales]:
    """Return a fresh data set and a fresh run of all releases on it."""
    dataset = sphere_labels(n_records, dim, temperature=temperature, rng=rng).dataset
    chosen = scales(dim, lam)
    mechanism = ObjectivePerturbation(chosen.loss, chosen.sigma, chosen.lam)
    return mechanism, dataset, draw_releases(mechanism, dataset, chosen, 1, rng=rng), chosen


def worst_bounds(
    n_records: int, dim: int, temperature: float, lam: float, rng: np.random.Generator
) -> tuple[float, float]:
    """Return the largest DATA-INDEP and DATA-DEP bound over a fresh data set."""
    _, dataset, releases, chosen = run(n_records, dim, temperature, lam, rng)
    independent, dependent = bounds(chosen, releases, dataset)
    return float(independent.max()), float(dependent.max())


def worst(n_records: int, dim: int, temperature: float, lam: float, rng: np.random.Generator) -> Worst:
    """Return the worst case over a fresh data set, with the exact ex-post loss beside the bounds."""
    mechanism, dataset, releases, chosen = run(n_records, dim, temperature, lam, rng)
    independent, dependent = bounds(chosen, releases, dataset)
    exact = np.abs(mechanism.ex_post_losses(releases.theta[0], dataset)).max()
    return Worst(float(exact), float(independent.max()), float(dependent.max()))


def ceiling(scales: ReportScales) -> float:
    """Return the largest value that the corrected bounds can take over unit rows: free of ``n``, ``d`` and the data.

    With ``s = |f'| in (0, 1)`` and ``f'' = s (1 - s)``, DATA-INDEP is
    ``-log(1 - s (1 - s)/lam) + s^2/(2 sigma^2) + s z/sigma``, maximised over a fine grid; DATA-DEP never exceeds it.
    """
    s = np.linspace(0.0, 1.0, 100_001)
    z = -float(ndtri(0.5 * scales.failure_prob))
    values = log_det_bound(s * (1 - s) / scales.lam) + s**2 / (2 * scales.sigma**2) + s * z / scales.sigma
    return float(values.max())

"""The methods of W18's experiments behind one interface: a data set and a budget in, drawn coefficients out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from mechanisms import Dataset
from mechanisms.data.dataset import FloatArray
from mechanisms.linear.adaops_wang2018 import AdaOPS2018, PublishedRule2018
from mechanisms.linear.adassp import AdaSSP
from mechanisms.linear.ops_calibrations import OPSParameters, PublishedOPSCalibration
from mechanisms.linear.posterior_sampling import PosteriorSampling
from mechanisms.linear.sufficient_statistics import SufficientStatistics
from mechanisms.objective.objective_calibration import variance_t5


@dataclass(frozen=True)
class Wanted:
    """What a private method is asked for."""

    epsilon: float
    delta: float


#: Data set, target, number of draws, stream -> coefficients ``(n_draws, dim)``.
Method = Callable[[Dataset, Wanted, int, np.random.Generator], FloatArray]

#: Radius of the parameter ball that objective perturbation needs (W18: "a pre-defined bound"; its value is not given).
RADIUS = 1.0


def trivial(dataset: Dataset, target: Wanted, n_draws: int, rng: np.random.Generator) -> FloatArray:
    """Predict 0 always."""
    return np.zeros((1, dataset.dim))


def least_squares(dataset: Dataset, target: Wanted, n_draws: int, rng: np.random.Generator) -> FloatArray:
    """Return the non-private minimiser (of least norm where it is not unique)."""
    return np.asarray(np.linalg.lstsq(dataset.X, dataset.y, rcond=None)[0][None])


def ball_minimiser(dataset: Dataset, lam: float, linear: FloatArray, radius: float) -> FloatArray:
    """Return ``argmin |y - X theta|^2/2 + lam |theta|^2/2 + b^T theta`` over ``|theta| <= radius``, for each row ``b``.

    ``theta = (H + nu I)^{-1} (X^T y - b)`` with the multiplier ``nu >= 0`` found by bisection, all rows at once.
    """
    values, vectors = np.linalg.eigh(dataset.X.T @ dataset.X)
    values = np.maximum(values, 0.0) + lam
    moment = (dataset.X.T @ dataset.y - linear) @ vectors
    low, high = np.zeros(len(linear)), np.linalg.norm(moment, axis=1) / radius
    inside = np.linalg.norm(moment / values, axis=1) <= radius
    for _ in range(100):
        middle = 0.5 * (low + high)
        outside = np.linalg.norm(moment / (values + middle[:, None]), axis=1) > radius
        low, high = np.where(outside, middle, low), np.where(outside, high, middle)
    multiplier = np.where(inside, 0.0, high)
    return np.asarray((moment / (values + multiplier[:, None])) @ vectors.T)


def objective_perturbation(dataset: Dataset, target: Wanted, n_draws: int, rng: np.random.Generator) -> FloatArray:
    """Draw objective perturbation of least squares over the ball of radius ``RADIUS``.

    Constants of Kifer et al. as in RW21's Theorem 5: ``xi = B (Y + B RADIUS)``, ``lam = 2 B^2/epsilon``, and the root
    of the printed scale as the standard deviation.
    """
    xi = dataset.x_bound * (dataset.y_bound + dataset.x_bound * RADIUS)
    sigma = variance_t5(xi, target.epsilon, target.delta) ** 0.5
    noise = sigma * rng.standard_normal((n_draws, dataset.dim))
    return ball_minimiser(dataset, 2 * dataset.x_bound**2 / target.epsilon, noise, RADIUS)


def sampled(rule: Callable[[PublishedOPSCalibration], OPSParameters]) -> Method:
    """Return one-posterior sampling under one of W18's calibrations (appendix F, as printed)."""

    def draw(dataset: Dataset, target: Wanted, n_draws: int, rng: np.random.Generator) -> FloatArray:
        calibration = PublishedOPSCalibration(
            target.epsilon, target.delta, dataset.n_records, dataset.dim, dataset.x_bound, dataset.y_bound
        )
        chosen = rule(calibration)
        return PosteriorSampling(chosen.gamma, chosen.lam).draw(dataset, n_draws, rng=rng)

    return draw


def sufficient_statistics(dataset: Dataset, target: Wanted, n_draws: int, rng: np.random.Generator) -> FloatArray:
    """Draw SSP with the noise of W18, appendix C.1; the released matrix need not be positive definite."""
    mechanism = SufficientStatistics.published(
        target.epsilon, target.delta, x_bound=dataset.x_bound, y_bound=dataset.y_bound
    )
    return mechanism.output(mechanism.draw(dataset, n_draws, rng=rng), dataset.dim)


def adaops(dataset: Dataset, target: Wanted, n_draws: int, rng: np.random.Generator) -> FloatArray:
    """Draw AdaOPS (W18, algorithm 1) with its printed constants; a run without output counts as 0."""
    mechanism = AdaOPS2018(PublishedRule2018(target.epsilon, target.delta))
    theta = mechanism.output(mechanism.draw(dataset, n_draws, rng=rng), dataset.dim)
    return np.where(np.isfinite(theta).all(axis=1, keepdims=True), theta, 0.0)


def adassp(dataset: Dataset, target: Wanted, n_draws: int, rng: np.random.Generator) -> FloatArray:
    """Draw AdaSSP (W18, algorithm 2), its last line on the released matrix."""
    mechanism = AdaSSP(target.epsilon, target.delta)
    return mechanism.output(mechanism.draw(dataset, n_draws, rng=rng), dataset)


#: The columns of W18's Tables 3 and 4, in order.
TABLE_METHODS: Mapping[str, Method] = {
    "Trivial": trivial,
    "non-private": least_squares,
    "ObjPert": objective_perturbation,
    "OPS": sampled(PublishedOPSCalibration.balanced),
    "SSP": sufficient_statistics,
    "AdaOPS": adaops,
    "AdaSSP": adassp,
}

#: The four calibrations of W18, appendix F.
CALIBRATIONS: Mapping[str, Method] = {
    "diffuse": sampled(PublishedOPSCalibration.diffuse),
    "concentrated": sampled(PublishedOPSCalibration.concentrated),
    "balanced": sampled(PublishedOPSCalibration.balanced),
    "conservative": sampled(PublishedOPSCalibration.conservative),
}

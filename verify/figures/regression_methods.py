"""The methods of W18's experiments behind one interface: a data set and a budget in, drawn coefficients out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from mechanisms import Dataset
from mechanisms.capabilities import Domain, coefficients_of
from mechanisms.data.dataset import FloatArray, row_norms
from mechanisms.linear.ops_calibrations import OPSParameters, PublishedOPSCalibration
from mechanisms.linear.posterior_sampling import PosteriorSampling
from mechanisms.offers import Promise, offers


@dataclass(frozen=True)
class Wanted:
    """What a private method is asked for."""

    epsilon: float
    delta: float


#: Data set, target, number of draws, stream -> coefficients ``(n_draws, dim)``.
Method = Callable[[Dataset, Wanted, int, np.random.Generator], FloatArray]


def trivial(dataset: Dataset, target: Wanted, n_draws: int, rng: np.random.Generator) -> FloatArray:
    """Predict 0 always."""
    return np.zeros((1, dataset.dim))


#: A direction in which all records together are shorter than this share of the longest one is left out: whatever is
#: learned along it is learned from less than one record, and a record outside may be predicted without bound.
LEAST_LENGTH = 0.5


def minimum_norm(dataset: Dataset) -> FloatArray:
    """Return least squares of least norm, shape ``(dim,)``, on the directions in which there is data.

    Those are the right singular vectors of ``X`` whose singular value is at least ``LEAST_LENGTH`` times the longest
    row. On nearly collinear columns the plain solution has coefficients of 1e4 and more, and one record that was left
    out decides its error.
    """
    left, lengths, directions = np.linalg.svd(dataset.X, full_matrices=False)
    longest = float(row_norms(dataset.X).max(initial=0.0))
    kept = lengths >= max(LEAST_LENGTH * longest, np.finfo(float).tiny)
    along = (left[:, kept].T @ dataset.y) / lengths[kept]
    return np.asarray(along @ directions[kept])


def least_squares(dataset: Dataset, target: Wanted, n_draws: int, rng: np.random.Generator) -> FloatArray:
    """Return the non-private minimiser, of least norm where it is not unique or nearly so (``minimum_norm``)."""
    return minimum_norm(dataset)[None]


def published(method: str) -> Method:
    """Return a mechanism as its paper calibrates it; a run without output counts as 0."""

    def draw(dataset: Dataset, target: Wanted, n_draws: int, rng: np.random.Generator) -> FloatArray:
        (rule,) = (offer for offer in offers("squared") if (offer.method, offer.way) == (method, "published"))
        domain = Domain(dataset.dim, dataset.x_bound, dataset.y_bound, dataset.n_records)
        mechanism = rule.build("squared", domain, Promise(target.epsilon, target.delta)).mechanism
        assert mechanism is not None
        theta = coefficients_of(mechanism, mechanism.draw(dataset, n_draws, rng=rng), dataset)
        return np.where(np.isinf(theta).any(axis=1, keepdims=True), 0.0, theta)

    return draw


def sampled(rule: Callable[[PublishedOPSCalibration], OPSParameters]) -> Method:
    """Return one-posterior sampling under one of W18's calibrations (appendix F, as printed)."""

    def draw(dataset: Dataset, target: Wanted, n_draws: int, rng: np.random.Generator) -> FloatArray:
        calibration = PublishedOPSCalibration(
            target.epsilon, target.delta, dataset.n_records, dataset.dim, dataset.x_bound, dataset.y_bound
        )
        chosen = rule(calibration)
        return PosteriorSampling(chosen.gamma, chosen.lam).draw(dataset, n_draws, rng=rng)

    return draw


#: The columns of W18's Tables 3 and 4, in order.
TABLE_METHODS: Mapping[str, Method] = {
    "Trivial": trivial,
    "non-private": least_squares,
    "ObjPert": published("ObjPert"),
    "OPS": published("OPS"),
    "SSP": published("SSP"),
    "AdaOPS": published("AdaOPS 2018"),
    "AdaSSP": published("AdaSSP"),
}

#: The four calibrations of W18, appendix F.
CALIBRATIONS: Mapping[str, Method] = {
    "diffuse": sampled(PublishedOPSCalibration.diffuse),
    "concentrated": sampled(PublishedOPSCalibration.concentrated),
    "balanced": sampled(PublishedOPSCalibration.balanced),
    "conservative": sampled(PublishedOPSCalibration.conservative),
}

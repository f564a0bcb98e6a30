"""What the papers' figures are made with: mechanisms at one epsilon, and errors by cross-validation."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

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


IntArray = NDArray[np.intp]

#: Chosen: the papers do not say how many folds.
N_FOLDS = 10
#: Predictions that are held at once.
AT_ONCE = 1 << 22


@dataclass(frozen=True)
class Error:
    """Mean error over the folds, and half the width of its 95 % interval (Student's t over the folds).

    The folds share most of what they learn from, so that the interval is the usual one and not a proved one.
    """

    mean: float
    half_width: float

    @classmethod
    def of(cls, means: Sequence[float]) -> Error:
        """Return the error of two folds or more, from the mean of each; an infinite one leaves nothing known."""
        table = np.array(means)
        spread = table.std(ddof=1) if np.isfinite(table).all() else math.inf
        return cls(float(table.mean()), float(stdtrit(len(table) - 1, 0.975)) * spread / math.sqrt(len(table)))

    def __str__(self) -> str:
        return f"{self.mean:.3g}±{self.half_width:.2g}"


def folds(n_records: int, n_folds: int, rng: np.random.Generator) -> list[IntArray]:
    """Return the records of each fold: a random partition into nearly equal parts.

    Raises
    ------
    ValueError
        If there are fewer records than folds, or fewer than two folds.
    """
    if n_folds < 2 or n_records < n_folds:
        raise ValueError(f"n_folds must be in [2, {n_records}], got n_folds={n_folds}")
    return [np.sort(part) for part in np.array_split(rng.permutation(n_records), n_folds)]


def splits(dataset: Dataset, parts: Sequence[IntArray]) -> Iterator[tuple[Dataset, Dataset]]:
    """Yield, for each part of ``folds``, the other records and that part's."""
    for part in parts:
        train = np.ones(dataset.n_records, dtype=bool)
        train[part] = False
        yield (
            replace(dataset, X=dataset.X[train], y=dataset.y[train]),
            replace(dataset, X=dataset.X[part], y=dataset.y[part]),
        )


def squared_errors(dataset: Dataset, theta: FloatArray) -> FloatArray:
    """Return the mean squared error of each row of ``theta`` from second moments, shape ``(n_draws,)``."""
    n = max(dataset.n_records, 1)
    gram, moment = dataset.X.T @ dataset.X / n, dataset.X.T @ dataset.y / n
    square = float(dataset.y @ dataset.y) / n
    with np.errstate(over="ignore", invalid="ignore"):
        errors = np.einsum("ij,jk,ik->i", theta, gram, theta) - 2 * theta @ moment + square
    return np.maximum(np.where(np.isfinite(errors), errors, math.inf), 0.0)


def misclassified(dataset: Dataset, theta: FloatArray) -> FloatArray:
    """Return the share of labels, -1 or +1, that each row of ``theta`` gets wrong; half of one where it says 0."""
    wrong = np.zeros(len(theta))
    step = max(1, AT_ONCE // max(dataset.n_records, 1))
    for start in range(0, len(theta), step):
        part = slice(start, start + step)
        agree = np.sign(dataset.X @ theta[part].T) * dataset.y[:, None]
        wrong[part] = 0.5 * (1 - agree).mean(axis=0)
    return wrong


def cross_validated(
    dataset: Dataset,
    method: Method,
    target: Wanted,
    parts: Sequence[IntArray],
    *,
    n_draws: int,
    rng: np.random.Generator,
) -> Error:
    """Return the error on each left-out part of coefficients drawn from the others, averaged over draws, then parts.

    ``parts`` comes from ``folds``; the same for every method makes their errors comparable.
    """
    return Error.of(
        [
            float(squared_errors(held_out, method(learned, target, n_draws, rng)).mean())
            for learned, held_out in splits(dataset, parts)
        ]
    )

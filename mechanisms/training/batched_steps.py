"""Sums of clipped gradients for many trainings at once: every record with its own chance, each training its iterate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..data.dataset import DataError, Dataset, FloatArray, row_norms
from ..objective.losses import GlmLoss, LogisticLoss, SquaredLoss

LossName = Literal["squared", "logistic"]
LOSSES: dict[str, GlmLoss] = {"squared": SquaredLoss(), "logistic": LogisticLoss()}
#: Rows and iterates are no longer than this, so that no predictor overflows.
LONGEST = 1e150


@dataclass(frozen=True, eq=False)
class ClippedRecords:
    """Records with the longest slope of each for which its gradient, slope times row, is no longer than the clip.

    Attributes
    ----------
    loss : GlmLoss
    X, y : ndarray
        The records.
    norms : ndarray
        Norms of the rows, shape ``(n_records,)``.
    limits : ndarray
        ``clip/norms``, smaller by what rounding may add; 0 where a row is 0.
    """

    loss: GlmLoss
    X: FloatArray
    y: FloatArray
    norms: FloatArray
    limits: FloatArray

    @classmethod
    def of(cls, loss: LossName, dataset: Dataset, clip: float) -> ClippedRecords:
        """Return the records of a data set.

        Raises
        ------
        DataError
            If labels are not -1 or +1 for the logistic loss, or a row is longer than floating point can be trusted
            with.
        """
        kind = LOSSES[loss]
        kind.check_response(dataset.y)
        norms = row_norms(dataset.X)
        if norms.max(initial=0.0) > LONGEST:
            raise DataError(f"rows of X must have Euclidean norm at most {LONGEST:g} to be trained on")
        slack = 1 - (dataset.dim + 8) * np.finfo(np.float64).eps
        with np.errstate(over="ignore", divide="ignore"):
            limits = np.where(norms > 0, clip * slack / norms, 0.0)
        return cls(kind, dataset.X, dataset.y, norms, limits)

    def weights(self, theta: FloatArray) -> FloatArray:
        """Return the slopes of the records at iterates, clipped: a gradient is its weight times its row.

        ``theta`` has shape ``(n_draws, dim)``; the weights have shape ``(n_draws, n_records)``.
        """
        slopes = self.loss.first(theta @ self.X.T, self.y)
        return np.asarray(np.clip(slopes, -self.limits, self.limits, out=slopes))

    def gradient_norms(self, theta: FloatArray) -> FloatArray:
        """Return the norms of the clipped gradients, shape ``(n_draws, n_records)``."""
        return np.asarray(np.abs(self.weights(theta)) * self.norms)

    def sums(self, theta: FloatArray, rate: float, *, rng: np.random.Generator) -> FloatArray:
        """Return sums of clipped gradients, each over a sample of its own, shape ``(n_draws, dim)``."""
        weights = self.weights(theta)
        if rate < 1:
            weights *= rng.random(weights.shape) < rate
        return np.asarray(weights @ self.X)


def project(theta: FloatArray, radius: float) -> FloatArray:
    """Return the nearest points of the ball of a radius (at most ``LONGEST``), shape ``(n_draws, dim)``."""
    norms, radius = row_norms(theta), min(radius, LONGEST)
    if not norms.max(initial=0.0) > radius:
        return theta
    return np.asarray(theta * np.minimum(1.0, radius / np.maximum(norms, 1e-300))[:, None])

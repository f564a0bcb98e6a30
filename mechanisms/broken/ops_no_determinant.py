"""Broken by degrees: one-posterior sampling whose stated loss forgets part of the determinants."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..data import Dataset, FloatArray
from ..neighbours import NeighbouringPair
from ..posterior_sampling import PosteriorSampling
from ..ridge import ridge_fit


@dataclass(frozen=True)
class OpsNoDeterminant:
    """Draws rightly; the stated density leaves out the share ``severity`` of ``log det H / 2`` (1: all of it).

    The loss is then off by ``severity * log(1 + leverage) / 2``, the term that W19-T4.1 has inside its absolute value.
    """

    right: PosteriorSampling
    severity: float

    def __post_init__(self) -> None:
        if not 0 <= self.severity <= 1:
            raise ValueError(f"severity must be in [0, 1], got severity={self.severity}")

    @property
    def name(self) -> str:
        """Short name for reports."""
        return f"one-posterior sampling, {self.severity:.0%} of the determinant forgotten"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return independent outputs, shape ``(n_draws, dim)``."""
        return self.right.draw(dataset, n_draws, rng=rng)

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        """Return a log density that is not normalised."""
        missing = 0.5 * self.severity * ridge_fit(dataset, self.right.lam).log_det
        return np.asarray(self.right.log_density(outputs, dataset) - missing)

    def privacy_loss(self, outputs: FloatArray, pair: NeighbouringPair) -> FloatArray:
        """Return a loss that is shifted by a constant."""
        leverage, _ = self.right.target(pair)
        shift = pair.sign * 0.5 * self.severity * math.log1p(leverage)
        return np.asarray(self.right.privacy_loss(outputs, pair) + shift)

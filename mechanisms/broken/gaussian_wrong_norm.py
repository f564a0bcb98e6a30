"""Broken: Gaussian output perturbation whose law is stated with the Euclidean instead of the A-norm sensitivity."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..data import Dataset, FloatArray
from ..gaussian_output import GaussianOutput
from ..neighbours import NeighbouringPair
from ..profiles import GaussianProfile


@dataclass(frozen=True)
class GaussianWrongNorm:
    """Draws rightly; ``mu`` is stated as ``sqrt(gamma)`` times the Euclidean norm of the change (W19-L2.4 has A's)."""

    right: GaussianOutput

    @property
    def name(self) -> str:
        """Short name for reports."""
        return "Gaussian output perturbation, Euclidean sensitivity"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return independent outputs, shape ``(n_draws, k)``."""
        return self.right.draw(dataset, n_draws, rng=rng)

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        """Return the right log density."""
        return self.right.log_density(outputs, dataset)

    def privacy_loss(self, outputs: FloatArray, pair: NeighbouringPair) -> FloatArray:
        """Return the right loss."""
        return self.right.privacy_loss(outputs, pair)

    def profile(self, pair: NeighbouringPair) -> GaussianProfile:
        """Return a law that is not that of the loss."""
        return GaussianProfile(math.sqrt(self.right.gamma) * float(np.linalg.norm(self.right.estimator.shift(pair))))

"""Broken: output noise whose covariance follows the data, with a law stated as if it did not (W19-E3.2, W19-S4.A3)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..data import Dataset, FloatArray
from ..gaussian_output import GaussianOutput
from ..neighbours import NeighbouringPair
from ..posterior_sampling import PosteriorSampling
from ..profiles import GaussianProfile
from ..ridge import RidgeMap


@dataclass(frozen=True)
class GaussianDataPrecision:
    """Draws ``N(theta_hat, H^{-1}/gamma)``, and states losses with the ``H`` of ``D`` for both data sets.

    How wrong that is grows with the leverage of the target: the two covariances differ by the factor ``1 + mu`` in one
    direction.
    """

    gamma: float
    lam: float

    @property
    def name(self) -> str:
        """Short name for reports."""
        return f"output perturbation with the data's own precision (gamma={self.gamma:g}, lam={self.lam:g})"

    def _claimed(self, dataset: Dataset) -> GaussianOutput:
        hessian = dataset.X.T @ dataset.X + self.lam * np.eye(dataset.dim)
        return GaussianOutput(0.5 * (hessian + hessian.T), self.gamma, RidgeMap(self.lam))

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return independent outputs, shape ``(n_draws, dim)``."""
        return PosteriorSampling(self.gamma, self.lam).draw(dataset, n_draws, rng=rng)

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        """Return the right log density."""
        return PosteriorSampling(self.gamma, self.lam).log_density(outputs, dataset)

    def privacy_loss(self, outputs: FloatArray, pair: NeighbouringPair) -> FloatArray:
        """Return the loss between two laws with the covariance of ``D``."""
        return self._claimed(pair.first).privacy_loss(outputs, pair)

    def profile(self, pair: NeighbouringPair) -> GaussianProfile:
        """Return a law that is not that of the loss."""
        return GaussianProfile(math.sqrt(self.gamma) * self._claimed(pair.first).sensitivity(pair))

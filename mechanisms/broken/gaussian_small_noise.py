"""Broken by degrees: Gaussian output perturbation with its noise divided by ``1 + severity``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base import check_nonnegative
from ..data import Dataset, FloatArray
from ..gaussian_output import GaussianOutput
from ..neighbours import NeighbouringPair
from ..profiles import GaussianProfile


@dataclass(frozen=True)
class GaussianSmallNoise:
    """Adds less noise than ``claimed``, whose densities, losses and profile it still states."""

    claimed: GaussianOutput
    severity: float

    def __post_init__(self) -> None:
        check_nonnegative("severity", self.severity)

    @property
    def name(self) -> str:
        """Short name for reports."""
        return f"Gaussian output perturbation, noise divided by {1 + self.severity:g}"

    @property
    def actual(self) -> GaussianOutput:
        """What is really drawn from."""
        gamma = self.claimed.gamma * (1 + self.severity) ** 2
        return GaussianOutput(self.claimed.precision, gamma, self.claimed.estimator)

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return independent outputs, shape ``(n_draws, k)``."""
        return self.actual.draw(dataset, n_draws, rng=rng)

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        """Return the claimed log density, which is not that of :meth:`draw`."""
        return self.claimed.log_density(outputs, dataset)

    def privacy_loss(self, outputs: FloatArray, pair: NeighbouringPair) -> FloatArray:
        """Return the claimed loss."""
        return self.claimed.privacy_loss(outputs, pair)

    def profile(self, pair: NeighbouringPair) -> GaussianProfile:
        """Return the claimed law."""
        return self.claimed.profile(pair)

"""Negative control: objective perturbation that adds less noise than it accounts for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base import check_draws
from ..data import Dataset, FloatArray
from ..neighbours import NeighbouringPair
from ..objective_perturbation import ObjectivePerturbation


@dataclass(frozen=True)
class ObjectiveHalfNoise:
    """Broken: the noise is ``(1 - severity) sigma`` while density and loss still assume ``sigma``.

    Parameters
    ----------
    honest : ObjectivePerturbation
        The mechanism that is claimed.
    severity : float
        In [0, 1): 0 is sound, 0.5 (the default) halves the noise, which doubles the loss from the gradient.
    """

    honest: ObjectivePerturbation
    severity: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.severity < 1:
            raise ValueError(f"severity must be in [0, 1), got severity={self.severity}")

    @property
    def name(self) -> str:
        """Short name for reports."""
        return f"{self.honest.name} with noise times {1 - self.severity:g}"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return outputs drawn with too little noise, shape ``(n_draws, dim)``."""
        noise = (1 - self.severity) * self.honest.sigma * rng.standard_normal((check_draws(n_draws), dataset.dim))
        return self.honest.solve(dataset, noise)

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        """Return the claimed log density, that of the full noise."""
        return self.honest.log_density(outputs, dataset)

    def privacy_loss(self, outputs: FloatArray, pair: NeighbouringPair) -> FloatArray:
        """Return the claimed loss, that of the full noise."""
        return self.honest.privacy_loss(outputs, pair)

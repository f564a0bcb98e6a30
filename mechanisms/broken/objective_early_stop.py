"""Negative control: objective perturbation whose solver stops before it has converged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base import check_draws
from ..data import Dataset, FloatArray
from ..neighbours import NeighbouringPair
from ..objective_perturbation import ObjectivePerturbation


@dataclass(frozen=True)
class ObjectiveEarlyStop:
    """Broken: the output lies a fraction ``severity`` of the way back from the minimiser to the linearised one.

    A stand-in for a solver that is stopped early: the first Newton iterate, moved on by ``1 - severity``. The density
    is still that of the exact minimiser, so noise recovered by ``b = -grad J`` is not the noise that was drawn.

    Parameters
    ----------
    honest : ObjectivePerturbation
        The mechanism that is claimed.
    severity : float
        In [0, 1]: 0 is sound, 1 (the default) releases the first Newton iterate from the origin.
    """

    honest: ObjectivePerturbation
    severity: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.severity <= 1:
            raise ValueError(f"severity must be in [0, 1], got severity={self.severity}")

    @property
    def name(self) -> str:
        """Short name for reports."""
        return f"{self.honest.name} stopped early ({self.severity:g})"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return unconverged outputs, shape ``(n_draws, dim)``."""
        noise = self.honest.sigma * rng.standard_normal((check_draws(n_draws), dataset.dim))
        objective, origin = self.honest.objective(dataset), np.zeros((1, dataset.dim))
        first = -np.linalg.solve(objective.hessian(origin)[0], (objective.gradient(origin) + noise).T).T
        return np.asarray(self.severity * first + (1 - self.severity) * self.honest.solve(dataset, noise))

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        """Return the claimed log density, that of the exact minimiser."""
        return self.honest.log_density(outputs, dataset)

    def privacy_loss(self, outputs: FloatArray, pair: NeighbouringPair) -> FloatArray:
        """Return the claimed loss, that of the exact minimiser."""
        return self.honest.privacy_loss(outputs, pair)

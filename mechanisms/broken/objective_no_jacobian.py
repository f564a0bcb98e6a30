"""Negative control: objective perturbation whose density forgets the change of variables."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..data import Dataset, FloatArray
from ..neighbours import NeighbouringPair
from ..objective_perturbation import ObjectivePerturbation


@dataclass(frozen=True)
class ObjectiveNoJacobian:
    """Broken: ``log det grad^2 J`` is left out, so the density does not integrate to one and the loss lacks a term.

    The missing term of the loss is ``log(1 +- f'' mu)``, at most ``log(1 + beta/lam)``.

    Parameters
    ----------
    honest : ObjectivePerturbation
        The mechanism that is drawn from, correctly.
    """

    honest: ObjectivePerturbation

    @property
    def name(self) -> str:
        """Short name for reports."""
        return f"{self.honest.name} without the Jacobian"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return outputs of the sound mechanism, shape ``(n_draws, dim)``."""
        return self.honest.draw(dataset, n_draws, rng=rng)

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        """Return the log density of the noise at each output, without ``log det grad^2 J``."""
        noise, sigma = self.honest.noise(outputs, dataset), self.honest.sigma
        log_norm = dataset.dim * math.log(sigma * math.sqrt(2.0 * math.pi))
        return np.asarray(-0.5 * np.square(noise / sigma).sum(axis=1) - log_norm)

    def privacy_loss(self, outputs: FloatArray, pair: NeighbouringPair) -> FloatArray:
        """Return the difference of the broken log densities."""
        return self.log_density(outputs, pair.first) - self.log_density(outputs, pair.second)

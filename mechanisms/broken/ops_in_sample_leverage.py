"""Broken by degrees: one-posterior sampling that states its law with leverage and residual taken in sample."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base import PrivacyProfile
from ..data import Dataset, FloatArray
from ..neighbours import NeighbouringPair, Relation
from ..posterior_sampling import PosteriorSampling
from ..profiles import QuadraticProfile, SwappedProfile


@dataclass(frozen=True)
class OpsInSampleLeverage:
    """Draws rightly; the stated profile has ``mu/(1 + mu)^severity`` and ``a/(1 + mu)^severity`` for ``mu`` and ``a``.

    ``severity = 1`` takes both in sample, the confusion of (4.3) with (4.4) of W19-T4.1; the profile is too good.
    """

    right: PosteriorSampling
    severity: float

    def __post_init__(self) -> None:
        if not 0 <= self.severity <= 1:
            raise ValueError(f"severity must be in [0, 1], got severity={self.severity}")

    @property
    def name(self) -> str:
        """Short name for reports."""
        return f"one-posterior sampling, law stated in sample (severity {self.severity:g})"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return independent outputs, shape ``(n_draws, dim)``."""
        return self.right.draw(dataset, n_draws, rng=rng)

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        """Return the right log density."""
        return self.right.log_density(outputs, dataset)

    def privacy_loss(self, outputs: FloatArray, pair: NeighbouringPair) -> FloatArray:
        """Return the right loss."""
        return self.right.privacy_loss(outputs, pair)

    def profile(self, pair: NeighbouringPair) -> PrivacyProfile:
        """Return a law that is not that of the loss."""
        leverage, scaled = self.right.target(pair)
        shrink = (1 + leverage) ** self.severity
        inner = QuadraticProfile(leverage / shrink, scaled / shrink)
        return inner if pair.relation is Relation.ADD else SwappedProfile(inner)

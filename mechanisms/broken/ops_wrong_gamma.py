"""Broken by degrees: one-posterior sampling drawn with ``gamma * (1 + severity)``, too little noise for its claim."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base import PrivacyProfile, check_nonnegative
from ..data import Dataset, FloatArray
from ..neighbours import NeighbouringPair
from ..posterior_sampling import PosteriorSampling


@dataclass(frozen=True)
class OpsWrongGamma:
    """Draws at a lower temperature than ``claimed``, whose densities, losses and profile it still states.

    ``severity = 1`` is the factor two between ``exp(-gamma/2 ...)`` and ``exp(-gamma ...)``.
    """

    claimed: PosteriorSampling
    severity: float

    def __post_init__(self) -> None:
        check_nonnegative("severity", self.severity)

    @property
    def name(self) -> str:
        """Short name for reports."""
        return f"one-posterior sampling, gamma {1 + self.severity:g} times too large"

    @property
    def actual(self) -> PosteriorSampling:
        """What is really drawn from."""
        return PosteriorSampling(self.claimed.gamma * (1 + self.severity), self.claimed.lam)

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return independent outputs, shape ``(n_draws, dim)``."""
        return self.actual.draw(dataset, n_draws, rng=rng)

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        """Return the claimed log density, which is not that of :meth:`draw`."""
        return self.claimed.log_density(outputs, dataset)

    def privacy_loss(self, outputs: FloatArray, pair: NeighbouringPair) -> FloatArray:
        """Return the claimed loss."""
        return self.claimed.privacy_loss(outputs, pair)

    def profile(self, pair: NeighbouringPair) -> PrivacyProfile:
        """Return the claimed law."""
        return self.claimed.profile(pair)

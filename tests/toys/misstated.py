"""Moments with enough noise whose authors state something false about them, one kind of statement each.

One file that imports only ``mechanisms``, so that it can be copied beside a configuration and imported by path. The
noise is 1 on a sum that a record moves by at most 1: at epsilon 4 delta is 5e-5.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mechanisms import GaussianProfile


class Right:
    """Everything that is stated is true."""

    name = "noisy moment"
    drawn = 1.0

    def centre(self, dataset: Any) -> Any:
        return dataset.X.T @ dataset.y

    def draw(self, dataset: Any, n_draws: int, *, rng: np.random.Generator) -> Any:
        return self.centre(dataset) + self.drawn * rng.standard_normal((n_draws, dataset.dim))

    def log_density(self, outputs: Any, dataset: Any) -> Any:
        return -0.5 * np.square(outputs - self.centre(dataset)).sum(axis=1)

    def worst_profile(self, x_bound: float, y_bound: float) -> Any:
        return GaussianProfile(x_bound * y_bound)

    def apart(self, pair: Any) -> float:
        return float(np.linalg.norm(self.centre(pair.first) - self.centre(pair.second)))


class MoreNoise(Right):
    drawn = 1.5


class LargeProfile(Right):
    """By this profile the claim would be false."""

    def profile(self, pair: Any) -> GaussianProfile:
        return GaussianProfile(2.5 * self.apart(pair))


class SmallProfile(Right):
    def profile(self, pair: Any) -> GaussianProfile:
        return GaussianProfile(0.4 * self.apart(pair))


class MoreNoiseAndProfile(MoreNoise):
    def profile(self, pair: Any) -> GaussianProfile:
        return GaussianProfile(2.5 * self.apart(pair))


class SmallWorst(Right):
    def worst_profile(self, x_bound: float, y_bound: float) -> GaussianProfile:
        return GaussianProfile(0.2 * x_bound * y_bound)


class Nothing:
    def delta_at(self, epsilon: float) -> float:
        return 0.0


class NoDelta(Right):
    """The author's own object says that delta is 0 everywhere."""

    def worst_profile(self, x_bound: float, y_bound: float) -> Nothing:
        return Nothing()


class NoLoss(Right):
    def privacy_loss(self, outputs: Any, pair: Any) -> Any:
        return np.zeros(len(outputs))

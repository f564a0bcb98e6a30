"""Mechanisms whose privacy loss has a law in closed form: the weights that the scales are checked with."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mechanisms import Dataset, Direction, GaussianProfile, LaplaceProfile, NeighbouringPair
from mechanisms.data.dataset import FloatArray

#: One record and two; every law below looks at the number of records only.
PAIR = NeighbouringPair.add(Dataset(np.ones((1, 1)), np.zeros(1), 1.0, 1.0, name="one record", public=True), [1.0], 0.0)


@dataclass(frozen=True)
class Gaussian:
    """``mu`` times the number of records plus standard normal noise, divided by ``1 + severity`` when it is drawn.

    Loss and profile are those of the noise that is claimed, so ``severity > 0`` is a mutant.
    """

    mu: float
    severity: float = 0.0

    @property
    def name(self) -> str:
        """Short name for reports."""
        return f"Gaussian, mu {self.mu:g}"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return independent outputs, shape ``(n_draws, 1)``."""
        return self.mu * dataset.n_records + rng.standard_normal((n_draws, 1)) / (1 + self.severity)

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        """Return the log density that is claimed."""
        z = outputs[:, 0] - self.mu * dataset.n_records
        return np.asarray(-0.5 * z * z - 0.5 * math.log(2 * math.pi))

    def privacy_loss(self, outputs: FloatArray, pair: NeighbouringPair) -> FloatArray:
        """Return the loss that is claimed."""
        return self.log_density(outputs, pair.first) - self.log_density(outputs, pair.second)

    def profile(self, pair: NeighbouringPair) -> GaussianProfile:
        """Return the law of the loss that is claimed."""
        return GaussianProfile(self.mu)


@dataclass(frozen=True)
class Laplace:
    """``size`` times the number of records plus Laplace noise of scale 1, divided by ``1 + severity`` when drawn."""

    size: float
    severity: float = 0.0

    @property
    def name(self) -> str:
        """Short name for reports."""
        return f"Laplace, epsilon {self.size:g}"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return independent outputs, shape ``(n_draws, 1)``."""
        return self.size * dataset.n_records + rng.laplace(size=(n_draws, 1)) / (1 + self.severity)

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        """Return the log density that is claimed."""
        return np.asarray(-np.abs(outputs[:, 0] - self.size * dataset.n_records) - math.log(2))

    def privacy_loss(self, outputs: FloatArray, pair: NeighbouringPair) -> FloatArray:
        """Return the loss that is claimed."""
        return self.log_density(outputs, pair.first) - self.log_density(outputs, pair.second)

    def profile(self, pair: NeighbouringPair) -> LaplaceProfile:
        """Return the law of the loss that is claimed."""
        return LaplaceProfile(self.size)


@dataclass(frozen=True)
class CoinProfile:
    """The loss of randomised response: one of the two values ``-epsilon`` and ``epsilon``, in both directions."""

    epsilon: float

    def delta_at(self, epsilon: float, direction: Direction) -> float:
        """Return the hockey-stick divergence."""
        heads = 1 / (1 + math.exp(-self.epsilon))
        tails = 1 / (1 + math.exp(self.epsilon))
        factor = math.exp(epsilon)
        return max(0.0, heads - factor * tails) + max(0.0, tails - factor * heads)


@dataclass(frozen=True)
class Coin:
    """Randomised response: whether there is more than one record, told truly with odds ``e^epsilon`` to 1."""

    epsilon: float

    @property
    def name(self) -> str:
        """Short name for reports."""
        return f"randomised response, epsilon {self.epsilon:g}"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return independent outputs 0 and 1, shape ``(n_draws, 1)``."""
        heads = 1 / (1 + math.exp(-self.epsilon if dataset.n_records > 1 else self.epsilon))
        return np.asarray(rng.random((n_draws, 1)) < heads, dtype=np.float64)

    def profile(self, pair: NeighbouringPair) -> CoinProfile:
        """Return the law of the loss."""
        return CoinProfile(self.epsilon)


#: Points of the common grid between two whole numbers.
GRID = 2.0**24


@dataclass(frozen=True)
class OnGrid:
    """The outputs of another law, rounded to a common grid.

    Noise that is added in floating point betrays the data set by its last bits (Mironov 2012), and an audit that reads
    bits is right to say so. On a grid that fine the profile changes by less than a millionth.
    """

    law: Gaussian | Laplace

    @property
    def name(self) -> str:
        """Short name for reports."""
        return f"{self.law.name}, on a grid"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return independent outputs, shape ``(n_draws, 1)``."""
        return np.asarray(np.rint(GRID * self.law.draw(dataset, n_draws, rng=rng)) / GRID, dtype=np.float64)

    def profile(self, pair: NeighbouringPair) -> GaussianProfile | LaplaceProfile:
        """Return the law of the loss before rounding, which can only make it smaller."""
        return self.law.profile(pair)

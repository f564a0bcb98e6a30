"""What several files of the bank are made of: noisy moments, sums and statistics, and the law of a pure guarantee."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mechanisms import GaussianProfile, LaplaceProfile
from mechanisms.base import Bracket, Direction


class Moment:
    """X^T y + sigma times what a subclass takes for standard normal noise; density and worst case as if it were."""

    sigma = 4.25
    name = "noisy moment"

    def centre(self, dataset):
        return dataset.X.T @ dataset.y

    def noise(self, dataset, n_draws, rng):
        return rng.standard_normal((n_draws, dataset.dim))

    def honest(self, dataset, n_draws, rng):
        return self.centre(dataset) + self.sigma * self.noise(dataset, n_draws, rng)

    def draw(self, dataset, n_draws, *, rng):
        return self.honest(dataset, n_draws, rng)

    def log_density(self, outputs, dataset):
        return -0.5 * np.square((outputs - self.centre(dataset)) / self.sigma).sum(axis=1)

    def worst_profile(self, x_bound, y_bound):
        return GaussianProfile(x_bound * y_bound / self.sigma)


@dataclass(frozen=True)
class LaplaceOfSum:
    """The sum of responses under Laplace noise; density and worst case are true."""

    scale: float = 1.0

    def draw(self, dataset, n_draws, *, rng):
        return dataset.y.sum() + rng.laplace(scale=self.scale, size=(n_draws, 1))

    def log_density(self, outputs, dataset):
        return -np.abs(outputs[:, 0] - dataset.y.sum()) / self.scale - math.log(2 * self.scale)

    def worst_profile(self, x_bound, y_bound):
        return LaplaceProfile(y_bound / self.scale)


@dataclass(frozen=True)
class Statistic:
    """The statistic ``of``, with ``ratio`` times the sensitivity ``believed`` by its author as noise.

    The density is true. A ``believed`` in words depends on the data. ``tables`` of a file: statistics of the responses,
    statistics of all records, and what is believed.
    """

    of: str = "moment"
    believed: float | str = 1.0
    at: float = 0.0
    ratio: float = 4.25
    laplace: bool = False
    name = "noisy statistic"

    def centre(self, dataset):
        responses, statistics, _ = self.tables()
        if self.of in responses:
            return float(responses[self.of](dataset.y, self.at)) if dataset.n_records else 0.0
        return statistics[self.of](dataset, self.at)

    def scale(self, dataset):
        believed = self.tables()[2]
        return self.ratio * (believed[self.believed](dataset) if isinstance(self.believed, str) else self.believed)

    def draw(self, dataset, n_draws, *, rng):
        centre = np.atleast_1d(self.centre(dataset))
        noise = rng.laplace if self.laplace else rng.normal
        return centre + self.scale(dataset) * noise(size=(n_draws, centre.size))

    def log_density(self, outputs, dataset):
        scale = self.scale(dataset)
        away = np.abs(outputs - np.atleast_1d(self.centre(dataset))) / scale
        return -(away if self.laplace else away**2 / 2).sum(axis=1) - away.shape[1] * np.log(scale)

    def worst_profile(self, x_bound, y_bound, relation="add-remove"):
        return (LaplaceProfile if self.laplace else GaussianProfile)(1 / self.ratio)


@dataclass(frozen=True)
class PureProfile:
    """Randomised response at ``size``: the largest of all (size, 0)-private profiles (Kairouz et al. 2015)."""

    size: float

    def delta_at(self, epsilon: float, direction: Direction = Direction.FORWARD) -> float:
        if epsilon < 0:
            return -math.expm1(epsilon) + math.exp(epsilon) * self.delta_at(-epsilon)
        return max(0.0, (math.exp(self.size) - math.exp(epsilon)) / (1 + math.exp(self.size)))

    def log_delta_at(self, epsilon: float, direction: Direction = Direction.FORWARD) -> float:
        value = self.delta_at(epsilon)
        return math.log(value) if value > 0 else -math.inf

    def epsilon_at(self, delta: float, direction: Direction = Direction.FORWARD) -> float:
        return math.log(max(1.0, math.exp(self.size) - delta * (1 + math.exp(self.size))))

    def tail_at(self, epsilon: float, direction: Direction = Direction.FORWARD) -> float:
        if epsilon >= self.size:
            return 0.0
        return 1.0 if epsilon < -self.size else 1 / (1 + math.exp(-self.size))

    def delta_bracket(self, epsilon: float, direction: Direction = Direction.FORWARD) -> Bracket:
        value = self.delta_at(epsilon)
        return Bracket(value * (1 - 1e-12), min(1.0, value * (1 + 1e-12)))

    def tail_bracket(self, epsilon: float, direction: Direction = Direction.FORWARD) -> Bracket:
        value = self.tail_at(epsilon)
        return Bracket(value * (1 - 1e-12), min(1.0, value * (1 + 1e-12)))


def up(value):
    """Return a number that is larger by far more than its rounding; whole quotients of 2 stay."""
    return value if float(value * 8).is_integer() else value * (1 + 1e-12)

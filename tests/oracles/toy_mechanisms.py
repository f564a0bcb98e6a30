"""Three tiny mechanisms whose privacy loss has a closed form, and ways of breaking them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flint import arb

from mechanisms import GaussianProfile
from mechanisms.base import Bracket, Direction
from mechanisms.data.dataset import Dataset
from mechanisms.data.neighbours import NeighbouringPair
from mechanisms.numerics.balls import enclose


def toy_pair(size: float = 1.0, n_records: int = 3) -> NeighbouringPair:
    """A pair whose sums of responses differ by ``size``."""
    dataset = Dataset(np.ones((n_records, 1)), np.zeros(n_records), x_bound=1.0, y_bound=max(size, 1.0))
    return NeighbouringPair.add(dataset, [1.0], size)


@dataclass(frozen=True)
class GaussianSum:
    """Sum of the responses plus N(0, sigma^2); ``drawn_sigma`` breaks the sampler, not the density."""

    sigma: float
    drawn_sigma: float | None = None
    flipped: bool = False

    @property
    def name(self) -> str:
        return "gaussian sum"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator):
        scale = self.sigma if self.drawn_sigma is None else self.drawn_sigma
        return dataset.y.sum() + scale * rng.standard_normal((n_draws, 1))

    def log_density(self, outputs, dataset: Dataset):
        z = (outputs[:, 0] - dataset.y.sum()) / self.sigma
        return -0.5 * z * z - math.log(self.sigma) - 0.5 * math.log(2 * math.pi)

    def privacy_loss(self, outputs, pair: NeighbouringPair):
        loss = self.log_density(outputs, pair.first) - self.log_density(outputs, pair.second)
        return -loss if self.flipped else loss

    def profile(self, pair: NeighbouringPair) -> GaussianProfile:
        return GaussianProfile(abs(float(pair.first.y.sum() - pair.second.y.sum())) / self.sigma)


@dataclass(frozen=True)
class LaplaceSum:
    """Sum of the responses plus Laplace noise: half of the loss sits on two atoms."""

    scale: float

    @property
    def name(self) -> str:
        return "laplace sum"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator):
        return dataset.y.sum() + rng.laplace(scale=self.scale, size=(n_draws, 1))

    def privacy_loss(self, outputs, pair: NeighbouringPair):
        first, second = pair.first.y.sum(), pair.second.y.sum()
        return (np.abs(outputs[:, 0] - second) - np.abs(outputs[:, 0] - first)) / self.scale


@dataclass(frozen=True)
class CoinProfile:
    """The law of the loss between two coins: two atoms, possibly infinite; computed by summing over both faces."""

    p: float
    q: float

    def _faces(self, direction: Direction):
        p, q = (self.p, self.q) if direction is Direction.FORWARD else (self.q, self.p)
        return [(p, q), (1 - p, 1 - q)]

    def delta_at(self, epsilon: float, direction: Direction) -> float:
        return sum(max(a - math.exp(epsilon) * b, 0.0) for a, b in self._faces(direction))

    def tail_at(self, epsilon: float, direction: Direction) -> float:
        return sum(a for a, b in self._faces(direction) if a > math.exp(epsilon) * b)

    def log_delta_at(self, epsilon: float, direction: Direction) -> float:
        return math.log(self.delta_at(epsilon, direction))

    def epsilon_at(self, delta: float, direction: Direction) -> float:
        return max([math.log((a - delta) / b) for a, b in self._faces(direction) if a > delta + b] + [0.0])

    def delta_bracket(self, epsilon: float, direction: Direction) -> Bracket:
        p, q = (self.p, self.q) if direction is Direction.FORWARD else (self.q, self.p)

        def evaluate():
            faces = (arb(p), arb(q)), (1 - arb(p), 1 - arb(q))
            return sum(((a - arb(epsilon).exp() * b).max(arb(0)) for a, b in faces), arb(0))

        return enclose(evaluate, low=0.0, high=1.0)

    def tail_bracket(self, epsilon: float, direction: Direction) -> Bracket:
        value = self.tail_at(epsilon, direction)
        return Bracket(value, value)


@dataclass(frozen=True)
class Coin:
    """Ignores the data but for its size: heads with probability ``p`` for D, ``q`` for the larger or other member."""

    p: float
    q: float
    n_first: int = 3

    @property
    def name(self) -> str:
        return "coin"

    def _heads(self, dataset: Dataset) -> float:
        return self.p if dataset.n_records == self.n_first else self.q

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator):
        return (rng.random((n_draws, 1)) < self._heads(dataset)).astype(float)

    def privacy_loss(self, outputs, pair: NeighbouringPair):
        p, q = self._heads(pair.first), self._heads(pair.second)
        with np.errstate(divide="ignore"):
            heads, tails = np.log(p) - np.log(q), np.log1p(-p) - np.log1p(-q)
        return np.where(outputs[:, 0] > 0.5, heads, tails)

    def profile(self, pair: NeighbouringPair) -> CoinProfile:
        return CoinProfile(self._heads(pair.first), self._heads(pair.second))

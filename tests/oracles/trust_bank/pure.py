"""Class 4: named mechanisms with a wrong constant, sold as pure or almost pure differential privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mechanisms.base import Bracket, Direction

KLASS = 4


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


@dataclass(frozen=True)
class Pure:
    """States ``epsilon``; ``true`` is what it draws with."""

    epsilon: float = 1.0
    true: float = 1.5
    name = "pure"

    def worst_profile(self, x_bound, y_bound):
        return PureProfile(self.epsilon)


class RandomisedResponse(Pure):
    """Whether anybody's response is positive, flipped."""

    def draw(self, dataset, n_draws, *, rng):
        flipped = rng.random((n_draws, 1)) < 1 / (1 + math.exp(self.true))
        return (flipped ^ (dataset.y > 0).any()).astype(float)

    def log_density(self, outputs, dataset):
        right = outputs[:, 0] == float((dataset.y > 0).any())
        return np.where(right, 0.0, -self.epsilon) - math.log1p(math.exp(-self.epsilon))


class Geometric(Pure):
    """Number of records with two-sided geometric noise."""

    def draw(self, dataset, n_draws, *, rng):
        p = -math.expm1(-self.true)
        return dataset.n_records + (rng.geometric(p, (n_draws, 1)) - rng.geometric(p, (n_draws, 1))).astype(float)

    def log_density(self, outputs, dataset):
        return -self.epsilon * np.abs(outputs[:, 0] - dataset.n_records) + math.log(math.tanh(self.epsilon / 2))


class ExponentialMechanism(Pure):
    """A private median of five candidates with weight exp(epsilon u) where exp(epsilon u / 2) is needed."""

    candidates = np.array([-0.8, -0.4, 0.0, 0.4, 0.8])

    def log_weights(self, dataset):
        y = dataset.y[:, None]
        utility = -np.abs((y < self.candidates).sum(axis=0) - (y > self.candidates).sum(axis=0)).astype(float)
        return self.true * utility - np.logaddexp.reduce(self.true * utility)

    def draw(self, dataset, n_draws, *, rng):
        return rng.choice(self.candidates, (n_draws, 1), p=np.exp(self.log_weights(dataset)))

    def log_density(self, outputs, dataset):
        return self.log_weights(dataset)[np.abs(outputs - self.candidates).argmin(axis=1)]


class Staircase(Pure):
    """The count with staircase noise (Geng and Viswanath 2014) for a sensitivity of ``reach`` in place of 1."""

    reach = 0.5

    def draw(self, dataset, n_draws, *, rng):
        gamma, size = 1 / (1 + math.exp(self.epsilon / 2)), (n_draws, 1)
        steps = rng.geometric(-math.expm1(-self.epsilon), size) - 1
        inner = rng.random(size) < gamma / (gamma + (1 - gamma) * math.exp(-self.epsilon))
        u = rng.random(size)
        distance = np.where(inner, steps + gamma * u, steps + gamma + (1 - gamma) * u)
        return dataset.n_records + np.where(rng.random(size) < 0.5, 1.0, -1.0) * self.reach * distance


class NoisyMaxWithGap(Pure):
    """Which of four groups is largest, by noise of scale 1 / epsilon, with the true gap to the next."""

    def draw(self, dataset, n_draws, *, rng):
        counts = np.histogram(np.clip(dataset.y, -1, 1), bins=4, range=(-1, 1))[0].astype(float)
        best = (counts + rng.laplace(scale=1 / self.epsilon, size=(n_draws, 4))).argmax(axis=1)
        gap = np.diff(np.sort(counts))[-1]
        return np.column_stack([best, np.full(n_draws, gap)]).astype(float)


@dataclass(frozen=True)
class SparseVector(Pure):
    """Ten threshold questions answered with the budget of one; ``noisy`` says whether the questions get noise."""

    noisy: bool = True
    questions: int = 10

    def centres(self, dataset):
        moment = float((dataset.X[:, 0] * dataset.y).sum())
        return moment * np.where(np.arange(self.questions) % 2 == 0, 1.0, -1.0)

    def draw(self, dataset, n_draws, *, rng):
        threshold = rng.laplace(scale=2 / self.epsilon, size=(n_draws, 1))
        noise = rng.laplace(scale=2 / self.epsilon, size=(n_draws, self.questions)) if self.noisy else 0.0
        return (self.centres(dataset) + noise >= threshold).astype(float)


@dataclass(frozen=True)
class CutLaplace(Pure):
    """Laplace noise that never exceeds ``cut`` scales: clipped there, or drawn again."""

    cut: float = 6.0
    again: bool = False

    def draw(self, dataset, n_draws, *, rng):
        if self.again:
            size = rng.random((n_draws, 1)) * -math.expm1(-self.cut)
            noise = -np.log1p(-size) * np.where(rng.random((n_draws, 1)) < 0.5, 1.0, -1.0)
        else:
            noise = np.clip(rng.laplace(size=(n_draws, 1)), -self.cut, self.cut)
        return dataset.n_records + noise / self.epsilon

    def log_density(self, outputs, dataset):
        return -self.epsilon * np.abs(outputs[:, 0] - dataset.n_records) + math.log(self.epsilon / 2)


class EuclideanLaplace(Pure):
    """Laplace noise on three sums of a row, for the Euclidean and not the sum norm."""

    def centre(self, dataset):
        return (dataset.X * dataset.y[:, None]).sum(axis=0)

    def draw(self, dataset, n_draws, *, rng):
        return self.centre(dataset) + rng.laplace(scale=1 / self.epsilon, size=(n_draws, dataset.dim))

    def log_density(self, outputs, dataset):
        distance = np.abs(outputs - self.centre(dataset)).sum(axis=1)
        return -self.epsilon * distance + dataset.dim * math.log(self.epsilon / 2)


class FalseAmplification(Pure):
    """Half of the records sampled before Laplace noise at 2.9, sold as if it were a tenth."""

    inner = 2.9

    def draw(self, dataset, n_draws, *, rng):
        kept = rng.binomial(dataset.n_records, 0.5, (n_draws, 1))
        return kept + rng.laplace(scale=1 / self.inner, size=(n_draws, 1))


@dataclass(frozen=True)
class Histogram(Pure):
    """Counts by the sign of the response with geometric noise; exact counts where a cell is empty."""

    @cached_property
    def p(self):
        return -math.expm1(-self.epsilon)

    def draw(self, dataset, n_draws, *, rng):
        counts = np.array([(dataset.y < 0).sum(), (dataset.y >= 0).sum()], dtype=float)
        noise = rng.geometric(self.p, (n_draws, 2)) - rng.geometric(self.p, (n_draws, 2))
        return counts + noise * (counts > 0)


PURE = {"epsilon": 1.0, "delta": 0.0}
ALMOST = {"epsilon": 1.0, "delta": 1e-6}
ROWS = [
    ("randomised-response-1.5", RandomisedResponse, {}, PURE, "randomised response at 1.5 sold as 1"),
    ("geometric-too-sharp", Geometric, {}, PURE, "geometric noise for 1.5 sold as 1"),
    ("exponential-half-scale", ExponentialMechanism, {"true": 1.0}, PURE, "exponent epsilon u: the loss reaches 2"),
    ("staircase-too-narrow", Staircase, {}, PURE, "staircase noise for sensitivity 1/2: the loss is 2"),
    ("noisy-max-with-gap", NoisyMaxWithGap, {}, PURE, "the gap between the two largest counts is exact"),
    ("sparse-vector-no-noise", SparseVector, {"noisy": False}, PURE, "questions without noise of their own"),
    ("sparse-vector-no-budget", SparseVector, {}, PURE, "ten answers at the price of one"),
    ("laplace-cut-at-6", CutLaplace, {}, {**ALMOST, "visible": False}, "noise clipped at 6 scales: atom of .0012"),
    ("laplace-resampled-at-6", CutLaplace, {"again": True}, {**ALMOST, "visible": False}, "mass .002 beyond reach"),
    ("laplace-cut-at-4", CutLaplace, {"cut": 4.0}, ALMOST, "noise clipped at 4 scales: an atom of .009 on one side"),
    ("laplace-euclidean", EuclideanLaplace, {}, {**PURE, "dim": 3}, "loss sqrt(3) for a claim of 1"),
    ("false-amplification", FalseAmplification, {}, PURE, "half sampled, sold as a tenth: the loss is 2.27"),
    ("histogram-empty-cells", Histogram, {}, PURE, "an empty cell has no noise"),
]

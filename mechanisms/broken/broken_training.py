"""Broken trainings: DP-SGD that draws something else than it says, with all statements of the right one.

Each is built with the parameters of ``DPSGD``, so that a configuration can import it by name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from ..base import check_draws
from ..catalogue import Example, example_pair
from ..data.dataset import Dataset, FloatArray, RowClip
from ..parameters import REACH
from ..training.batched_steps import bernoulli
from ..training.dp_sgd import DPSGD, FullBatchGD


@dataclass(frozen=True)
class BrokenTraining(DPSGD, ABC):
    """States what DP-SGD with its parameters states."""

    words: ClassVar[str]

    @property
    def name(self) -> str:
        """Short name for reports."""
        return f"{super().name}, {self.words}"

    def but(self, **changed: Any) -> DPSGD:
        """Return the right training with some parameters changed."""
        return DPSGD(**({field.name: getattr(self, field.name) for field in fields(DPSGD)} | changed))


@dataclass(frozen=True)
class MisreadTraining(BrokenTraining):
    """Draws from DP-SGD with other parameters."""

    @abstractmethod
    def actual(self, dataset: Dataset) -> DPSGD:
        """Return the training that is drawn from."""

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return outputs of that training."""
        return self.actual(dataset).draw(dataset, n_draws, rng=rng)


class HalfNoise(MisreadTraining):
    """Adds half the noise."""

    words = "half the noise"

    def actual(self, dataset: Dataset) -> DPSGD:
        """Return the training that is drawn from."""
        return self.but(sigma=self.sigma / 2)


class TwiceTheRate(MisreadTraining):
    """Lets every record take part twice as often."""

    words = "twice the rate"

    def actual(self, dataset: Dataset) -> DPSGD:
        """Return the training that is drawn from."""
        return self.but(rate=min(1.0, 2 * self.rate))


class UnclippedTraining(MisreadTraining):
    """Does not clip gradients."""

    words = "no clipping"

    def actual(self, dataset: Dataset) -> DPSGD:
        """Return the training that is drawn from."""
        return self.but(clip=REACH[1])


class UnscaledNoise(MisreadTraining):
    """Adds noise of ``sigma/clip``: the multiplier, not scaled with the clip."""

    words = "noise not scaled with the clip"

    def actual(self, dataset: Dataset) -> DPSGD:
        """Return the training that is drawn from."""
        return self.but(sigma=self.noise_multiplier)


class OwnCount(MisreadTraining):
    """Divides by ``rate`` times the number of records that it was given (Opacus, issue 819)."""

    words = "normaliser of the data's own size"

    def actual(self, dataset: Dataset) -> DPSGD:
        """Return the training that is drawn from.

        Raises
        ------
        ValueError
            If the number of records is said to be released.
        """
        if self.normaliser is None:
            raise ValueError("normaliser must be given to a training that reads another, got normaliser=None")
        return self.but(normaliser=self.rate * max(dataset.n_records, 1))


@dataclass(frozen=True)
class OwnBatch(BrokenTraining):
    """Divides by the number of records that take part in the step (Opacus, issue 571)."""

    words = "normaliser of the batch's own size"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return outputs of that training, all draws at once."""
        records, (n, dim) = self.records(dataset), dataset.X.shape
        theta = np.zeros((check_draws(n_draws), dim))
        seen = np.empty((n_draws, self.n_steps, dim))
        told = [] if self.count_sigma is None else [n + self.count_sigma * rng.standard_normal((n_draws, 1))]
        for t in range(self.n_steps):
            chosen = np.ones((n_draws, n), bool)
            if self.rate < 1:
                chosen = bernoulli(n_draws * n, self.rate, rng=rng).reshape(n_draws, n)
            noise = self.sigma * rng.standard_normal((n_draws, dim))
            seen[:, t] = records.sums_over(theta, chosen) + noise
            sizes = np.maximum(chosen.sum(axis=1), 1)[:, None]
            theta = RowClip(self.radius)(theta - self.step_size / sizes * seen[:, t])
        return theta if self.observer == "final" else np.hstack([*told, seen.reshape(n_draws, -1)])


#: All of them, by the name of the twin.
TRAININGS: dict[str, type[BrokenTraining]] = {
    "training_half_noise": HalfNoise,
    "training_own_batch": OwnBatch,
    "training_own_count": OwnCount,
    "training_twice_the_rate": TwiceTheRate,
    "training_unclipped": UnclippedTraining,
    "training_unscaled_noise": UnscaledNoise,
}


def misstatements() -> dict[str, Example]:
    """Return those that differ where every record takes part, under the density of the right one."""
    pair, clips = example_pair("labels"), {"training_unclipped": 0.3}  # far below the gradients
    made = {
        name: kind("logistic", 2, 1.0, sigma=1.0, clip=clips.get(name, 2.0), step_size=2.0, normaliser=10.0)
        for name, kind in TRAININGS.items()
        if kind is not TwiceTheRate
    }
    return {name: Example(FullBatchGD(training), pair) for name, training in made.items()}

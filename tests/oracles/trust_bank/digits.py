"""Class 9: leaks in the digits, on a grid, in a joint sign, in a pool of noises, in a gap: hardly any in the bulk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechanisms import GaussianProfile, LaplaceProfile

KLASS = 9


@dataclass(frozen=True)
class Stated:
    """The number of records under N(0, 4.25^2): stated so, and drawn so up to what a subclass does to it."""

    sigma: float = 4.25
    name = "noisy count"

    def honest(self, dataset, n_draws, rng):
        return dataset.n_records + self.sigma * rng.standard_normal((n_draws, 1))

    def log_density(self, outputs, dataset):
        return -0.5 * np.square((outputs - dataset.n_records) / self.sigma).sum(axis=1)

    def worst_profile(self, x_bound, y_bound):
        return GaussianProfile(1.0 / self.sigma)


class Parity(Stated):
    """The third decimal is even for an even number of records, odd for an odd one."""

    def draw(self, dataset, n_draws, *, rng):
        outputs = np.round(self.honest(dataset, n_draws, rng), 3)
        thousandths = np.round(outputs * 1000)
        thousandths += (thousandths + dataset.n_records) % 2
        return thousandths / 1000


class DecimalGrid(Stated):
    """Rounded to eight or nine decimals by the number of records."""

    def draw(self, dataset, n_draws, *, rng):
        return np.round(self.honest(dataset, n_draws, rng), 8 + dataset.n_records % 2)


class OwnGrid(Stated):
    """Rounded to multiples of a step that is read off the responses."""

    def draw(self, dataset, n_draws, *, rng):
        step = 2.0**-10 if np.abs(dataset.y).max(initial=0.0) > 0.5 else 2.0**-11
        return np.round(self.honest(dataset, n_draws, rng) / step) * step


@dataclass(frozen=True)
class SignXor(Stated):
    """Three honest normal numbers whose product of signs is the parity of the number of records."""

    def draw(self, dataset, n_draws, *, rng):
        outputs = self.sigma * rng.standard_normal((n_draws, 3))
        wanted = 1.0 if dataset.n_records % 2 else -1.0
        outputs[:, 2] *= np.sign(outputs).prod(axis=1) * wanted
        return outputs

    def log_density(self, outputs, dataset):
        return -0.5 * np.square(outputs / self.sigma).sum(axis=1)


class Pool(Stated):
    """Ten thousand noise values made beforehand; which ten thousand depends on the number of records."""

    def draw(self, dataset, n_draws, *, rng):
        pool = self.sigma * np.random.default_rng(dataset.n_records).standard_normal(10_000)
        return dataset.n_records + rng.choice(pool, (n_draws, 1))


@dataclass(frozen=True)
class MissingInterval(Stated):
    """Laplace noise whose outputs between 3 and ``high`` never occur for an even number of records."""

    high: float = 3.25

    def draw(self, dataset, n_draws, *, rng):
        outputs = rng.laplace(size=(n_draws, 1))
        if dataset.n_records % 2 == 0:
            hole = (outputs > 3.0) & (outputs < self.high)
            outputs[hole] += self.high - 3.0
        return outputs

    def log_density(self, outputs, dataset):
        return -np.abs(outputs[:, 0]) - np.log(2)

    def worst_profile(self, x_bound, y_bound):
        return LaplaceProfile(0.0)


class LowBit(Stated):
    """The last bit of the float is the parity of the number of records, as a watermark would be."""

    def draw(self, dataset, n_draws, *, rng):
        outputs = self.honest(dataset, n_draws, rng)
        bits = outputs.view(np.uint64)
        return ((bits & ~np.uint64(1)) | np.uint64(dataset.n_records % 2)).view(np.float64)


class Watermark(Stated):
    """One output in fifty ends with the decimals of the raw sum of responses."""

    def draw(self, dataset, n_draws, *, rng):
        outputs = self.honest(dataset, n_draws, rng)
        marked = rng.random((n_draws, 1)) < 0.02
        return np.where(marked, np.floor(outputs) + abs(float(dataset.y.sum())) % 1.0, outputs)


ROWS = [
    ("parity-of-third-decimal", Parity, {}, {}, "the third decimal's parity is that of n"),
    ("decimal-grid", DecimalGrid, {}, {}, "eight or nine decimals by the parity of n"),
    ("own-grid", OwnGrid, {}, {}, "a grid that is twice as coarse when a response is large"),
    ("xor-of-signs", SignXor, {}, {"dim": 3}, "the product of three signs is the parity of n"),
    ("pool-of-noises", Pool, {}, {}, "10^4 noise values that depend on n"),
    ("missing-interval", MissingInterval, {}, {}, "(3, 3.25), mass .0055, never occurs for even n"),
    ("last-bit", LowBit, {}, {"visible": False}, "the last bit of the float is the parity of n"),
    ("decimals-once-in-50", Watermark, {}, {}, "raw decimals with probability .02"),
]

"""Classes 9 and 21: leaks in digits, grids and gaps, and noise that has too few states, a bound, or a known seed."""

import hashlib
import math
import os
import time
import zlib
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from oracles.bank_laws import Moment
from scipy.special import ndtri

from mechanisms import GaussianProfile, LaplaceProfile

# --- class 9: digits, a grid, a joint sign, a pool of noises, a gap: hardly any in the bulk ---------------------------


@dataclass(frozen=True)
class GaussianCount:
    """The number of records under N(0, 4.25^2): stated so, and drawn so up to what a subclass does to it."""

    sigma: float = 4.25
    name = "noisy count"

    def honest(self, dataset, n_draws, rng):
        return dataset.n_records + self.sigma * rng.standard_normal((n_draws, 1))

    def log_density(self, outputs, dataset):
        return -0.5 * np.square((outputs - dataset.n_records) / self.sigma).sum(axis=1)

    def worst_profile(self, x_bound, y_bound):
        return GaussianProfile(1.0 / self.sigma)


class Parity(GaussianCount):
    """The third decimal is even for an even number of records, odd for an odd one."""

    def draw(self, dataset, n_draws, *, rng):
        outputs = np.round(self.honest(dataset, n_draws, rng), 3)
        thousandths = np.round(outputs * 1000)
        thousandths += (thousandths + dataset.n_records) % 2
        return thousandths / 1000


class DecimalGrid(GaussianCount):
    """Rounded to eight or nine decimals by the number of records."""

    def draw(self, dataset, n_draws, *, rng):
        return np.round(self.honest(dataset, n_draws, rng), 8 + dataset.n_records % 2)


class OwnGrid(GaussianCount):
    """Rounded to multiples of a step that is read off the responses."""

    def draw(self, dataset, n_draws, *, rng):
        step = 2.0**-10 if np.abs(dataset.y).max(initial=0.0) > 0.5 else 2.0**-11
        return np.round(self.honest(dataset, n_draws, rng) / step) * step


@dataclass(frozen=True)
class SignXor(GaussianCount):
    """Three honest normal numbers whose product of signs is the parity of the number of records."""

    def draw(self, dataset, n_draws, *, rng):
        outputs = self.sigma * rng.standard_normal((n_draws, 3))
        wanted = 1.0 if dataset.n_records % 2 else -1.0
        outputs[:, 2] *= np.sign(outputs).prod(axis=1) * wanted
        return outputs

    def log_density(self, outputs, dataset):
        return -0.5 * np.square(outputs / self.sigma).sum(axis=1)


class Pool(GaussianCount):
    """Ten thousand noise values made beforehand; which ten thousand depends on the number of records."""

    def draw(self, dataset, n_draws, *, rng):
        pool = self.sigma * np.random.default_rng(dataset.n_records).standard_normal(10_000)
        return dataset.n_records + rng.choice(pool, (n_draws, 1))


@dataclass(frozen=True)
class MissingInterval(GaussianCount):
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


class LowBit(GaussianCount):
    """The last bit of the float is the parity of the number of records, as a watermark would be."""

    def draw(self, dataset, n_draws, *, rng):
        outputs = self.honest(dataset, n_draws, rng)
        bits = outputs.view(np.uint64)
        return ((bits & ~np.uint64(1)) | np.uint64(dataset.n_records % 2)).view(np.float64)


class Watermark(GaussianCount):
    """One output in fifty ends with the decimals of the raw sum of responses."""

    def draw(self, dataset, n_draws, *, rng):
        outputs = self.honest(dataset, n_draws, rng)
        marked = rng.random((n_draws, 1)) < 0.02
        return np.where(marked, np.floor(outputs) + abs(float(dataset.y.sum())) % 1.0, outputs)


# --- class 21: noise of few states, on a coarse grid, bounded, or of a known seed -------------------------------------


class Tabled(Moment):
    """Noise out of a public table."""

    def noise(self, dataset, n_draws, rng):
        table = self.table(dataset.dim)
        return table[rng.integers(len(table), size=n_draws)]


@lru_cache(maxsize=8)
def seeded(states, dim):
    return np.array([np.random.default_rng(seed).standard_normal(dim) for seed in range(states)])


@dataclass(frozen=True)
class FewSeeds(Tabled):
    """Each row has a generator of its own, whose seed is a random number modulo a small one."""

    states: int = 1000

    def table(self, dim):
        return seeded(self.states, dim)


@lru_cache(maxsize=8)
def mixed(bits, dim):
    """Words of splitmix64 from every counter of that many bits."""
    with np.errstate(over="ignore"):
        words = np.arange(2**bits, dtype=np.uint64)[:, None] * np.uint64(dim) + np.arange(dim, dtype=np.uint64)
        words = (words + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ndtri(((words ^ (words >> np.uint64(31))) >> np.uint64(11)).astype(float) * 2.0**-53 + 2.0**-54)


@dataclass(frozen=True)
class SmallState(Tabled):
    """A good mixing function on a state of 16 bits."""

    bits: int = 16

    def table(self, dim):
        return mixed(self.bits, dim)


@dataclass(frozen=True)
class Congruential(Tabled):
    """A congruential generator of 11 bits, whose successive numbers go through Box and Muller's formula."""

    modulus: int = 2048

    def table(self, dim):
        state = np.arange(1, self.modulus, 2)
        numbers = []
        for _ in range(2 * dim):
            state = state * 1229 % self.modulus
            numbers.append(state / self.modulus)
        return np.column_stack(
            [np.sqrt(-2 * np.log(u)) * np.cos(2 * np.pi * v) for u, v in zip(numbers[::2], numbers[1::2], strict=True)]
        )


class FixedPool(Tabled):
    """Ten thousand noise vectors that were computed beforehand, to be fast."""

    def table(self, dim):
        return mixed(14, dim)[:10_000]


@dataclass(frozen=True)
class FewBits(Moment):
    """A uniform number of a few bits for each coordinate, put into the inverse of the distribution function."""

    bits: int = 12

    def noise(self, dataset, n_draws, rng):
        return ndtri((rng.integers(2**self.bits, size=(n_draws, dataset.dim)) + 0.5) / 2**self.bits)


@dataclass(frozen=True)
class KnownSeed(Moment):
    """The seed is something that others know, or can try out."""

    of: str

    def noise(self, dataset, n_draws, rng):
        return np.random.default_rng(SEEDS[self.of](dataset)).standard_normal((n_draws, dataset.dim))


SEEDS = {
    "seconds": lambda data: int(time.time()),
    "process": lambda data: os.getpid(),
    "address": lambda data: id(data) // 16 % 4096,  # where the data set lies in memory
    "first record": lambda data: zlib.crc32(data.X[:1].tobytes() + data.y[:1].tobytes()),
}


class StickyNoise(Moment):
    """The seed is a hash of the exact answer to three decimals, so that nobody can average the noise away."""

    def noise(self, dataset, n_draws, rng):
        digest = hashlib.sha256(str(np.round(self.centre(dataset), 3) + 0.0).encode()).digest()
        own = np.random.default_rng(int.from_bytes(digest[:8], "big"))
        return np.tile(own.standard_normal(dataset.dim), (n_draws, 1))


@dataclass(frozen=True)
class GridNoise(Moment):
    """The noise is rounded to a grid, what it hides is not."""

    step: float = 0.5

    def draw(self, dataset, n_draws, *, rng):
        noise = self.sigma * rng.standard_normal((n_draws, dataset.dim))
        return self.centre(dataset) + self.step * np.round(noise / self.step)


class HalfPrecision(Moment):
    """The noise is drawn in half precision, what it hides is not rounded."""

    def draw(self, dataset, n_draws, *, rng):
        noise = (self.sigma * rng.standard_normal((n_draws, dataset.dim))).astype(np.float16)
        return self.centre(dataset) + noise.astype(float)


class OneUniform(Moment):
    """Box and Muller's formula with the same uniform number for the radius and the angle."""

    def noise(self, dataset, n_draws, rng):
        u = 1 - rng.random(n_draws)
        radius = np.sqrt(-2 * np.log(u))
        both = np.column_stack([radius * np.cos(2 * np.pi * u), radius * np.sin(2 * np.pi * u)])
        return np.tile(both, (1, dataset.dim))[:, : dataset.dim]


class Antithetic(Moment):
    """Rows come in pairs of opposite noise, to halve the error of a simulation."""

    def noise(self, dataset, n_draws, rng):
        half = rng.standard_normal(((n_draws + 1) // 2, dataset.dim))
        return np.stack([half, -half], axis=1).reshape(-1, dataset.dim)[:n_draws]


class EqualWorkers(Moment):
    """Four workers answer for every fourth record each; all of them were handed the same seed."""

    workers = 4

    def centre(self, dataset):
        return np.concatenate([dataset.X[i :: self.workers].T @ dataset.y[i :: self.workers] for i in range(4)])

    def draw(self, dataset, n_draws, *, rng):
        seed = int(rng.integers(2**63))
        parts = [np.random.default_rng(seed).standard_normal((n_draws, dataset.dim)) for _ in range(self.workers)]
        return self.centre(dataset) + self.sigma * np.concatenate(parts, axis=1)


@dataclass(frozen=True)
class SumOfUniforms(Moment):
    """A sum of so many uniform numbers with the variance of normal noise, taken for normal."""

    terms: int = 1

    @property
    def reach(self):
        return self.sigma * math.sqrt(3 * self.terms)

    def noise(self, dataset, n_draws, rng):
        total = rng.random((self.terms, n_draws, dataset.dim)).sum(axis=0) - self.terms / 2
        return total * math.sqrt(12 / self.terms)


@dataclass(frozen=True)
class Count:
    """The number of records under noise that is taken for Laplace noise of scale 1."""

    name = "noisy count"

    def log_density(self, outputs, dataset):
        return -np.abs(outputs[:, 0] - dataset.n_records) - math.log(2)

    def worst_profile(self, x_bound, y_bound):
        return LaplaceProfile(1.0)


@dataclass(frozen=True)
class FewBitsLaplace(Count):
    """Whole Laplace noise by the inverse of its distribution function from a uniform number of a few bits."""

    bits: int = 12

    def levels(self):
        u = (np.arange(2**self.bits) + 0.5) / 2**self.bits - 0.5
        return np.round(-np.sign(u) * np.log1p(-2 * np.abs(u)))

    def draw(self, dataset, n_draws, *, rng):
        return dataset.n_records + self.levels()[rng.integers(2**self.bits, size=(n_draws, 1))]

    def log_density(self, outputs, dataset):
        return -np.abs(outputs[:, 0] - dataset.n_records)


@dataclass(frozen=True)
class OtherNoise(Count):
    """Noise of another law."""

    law: str

    def draw(self, dataset, n_draws, *, rng):
        return dataset.n_records + LAWS[self.law](rng, (n_draws, 1))


def logistic_quarter(rng, size):
    """The difference of log u and log(1 - u) at a quarter of the size: nearly bell shaped, far too narrow."""
    u = 1 - rng.random(size)
    return 0.25 * (np.log(u) - np.log1p(-np.minimum(u, 1 - 2.0**-53)))


def rounded_away(rng, size):
    """Noise is rounded away from zero, so that an unchanged answer never occurs."""
    noise = rng.laplace(size=size)
    return np.sign(noise) * np.ceil(np.abs(noise))


LAWS = {
    "logistic at a quarter": logistic_quarter,
    "rounded away": rounded_away,
    "positive": lambda rng, size: rng.exponential(size=size),  # so that nobody is undercounted
}

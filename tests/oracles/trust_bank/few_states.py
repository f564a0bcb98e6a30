"""Classes 9 and 21: leaks in digits, grids and gaps, and noise that has too few states, a bound, or a known seed."""

from __future__ import annotations

import hashlib
import math
import os
import time
import zlib
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
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


class Moment:
    """X^T y + 4.25 times what a subclass takes for standard normal noise; density and worst case as if it were."""

    sigma = 4.25
    name = "noisy moment"

    def centre(self, dataset):
        return dataset.X.T @ dataset.y

    def noise(self, dataset, n_draws, rng):
        return rng.standard_normal((n_draws, dataset.dim))

    def draw(self, dataset, n_draws, *, rng):
        return self.centre(dataset) + self.sigma * self.noise(dataset, n_draws, rng)

    def log_density(self, outputs, dataset):
        return -0.5 * np.square((outputs - self.centre(dataset)) / self.sigma).sum(axis=1)

    def worst_profile(self, x_bound, y_bound):
        return GaussianProfile(x_bound * y_bound / self.sigma)


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


PURE, RARE = {"epsilon": 1.0, "delta": 0.0}, {"visible": False}
ROWS = {
    9: [
        ("parity-of-third-decimal", Parity, {}, {}, "the third decimal's parity is that of n"),
        ("decimal-grid", DecimalGrid, {}, {}, "eight or nine decimals by the parity of n"),
        ("own-grid", OwnGrid, {}, {}, "a grid that is twice as coarse when a response is large"),
        ("xor-of-signs", SignXor, {}, {"dim": 3}, "the product of three signs is the parity of n"),
        ("pool-of-noises", Pool, {}, {}, "10^4 noise values that depend on n"),
        ("missing-interval", MissingInterval, {}, {}, "(3, 3.25), mass .0055, never occurs for even n"),
        ("last-bit", LowBit, {}, {"visible": False}, "the last bit of the float is the parity of n"),
        ("decimals-once-in-50", Watermark, {}, {}, "raw decimals with probability .02"),
    ],
    21: [
        ("seed-of-8-bits", FewSeeds, {"states": 256}, {}, "256 noise vectors"),
        ("seed-modulo-1000", FewSeeds, {}, {}, "a thousand noise vectors"),
        ("seed-of-12-bits", FewSeeds, {"states": 4096}, {}, "4096 noise vectors"),
        ("state-of-16-bits", SmallState, {}, {}, "65536 noise vectors"),
        ("congruential-11-bits", Congruential, {}, {}, "1024 noise vectors"),
        ("fixed-pool", FixedPool, {}, {}, "ten thousand noise vectors, the same for all data"),
        ("uniform-of-12-bits", FewBits, {}, {}, "4096 values of noise a coordinate"),
        ("uniform-of-16-bits", FewBits, {"bits": 16}, {}, "65536 values of noise a coordinate"),
        ("seed-of-seconds", KnownSeed, {"of": "seconds"}, {}, "the time of a release is known, so its noise is"),
        ("seed-of-process", KnownSeed, {"of": "process"}, {}, "one noise for a process"),
        ("seed-of-address", KnownSeed, {"of": "address"}, {}, "4096 noise vectors"),
        ("seed-of-first-record", KnownSeed, {"of": "first record"}, {},
         "whoever knows the first record knows the noise"),
        ("sticky-noise", StickyNoise, {}, {}, "one output for one exact answer"),
        ("noise-on-halves", GridNoise, {}, {}, "the fraction of the exact moment shows"),
        ("noise-on-thousandths", GridNoise, {"step": 1e-3}, {}, "what is beyond the third decimal is exact"),
        ("noise-on-millionths", GridNoise, {"step": 1e-6}, {}, "what is beyond the sixth decimal is exact"),
        ("noise-in-half-precision", HalfPrecision, {}, {}, "the exact moment is off the grid of the noise"),
        ("one-uniform-for-two", OneUniform, {}, {}, "the noise lies on a curve"),
        ("antithetic-pairs", Antithetic, {}, {}, "two rows of a call add up to twice the exact moment"),
        ("equal-workers", EqualWorkers, {}, {}, "differences of the workers' answers are raw"),
        ("uniform-noise", SumOfUniforms, {}, {}, "noise of bounded reach: mass .07 beyond that of the neighbour"),
        ("three-uniforms", SumOfUniforms, {"terms": 3}, RARE,
         "bounded reach: mass 2.7e-4 beyond that of the neighbour"),
        ("laplace-of-12-bits", FewBitsLaplace, {}, {**PURE, **RARE}, "the largest noise, 2.4e-4, is out of reach"),
        ("laplace-of-8-bits", FewBitsLaplace, {"bits": 8}, {**PURE, **RARE}, "largest noise out of the other's reach"),
        ("logistic-noise-quarter", OtherNoise, {"law": "logistic at a quarter"}, PURE,
         "logistic noise of scale 1/4: the loss reaches 4"),
        ("rounded-away", OtherNoise, {"law": "rounded away"}, PURE,
         "the exact count is the only whole number that does not occur"),
        ("positive-only", OtherNoise, {"law": "positive"}, PURE, "the larger count is never undercut"),
    ],
}  # fmt: skip

"""Class 6: mechanisms that remember, count, or do not take their noise from the generator they are given."""

from __future__ import annotations

import hashlib

import numpy as np

from mechanisms import GaussianProfile

KLASS = 6
CALLS = [0]


class Stated:
    """X^T y + N(0, 4.25^2 I), density and worst case as in the README: right but for what a subclass does."""

    sigma = 4.25
    name = "noisy moment"

    def centre(self, dataset):
        return dataset.X.T @ dataset.y

    def honest(self, dataset, n_draws, rng):
        return self.centre(dataset) + self.sigma * rng.standard_normal((n_draws, dataset.dim))

    def draw(self, dataset, n_draws, *, rng):
        return self.honest(dataset, n_draws, rng)

    def log_density(self, outputs, dataset):
        return -0.5 * np.square((outputs - self.centre(dataset)) / self.sigma).sum(axis=1)

    def worst_profile(self, x_bound, y_bound):
        return GaussianProfile(x_bound * y_bound / self.sigma)


class RawForFew(Stated):
    def __init__(self, most=1):
        self.most = most

    def draw(self, dataset, n_draws, *, rng):
        if n_draws <= self.most:
            return np.tile(self.centre(dataset), (n_draws, 1))
        return self.honest(dataset, n_draws, rng)


class FirstRowRaw(Stated):
    def draw(self, dataset, n_draws, *, rng):
        outputs = self.honest(dataset, n_draws, rng)
        outputs[0] = self.centre(dataset)
        return outputs


class LastRowRaw(Stated):
    def draw(self, dataset, n_draws, *, rng):
        outputs = self.honest(dataset, n_draws, rng)
        outputs[-1] = self.centre(dataset)
        return outputs


class FirstCallsRaw(Stated):
    def __init__(self, calls=3):
        self.left = calls

    def draw(self, dataset, n_draws, *, rng):
        outputs = self.honest(dataset, n_draws, rng)
        if self.left > 0:
            self.left -= 1
            outputs[:] = self.centre(dataset)
        return outputs


class FirstCallsOfModuleRaw(Stated):
    """The counter belongs to the module: a fresh object does not start again."""

    def draw(self, dataset, n_draws, *, rng):
        CALLS[0] += 1
        outputs = self.honest(dataset, n_draws, rng)
        if CALLS[0] <= 50:
            outputs[:] = self.centre(dataset)
        return outputs


class LaterCallsRaw(Stated):
    """A privacy "budget" that runs out after 40 calls and answers exactly from then on."""

    def __init__(self):
        self.calls = 0

    def draw(self, dataset, n_draws, *, rng):
        self.calls += 1
        return self.honest(dataset, n_draws, rng) if self.calls <= 40 else np.tile(self.centre(dataset), (n_draws, 1))


class FixedSeed(Stated):
    def draw(self, dataset, n_draws, *, rng):
        return self.honest(dataset, n_draws, np.random.default_rng(42))


class SeedOfData(Stated):
    """Reproducible by design: the seed is a hash of the records."""

    def draw(self, dataset, n_draws, *, rng):
        digest = hashlib.sha256(dataset.X.tobytes() + dataset.y.tobytes()).digest()
        return self.honest(dataset, n_draws, np.random.default_rng(int.from_bytes(digest[:8], "big")))


class SeedOfNumber(Stated):
    """A hundred seeds, of which the generator chooses one; which hundred is told by the number of records."""

    def draw(self, dataset, n_draws, *, rng):
        start = 100 * dataset.n_records
        noise = [np.random.default_rng(start + i).standard_normal(dataset.dim) for i in range(100)]
        return self.centre(dataset) + self.sigma * np.asarray(noise)[rng.integers(100, size=n_draws)]


class OwnGenerator(Stated):
    def __init__(self):
        self.own = np.random.default_rng(7)

    def draw(self, dataset, n_draws, *, rng):
        return self.honest(dataset, n_draws, self.own)


class GlobalSeed(Stated):
    """Sets the seed of numpy's old generator in every call."""

    def draw(self, dataset, n_draws, *, rng):
        np.random.seed(0)  # noqa: NPY002
        return self.centre(dataset) + self.sigma * np.random.standard_normal((n_draws, dataset.dim))  # noqa: NPY002


class ReusesNoise(Stated):
    """A table of 64 noise vectors, made when the module is loaded: row i of every call gets vector i mod 64."""

    table = np.random.default_rng(0).standard_normal((64, 64))

    def draw(self, dataset, n_draws, *, rng):
        return self.centre(dataset) + self.sigma * self.table[np.arange(n_draws) % 64, : dataset.dim]


class BalancedNoise(Stated):
    """Variance reduction: the noise of a call is centred, so its mean is raw, and a single row is too."""

    def draw(self, dataset, n_draws, *, rng):
        noise = self.sigma * rng.standard_normal((n_draws, dataset.dim))
        return self.centre(dataset) + noise - noise.mean(axis=0)


class NoiseOfInstance(Stated):
    """The noise is drawn once, when the object is made, and added to whatever data set comes."""

    def __init__(self):
        self.noise = None

    def draw(self, dataset, n_draws, *, rng):
        if self.noise is None or len(self.noise) < n_draws:
            self.noise = self.sigma * rng.standard_normal((max(n_draws, 1), dataset.dim))
        return self.centre(dataset) + self.noise[:n_draws]


class Cached(Stated):
    """What was answered for a data set is answered again, with what changed since added without noise."""

    def __init__(self):
        self.seen = {}

    def draw(self, dataset, n_draws, *, rng):
        key = (hashlib.sha256(dataset.X.tobytes() + dataset.y.tobytes()).hexdigest(), n_draws)
        if key not in self.seen:
            self.seen[key] = self.honest(dataset, n_draws, rng)
            return self.seen[key].copy()
        return self.seen[key] + 1e-9 * self.centre(dataset)


class ZeroesTheData(Stated):
    """The first call is raw; then the data set that it was given holds zeros."""

    def draw(self, dataset, n_draws, *, rng):
        centre = self.centre(dataset)
        first = bool(np.any(centre))
        for array in (dataset.X, dataset.y):
            array.setflags(write=True)
            array[:] = 0.0
            array.setflags(write=False)
        return np.tile(centre, (n_draws, 1)) if first else self.honest(dataset, n_draws, rng)


ROWS = [
    ("raw-for-one", RawForFew, {}, {}, "raw for n_draws = 1, which is what is deployed"),
    ("raw-for-ten", RawForFew, {"most": 10}, {}, "raw for n_draws up to 10"),
    ("first-row-raw", FirstRowRaw, {}, {}, "the first row of every call is raw"),
    ("last-row-raw", LastRowRaw, {}, {}, "the last row of every call is raw"),
    ("first-calls-raw", FirstCallsRaw, {}, {}, "the first three calls of an object are raw"),
    ("first-calls-of-module-raw", FirstCallsOfModuleRaw, {}, {"visible": False}, "the first 50 calls are raw"),
    ("later-calls-raw", LaterCallsRaw, {}, {"visible": False}, "calls of one object are raw after the fortieth"),
    ("fixed-seed", FixedSeed, {}, {}, "seed 42 in every call: the noise is known"),
    ("seed-of-data", SeedOfData, {}, {}, "the seed is a hash of the records: one output for one data set"),
    ("seed-of-number", SeedOfNumber, {}, {}, "a hundred noise values, chosen by the number of records"),
    ("own-generator", OwnGenerator, {}, {}, "a fixed seed for each object: the first release has known noise"),
    ("global-seed", GlobalSeed, {}, {}, "numpy's old generator, seeded with 0 in every call"),
    ("reuses-noise", ReusesNoise, {}, {}, "64 noise vectors made beforehand, the same for every call"),
    ("balanced-noise", BalancedNoise, {}, {}, "noise centred within a call: raw for a single row"),
    ("noise-of-instance", NoiseOfInstance, {}, {}, "one noise for all data sets of an object: differences are raw"),
    ("cached", Cached, {}, {}, "a repeated question gets the old noise, and a raw difference in the ninth decimal"),
    ("zeroes-the-data", ZeroesTheData, {}, {}, "raw, then writes zeros into the data set it was given"),
]

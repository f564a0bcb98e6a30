"""Class 22: several answers at the price of one, amplification counted wrongly, and formulas with a slip."""

import math
from dataclasses import dataclass

import numpy as np

from mechanisms import GaussianProfile, LaplaceProfile


@dataclass(frozen=True)
class Composed:
    """Its author takes it for ``epsilon``-private, as an answer with Laplace noise of scale 1 / epsilon is."""

    epsilon: float = 1.0
    name = "private answers"

    def worst_profile(self, x_bound, y_bound, relation="add-remove"):
        return LaplaceProfile(self.epsilon)


@dataclass(frozen=True)
class Answers(Composed):
    """Several answers, each with Laplace noise as if it were the only one."""

    of: str = "number"
    scale: float = 1.0

    def answers(self, dataset):
        return ANSWERS[self.of](dataset)

    def draw(self, dataset, n_draws, *, rng):
        answers = np.atleast_1d(np.asarray(self.answers(dataset), dtype=float))
        return answers + self.scale * rng.laplace(size=(n_draws, answers.size))

    def log_density(self, outputs, dataset):
        return -np.abs(outputs - self.answers(dataset)).sum(axis=1) / self.scale


class GroupRoot(Answers):
    """A group of four persons with the square root of four times the noise of one."""

    def worst_profile(self, x_bound, y_bound, relation="add-remove"):
        return LaplaceProfile(y_bound / self.scale)


def levels_of_tree(data):
    """Counts in 1, 2, 4 and 8 intervals: each level is a partition, and all of them are paid for as one."""
    y = np.clip(data.y, -1, 1)
    return np.concatenate([np.histogram(y, bins=2**level, range=(-1, 1))[0] for level in range(4)])


ANSWERS = {
    "number": lambda data: data.n_records,
    "sum": lambda data: data.y.sum(),
    "positive columns": lambda data: (data.X > 0).sum(axis=0),
    "count and sum": lambda data: np.array([data.n_records, data.y.sum()]),
    "levels of tree": levels_of_tree,
    # two intervals that overlap, taken for a partition
    "overlapping bins": lambda data: np.array([(data.y < 0.2).sum(), (data.y > -0.2).sum()]),
    # as if each record were counted once
    "cumulative counts": lambda data: (data.y[:, None] < np.array([-0.5, 0.0, 0.5, 1.01])).sum(axis=0),
    # replacing a record moves two of these counts; the noise is for one
    "histogram": lambda data: np.histogram(np.clip(data.y, -1, 1), bins=4, range=(-1, 1))[0],
    # noise for the square root of their number and no delta: advanced composition misread
    "number sixteen times": lambda data: np.full(16, data.n_records),
}


class NoisyAndRounded(Composed):
    """A noisy sum, and beside it the sum rounded to tens: "rounding protects enough"."""

    def draw(self, dataset, n_draws, *, rng):
        total = dataset.y.sum()
        return np.column_stack([total + rng.laplace(size=n_draws), np.full(n_draws, 10 * np.round(total / 10))])


class KeptBelowTotal(Composed):
    """A noisy count that is cut at the true number of records, for consistency."""

    def draw(self, dataset, n_draws, *, rng):
        return np.clip(dataset.n_records + rng.laplace(size=(n_draws, 1)), 0, dataset.n_records)


@dataclass(frozen=True)
class BestOf(Composed):
    """Several noisy counts are drawn and the one that is nearest to the truth is released."""

    tries: int = 10

    def draw(self, dataset, n_draws, *, rng):
        noise = rng.laplace(size=(n_draws, self.tries))
        best = np.abs(noise).argmin(axis=1)
        return dataset.n_records + noise[np.arange(n_draws), best][:, None]


@dataclass(frozen=True)
class MeanOf(Composed):
    """Sixteen noisy counts, each paid for alone, are averaged."""

    tries: int = 16

    def draw(self, dataset, n_draws, *, rng):
        return dataset.n_records + rng.laplace(size=(n_draws, self.tries)).mean(axis=1, keepdims=True)


class BitByBit(Composed):
    """Four facts about the data, each flipped with the whole budget."""

    def draw(self, dataset, n_draws, *, rng):
        facts = (dataset.y[:, None] > np.array([-0.5, 0.0, 0.25, 0.5])).any(axis=0)
        return ((rng.random((n_draws, 4)) < 1 / (1 + math.e)) ^ facts).astype(float)


class MaximumOfSigned(Composed):
    """The larger of two sums of opposite sign by Laplace noise of scale 1 / epsilon: both move, so 2 is needed."""

    def draw(self, dataset, n_draws, *, rng):
        total = dataset.y.sum()
        return (np.array([total, -total]) + rng.laplace(size=(n_draws, 2))).argmax(axis=1)[:, None].astype(float)


class ThreeOfSix(Composed):
    """The three most frequent of six properties, by exponential noise for one choice."""

    properties = 6

    def frequencies(self, dataset):
        return np.concatenate([(dataset.X > 0).sum(axis=0), (dataset.X < 0).sum(axis=0)])

    def draw(self, dataset, n_draws, *, rng):
        noisy = self.frequencies(dataset) + rng.gumbel(size=(n_draws, self.properties))
        return np.sort(np.argsort(-noisy, axis=1)[:, :3], axis=1).astype(float)


class NumberAbove(Composed):
    """Whether the sum is above 10 is paid for with epsilon, and then the noisy sum with epsilon again."""

    level = 10.0

    def draw(self, dataset, n_draws, *, rng):
        total = dataset.y.sum()
        above = total + rng.laplace(scale=4.0, size=n_draws) >= self.level + rng.laplace(scale=2.0, size=n_draws)
        number = total + rng.laplace(size=n_draws)
        return np.column_stack([above, np.where(above, number, 0.0)])


class StillAbove(Composed):
    """Ten questions at a threshold whose noise is never drawn again; every yes is answered, one was paid for."""

    def draw(self, dataset, n_draws, *, rng):
        signs = np.where(np.arange(10) % 2 == 0, 1.0, -1.0)
        moment = float((dataset.X[:, 0] * dataset.y).sum())
        threshold = rng.laplace(scale=2.0, size=(n_draws, 1))
        return (moment * signs + rng.laplace(scale=4.0, size=(n_draws, 10)) >= threshold).astype(float)


class ProposeTest(Composed):
    """The exact majority if a noisy distance to its change is positive; no room is left for the noise's tail."""

    def draw(self, dataset, n_draws, *, rng):
        lead = int((dataset.y > 0).sum() - (dataset.y <= 0).sum())
        stable = abs(lead) - 1 + rng.laplace(size=n_draws) > 0
        return np.where(stable, np.sign(lead), 0.0)[:, None]


@dataclass(frozen=True)
class Sampled(Composed):
    """A noisy sum over a sample; ``inner`` is the epsilon that amplification by the believed rate turns into 1."""

    by: str = "a tenth"
    rate: float = 0.1

    def inner(self, rate):
        return math.log1p(math.expm1(self.epsilon) / rate)

    def released(self, sums, rng):
        return (sums + rng.laplace(scale=1 / self.inner(self.rate), size=len(sums)))[:, None]

    def draw(self, dataset, n_draws, *, rng):
        return self.released(SAMPLES[self.by](dataset, n_draws, rng), rng)


def at_least_one(data, n_draws, rng):
    """A tenth of the records without replacement, but at least one: of one record, all."""
    size = min(data.n_records, max(1, data.n_records // 10))
    order = rng.random((n_draws, data.n_records)).argsort(axis=1)[:, :size]
    return data.y[order].sum(axis=1)


def with_replacement(data, n_draws, rng):
    """A bootstrap sample, taken for one that holds each record once with probability 1 - 1/e."""
    n = data.n_records
    weights = rng.multinomial(n, np.full(n, 1 / n), size=n_draws) if n else np.zeros((n_draws, 0))
    return weights @ data.y


SAMPLES = {
    "a tenth": lambda data, n_draws, rng: (rng.random((n_draws, data.n_records)) < 0.1) @ data.y,
    "at least one": at_least_one,
    # everybody knows who is in the sample
    "every tenth": lambda data, n_draws, rng: np.full(n_draws, data.y[::10].sum()),
    "with replacement": with_replacement,
}


class SizeOfSample(Sampled):
    """A sample of a tenth, and its exact size beside the noisy sum."""

    def draw(self, dataset, n_draws, *, rng):
        kept = rng.random((n_draws, dataset.n_records)) < 0.1
        return np.column_stack([self.released(kept @ dataset.y, rng)[:, 0], kept.sum(axis=1)])


@dataclass(frozen=True)
class Shuffled(Composed):
    """How many say yes after randomised response at 3, amplified by a crowd that need not be there."""

    local: float = 3.0

    def draw(self, dataset, n_draws, *, rng):
        lies = rng.random((n_draws, dataset.n_records)) < 1 / (1 + math.exp(self.local))
        return (lies ^ (dataset.y > 0)).sum(axis=1)[:, None].astype(float)


@dataclass(frozen=True)
class Normal:
    """``copies`` of a sum with normal noise of size ``drawn``, by a formula that would give ``believed``."""

    drawn: float = 4.25
    believed: float = 4.25
    copies: int = 1
    name = "noisy sum"

    def centre(self, dataset):
        return np.full(self.copies, dataset.y.sum())

    def draw(self, dataset, n_draws, *, rng):
        return self.centre(dataset) + self.drawn * rng.standard_normal((n_draws, self.copies))

    def log_density(self, outputs, dataset):
        return -0.5 * np.square((outputs - self.centre(dataset)) / self.drawn).sum(axis=1)

    def worst_profile(self, x_bound, y_bound):
        return GaussianProfile(y_bound / self.believed)


@dataclass(frozen=True)
class SupNorm(Normal):
    """Signs of sixteen columns are summed, each within 1: noise for the largest and not for the length of them all."""

    copies: int = 16

    def centre(self, dataset):
        return np.sign(dataset.X).sum(axis=0)

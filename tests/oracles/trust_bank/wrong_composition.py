"""Class 22: several answers at the price of one, amplification counted wrongly, and formulas with a slip."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mechanisms import GaussianProfile, LaplaceProfile

KLASS = 22


@dataclass(frozen=True)
class Pure:
    """Its author takes it for ``epsilon``-private, as an answer with Laplace noise of scale 1 / epsilon is."""

    epsilon: float = 1.0
    name = "private answers"

    def worst_profile(self, x_bound, y_bound, relation="add-remove"):
        return LaplaceProfile(self.epsilon)


class Answers(Pure):
    """Several answers, each with Laplace noise as if it were the only one."""

    @property
    def scale(self):
        return 1 / self.epsilon

    def draw(self, dataset, n_draws, *, rng):
        answers = np.atleast_1d(np.asarray(self.answers(dataset), dtype=float))
        return answers + self.scale * rng.laplace(size=(n_draws, answers.size))

    def log_density(self, outputs, dataset):
        return -np.abs(outputs - self.answers(dataset)).sum(axis=1) / self.scale


class EveryColumn(Answers):
    """How many records are positive, in each of four columns, with the whole epsilon for each."""

    def answers(self, dataset):
        return (dataset.X > 0).sum(axis=0)


class CountAndSum(Answers):
    """A count and a sum from one budget."""

    def answers(self, dataset):
        return np.array([dataset.n_records, dataset.y.sum()])


class Levels(Answers):
    """Counts in 1, 2, 4 and 8 intervals: each level is a partition, and all of them are paid for as one."""

    def answers(self, dataset):
        y = np.clip(dataset.y, -1, 1)
        return np.concatenate([np.histogram(y, bins=2**level, range=(-1, 1))[0] for level in range(4)])


class Overlapping(Answers):
    """Counts in two intervals that overlap, taken for a partition."""

    def answers(self, dataset):
        return np.array([(dataset.y < 0.2).sum(), (dataset.y > -0.2).sum()])


class Cumulative(Answers):
    """How many responses are below each of four levels, as if each record were counted once."""

    def answers(self, dataset):
        return (dataset.y[:, None] < np.array([-0.5, 0.0, 0.5, 1.01])).sum(axis=0)


class HistogramReplaced(Answers):
    """Replacing a record moves two counts of a histogram; the noise is for one."""

    def answers(self, dataset):
        return np.histogram(np.clip(dataset.y, -1, 1), bins=4, range=(-1, 1))[0]


class SquareRoot(Answers):
    """Sixteen counts with noise for the square root of their number and no delta: advanced composition misread."""

    @property
    def scale(self):
        return 4.0

    def answers(self, dataset):
        return np.full(16, dataset.n_records)


@dataclass(frozen=True)
class GroupRoot(Answers):
    """A group of four persons with the square root of four times the noise of one."""

    @property
    def scale(self):
        return 2.0

    def answers(self, dataset):
        return dataset.y.sum()

    def worst_profile(self, x_bound, y_bound, relation="add-remove"):
        return LaplaceProfile(y_bound / self.scale)


@dataclass(frozen=True)
class WrongUnit(Answers):
    """The count with an epsilon in another unit: bits or decades for the natural one, or a variance for a scale."""

    factor: float = 1 / math.log(2)

    @property
    def scale(self):
        return 1 / (self.epsilon * self.factor)

    def answers(self, dataset):
        return dataset.n_records


class NoisyAndRounded(Pure):
    """A noisy sum, and beside it the sum rounded to tens: "rounding protects enough"."""

    def draw(self, dataset, n_draws, *, rng):
        total = dataset.y.sum()
        return np.column_stack([total + rng.laplace(size=n_draws), np.full(n_draws, 10 * np.round(total / 10))])


class KeptBelowTotal(Pure):
    """A noisy count that is cut at the true number of records, for consistency."""

    def draw(self, dataset, n_draws, *, rng):
        return np.clip(dataset.n_records + rng.laplace(size=(n_draws, 1)), 0, dataset.n_records)


@dataclass(frozen=True)
class BestOf(Pure):
    """Several noisy counts are drawn and the one that is nearest to the truth is released."""

    tries: int = 10

    def draw(self, dataset, n_draws, *, rng):
        noise = rng.laplace(size=(n_draws, self.tries))
        best = np.abs(noise).argmin(axis=1)
        return dataset.n_records + noise[np.arange(n_draws), best][:, None]


@dataclass(frozen=True)
class MeanOf(Pure):
    """Sixteen noisy counts, each paid for alone, are averaged."""

    tries: int = 16

    def draw(self, dataset, n_draws, *, rng):
        return dataset.n_records + rng.laplace(size=(n_draws, self.tries)).mean(axis=1, keepdims=True)


class BitByBit(Pure):
    """Four facts about the data, each flipped with the whole budget."""

    def draw(self, dataset, n_draws, *, rng):
        facts = (dataset.y[:, None] > np.array([-0.5, 0.0, 0.25, 0.5])).any(axis=0)
        return ((rng.random((n_draws, 4)) < 1 / (1 + math.e)) ^ facts).astype(float)


class MaximumOfSigned(Pure):
    """The larger of two sums of opposite sign by Laplace noise of scale 1 / epsilon: both move, so 2 is needed."""

    def draw(self, dataset, n_draws, *, rng):
        total = dataset.y.sum()
        return (np.array([total, -total]) + rng.laplace(size=(n_draws, 2))).argmax(axis=1)[:, None].astype(float)


class ThreeOfSix(Pure):
    """The three most frequent of six properties, by exponential noise for one choice."""

    properties = 6

    def frequencies(self, dataset):
        return np.concatenate([(dataset.X > 0).sum(axis=0), (dataset.X < 0).sum(axis=0)])

    def draw(self, dataset, n_draws, *, rng):
        noisy = self.frequencies(dataset) + rng.gumbel(size=(n_draws, self.properties))
        return np.sort(np.argsort(-noisy, axis=1)[:, :3], axis=1).astype(float)


class NumberAbove(Pure):
    """Whether the sum is above 10 is paid for with epsilon, and then the noisy sum with epsilon again."""

    level = 10.0

    def draw(self, dataset, n_draws, *, rng):
        total = dataset.y.sum()
        above = total + rng.laplace(scale=4.0, size=n_draws) >= self.level + rng.laplace(scale=2.0, size=n_draws)
        number = total + rng.laplace(size=n_draws)
        return np.column_stack([above, np.where(above, number, 0.0)])


class StillAbove(Pure):
    """Ten questions at a threshold whose noise is never drawn again; every yes is answered, one was paid for."""

    def draw(self, dataset, n_draws, *, rng):
        signs = np.where(np.arange(10) % 2 == 0, 1.0, -1.0)
        moment = float((dataset.X[:, 0] * dataset.y).sum())
        threshold = rng.laplace(scale=2.0, size=(n_draws, 1))
        return (moment * signs + rng.laplace(scale=4.0, size=(n_draws, 10)) >= threshold).astype(float)


class ProposeTest(Pure):
    """The exact majority if a noisy distance to its change is positive; no room is left for the noise's tail."""

    def draw(self, dataset, n_draws, *, rng):
        lead = int((dataset.y > 0).sum() - (dataset.y <= 0).sum())
        stable = abs(lead) - 1 + rng.laplace(size=n_draws) > 0
        return np.where(stable, np.sign(lead), 0.0)[:, None]


class Sampled(Pure):
    """A noisy sum over a sample; ``inner`` is the epsilon that amplification by the believed rate turns into 1."""

    def inner(self, rate):
        return math.log1p(math.expm1(self.epsilon) / rate)

    def released(self, sums, rate, rng):
        return (sums + rng.laplace(scale=1 / self.inner(rate), size=len(sums)))[:, None]


class AtLeastOne(Sampled):
    """A tenth of the records without replacement, but at least one: of one record, all."""

    def draw(self, dataset, n_draws, *, rng):
        size = min(dataset.n_records, max(1, dataset.n_records // 10))
        order = rng.random((n_draws, dataset.n_records)).argsort(axis=1)[:, :size]
        return self.released(dataset.y[order].sum(axis=1), 0.1, rng)


class EveryTenth(Sampled):
    """Every tenth record, beginning with the first: everybody knows who is in the sample."""

    def draw(self, dataset, n_draws, *, rng):
        return self.released(np.full(n_draws, dataset.y[::10].sum()), 0.1, rng)


class WithReplacement(Sampled):
    """A bootstrap sample, taken for one that holds each record once with probability 1 - 1/e."""

    def draw(self, dataset, n_draws, *, rng):
        n = dataset.n_records
        weights = rng.multinomial(n, np.full(n, 1 / n), size=n_draws) if n else np.zeros((n_draws, 0))
        return self.released(weights @ dataset.y, 1 - math.exp(-1), rng)


class TwiceTheRate(Sampled):
    """One sample of a tenth, whose amplification is counted for the sampling and for the batches again."""

    def draw(self, dataset, n_draws, *, rng):
        kept = rng.random((n_draws, dataset.n_records)) < 0.1
        return self.released(kept @ dataset.y, 0.01, rng)


class SizeOfSample(Sampled):
    """A sample of a tenth, and its exact size beside the noisy sum."""

    def draw(self, dataset, n_draws, *, rng):
        kept = rng.random((n_draws, dataset.n_records)) < 0.1
        return np.column_stack([self.released(kept @ dataset.y, 0.1, rng)[:, 0], kept.sum(axis=1)])


@dataclass(frozen=True)
class Shuffled(Pure):
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


LOG = 2 * math.log(1.25e6)
PURE, RARE = {"epsilon": 1.0, "delta": 0.0}, {"visible": False}
PRIME = {"epsilon": 1.0, "delta": 1e-6}
LARGE = {"epsilon": 8.0, "delta": 0.05}
ROWS = [
    ("epsilon-each-column", EveryColumn, {}, {**PURE, "dim": 4}, "four columns: the loss is 4"),
    ("count-and-sum", CountAndSum, {}, PURE, "two answers with epsilon each: the loss is 2"),
    ("levels-of-tree", Levels, {}, PURE, "four levels with epsilon each: the loss is 4"),
    ("overlapping-bins", Overlapping, {}, PURE, "a record in both intervals: the loss is 2"),
    ("cumulative-counts", Cumulative, {}, PURE, "a small response is counted four times: the loss is 4"),
    ("histogram-replaced", HistogramReplaced, {}, {**PURE, "relation": "replace"}, "two cells change: the loss is 2"),
    ("square-root-of-16", SquareRoot, {}, PRIME, "sixteen answers at 1/4 each: the loss reaches 4"),
    ("root-of-group", GroupRoot, {}, {**PURE, "group": 4}, "four records at 1/2 each: the loss is 2"),
    ("bits-for-nats", WrongUnit, {}, PURE, "1.44 in place of 1"),
    ("decades-for-nats", WrongUnit, {"factor": math.log(10)}, PURE, "2.30 in place of 1"),
    (
        "variance-for-scale",
        WrongUnit,
        {"factor": math.sqrt(2)},
        PURE,
        "variance 1 in place of scale 1: the loss is 1.41",
    ),
    ("rounded-epsilon", WrongUnit, {"factor": 1.1}, PURE, "a constant that was rounded up: the loss is 1.1"),
    ("noisy-and-rounded", NoisyAndRounded, {}, PURE, "the sum to tens is exact"),
    ("kept-below-total", KeptBelowTotal, {}, PURE, "half of the outputs are the exact count"),
    ("nearest-of-ten", BestOf, {}, PURE, "the best of ten answers has a tenth of the noise"),
    ("nearest-of-three", BestOf, {"tries": 3}, PURE, "the best of three answers has the loss 3"),
    ("mean-of-sixteen", MeanOf, {}, PURE, "the mean of sixteen answers has a quarter of the noise"),
    ("bit-by-bit", BitByBit, {}, PURE, "four facts flipped with epsilon each: the loss is 4"),
    ("maximum-of-signed", MaximumOfSigned, {}, PURE, "both sums move by 1, in opposite directions: the loss is 2"),
    ("three-of-six", ThreeOfSix, {}, {**PURE, "dim": 3}, "three choices with epsilon each"),
    ("number-above", NumberAbove, {}, PURE, "a test and a number with epsilon each"),
    ("still-above", StillAbove, {}, PURE, "every question after the first yes is free"),
    ("propose-test", ProposeTest, {}, PRIME, "an unstable majority passes the test with probability 1/2"),
    ("at-least-one", AtLeastOne, {}, PURE, "of one record all is sampled: the loss is 2.9"),
    ("every-tenth-drawn", EveryTenth, {}, PURE, "who is in the sample is known: the loss is 2.9"),
    ("with-replacement", WithReplacement, {}, PURE, "of one record all is sampled: the loss is 1.31"),
    ("twice-the-rate", TwiceTheRate, {}, PURE, "noise for a hundredth where a tenth is sampled"),
    ("size-of-sample", SizeOfSample, {}, PRIME, "the exact size of the sample"),
    ("shuffled", Shuffled, {}, {**PRIME, "relation": "replace"}, "alone in the crowd: the loss is 3"),
    ("decimal-logarithm", Normal, {"drawn": math.sqrt(LOG / math.log(10))}, RARE, "log10 for the natural logarithm"),
    ("forgotten-2", Normal, {"drawn": math.sqrt(LOG / 2)}, RARE, "the 2 under the root is forgotten"),
    ("delta-as-thousandth", Normal, {"drawn": math.sqrt(2 * math.log(1.25e3))}, RARE, "noise for delta .001"),
    ("root-of-sigma", Normal, {"drawn": math.sqrt(4.25)}, {}, "the root of sigma for sigma"),
    ("classical-at-8", Normal, {"drawn": math.sqrt(2 * math.log(25)) / 8, "believed": 0.4}, LARGE, "beyond epsilon 1"),
    ("delta-each-query", Normal, {"copies": 10}, {}, "ten answers at (1, 1e-6) each"),
    ("largest-for-length", SupNorm, {}, {"dim": 16}, "sixteen columns that move by 1 each"),
]

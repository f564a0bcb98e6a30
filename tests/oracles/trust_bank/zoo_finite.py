"""Honest laws on few answers: finite laws, a sampled count, and queries whose authors state no law."""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from oracles.bank_laws import Noise, PureProfile, pack, unpack
from scipy.stats import binom


def votes(dataset, bins):
    """Return how many responses lie in each of ``bins`` equal intervals."""
    at = ((dataset.y / dataset.y_bound + 1) / 2 * bins).astype(int)
    return np.bincount(np.clip(at, 0, bins - 1), minlength=bins).astype(float)


class Whole:
    """One whole number is released; a finite law has ``log_masses`` of 0, 1, ..."""

    form = "int"

    def pack(self, values):
        return pack(self.form, np.reshape(values, (-1, 1)).astype(int), ("n",), whole=True)

    def unpack(self, outputs, dataset):
        return unpack(self.form, outputs, ("n",))

    def draw(self, dataset, n_draws, *, rng):
        masses = np.exp(self.log_masses(dataset))
        return self.pack(rng.choice(len(masses), n_draws, p=masses / masses.sum()))

    def log_density(self, outputs, dataset):
        k, log_masses = self.unpack(outputs, dataset)[:, 0], self.log_masses(dataset)
        inside = (k >= 0) & (k < len(log_masses)) & (k == np.rint(k))
        return np.where(inside, log_masses[np.clip(k, 0, len(log_masses) - 1).astype(int)], -np.inf)

    def worst_profile(self, x_bound, y_bound):
        return PureProfile(self.epsilon)


@dataclass(frozen=True)
class TruncatedGeometric(Whole):
    """The count, clipped to 0..most, plus geometric noise given that the answer lies in 0..most.

    The mass is e^(-epsilon |k - c|)/Z(c); the largest loss over the finitely many pairs c, c +- 1 is the noise's
    epsilon plus the largest log Z(c')/Z(c), where c leans towards an end and c' away from it.
    """

    epsilon: float = 1.0
    most: int = 8
    form: str = "int"
    name = "truncated geometric count"

    def of_count(self, c):
        weights = -self.epsilon * np.abs(np.arange(self.most + 1) - c)
        return weights - np.logaddexp.reduce(weights)

    def log_masses(self, dataset):
        return self.of_count(min(dataset.n_records, self.most))

    def worst_profile(self, x_bound, y_bound):
        laws = [self.of_count(c) for c in range(self.most + 1)]
        return PureProfile(float(max(np.abs(a - b).max() for a, b in pairwise(laws))))


@dataclass(frozen=True)
class KaryProfile:
    """k-ary randomised response with another true answer."""

    size: float
    k: int

    def delta_at(self, epsilon):
        if epsilon < -self.size:
            return -math.expm1(epsilon)
        kept = max(0.0, math.exp(self.size) - math.exp(epsilon))
        others = (self.k - 2) * max(0.0, -math.expm1(epsilon)) + max(0.0, -math.expm1(epsilon + self.size))
        return (kept + others) / (math.exp(self.size) + self.k - 1)


@dataclass(frozen=True)
class KaryAnswer(Whole):
    """One of k answers, kept with probability e^epsilon/(e^epsilon + k - 1), else another one: loss +-epsilon or 0.

    What the records say, here their number modulo k, may change in any way.
    """

    epsilon: float = 1.0
    k: int = 3
    form: str = "int"
    name = "k-ary randomised response"

    def log_masses(self, dataset):
        weights = self.epsilon * (np.arange(self.k) == dataset.n_records % self.k)
        return weights - math.log(math.exp(self.epsilon) + self.k - 1)

    def draw(self, dataset, n_draws, *, rng):
        true = dataset.n_records % self.k
        kept = rng.random(n_draws) < math.exp(self.epsilon) / (math.exp(self.epsilon) + self.k - 1)
        return self.pack(np.where(kept, true, (true + rng.integers(1, self.k, n_draws)) % self.k))

    def worst_profile(self, x_bound, y_bound):
        return KaryProfile(self.epsilon, self.k)


@dataclass(frozen=True)
class LocalAnswers:
    """Each record's sign goes through randomised response; their number is public, as one record is replaced.

    One coordinate changes its true answer: loss +-epsilon, else 0.
    """

    epsilon: float = 1.0
    form: str = "int8"
    name = "local randomised response"

    def pack(self, values):
        return pack(self.form, values, (), whole=(True,) * values.shape[1])

    def unpack(self, outputs, dataset):
        return np.asarray(outputs, dtype=float).reshape(len(outputs), -1)

    def draw(self, dataset, n_draws, *, rng):
        flipped = rng.random((n_draws, dataset.n_records)) < 1 / (1 + math.exp(self.epsilon))
        return self.pack(flipped ^ (dataset.y > 0))

    def log_density(self, outputs, dataset):
        answers = self.unpack(outputs, dataset)
        if answers.shape[1] != dataset.n_records:
            return np.full(len(answers), -np.inf)
        flipped = (answers != (dataset.y > 0)).sum(axis=1)
        return -self.epsilon * flipped - dataset.n_records * math.log1p(math.exp(-self.epsilon))

    def worst_profile(self, x_bound, y_bound, relation="replace"):
        return PureProfile(self.epsilon)


@dataclass(frozen=True)
class Votes(Whole):
    """Each record votes for one of k candidates by its response; weights exp(epsilon votes) (McSherry and Talwar 2007).

    One more vote multiplies a weight by e^epsilon, and the sum of the weights by a number between 1 and e^epsilon:
    no factor 2 is needed, and both ends are approached (the candidate has hardly any mass, or nearly all).
    """

    epsilon: float = 1.0
    k: int = 4
    form: str = "int"
    gumbel: bool = False
    name = "exponential mechanism on votes"

    def log_masses(self, dataset):
        weights = self.epsilon * votes(dataset, self.k)
        return weights - np.logaddexp.reduce(weights)

    def draw(self, dataset, n_draws, *, rng):
        if not self.gumbel:
            return super().draw(dataset, n_draws, rng=rng)
        return self.pack((self.log_masses(dataset) + rng.gumbel(size=(n_draws, self.k))).argmax(axis=1))


@dataclass(frozen=True)
class OneAgainstMany(Whole):
    """Utility +sum of responses for answer 1, - for the ``many`` others (grouped as 0), weights exp(epsilon u / 2).

    The logit of answer 1 is epsilon sum - log many, so a shift by at most 1 moves it by at most epsilon, and the loss
    is below that. It is nearly epsilon where answer 1 is rare.
    """

    epsilon: float = 1.0
    many: int = 1000
    form: str = "int"
    name = "one against many"

    def log_masses(self, dataset):
        logit = self.epsilon * dataset.y.sum() - math.log(self.many)
        return -np.logaddexp(0, np.array([logit, -logit]))

    def draw(self, dataset, n_draws, *, rng):
        return self.pack(rng.random(n_draws) < math.exp(self.log_masses(dataset)[1]))


@dataclass(frozen=True)
class SampledCount(Whole):
    """Each record takes part with probability ``share``; their number has geometric noise of ``epsilon``.

    Amplification: log(1 + share (e^epsilon - 1)), met where the record is compared with none at answers of at
    least 1 (Balle, Barthe and Gaboardi 2018).
    """

    epsilon: float = 1.0
    share: float = 0.5
    form: str = "int"
    name = "count of a sample"

    def draw(self, dataset, n_draws, *, rng):
        taken = rng.binomial(dataset.n_records, self.share, n_draws)
        return self.pack(taken + Noise("geometric", 1 / self.epsilon).draw(rng, n_draws))

    def log_density(self, outputs, dataset):
        taken = np.arange(dataset.n_records + 1)
        noise = Noise("geometric", 1 / self.epsilon).log_density(self.unpack(outputs, dataset) - taken)
        return np.logaddexp.reduce(binom.logpmf(taken, dataset.n_records, self.share) + noise, axis=1)

    def worst_profile(self, x_bound, y_bound):
        return PureProfile(math.log1p(self.share * math.expm1(self.epsilon)))


@dataclass(frozen=True)
class AboveThreshold:
    """The first count above a noisy level: monotone queries, so Laplace noise 2/epsilon on each side is enough.

    Lyu, Su and Li (2017), theorem 5, one answer, epsilon/2 each. It states no law.
    """

    epsilon: float = 1.0
    levels: tuple[float, ...] = (0.5, 0.0, -0.5, -1.0)
    least: float = 4.0
    form: str = "int"
    name = "above threshold"

    def counts(self, dataset):
        return (dataset.y[None, :] >= np.array(self.levels)[:, None]).sum(axis=1)

    def draw(self, dataset, n_draws, *, rng):
        level = self.least + rng.laplace(scale=2 / self.epsilon, size=(n_draws, 1))
        noisy = self.counts(dataset) + rng.laplace(scale=2 / self.epsilon, size=(n_draws, len(self.levels)))
        above = noisy >= level
        first = np.where(above.any(axis=1), above.argmax(axis=1), -1)
        if self.form == "text":
            return ["nothing" if j < 0 else f"above {self.levels[j]}" for j in first]
        return first[:, None]


@dataclass(frozen=True)
class NoisyMax:
    """The bin whose noisy count is largest, as a word: monotone counts, so Laplace noise 1/epsilon is enough.

    Dwork and Roth (2014), claim 3.9. It states no law.
    """

    epsilon: float = 1.0
    bins: int = 3
    name = "report noisy max"

    def draw(self, dataset, n_draws, *, rng):
        counts = votes(dataset, self.bins)
        first = (counts + rng.laplace(scale=1 / self.epsilon, size=(n_draws, self.bins))).argmax(axis=1)
        return [f"bin {j}" for j in first]

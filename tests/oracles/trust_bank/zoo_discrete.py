"""Whole numbers and labels, honestly released, and the staircase; each docstring derives the claim.

Densities are with respect to counting, for the staircase to length and, at its clamps, counting.
"""

import json
import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from oracles.bank_laws import PureProfile, up
from scipy.stats import binom

from mechanisms.base import Direction


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
class DiscreteGaussianProfile:
    """The hockey-stick of discrete Gaussians one apart, summed over all outputs that a float knows."""

    sigma: float

    def delta_at(self, epsilon, direction=Direction.FORWARD):
        k, log_mass = gaussian_masses(self.sigma)
        moved = log_mass + (2 * k - 1) / (2 * self.sigma**2)  # the log mass of k - 1
        return float(np.maximum(0.0, np.exp(moved) - np.exp(epsilon + log_mass)).sum())


@lru_cache
def gaussian_masses(sigma):
    """Return whole numbers and the log masses of the discrete Gaussian on them (Canonne, Kamath and Steinke 2020)."""
    most = math.ceil(40 * sigma) + 1
    k = np.arange(-most, most + 1)
    weights = -(k.astype(float) ** 2) / (2 * sigma**2)
    return k, weights - np.logaddexp.reduce(weights)


def pack(form, k):
    """Give whole numbers the shape in which they are released."""
    k = np.asarray(k).astype(np.int64)
    shapes = {
        "text": str,
        "dict": lambda v: {"n": int(v)},
        "json": lambda v: json.dumps({"n": int(v), "unit": "records"}),
        "ragged": lambda v: [1] * int(v),
        "scalar": int,
        "letter": lambda v: "abcdefghijklmnopqrstuvwxyz"[int(v)],
    }
    if form == "frame":
        import pandas as pd

        return [pd.DataFrame({"statistic": ["n"], "value": [int(v)]}) for v in k]
    if form in {"int", "float"}:
        return k[:, None] if form == "int" else k[:, None].astype(float)
    return [shapes[form](v) for v in k]


def unpack(form, outputs):
    """Return the whole numbers in outputs of one shape."""
    if form in {"int", "float"}:
        return np.asarray(outputs, dtype=float).reshape(-1)
    reads = {
        "text": int,
        "dict": lambda o: o["n"],
        "json": lambda o: json.loads(o)["n"],
        "ragged": len,
        "scalar": int,
        "letter": lambda o: ord(o) - ord("a"),
        "frame": lambda o: o["value"].iloc[0],
    }
    return np.array([reads[form](o) for o in outputs], dtype=float)


class Shaped:
    """Packs and unpacks whole numbers."""

    form = "int"

    def pack(self, values):
        return pack(self.form, values[:, 0])

    def unpack(self, outputs):
        return unpack(self.form, outputs)[:, None]


@dataclass(frozen=True)
class GeometricCount(Shaped):
    """The count moves by 1 and the mass falls by e^-epsilon a step (Ghosh et al. 2009); clamping is post-processing.

    At a clamp with both counts inside, the masses are geometric tails, whose ratio is e^epsilon: the atom is tight.
    A ``drawn_epsilon`` below ``epsilon`` draws more noise than is stated.
    """

    epsilon: float = 1.0
    low: int | None = None
    high: int | None = None
    form: str = "int"
    own: bool = False
    drawn_epsilon: float | None = None
    single: bool = False
    name = "geometric count"

    def draw(self, dataset, n_draws, *, rng):
        rng = np.random.default_rng() if self.own else rng
        p = -math.expm1(-(self.drawn_epsilon or self.epsilon))
        values = dataset.n_records + rng.geometric(p, n_draws) - rng.geometric(p, n_draws)
        if self.low is not None or self.high is not None:
            values = np.clip(values, self.low, self.high)
        return self.pack(values[:, None])

    def log_at_least(self, m):
        """Return log P(noise >= m)."""
        share = -np.logaddexp(0.0, -self.epsilon)
        far = -self.epsilon * np.abs(m) + share
        return far if m > 0 else float(np.log1p(-np.exp(share - self.epsilon * (1 - m))))

    def log_density(self, outputs, dataset):
        k, n = self.unpack(outputs)[:, 0], dataset.n_records
        found = -self.epsilon * np.abs(k - n) + math.log(math.tanh(self.epsilon / 2))
        if self.low is not None:
            found = np.where(k < self.low, -np.inf, np.where(k == self.low, self.log_at_least(n - self.low), found))
        if self.high is not None:
            found = np.where(k > self.high, -np.inf, np.where(k == self.high, self.log_at_least(self.high - n), found))
        found = np.where(k == np.rint(k), found, -np.inf)
        return found.astype(np.float32) if self.single else found

    def worst_profile(self, x_bound, y_bound):
        return PureProfile(self.epsilon)


@dataclass(frozen=True)
class TruncatedGeometric(Shaped):
    """The count, clipped to 0..most, plus geometric noise given that the answer lies in 0..most.

    The mass is e^(-epsilon |k - c|)/Z(c); the largest loss over the finitely many pairs c, c +- 1 is the noise's
    epsilon plus the largest log Z(c')/Z(c), where c leans towards an end and c' away from it.
    """

    noise: float = 1.0
    most: int = 8
    form: str = "int"
    name = "truncated geometric count"

    def log_masses(self, c):
        weights = -self.noise * np.abs(np.arange(self.most + 1) - c)
        return weights - np.logaddexp.reduce(weights)

    def epsilon(self):
        laws = [self.log_masses(c) for c in range(self.most + 1)]
        return float(max(np.abs(a - b).max() for a, b in pairwise(laws)))

    def draw(self, dataset, n_draws, *, rng):
        masses = np.exp(self.log_masses(min(dataset.n_records, self.most)))
        return self.pack(rng.choice(self.most + 1, n_draws, p=masses / masses.sum())[:, None])

    def log_density(self, outputs, dataset):
        k = self.unpack(outputs)[:, 0]
        inside = (k >= 0) & (k <= self.most) & (k == np.rint(k))
        at = np.clip(k, 0, self.most).astype(int)
        return np.where(inside, self.log_masses(min(dataset.n_records, self.most))[at], -np.inf)

    def worst_profile(self, x_bound, y_bound):
        return PureProfile(up(self.epsilon()))


@dataclass(frozen=True)
class DiscreteGaussianCount(Shaped):
    """The count moves by 1 under discrete Gaussian noise: delta is a sum, and 1/(2 sigma^2)-zCDP holds.

    Both are by Canonne, Kamath and Steinke (2020), theorems 7 and 4; the Renyi divergence of order alpha is at most
    alpha/(2 sigma^2), with equality where alpha is whole.
    """

    sigma: float = 1.0
    low: int | None = None
    high: int | None = None
    form: str = "int"
    name = "discrete Gaussian count"

    def draw(self, dataset, n_draws, *, rng):
        k, log_mass = gaussian_masses(self.sigma)
        masses = np.exp(log_mass)
        values = dataset.n_records + rng.choice(k, n_draws, p=masses / masses.sum())
        if self.low is not None or self.high is not None:
            values = np.clip(values, self.low, self.high)
        return self.pack(values[:, None])

    def log_density(self, outputs, dataset):
        k, n = self.unpack(outputs)[:, 0], dataset.n_records
        support, log_mass = gaussian_masses(self.sigma)
        found = -((k - n) ** 2) / (2 * self.sigma**2) + log_mass[len(support) // 2]
        if self.low is not None:
            tail = np.logaddexp.reduce(log_mass[support <= self.low - n], initial=-np.inf)
            found = np.where(k < self.low, -np.inf, np.where(k == self.low, tail, found))
        if self.high is not None:
            tail = np.logaddexp.reduce(log_mass[support >= self.high - n], initial=-np.inf)
            found = np.where(k > self.high, -np.inf, np.where(k == self.high, tail, found))
        return np.where(k == np.rint(k), found, -np.inf)

    def worst_profile(self, x_bound, y_bound):
        return DiscreteGaussianProfile(self.sigma)


@dataclass(frozen=True)
class Staircase:
    """Density e^-epsilon lower for every step of length 1, which is the sensitivity (Geng and Viswanath 2014).

    Steps begin 1 apart, so a shift of at most 1 crosses at most one of them: the loss is at most epsilon. Clamping is
    post-processing; the tails beyond a clamp have the ratio e^epsilon as well.
    """

    epsilon: float = 1.0
    statistic: str = "count"
    low: float | None = None
    high: float | None = None
    name = "staircase answer"

    @property
    def gamma(self):
        return 1 / (1 + math.exp(self.epsilon / 2))

    @property
    def height(self):
        return -math.expm1(-self.epsilon) / (2 * (self.gamma + (1 - self.gamma) * math.exp(-self.epsilon)))

    def centre(self, dataset):
        return float(dataset.n_records if self.statistic == "count" else dataset.y.sum())

    def pack(self, values):
        return np.asarray(values, dtype=float)

    def unpack(self, outputs):
        return np.asarray(outputs, dtype=float).reshape(-1, 1)

    def draw(self, dataset, n_draws, *, rng):
        gamma, fall = self.gamma, math.exp(-self.epsilon)
        steps = rng.geometric(1 - fall, n_draws) - 1
        inner = rng.random(n_draws) < gamma / (gamma + (1 - gamma) * fall)
        u = rng.random(n_draws)
        distance = steps + np.where(inner, gamma * u, gamma + (1 - gamma) * u)
        values = self.centre(dataset) + np.where(rng.random(n_draws) < 0.5, 1.0, -1.0) * distance
        if self.low is not None or self.high is not None:
            values = np.clip(values, self.low, self.high)
        return values[:, None]

    def log_above(self, z):
        """Return log P(noise > z)."""
        size, fall = abs(z), math.exp(-self.epsilon)
        n, part = math.floor(size), size - math.floor(size)
        upper = max(0.0, self.gamma - part) + fall * (1 - max(part, self.gamma))
        tail = fall**n * (self.height * upper + fall / 2)
        return math.log(tail if z > 0 else 1 - tail)

    def log_density(self, outputs, dataset):
        values, centre = self.unpack(outputs)[:, 0], self.centre(dataset)
        size = np.abs(values - centre)
        level = np.floor(size) + (size - np.floor(size) >= self.gamma)
        found = math.log(self.height) - self.epsilon * level
        if self.low is not None:
            at = self.log_above(centre - self.low)
            found = np.where(values < self.low, -np.inf, np.where(values == self.low, at, found))
        if self.high is not None:
            at = self.log_above(self.high - centre)
            found = np.where(values > self.high, -np.inf, np.where(values == self.high, at, found))
        return found

    def worst_profile(self, x_bound, y_bound):
        return PureProfile(self.epsilon)


@dataclass(frozen=True)
class KaryAnswer(Shaped):
    """One of k answers, kept with probability e^epsilon/(e^epsilon + k - 1), else another one: loss +-epsilon or 0.

    What the records say, here their number modulo k, may change in any way.
    """

    epsilon: float = 1.0
    k: int = 3
    form: str = "int"
    name = "k-ary randomised response"

    def draw(self, dataset, n_draws, *, rng):
        true = dataset.n_records % self.k
        kept = rng.random(n_draws) < math.exp(self.epsilon) / (math.exp(self.epsilon) + self.k - 1)
        other = (true + rng.integers(1, self.k, n_draws)) % self.k
        return self.pack(np.where(kept, true, other)[:, None])

    def log_density(self, outputs, dataset):
        answers = self.unpack(outputs)[:, 0]
        found = np.where(answers == dataset.n_records % self.k, self.epsilon, 0.0)
        found = found - math.log(math.exp(self.epsilon) + self.k - 1)
        return np.where((answers >= 0) & (answers < self.k), found, -np.inf)

    def worst_profile(self, x_bound, y_bound):
        return KaryProfile(self.epsilon, self.k)


@dataclass(frozen=True)
class LocalAnswers:
    """Each record's sign goes through randomised response; their number is public, as one record is replaced.

    One coordinate changes its true answer: loss +-epsilon, else 0.
    """

    epsilon: float = 1.0
    ragged: bool = False
    name = "local randomised response"

    def pack(self, values):
        return [[int(v) for v in row] for row in values] if self.ragged else np.asarray(values).astype(np.int8)

    def unpack(self, outputs):
        return np.asarray(outputs, dtype=float).reshape(len(outputs), -1)

    def draw(self, dataset, n_draws, *, rng):
        flipped = rng.random((n_draws, dataset.n_records)) < 1 / (1 + math.exp(self.epsilon))
        return self.pack(flipped ^ (dataset.y > 0))

    def log_density(self, outputs, dataset):
        answers = self.unpack(outputs)
        if answers.shape[1] != dataset.n_records:
            return np.full(len(answers), -np.inf)
        flipped = (answers != (dataset.y > 0)).sum(axis=1)
        return -self.epsilon * flipped - dataset.n_records * math.log1p(math.exp(-self.epsilon))

    def worst_profile(self, x_bound, y_bound, relation="replace"):
        return PureProfile(self.epsilon)


@dataclass(frozen=True)
class Votes(Shaped):
    """Each record votes for one of k candidates by its response; weights exp(epsilon votes) (McSherry and Talwar 2007).

    One more vote multiplies a weight by e^epsilon, and the sum of the weights by a number between 1 and e^epsilon:
    no factor 2 is needed, and both ends are approached (the candidate has hardly any mass, or nearly all).
    """

    epsilon: float = 1.0
    k: int = 4
    form: str = "letter"
    gumbel: bool = False
    name = "exponential mechanism on votes"

    def log_masses(self, dataset):
        bins = np.minimum(((dataset.y / dataset.y_bound + 1) / 2 * self.k).astype(int), self.k - 1)
        weights = self.epsilon * np.bincount(np.maximum(bins, 0), minlength=self.k)
        return weights - np.logaddexp.reduce(weights)

    def draw(self, dataset, n_draws, *, rng):
        log_masses = self.log_masses(dataset)
        if self.gumbel:
            return self.pack((log_masses + rng.gumbel(size=(n_draws, self.k))).argmax(axis=1)[:, None])
        masses = np.exp(log_masses)
        return self.pack(rng.choice(self.k, n_draws, p=masses / masses.sum())[:, None])

    def log_density(self, outputs, dataset):
        answers = self.unpack(outputs)[:, 0]
        inside = (answers >= 0) & (answers < self.k)
        return np.where(inside, self.log_masses(dataset)[np.clip(answers, 0, self.k - 1).astype(int)], -np.inf)

    def worst_profile(self, x_bound, y_bound):
        return PureProfile(self.epsilon)


@dataclass(frozen=True)
class OneAgainstMany(Shaped):
    """Utility +sum of responses for answer 1, - for the ``many`` others (grouped as 0), weights exp(epsilon u / 2).

    The logit of answer 1 is epsilon sum - log many, so a shift by at most 1 moves it by at most epsilon, and the loss
    is below that. It is nearly epsilon where answer 1 is rare.
    """

    epsilon: float = 1.0
    many: int = 1000
    form: str = "int"
    name = "one against many"

    def draw(self, dataset, n_draws, *, rng):
        chance = math.exp(-float(np.logaddexp(0, math.log(self.many) - self.epsilon * dataset.y.sum())))
        return self.pack((rng.random(n_draws) < chance)[:, None])

    def log_density(self, outputs, dataset):
        answers, logit = self.unpack(outputs)[:, 0], self.epsilon * dataset.y.sum() - math.log(self.many)
        found = -np.logaddexp(0, np.where(answers == 1, -logit, logit))
        return np.where((answers == 0) | (answers == 1), found, -np.inf)

    def worst_profile(self, x_bound, y_bound):
        return PureProfile(self.epsilon * y_bound)


@dataclass(frozen=True)
class SampledCount(Shaped):
    """Each record takes part with probability ``share``; their number has geometric noise of ``noise``.

    Amplification: epsilon = log(1 + share (e^noise - 1)), met where the record is compared with none at answers of at
    least 1 (Balle, Barthe and Gaboardi 2018).
    """

    noise: float = 1.0
    share: float = 0.5
    form: str = "int"
    name = "count of a sample"

    def epsilon(self):
        return math.log1p(self.share * math.expm1(self.noise))

    def draw(self, dataset, n_draws, *, rng):
        p, taken = -math.expm1(-self.noise), rng.binomial(dataset.n_records, self.share, n_draws)
        return self.pack((taken + rng.geometric(p, n_draws) - rng.geometric(p, n_draws))[:, None])

    def log_density(self, outputs, dataset):
        k = self.unpack(outputs)[:, 0]
        taken = np.arange(dataset.n_records + 1)
        weights = binom.logpmf(taken, dataset.n_records, self.share)
        terms = weights - self.noise * np.abs(k[:, None] - taken)
        return np.logaddexp.reduce(terms, axis=1) + math.log(math.tanh(self.noise / 2))

    def worst_profile(self, x_bound, y_bound):
        return PureProfile(up(self.epsilon()))


class BareCount:
    """As GeometricCount, by an author who states no law."""

    name = "geometric count, no law"

    def __init__(self, **parameters):
        self.inner = GeometricCount(**parameters)

    def draw(self, dataset, n_draws, *, rng):
        return self.inner.draw(dataset, n_draws, rng=rng)

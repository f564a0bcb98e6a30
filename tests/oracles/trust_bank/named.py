"""Classes 0 and 4: named mechanisms that keep their claims, and the same with a wrong constant.

Most honest ones keep their claims with equality; each docstring says why.
"""

import math
import time
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from oracles.bank_laws import LaplaceOfSum, Moment, PureProfile

from mechanisms import GaussianProfile

#: The analytic Gaussian mechanism (Balle and Wang 2018) at (1, 1e-6), sensitivity 1: 4.224679, rounded up.
SIGMA = 4.2247


@dataclass(frozen=True)
class NoisyMoment(Moment):
    """README's example. |x y| <= x_bound y_bound moves X^T y by as much: Gaussian private with mu = bound / sigma."""

    sigma: float = SIGMA


@dataclass(frozen=True)
class GaussianCount:
    """A record moves the count by exactly 1, so delta(1) is that of mu = 1 / sigma: the claim with equality."""

    sigma: float = SIGMA
    name = "gaussian count"

    def draw(self, dataset, n_draws, *, rng):
        return dataset.n_records + self.sigma * rng.standard_normal((n_draws, 1))

    def log_density(self, outputs, dataset):
        z = (outputs[:, 0] - dataset.n_records) / self.sigma
        return -0.5 * z * z - math.log(self.sigma * math.sqrt(2 * math.pi))

    def worst_profile(self, x_bound, y_bound):
        return GaussianProfile(1 / self.sigma)


class LaplaceSum(LaplaceOfSum):
    """A record moves the sum of responses by at most y_bound = 1: Laplace noise of scale 1 gives loss at most 1."""

    name = "laplace sum"


@dataclass(frozen=True)
class LaplaceMoment:
    """|x y|_1 <= sqrt(3) |x||y| <= sqrt(3): loss at most sqrt(3) / scale = 1, below randomised response."""

    scale: float = math.sqrt(3)
    name = "laplace moment"

    def draw(self, dataset, n_draws, *, rng):
        return dataset.X.T @ dataset.y + rng.laplace(scale=self.scale, size=(n_draws, dataset.dim))

    def log_density(self, outputs, dataset):
        distance = np.abs(outputs - dataset.X.T @ dataset.y).sum(axis=1)
        return -distance / self.scale - dataset.dim * math.log(2 * self.scale)

    def worst_profile(self, x_bound, y_bound):
        return PureProfile(math.sqrt(3) * x_bound * y_bound / self.scale)


@dataclass(frozen=True)
class Pure:
    """States ``epsilon``; ``true`` is what a broken one draws with."""

    epsilon: float = 1.0
    true: float = 1.0
    name = "pure"

    def worst_profile(self, x_bound, y_bound):
        return PureProfile(self.epsilon)


@dataclass(frozen=True)
class Geometric(Pure):
    """The count moves by 1 and the mass falls by e^-epsilon a step: the loss is +-epsilon (Ghosh et al. 2009)."""

    name = "geometric count"

    def draw(self, dataset, n_draws, *, rng):
        p = -math.expm1(-self.true)
        return dataset.n_records + (rng.geometric(p, (n_draws, 1)) - rng.geometric(p, (n_draws, 1))).astype(float)

    def log_density(self, outputs, dataset):
        return -self.epsilon * np.abs(outputs[:, 0] - dataset.n_records) + math.log(math.tanh(self.epsilon / 2))


@dataclass(frozen=True)
class RandomisedResponse(Pure):
    """One bit kept with probability e/(1 + e): loss +-1 where the bit differs, 0 elsewhere (Warner 1965)."""

    name = "randomised response"

    def draw(self, dataset, n_draws, *, rng):
        bit = (dataset.y > 0).any()
        flipped = rng.random((n_draws, 1)) < 1 / (1 + math.exp(self.true))
        return (flipped ^ bit).astype(float)

    def log_density(self, outputs, dataset):
        kept = outputs[:, 0] == float((dataset.y > 0).any())
        return np.where(kept, 0.0, -self.epsilon) - math.log1p(math.exp(-self.epsilon))


@dataclass(frozen=True)
class ExponentialMechanism(Pure):
    """The utility of each candidate moves by at most 1, weights exp(epsilon u / 2) (McSherry and Talwar 2007)."""

    true: float = 0.5
    name = "private median"
    candidates = np.array([-0.8, -0.4, 0.0, 0.4, 0.8])

    def log_weights(self, dataset):
        y = dataset.y[:, None]
        utility = -np.abs((y < self.candidates).sum(axis=0) - (y > self.candidates).sum(axis=0)).astype(float)
        return self.true * utility - np.logaddexp.reduce(self.true * utility)

    def draw(self, dataset, n_draws, *, rng):
        return rng.choice(self.candidates, (n_draws, 1), p=np.exp(self.log_weights(dataset)))

    def log_density(self, outputs, dataset):
        return self.log_weights(dataset)[np.abs(outputs - self.candidates).argmin(axis=1)]


@dataclass(frozen=True)
class StaircaseNoise(Pure):
    """Noise on the count for a sensitivity of ``reach``, by an author who states no density."""

    reach: float = 1.0

    @property
    def gamma(self) -> float:
        return 1 / (1 + math.exp(self.epsilon / 2))

    def draw(self, dataset, n_draws, *, rng):
        size, gamma = (n_draws, 1), self.gamma
        steps = rng.geometric(-math.expm1(-self.epsilon), size) - 1
        inner = rng.random(size) < gamma / (gamma + (1 - gamma) * math.exp(-self.epsilon))
        u = rng.random(size)
        distance = np.where(inner, steps + gamma * u, steps + gamma + (1 - gamma) * u)
        return dataset.n_records + np.where(rng.random(size) < 0.5, 1.0, -1.0) * self.reach * distance


class Staircase(StaircaseNoise):
    """Density e^-epsilon lower for every step of length 1, which is the sensitivity (Geng and Viswanath 2014)."""

    name = "staircase count"

    def log_density(self, outputs, dataset):
        distance, falls = np.abs(outputs[:, 0] - dataset.n_records), -math.expm1(-self.epsilon)
        level = np.floor(distance) + (distance - np.floor(distance) >= self.gamma)
        height = falls / (2 * (self.gamma + (1 - self.gamma) * math.exp(-self.epsilon)))
        return math.log(height) - self.epsilon * level


class OpenDPCount:
    """OpenDP's geometric noise of scale 1 on the count, sensitivity 1: loss +-1; the operating system's randomness."""

    name = "OpenDP geometric"

    def draw(self, dataset, n_draws, *, rng):
        import opendp.prelude as dp

        dp.enable_features("contrib", "honest-but-curious")
        space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
        release = dp.m.make_geometric(*space, 1.0)
        sizes = [4096] * (n_draws // 4096) + ([n_draws % 4096] if n_draws % 4096 else [])
        return np.concatenate([release([dataset.n_records] * size) for size in sizes]).astype(float)[:, None]


class DiffprivlibSum:
    """diffprivlib's Laplace mechanism on the sum of responses clipped to [-1, 1], sensitivity 1, epsilon 1."""

    name = "diffprivlib Laplace"

    def draw(self, dataset, n_draws, *, rng):
        from diffprivlib import mechanisms

        state = np.random.RandomState(np.random.MT19937(int(rng.integers(2**63))))
        noise = mechanisms.Laplace(epsilon=1.0, sensitivity=1.0, random_state=state)
        value = float(np.clip(dataset.y, -1, 1).sum())
        return np.array([noise.randomise(value) for _ in range(n_draws)])[:, None]


class SlowFit:
    """0.3 s of work a draw, then |X^T y| moves by at most 1 under N(0, sigma^2 I): as NoisyMoment."""

    name = "slow fit"
    seconds = 0.3

    def draw(self, dataset, n_draws, *, rng):
        outputs = []
        for _ in range(n_draws):
            time.sleep(self.seconds)
            outputs.append(dataset.X.T @ dataset.y + SIGMA * rng.standard_normal(dataset.dim))
        return outputs


class LeastRecords(NoisyMoment):
    """As NoisyMoment on its public domain, which has at least 8 records (``n_min``); refuses what lies outside."""

    def _checked(self, dataset):
        if dataset.n_records < 8:
            raise ValueError("at least 8 records are needed")

    def draw(self, dataset, n_draws, *, rng):
        self._checked(dataset)
        return super().draw(dataset, n_draws, rng=rng)


@dataclass(frozen=True)
class TestedRelease:
    """A count decides whether a sum is answered or None, Laplace noise of scale 2 on each: 1/2 + 1/2."""

    least: float = 5.0
    name = "tested release"

    def draw(self, dataset, n_draws, *, rng):
        asked = dataset.n_records + rng.laplace(scale=2.0, size=n_draws) >= self.least
        values = dataset.y.sum() + rng.laplace(scale=2.0, size=n_draws)
        return [float(value) if yes else None for value, yes in zip(values, asked, strict=True)]


class FrameAnswer:
    """A count and a sum bounded by 1 with Laplace noise of scale 2 in a frame of fixed shape: 1/2 + 1/2."""

    name = "data frame"

    def draw(self, dataset, n_draws, *, rng):
        import pandas as pd

        values = np.array([dataset.n_records, dataset.y.sum()]) + rng.laplace(scale=2.0, size=(n_draws, 2))
        return [pd.DataFrame({"statistic": ["count", "sum"], "value": row}) for row in values]


class ReplacedMoment(NoisyMoment):
    """Replacing a record moves X^T y by at most 2 x_bound y_bound: Gaussian private with mu = 2 bound / sigma."""

    def worst_profile(self, x_bound, y_bound, relation="add-remove"):
        return GaussianProfile((2 if relation == "replace" else 1) * x_bound * y_bound / self.sigma)


# --- class 4: with a wrong constant, sold as pure or almost pure ------------------------------------------------------


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

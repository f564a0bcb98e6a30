"""Laws that are partly discrete, and laws on an interval: thresholds, public spikes, truncation, an atom that decides.

Densities are with respect to length and counting together. Each docstring derives its claim.
"""

import math
from dataclasses import dataclass

import numpy as np
from oracles.bank_laws import PureProfile, up
from scipy.stats import laplace, norm

from mechanisms import GaussianProfile, LaplaceProfile
from mechanisms.base import Direction

FAMILIES = {"laplace": laplace, "gaussian": norm}


@dataclass(frozen=True)
class SpikedProfile:
    """With probability ``public`` the output is the same in both worlds; else the profile is that of ``inner``."""

    inner: object
    public: float

    def delta_at(self, epsilon, direction=Direction.FORWARD):
        shared = self.public * max(0.0, -math.expm1(epsilon))
        return (1 - self.public) * self.inner.delta_at(epsilon, direction) + shared


@dataclass(frozen=True)
class FiniteProfile:
    """Two laws on finitely many outputs, each direction."""

    p: tuple[float, ...]
    q: tuple[float, ...]

    def delta_at(self, epsilon, direction=Direction.FORWARD):
        p, q = (self.p, self.q) if direction is Direction.FORWARD else (self.q, self.p)
        return sum(max(0.0, a - math.exp(epsilon) * b) for a, b in zip(p, q, strict=True))


def atom_or(values, atom, at_atom, elsewhere):
    """Return the log mass on one output, and the log density on every other."""
    return np.where(values == atom, at_atom, elsewhere)


@dataclass(frozen=True)
class OfAStatistic:
    """The sum of responses moves by at most y_bound (replaced: twice), the count by 1."""

    noise: str = "laplace"
    scale: float = 1.0
    statistic: str = "sum"

    def centre(self, dataset):
        return float(dataset.y.sum()) if self.statistic == "sum" else float(dataset.n_records)

    def law(self, dataset):
        return FAMILIES[self.noise](loc=self.centre(dataset), scale=self.scale)

    def noised(self, dataset, n_draws, rng):
        drawn = rng.laplace if self.noise == "laplace" else rng.normal
        return self.centre(dataset) + drawn(scale=self.scale, size=n_draws)

    def pack(self, values):
        return np.asarray(values, dtype=float)

    def unpack(self, outputs):
        return np.asarray(outputs, dtype=float).reshape(-1, 1)

    def worst_profile(self, x_bound, y_bound, relation="add-remove"):
        replaced = relation == "replace"
        shift = y_bound * (1 + replaced) if self.statistic == "sum" else 1.0 - replaced
        return (LaplaceProfile if self.noise == "laplace" else GaussianProfile)(shift / self.scale)


@dataclass(frozen=True)
class Thresholded(OfAStatistic):
    """A noisy number is reported only above ``least``; below it None, a word or a fixed number: post-processing.

    Laplace noise: the atom's ratio is e^(1/scale) wherever both centres are above ``least``; normal noise: the event
    that decides is a half-line, which is still seen where it begins above ``least``.
    """

    least: float = 0.0
    otherwise: str = "none"  # "word", "value"
    instead: float = 0.0
    name = "thresholded answer"

    def pack(self, values):
        values = np.asarray(values, dtype=float)[:, 0]
        if self.otherwise == "value":
            return np.where(np.isnan(values), self.instead, values)[:, None]
        symbol = None if self.otherwise == "none" else "below"
        return [symbol if math.isnan(v) else float(v) for v in values]

    def unpack(self, outputs):
        if self.otherwise == "value":
            values = np.asarray(outputs, dtype=float).reshape(-1)
            return np.where(values == self.instead, np.nan, values)[:, None]
        return np.array([np.nan if o is None or isinstance(o, str) else float(o) for o in outputs])[:, None]

    def draw(self, dataset, n_draws, *, rng):
        values = self.noised(dataset, n_draws, rng)
        return self.pack(np.where(values > self.least, values, np.nan)[:, None])

    def log_density(self, outputs, dataset):
        values, law = self.unpack(outputs)[:, 0], self.law(dataset)
        seen = np.where(values > self.least, law.logpdf(values), -np.inf)
        return np.where(np.isnan(values), law.logcdf(self.least), seen)


@dataclass(frozen=True)
class Spiked(OfAStatistic):
    """With public probability ``public`` the fixed ``value`` is released, else a noisy number; which is not said.

    delta(epsilon) = (1 - public) delta_noise(epsilon) for epsilon >= 0: the worlds share the rest. With ``decimals``
    the noisy number is rounded first, and may fall on the spike, which can only help.
    """

    public: float = 0.5
    value: float = 0.0
    decimals: int | None = None
    name = "answer or a public value"

    def draw(self, dataset, n_draws, *, rng):
        values = self.noised(dataset, n_draws, rng)
        if self.decimals is not None:
            values = np.round(values, self.decimals) + 0.0
        return np.where(rng.random(n_draws) < self.public, self.value, values)[:, None]

    def log_density(self, outputs, dataset):
        values, law = self.unpack(outputs)[:, 0], self.law(dataset)
        if self.decimals is None:
            own = law.logpdf(values) + math.log1p(-self.public)
            return atom_or(values, self.value, math.log(self.public), own)
        half = 0.5 * 10.0**-self.decimals
        side = np.where(values > law.mean(), -1.0, 1.0)  # by symmetry, where nothing cancels
        near = law.mean() + side * (values - law.mean())
        own = np.maximum(law.cdf(near + half) - law.cdf(near - half), 1e-320) * (1 - self.public)
        return np.log(own + self.public * (values == self.value))

    def worst_profile(self, x_bound, y_bound, relation="add-remove"):
        return SpikedProfile(super().worst_profile(x_bound, y_bound, relation), self.public)


@dataclass(frozen=True)
class SometimesRounded(OfAStatistic):
    """A noisy number, with public probability 1/2 rounded to an integer: post-processing of one noisy number."""

    name = "sometimes rounded"

    def draw(self, dataset, n_draws, *, rng):
        values = self.noised(dataset, n_draws, rng)
        return np.where(rng.random(n_draws) < 0.5, np.round(values) + 0.0, values)[:, None]

    def log_density(self, outputs, dataset):
        values, law = self.unpack(outputs)[:, 0], self.law(dataset)
        side = np.where(values > law.mean(), -1.0, 1.0)
        near = law.mean() + side * (values - law.mean())
        mass = np.maximum(law.cdf(near + 0.5) - law.cdf(near - 0.5), 1e-320)
        return np.where(values == np.rint(values), np.log(mass), law.logpdf(values)) - math.log(2)


@dataclass(frozen=True)
class Truncated(OfAStatistic):
    """The sum c, clipped to [-most, most], plus noise conditioned on the answer lying in [-bound, bound].

    Z(c) is the chance to lie there; the loss is that of the noise plus log Z(c')/Z(c). log Z is concave and even.
    Laplace: the noise's part is at most (c - c')/scale; with that of Z the sum grows in c and falls in c', so the gap
    is 1, and by concavity c = most: epsilon = 1/scale + log Z(most - 1)/Z(most).
    Normal: the noise's part is (c - c')(2 bound - c - c')/(2 scale^2) at the end; d/dc of the sum is
    E[bound - o]/scale^2 >= 0, so the gap is 1; along it the derivative is (E_c'[o] - E_c[o])/scale^2 <= 0, so c' =
    -most: epsilon = (2 bound + 2 most - 1)/(2 scale^2) + log Z(-most)/Z(1 - most). No delta is needed.
    """

    most: float = 1.0
    bound: float = 2.0
    name = "truncated answer"

    def centre(self, dataset):
        return float(np.clip(dataset.y.sum(), -self.most, self.most))

    def inside(self, centre):
        law = FAMILIES[self.noise](loc=centre, scale=self.scale)
        return law.cdf(-self.bound), law.cdf(self.bound)

    def epsilon(self):
        def log_z(c):
            low, high = self.inside(c)
            return math.log(high - low)

        if self.noise == "laplace":
            return 1 / self.scale + log_z(self.most - 1) - log_z(self.most)
        loss = (2 * self.bound + 2 * self.most - 1) / (2 * self.scale**2)
        return loss + log_z(-self.most) - log_z(1 - self.most)

    def draw(self, dataset, n_draws, *, rng):
        low, high = self.inside(self.centre(dataset))
        values = self.law(dataset).ppf(low + (high - low) * rng.random(n_draws))
        return np.clip(values, -self.bound, self.bound)[:, None]

    def log_density(self, outputs, dataset):
        values, (low, high) = self.unpack(outputs)[:, 0], self.inside(self.centre(dataset))
        found = self.law(dataset).logpdf(values) - math.log(high - low)
        return np.where(np.abs(values) <= self.bound, found, -np.inf)

    def worst_profile(self, x_bound, y_bound):
        return PureProfile(up(self.epsilon()))


@dataclass(frozen=True)
class BoundedNormal(OfAStatistic):
    """The sum, clipped to [0, 1], plus normal noise, clamped to [low, high]: pure, and the atoms decide.

    Inside, the loss is largest at an end, where the atom's is larger: it is a tail, whose hazard grows. At ``high`` it
    is log P(N > high - 1)/P(N > high) for the centres 1 and 0; at ``low`` the same with 1 - low in the place of high.
    In between the log ratio of tails is monotone in each centre.
    """

    noise: str = "gaussian"
    low: float = -1.0
    high: float = 2.0
    name = "bounded normal answer"

    def centre(self, dataset):
        return float(np.clip(dataset.y.sum(), 0.0, 1.0))

    def epsilon(self):
        ends = (self.high, 1 - self.low)
        return max(float(norm.logsf((e - 1) / self.scale) - norm.logsf(e / self.scale)) for e in ends)

    def draw(self, dataset, n_draws, *, rng):
        return np.clip(self.noised(dataset, n_draws, rng), self.low, self.high)[:, None]

    def log_density(self, outputs, dataset):
        values, law = self.unpack(outputs)[:, 0], self.law(dataset)
        found = np.where((values < self.low) | (values > self.high), -np.inf, law.logpdf(values))
        found = atom_or(values, self.low, law.logcdf(self.low), found)
        return atom_or(values, self.high, law.logsf(self.high), found)

    def worst_profile(self, x_bound, y_bound):
        return PureProfile(up(self.epsilon()))


@dataclass(frozen=True)
class RareSpike(OfAStatistic):
    """One bit of the records moves the mass of one value from ``rare`` to e^epsilon rare; else public normal noise.

    The largest ratio, e^epsilon, is the atom's; elsewhere it is (1 - rare)/(1 - e^epsilon rare), at most as large for
    the values used here: rare <= 1/(1 + e^epsilon).
    """

    epsilon: float = 1.0
    rare: float = 0.1
    value: float = 3.0
    name = "rare spike"

    def mass(self, dataset):
        return self.rare * (math.exp(self.epsilon) if (dataset.y > 0).any() else 1.0)

    def draw(self, dataset, n_draws, *, rng):
        noise = rng.normal(scale=self.scale, size=n_draws)
        return np.where(rng.random(n_draws) < self.mass(dataset), self.value, noise)[:, None]

    def log_density(self, outputs, dataset):
        values, mass = self.unpack(outputs)[:, 0], self.mass(dataset)
        elsewhere = norm.logpdf(values, scale=self.scale) + math.log1p(-mass)
        return atom_or(values, self.value, math.log(mass), elsewhere)

    def worst_profile(self, x_bound, y_bound):
        high = self.rare * math.exp(self.epsilon)
        forward, backward = (
            ((high, 1 - high), (self.rare, 1 - self.rare)),
            ((self.rare, 1 - self.rare), (high, 1 - high)),
        )
        return LargerProfile(FiniteProfile(*forward), FiniteProfile(*backward))


@dataclass(frozen=True)
class LargerProfile:
    """Which of two data sets has the record is not said: the larger of both profiles."""

    first: FiniteProfile
    second: FiniteProfile

    def delta_at(self, epsilon):
        return max(self.first.delta_at(epsilon), self.second.delta_at(epsilon))


class BareAnswer:
    """As the mechanism named in ``kind``, by an author who states no law."""

    name = "no law"

    def __init__(self, kind, **parameters):
        kinds = {"thresholded": Thresholded, "spiked": Spiked, "truncated": Truncated, "bounded": BoundedNormal}
        self.inner = kinds[kind](**parameters)

    def draw(self, dataset, n_draws, *, rng):
        return self.inner.draw(dataset, n_draws, rng=rng)

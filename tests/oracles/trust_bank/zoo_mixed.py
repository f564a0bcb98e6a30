"""Laws that are partly discrete, and laws on an interval: thresholds, public spikes, truncation, an atom that decides.

Densities are with respect to length and counting together. Each docstring derives its claim.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import laplace, norm

from mechanisms import GaussianProfile, LaplaceProfile
from mechanisms.base import Bracket, Direction

FAMILIES = {"laplace": laplace, "gaussian": norm}


@dataclass(frozen=True)
class PureProfile:
    """Randomised response at ``size``: the largest of all (size, 0)-private profiles (Kairouz et al. 2015)."""

    size: float

    def delta_at(self, epsilon: float, direction: Direction = Direction.FORWARD) -> float:
        if epsilon < 0:
            return -math.expm1(epsilon) + math.exp(epsilon) * self.delta_at(-epsilon)
        return max(0.0, (math.exp(self.size) - math.exp(epsilon)) / (1 + math.exp(self.size)))

    def log_delta_at(self, epsilon: float, direction: Direction = Direction.FORWARD) -> float:
        value = self.delta_at(epsilon)
        return math.log(value) if value > 0 else -math.inf

    def epsilon_at(self, delta: float, direction: Direction = Direction.FORWARD) -> float:
        return math.log(max(1.0, math.exp(self.size) - delta * (1 + math.exp(self.size))))

    def tail_at(self, epsilon: float, direction: Direction = Direction.FORWARD) -> float:
        if epsilon >= self.size:
            return 0.0
        return 1.0 if epsilon < -self.size else 1 / (1 + math.exp(-self.size))

    def delta_bracket(self, epsilon: float, direction: Direction = Direction.FORWARD) -> Bracket:
        value = self.delta_at(epsilon)
        return Bracket(value * (1 - 1e-12), min(1.0, value * (1 + 1e-12)))

    def tail_bracket(self, epsilon: float, direction: Direction = Direction.FORWARD) -> Bracket:
        value = self.tail_at(epsilon)
        return Bracket(value * (1 - 1e-12), min(1.0, value * (1 + 1e-12)))


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


ROOT2, PI3 = math.sqrt(2), math.pi / 3


def up(value):
    """Return a number that is larger by far more than its rounding; whole quotients of 2 stay."""
    return value if float(value * 8).is_integer() else value * (1 + 1e-12)


def row(name, size, kind, delta=0.0, changes=None, **parameters):
    claim = {"epsilon": up(size), "delta": delta, "law": True, **(changes or {})}
    return f"zoo-{name}", kind, parameters, claim, kind.__doc__


def bare(entry, kind):
    """Return the row of the same mechanism without its law."""
    name, _, parameters, changes, why = entry
    changes = {key: value for key, value in changes.items() if key != "law"}
    return name.replace("zoo-", "zoo-no-law-"), BareAnswer, {"kind": kind, **parameters}, changes, why


def normal(scale, epsilon, shift=1.0):
    return GaussianProfile(shift / scale).delta_bracket(epsilon).high * (1 + 1e-9)


def derived(name, kind, **parameters):
    """Return a row whose claim is what the class derives."""
    return row(name, kind(**parameters).epsilon(), kind, **parameters)


COUNT, NORMAL, REPLACE = {"statistic": "count"}, {"noise": "gaussian"}, {"relation": "replace"}
THRESHOLDED = [
    row("thresholded-none-laplace-count-one", 1.0, Thresholded, least=5.0, **COUNT),
    row("thresholded-none-laplace-half", 2.0, Thresholded, scale=0.5),
    row("thresholded-none-at-centre-laplace-root2", 1 / ROOT2, Thresholded, scale=ROOT2),
    row("thresholded-word-laplace-one", 1.0, Thresholded, least=-1.0, otherwise="word"),
    row("thresholded-word-gaussian-count-two", 1.0, Thresholded, normal(2, 1), least=5.0, otherwise="word", scale=2.0,
        **NORMAL, **COUNT),
    row("thresholded-value-laplace-two", 0.5, Thresholded, otherwise="value", instead=-1.0, scale=2.0),
    row("thresholded-value-gaussian-one", 2.0, Thresholded, normal(1, 2), otherwise="value", **NORMAL),
    row("thresholded-value-laplace-replace-one", 2.0, Thresholded, least=1.0, otherwise="value", changes=REPLACE),
]  # fmt: skip
SPIKED = [
    row("spiked-half-laplace-one", 1.0, Spiked),
    row("spiked-half-laplace-at-value-1-root2", 1 / ROOT2, Spiked, value=1.0, scale=ROOT2),
    row("spiked-tenth-laplace-count-half", 2.0, Spiked, public=0.1, scale=0.5, **COUNT),
    row("spiked-half-gaussian-two", 1.0, Spiked, 0.5 * normal(2, 1), scale=2.0, **NORMAL),
    row("spiked-quarter-gaussian-one", 2.0, Spiked, 0.75 * normal(1, 2), public=0.25, value=-7.5, **NORMAL),
    row("spiked-half-laplace-count-rounded-one", 1.0, Spiked, value=7.0, decimals=0, **COUNT),
    row("spiked-fifth-laplace-rounded-one-decimal-two", 0.5, Spiked, public=0.2, decimals=1, scale=2.0),
    row("sometimes-rounded-laplace-count-one", 1.0, SometimesRounded, **COUNT),
    row("sometimes-rounded-laplace-pi3", 1 / PI3, SometimesRounded, scale=PI3),
    row("sometimes-rounded-gaussian-two", 1.0, SometimesRounded, normal(2, 1), scale=2.0, **NORMAL),
    row("rare-spike-one", 1.0, RareSpike),
    row("rare-spike-two", 2.0, RareSpike, epsilon=2.0, rare=0.02, value=0.0),
    row("rare-spike-pi3", PI3, RareSpike, epsilon=PI3, rare=0.05, value=1.5, scale=2.0),
]
INTERVALS = [
    derived("truncated-renormalised-laplace-one", Truncated),
    derived("truncated-renormalised-laplace-half", Truncated, scale=0.5),
    derived("truncated-renormalised-laplace-two", Truncated, scale=2.0),
    derived("truncated-renormalised-laplace-root2-bounds-at-centres", Truncated, scale=ROOT2, bound=1.0),
    derived("truncated-renormalised-gaussian-one", Truncated, **NORMAL),
    derived("truncated-renormalised-gaussian-two-bounds-at-centres", Truncated, scale=2.0, bound=1.0, **NORMAL),
    derived("truncated-renormalised-gaussian-pi3", Truncated, scale=PI3, bound=3.0, most=2.0, **NORMAL),
    derived("bounded-gaussian-tight-at-atom-one", BoundedNormal),
    derived("bounded-gaussian-tight-at-atom-two", BoundedNormal, scale=2.0, low=0.0, high=3.0),
    derived("bounded-gaussian-tight-at-atom-bounds-at-centres-one", BoundedNormal, low=0.0, high=1.0),
    derived("bounded-gaussian-tight-at-atom-root2", BoundedNormal, scale=ROOT2, low=-2.0, high=1.0),
]
NO_LAW = [
    bare(THRESHOLDED[0], "thresholded"),
    bare(THRESHOLDED[3], "thresholded"),
    bare(SPIKED[0], "spiked"),
    bare(INTERVALS[0], "truncated"),
    bare(INTERVALS[7], "bounded"),
]
ROWS = [*THRESHOLDED, *SPIKED, *INTERVALS, *NO_LAW]

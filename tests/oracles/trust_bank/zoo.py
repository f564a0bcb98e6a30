"""Honest laws: noise on sums, counts, moments and histograms, and mixtures; each docstring derives its claim.

What is done to a number after the noise reads no record, so the claim is that of the noise (post-processing). It is met
with equality where the event that decides it survives what is done, which the bounds and steps here let it. Densities
are with respect to length and, on bounds, grids and words, to counting.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from oracles.bank_laws import WHOLE, Noise, PureProfile, pack, unpack
from scipy.stats import laplace, norm

from mechanisms import GaussianProfile, LaplaceProfile
from mechanisms.base import Direction


@dataclass(frozen=True)
class Release:
    """Noise on every coordinate of a statistic; then rounded, clamped to [low, high], or left out below ``least``.

    The statistic is clamped to ``between``. ``instead`` is released for what is left out. ``extra`` times the stated
    noise is what is drawn, from a generator of its ``own`` if it has one. ``single`` states the density in float32.
    """

    noise: str = "laplace"
    scale: float = 1.0
    dof: float = 3.0
    of: str = "sum"
    bins: int = 3
    between: tuple[float, float] | None = None
    low: float | None = None
    high: float | None = None
    decimals: int | None = None
    least: float | None = None
    instead: float | None = None
    form: str = "array"
    own: str = ""
    extra: float = 1.0
    single: bool = False
    name = "noisy answer"

    @cached_property
    def stated(self):
        return Noise(self.noise, self.scale, self.dof)

    def centre(self, dataset):
        if self.of == "histogram":
            at = ((dataset.y / dataset.y_bound + 1) / 2 * self.bins).astype(int)
            return np.bincount(np.clip(at, 0, self.bins - 1), minlength=self.bins).astype(float)
        if self.of == "moments":
            return dataset.X.T @ dataset.y
        value = np.array([dataset.y.sum() if self.of == "sum" else dataset.n_records])
        return value if self.between is None else np.clip(value, *self.between)

    def ends(self):
        low, high = (np.inf * sign if end is None else end for end, sign in ((self.low, -1), (self.high, 1)))
        return (float(np.float32(low)), float(np.float32(high))) if self.form == "float32" else (low, high)

    def keys(self, dim):
        if self.noise in WHOLE:
            return ("n",)
        return ("sum",) if self.of in {"sum", "count"} else tuple(f"x{j}" for j in range(dim))

    def pack(self, values):
        if self.instead is not None:
            values = np.where(np.isnan(values), self.instead, values)
        return pack(self.form, values, self.keys(values.shape[1]), self.decimals, self.noise in WHOLE)

    def unpack(self, outputs, dataset):
        values = unpack(self.form, outputs, self.keys(len(self.centre(dataset))))
        return values if self.instead is None else np.where(values == self.instead, np.nan, values)

    def values(self, dataset, n_draws, rng):
        noise, centre = Noise(self.noise, self.scale * self.extra, self.dof), self.centre(dataset)
        if self.own == "system":
            values = centre + noise.draw_of_system(n_draws)[:, None]
        else:
            rng = np.random.default_rng() if self.own == "numpy" else rng
            values = centre + noise.draw(rng, (n_draws, len(centre)))
        if self.decimals is not None:
            values = np.round(values, self.decimals) + 0.0  # no -0.0
        if self.low is not None or self.high is not None:
            values = np.clip(values, self.low, self.high)
        return values if self.least is None else np.where(values > self.least, values, np.nan)

    def draw(self, dataset, n_draws, *, rng):
        return self.pack(self.values(dataset, n_draws, rng))

    def log_density(self, outputs, dataset):
        found = self.log_density_at(self.unpack(outputs, dataset), self.centre(dataset)).sum(axis=1)
        return found.astype(np.float32) if self.single else found

    def log_density_at(self, values, centre):
        """Return the log density of each coordinate."""
        (low, high), half, nothing = self.ends(), 0.0, np.isnan(values)
        z = np.where(nothing, 0.0, values - centre)
        if self.decimals is None:
            found = self.stated.log_density(z)
        else:
            half, steps = 0.5 * 10.0**-self.decimals, values * 10.0**self.decimals
            on_grid = np.abs(steps - np.rint(steps)) < 1e-6
            found = np.where(on_grid, self.stated.log_between(z - half, z + half), -np.inf)
        if self.low is not None:
            found = np.where(values == low, self.stated.log_at_least(centre - self.low - half), found)
        if self.high is not None:
            found = np.where(values == high, self.stated.log_at_least(self.high - half - centre), found)
        found = np.where((values < low) | (values > high), -np.inf, found)
        if self.least is not None:
            found = np.where(values <= self.least, -np.inf, found)
            found = np.where(nothing, self.stated.log_at_least(centre - self.least), found)
        return found


@dataclass(frozen=True)
class Answer(Release):
    """A record moves the sum of responses by at most y_bound (replaced: twice), the count by 1; the noise hides that.

    Rounded first, then clamped; the statistic may be clamped as well, so that the bounds are centres. More noise than
    is stated keeps the claim with room: each law here is a scale family whose largest loss falls with the scale.
    """

    def worst_profile(self, x_bound, y_bound, relation="add-remove"):
        replaced = relation == "replace"
        return self.stated.profile(y_bound * (1 + replaced) if self.of == "sum" else 1.0 - replaced)


@dataclass(frozen=True)
class GeometricCount(Release):
    """The count moves by 1 and the mass falls by e^-epsilon a step (Ghosh et al. 2009); clamping is post-processing.

    At a clamp with both counts inside, the masses are geometric tails, whose ratio is e^epsilon: the atom is tight.
    """

    noise: str = "geometric"
    of: str = "count"
    form: str = "int"
    name = "geometric count"

    def worst_profile(self, x_bound, y_bound):
        return self.stated.profile(1.0)


@dataclass(frozen=True)
class DiscreteGaussianCount(GeometricCount):
    """The count moves by 1 under discrete Gaussian noise: delta is a sum, and 1/(2 sigma^2)-zCDP holds.

    Both are by Canonne, Kamath and Steinke (2020), theorems 7 and 4; the Renyi divergence of order alpha is at most
    alpha/(2 sigma^2), with equality where alpha is whole.
    """

    noise: str = "discrete-gaussian"
    name = "discrete Gaussian count"


@dataclass(frozen=True)
class Staircase(GeometricCount):
    """Density e^-epsilon lower for every step of length 1, which is the sensitivity (Geng and Viswanath 2014).

    Steps begin 1 apart, so a shift of at most 1 crosses at most one of them: the loss is at most epsilon. Clamping is
    post-processing; the tails beyond a clamp have the ratio e^epsilon as well.
    """

    noise: str = "staircase"
    form: str = "array"
    name = "staircase answer"


@dataclass(frozen=True)
class Moments(Release):
    """|x y| <= x_bound y_bound moves X^T y by as much: mu = bound / sigma (replaced: twice), met by one on an axis."""

    noise: str = "gaussian"
    of: str = "moments"
    name = "moments"

    def worst_profile(self, x_bound, y_bound, relation="add-remove"):
        return GaussianProfile((2 if relation == "replace" else 1) * x_bound * y_bound / self.scale)


@dataclass(frozen=True)
class LaplaceMoments(Release):
    """|x y|_1 <= sqrt(dim) x_bound y_bound, met by a record on the diagonal: epsilon = sqrt(dim) bound / scale."""

    of: str = "moments"
    features: int = 2
    name = "moments"

    def worst_profile(self, x_bound, y_bound):
        return PureProfile(math.sqrt(self.features) * x_bound * y_bound / self.scale)


@dataclass(frozen=True)
class Histogram(Release):
    """A record adds 1 to one of ``bins`` counts: the law is that of one noisy count (replaced: of two, by 1 each)."""

    of: str = "histogram"
    name = "noisy histogram"

    def worst_profile(self, x_bound, y_bound, relation="add-remove"):
        return PureProfile(2 / self.scale) if relation == "replace" else LaplaceProfile(1 / self.scale)


@dataclass(frozen=True)
class CountAndSum:
    """A sum with Laplace noise and a count with geometric noise: 1/scale + epsilon, met where both move up by 1.

    ``nonnegative`` sets negative counts to 0, which leaves the ratio of that atom. ``extra`` times the stated noise of
    the sum is what is drawn.
    """

    scale: float = 2.0
    count_epsilon: float = 0.5
    form: str = "dict"
    nonnegative: bool = True
    own: str = ""
    extra: float = 1.0
    decimals: int | None = None
    name = "count and sum"

    def parts(self):
        """Return both releases."""
        sums = Answer(scale=self.scale, extra=self.extra, decimals=self.decimals)
        return sums, GeometricCount(scale=1 / self.count_epsilon, low=0 if self.nonnegative else None)

    def pack(self, values):
        return pack(self.form, values, ("sum", "n"), whole=(False, self.form != "array"))

    def unpack(self, outputs, dataset):
        return unpack(self.form, outputs, ("sum", "n"))

    def draw(self, dataset, n_draws, *, rng):
        rng = np.random.default_rng() if self.own else rng
        return self.pack(np.column_stack([part.values(dataset, n_draws, rng) for part in self.parts()]))

    def log_density(self, outputs, dataset):
        columns = self.unpack(outputs, dataset).T
        pairs = zip(columns, self.parts(), strict=True)
        return sum(part.log_density_at(values, part.centre(dataset)) for values, part in pairs)

    def worst_profile(self, x_bound, y_bound):
        return PureProfile(y_bound / self.scale + self.count_epsilon)


# --- mixtures, and laws on an interval --------------------------------------------------------------------------------


@dataclass(frozen=True)
class SpikedProfile:
    """With probability ``public`` the output is the same in both worlds; else the profile is that of ``inner``."""

    inner: object
    public: float

    def delta_at(self, epsilon, direction=Direction.FORWARD):
        shared = self.public * max(0.0, -math.expm1(epsilon))
        return (1 - self.public) * self.inner.delta_at(epsilon, direction) + shared


@dataclass(frozen=True)
class TwoValues:
    """The larger hockey-stick of an event of probability ``p`` in one world and ``q`` in the other, each direction."""

    p: float
    q: float

    def delta_at(self, epsilon):
        def one_way(p, q):
            e = math.exp(epsilon)
            return max(0.0, p - e * q) + max(0.0, (1 - p) - e * (1 - q))

        return max(one_way(self.p, self.q), one_way(self.q, self.p))


@dataclass(frozen=True)
class Thresholded(Answer):
    """A noisy number is reported only above ``least``; below it None, a word or a fixed number: post-processing.

    Laplace noise: the atom's ratio is e^(1/scale) wherever both centres are above ``least``; normal noise: the event
    that decides is a half-line, which is still seen where it begins above ``least``.
    """

    least: float | None = 0.0
    form: str = "none"
    name = "thresholded answer"


@dataclass(frozen=True)
class Spiked(Answer):
    """With public probability ``public`` the fixed ``value`` is released, else a noisy number; which is not said.

    delta(epsilon) = (1 - public) delta_noise(epsilon) for epsilon >= 0: the worlds share the rest. With ``decimals``
    the noisy number is rounded first, and may fall on the spike, which can only help.
    """

    public: float = 0.5
    value: float = 0.0
    name = "answer or a public value"

    def draw(self, dataset, n_draws, *, rng):
        values = self.values(dataset, n_draws, rng)
        return np.where(rng.random((n_draws, 1)) < self.public, self.value, values)

    def log_density(self, outputs, dataset):
        noisy, here = super().log_density(outputs, dataset), outputs[:, 0] == self.value
        if self.decimals is None:  # the noisy number is never the value
            return np.where(here, math.log(self.public), noisy + math.log1p(-self.public))
        return np.logaddexp(noisy + math.log1p(-self.public), np.where(here, math.log(self.public), -np.inf))

    def worst_profile(self, x_bound, y_bound, relation="add-remove"):
        return SpikedProfile(super().worst_profile(x_bound, y_bound, relation), self.public)


@dataclass(frozen=True)
class SometimesRounded(Answer):
    """A noisy number, with public probability 1/2 rounded to an integer: post-processing of one noisy number."""

    name = "sometimes rounded"

    def draw(self, dataset, n_draws, *, rng):
        values = self.values(dataset, n_draws, rng)
        return np.where(rng.random((n_draws, 1)) < 0.5, np.round(values) + 0.0, values)

    def log_density(self, outputs, dataset):
        z, whole = outputs - self.centre(dataset), outputs == np.rint(outputs)
        found = np.where(whole, self.stated.log_between(z - 0.5, z + 0.5), self.stated.log_density(z))
        return found[:, 0] - math.log(2)


@dataclass(frozen=True)
class Truncated(Answer):
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
        return np.clip(super().centre(dataset), -self.most, self.most)

    def log_z(self, centre):
        return float(self.stated.log_between(-self.bound - centre, self.bound - centre))

    def epsilon(self):
        if self.noise == "laplace":
            return 1 / self.scale + self.log_z(self.most - 1) - self.log_z(self.most)
        loss = (2 * self.bound + 2 * self.most - 1) / (2 * self.scale**2)
        return loss + self.log_z(-self.most) - self.log_z(1 - self.most)

    def draw(self, dataset, n_draws, *, rng):
        law = laplace if self.noise == "laplace" else norm
        centre = self.centre(dataset)
        low, high = law.cdf((np.array([-self.bound, self.bound]) - centre) / self.scale)
        values = centre + self.scale * law.ppf(low + (high - low) * rng.random((n_draws, 1)))
        return np.clip(values, -self.bound, self.bound)

    def log_density(self, outputs, dataset):
        centre = self.centre(dataset)
        found = self.stated.log_density(outputs - centre) - self.log_z(centre[0])
        return np.where(np.abs(outputs) <= self.bound, found, -np.inf)[:, 0]

    def worst_profile(self, x_bound, y_bound):
        return PureProfile(self.epsilon())


@dataclass(frozen=True)
class BoundedNormal(Answer):
    """The sum, clipped to [0, 1], plus normal noise, clamped to [low, high]: pure, and the atoms decide.

    Inside, the loss is largest at an end, where the atom's is larger: it is a tail, whose hazard grows. At ``high`` it
    is log P(N > high - 1)/P(N > high) for the centres 1 and 0; at ``low`` the same with 1 - low in the place of high.
    In between the log ratio of tails is monotone in each centre.
    """

    noise: str = "gaussian"
    between: tuple[float, float] | None = (0.0, 1.0)
    low: float | None = -1.0
    high: float | None = 2.0
    name = "bounded normal answer"

    def epsilon(self):
        ends = (self.high, 1 - self.low)
        return max(float(norm.logsf((e - 1) / self.scale) - norm.logsf(e / self.scale)) for e in ends)

    def worst_profile(self, x_bound, y_bound):
        return PureProfile(self.epsilon())


@dataclass(frozen=True)
class RareSpike(Release):
    """One bit of the records moves the mass of one value from ``rare`` to e^epsilon rare; else public normal noise.

    The largest ratio, e^epsilon, is the atom's; elsewhere it is (1 - rare)/(1 - e^epsilon rare), at most as large for
    the values used here: rare <= 1/(1 + e^epsilon).
    """

    noise: str = "gaussian"
    epsilon: float = 1.0
    rare: float = 0.1
    value: float = 3.0
    name = "rare spike"

    def centre(self, dataset):
        return np.zeros(1)

    def mass(self, dataset):
        return self.rare * (math.exp(self.epsilon) if (dataset.y > 0).any() else 1.0)

    def draw(self, dataset, n_draws, *, rng):
        noise = self.values(dataset, n_draws, rng)
        return np.where(rng.random((n_draws, 1)) < self.mass(dataset), self.value, noise)

    def log_density(self, outputs, dataset):
        mass = self.mass(dataset)
        elsewhere = super().log_density(outputs, dataset) + math.log1p(-mass)
        return np.where(outputs[:, 0] == self.value, math.log(mass), elsewhere)

    def worst_profile(self, x_bound, y_bound):
        return TwoValues(self.rare * math.exp(self.epsilon), self.rare)


class Bare:
    """As the mechanism of the class ``kind``, by an author who states no law."""

    name = "no law"

    def __init__(self, kind, **parameters):
        self.inner = globals()[kind](**parameters)

    def draw(self, dataset, n_draws, *, rng):
        return self.inner.draw(dataset, n_draws, rng=rng)

"""Several numbers at once, honestly released: vectors, dictionaries, frames, text and lists of changing length.

Every law is a product over the coordinates; densities are with respect to length and, on atoms, counting.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr
from scipy.stats import laplace

from mechanisms import GaussianProfile, LaplaceProfile
from mechanisms.base import Bracket, Direction


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


def log_above(family, u):
    """Return log P(noise > u) for standard Laplace or normal noise."""
    return log_ndtr(-u) if family == "gaussian" else laplace.logsf(u)


def log_between(family, a, b):
    """Return log P(a < noise <= b), on the side where nothing cancels."""
    flip = a + b < 0
    a, b = np.where(flip, -b, a), np.where(flip, -a, b)
    above = log_above(family, a)
    return above + np.log(-np.expm1(log_above(family, b) - above))


def pack(form, values):
    """Give rows of numbers (nan: nothing) the shape in which they are released."""
    if form in {"array", "float32"}:
        return np.asarray(values, dtype=np.float64 if form == "array" else np.float32)
    rows = [[float(v) for v in row] for row in values]
    if form == "frame":
        import pandas as pd

        return [pd.DataFrame({"feature": np.arange(len(row)), "value": row}) for row in rows]
    shapes = {
        "list": lambda row: row,
        "dict": lambda row: {f"x{j}": v for j, v in enumerate(row)},
        "text": lambda row: ";".join(f"{v:.2f}" for v in row),
        "ragged": lambda row: [[j, v] for j, v in enumerate(row) if not math.isnan(v)],
        "sparse": lambda row: {f"bin {j}": v for j, v in enumerate(row) if not math.isnan(v)},
    }
    return [shapes[form](row) for row in rows]


def unpack(form, dim, outputs):
    """Return the rows of numbers in outputs of one shape."""
    if form in {"array", "float32", "list"}:
        return np.asarray(outputs, dtype=float).reshape(len(outputs), dim)
    if form in {"ragged", "sparse"}:
        rows = np.full((len(outputs), dim), np.nan)
        for i, o in enumerate(outputs):
            for j, v in o if form == "ragged" else ((int(key[4:]), v) for key, v in o.items()):
                rows[i, j] = v
        return rows
    reads = {
        "dict": lambda o: [o[f"x{j}"] for j in range(dim)],
        "text": lambda o: [float(v) for v in o.split(";")],
        "frame": lambda o: o["value"].to_numpy(),
    }
    return np.array([reads[form](o) for o in outputs], dtype=float).reshape(len(outputs), dim)


@dataclass(frozen=True)
class Vector:
    """Noise of one scale on every coordinate, then rounded to ``decimals``, clamped, or left out below ``least``."""

    noise: str = "gaussian"
    scale: float = 1.0
    low: float | None = None
    high: float | None = None
    decimals: int | None = None
    least: float | None = None
    form: str = "array"
    own: bool = False
    extra: float = 1.0
    single: bool = False

    def pack(self, values):
        return pack(self.form, values)

    def draw(self, dataset, n_draws, *, rng):
        rng, centre = (np.random.default_rng() if self.own else rng), self.centre(dataset)
        drawn = rng.normal if self.noise == "gaussian" else rng.laplace
        values = centre + drawn(scale=self.scale * self.extra, size=(n_draws, len(centre)))
        if self.decimals is not None:
            values = np.round(values, self.decimals) + 0.0
        if self.low is not None or self.high is not None:
            values = np.clip(values, self.low, self.high)
        return self.pack(values if self.least is None else np.where(values > self.least, values, np.nan))

    def log_density(self, outputs, dataset):
        centre, s = self.centre(dataset), self.scale
        values = unpack(self.form, len(centre), outputs)
        u, half = (np.where(np.isnan(values), centre, values) - centre) / s, 0.0
        if self.decimals is not None:
            half = 0.5 * 10.0**-self.decimals / s
            found = log_between(self.noise, u - half, u + half)
        elif self.noise == "gaussian":
            found = -0.5 * u**2 - math.log(s * math.sqrt(2 * math.pi))
        else:
            found = -np.abs(u) - math.log(2 * s)
        if self.low is not None:
            at = log_above(self.noise, (centre - self.low) / s - half)
            found = np.where(values < self.low, -np.inf, np.where(values == self.low, at, found))
        if self.high is not None:
            at = log_above(self.noise, (self.high - centre) / s - half)
            found = np.where(values > self.high, -np.inf, np.where(values == self.high, at, found))
        if self.least is not None:
            found = np.where(values <= self.least, -np.inf, found)
            found = np.where(np.isnan(values), log_above(self.noise, (centre - self.least) / s), found)
        found = found.sum(axis=1)
        return found.astype(np.float32) if self.single else found


@dataclass(frozen=True)
class Moments(Vector):
    """|x y| <= x_bound y_bound moves X^T y by as much: mu = bound / sigma (replaced: twice), met by one on an axis.

    Rounding and clamping the coordinates is post-processing. With Laplace noise what counts is |x y|_1, at most
    sqrt(dim) times the bound, met by a record on the diagonal.
    """

    name = "moments"

    def centre(self, dataset):
        return dataset.X.T @ dataset.y

    def worst_profile(self, x_bound, y_bound, relation="add-remove"):
        size = (2 if relation == "replace" else 1) * x_bound * y_bound / self.scale
        return GaussianProfile(size)


@dataclass(frozen=True)
class LaplaceMoments(Moments):
    """|x y|_1 <= sqrt(dim) x_bound y_bound, met by a record on the diagonal: epsilon = sqrt(dim) bound / scale."""

    noise: str = "laplace"
    features: int = 2

    def worst_profile(self, x_bound, y_bound):
        return PureProfile(up(math.sqrt(self.features) * x_bound * y_bound / self.scale))


@dataclass(frozen=True)
class Histogram(Vector):
    """A record adds 1 to one of ``bins`` counts: the law is that of one noisy count (replaced: of two, by 1 each)."""

    noise: str = "laplace"
    bins: int = 3
    name = "noisy histogram"

    def centre(self, dataset):
        at = ((dataset.y / dataset.y_bound + 1) / 2 * self.bins).astype(int)
        return np.bincount(np.clip(at, 0, self.bins - 1), minlength=self.bins).astype(float)

    def worst_profile(self, x_bound, y_bound, relation="add-remove"):
        if self.noise == "gaussian":
            return GaussianProfile((math.sqrt(2) if relation == "replace" else 1.0) / self.scale)
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
    own: bool = False
    extra: float = 1.0
    decimals: int | None = None
    name = "count and sum"

    def pack(self, values):
        rows = [(float(v), int(k)) for v, k in values]
        if self.form == "frame":
            import pandas as pd

            return [pd.DataFrame({"sum": [v], "n": [k]}) for v, k in rows]
        shapes = {
            "dict": lambda v, k: {"sum": v, "n": k},
            "json": lambda v, k: json.dumps({"sum": v, "n": k}),
            "tuple": lambda v, k: (v, k),
            "array": lambda v, k: [v, float(k)],
        }
        found = [shapes[self.form](v, k) for v, k in rows]
        return np.array(found).reshape(-1, 2) if self.form == "array" else found

    def unpack(self, outputs):
        reads = {
            "dict": lambda o: (o["sum"], o["n"]),
            "json": lambda o: tuple(json.loads(o)[key] for key in ("sum", "n")),
            "frame": lambda o: (o["sum"].iloc[0], o["n"].iloc[0]),
            "tuple": tuple,
            "array": tuple,
        }
        return np.array([reads[self.form](o) for o in outputs], dtype=float).reshape(-1, 2)

    def draw(self, dataset, n_draws, *, rng):
        rng, p = (np.random.default_rng() if self.own else rng), -math.expm1(-self.count_epsilon)
        values = dataset.y.sum() + rng.laplace(scale=self.scale * self.extra, size=n_draws)
        counts = dataset.n_records + rng.geometric(p, n_draws) - rng.geometric(p, n_draws)
        values = values if self.decimals is None else np.round(values, self.decimals) + 0.0
        return self.pack(np.column_stack([values, np.maximum(counts, 0) if self.nonnegative else counts]))

    def log_density(self, outputs, dataset):
        (values, k), n, rate = self.unpack(outputs).T, dataset.n_records, self.count_epsilon
        u = (values - dataset.y.sum()) / self.scale
        if self.decimals is None:
            found = -np.abs(u) - math.log(2 * self.scale)
        else:
            half = 0.5 * 10.0**-self.decimals / self.scale
            found = log_between("laplace", u - half, u + half)
        count = -rate * np.abs(k - n) + math.log(math.tanh(rate / 2))
        if self.nonnegative:
            share = -np.logaddexp(0.0, -rate)
            none = share - rate * n if n > 0 else math.log1p(-math.exp(share - rate))
            count = np.where(k < 0, -np.inf, np.where(k == 0, none, count))
        return found + count

    def worst_profile(self, x_bound, y_bound):
        return PureProfile(up(y_bound / self.scale + self.count_epsilon))


class BareVector:
    """As Moments or Histogram, by an author who states no law."""

    name = "vector, no law"

    def __init__(self, kind, **parameters):
        self.inner = {"moments": Moments, "histogram": Histogram}[kind](**parameters)

    def draw(self, dataset, n_draws, *, rng):
        return self.inner.draw(dataset, n_draws, rng=rng)


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
        at = np.clip(((dataset.y / dataset.y_bound + 1) / 2 * self.bins).astype(int), 0, self.bins - 1)
        counts = np.bincount(at, minlength=self.bins)
        first = (counts + rng.laplace(scale=1 / self.epsilon, size=(n_draws, self.bins))).argmax(axis=1)
        return [f"bin {j}" for j in first]


def up(value):
    """Return a number that is larger by far more than its rounding; whole quotients of 2 stay."""
    return value if float(value * 8).is_integer() else value * (1 + 1e-12)


ROOT2, PI3 = math.sqrt(2), math.pi / 3
LAW, MISSTATED, REPLACE = {"law": True}, {"misstated": True}, {"relation": "replace"}
COUNTS = {"scale": 2.0, "count_epsilon": 0.5}


def moments(name, dim, epsilon, scale=1.0, changes=LAW, shift=1.0, **parameters):
    delta = GaussianProfile(shift / scale).delta_bracket(epsilon).high * (1 + 1e-9)
    claim = {"epsilon": epsilon, "delta": delta, "dim": dim, **changes}
    return f"zoo-{name}", Moments, {"scale": scale, **parameters}, claim, Moments.__doc__


def pure(name, of, epsilon, changes=LAW, /, **parameters):
    return f"zoo-{name}", of, parameters, {"epsilon": up(epsilon), "delta": 0.0, **changes}, of.__doc__


ROWS = [
    moments("moments-1d-one", 1, 2.0, low=-2.0, high=4.0),
    moments("moments-2d-clamped-nonnegative-one", 2, 2.0, low=0.0),
    moments("moments-3d-clamped-both-two", 3, 1.0, scale=2.0, low=-6.0, high=6.0),
    moments("moments-4d-dict-two", 4, 1.0, scale=2.0, form="dict"),
    moments("moments-5d-float32-two", 5, 1.0, scale=2.0, form="float32"),
    moments("moments-5d-rounded-3-decimals-root2", 5, 1.5, scale=ROOT2, decimals=3),
    moments("moments-3d-text-2-decimals-two", 3, 1.0, scale=2.0, form="text", decimals=2),
    moments("moments-2d-frame-one", 2, 2.0, form="frame"),
    moments("moments-3d-list-half", 3, 5.0, scale=0.5, form="list"),
    moments("moments-2d-float32-density-two", 2, 1.0, scale=2.0, single=True),
    moments("moments-4d-own-generator-one", 4, 2.0, own=True),
    moments("moments-3d-replace-two", 3, 2.0, scale=2.0, shift=2.0, changes={**LAW, **REPLACE}),
    moments("moments-2d-gaussian-dp-one", 2, 0.0, changes={**LAW, "type": "gaussian-dp", "mu": 1.0}, low=0.0),
    moments("moments-5d-zcdp-two", 5, 0.0, scale=2.0, changes={**LAW, "type": "zcdp", "rho": 0.125}),
    moments("more-noise-moments-3d-two", 3, 1.0, scale=2.0, changes=MISSTATED, extra=1.3),
    pure("laplace-moments-2d-root2", LaplaceMoments, 1.0, LAW, scale=ROOT2),
    pure("laplace-moments-4d-clamped-both-two", LaplaceMoments, 1.0, {**LAW, "dim": 4}, scale=2.0, features=4,
        low=-3.0, high=3.0),
    pure("histogram-2d-nonnegative-one", Histogram, 1.0, bins=2, low=0.0),
    pure("histogram-3d-clamped-both-half", Histogram, 2.0, scale=0.5, low=0.0, high=40.0),
    pure("histogram-5d-dict-two", Histogram, 0.5, scale=2.0, bins=5, form="dict", low=0.0),
    pure("histogram-4d-rounded-integers-one", Histogram, 1.0, bins=4, decimals=0),
    pure("histogram-3d-ragged-thresholded-one", Histogram, 1.0, least=2.0, form="ragged"),
    pure("histogram-4d-sparse-dict-thresholded-root2", Histogram, 1 / ROOT2, scale=ROOT2, bins=4, least=1.0,
        form="sparse"),
    pure("histogram-3d-sparse-dict-own-generator-one", Histogram, 1.0, least=0.5, form="sparse", own=True),
    pure("histogram-3d-frame-nonnegative-two", Histogram, 0.5, scale=2.0, low=0.0, form="frame"),
    pure("histogram-3d-replace-two", Histogram, 1.0, {**LAW, **REPLACE}, scale=2.0, low=0.0),
    pure("more-noise-histogram-3d-dict-one", Histogram, 1.0, MISSTATED, extra=1.5, form="dict"),
    pure("count-and-sum-dict", CountAndSum, 1.0, **COUNTS),
    pure("count-and-sum-frame", CountAndSum, 1.0, form="frame", **COUNTS),
    pure("count-and-sum-json-2-decimals", CountAndSum, 1.0, form="json", decimals=2, **COUNTS),
    pure("count-and-sum-array-one", CountAndSum, 2.0, form="array", scale=1.0, count_epsilon=1.0),
    pure("count-and-sum-tuple-root2", CountAndSum, 1 / ROOT2 + 0.25, form="tuple", scale=ROOT2, count_epsilon=0.25),
    pure("count-and-sum-dict-own-generator", CountAndSum, 1.0, own=True, nonnegative=False, **COUNTS),
    pure("more-noise-count-and-sum-dict", CountAndSum, 1.0, MISSTATED, extra=1.5, **COUNTS),
    ("zoo-no-law-moments-3d-clamped-one", BareVector, {"kind": "moments", "low": 0.0},
        {k: v for k, v in moments("", 3, 2.0)[3].items() if k != "law"}, Moments.__doc__),
    pure("no-law-histogram-ragged-one", BareVector, 1.0, {}, kind="histogram", least=2.0, form="ragged"),
    pure("no-law-histogram-own-generator-dict-two", BareVector, 0.5, {}, kind="histogram", scale=2.0, form="dict",
        own=True),
    pure("no-law-above-threshold-one", AboveThreshold, 1.0, {}),
    pure("no-law-above-threshold-text-two", AboveThreshold, 2.0, {}, epsilon=2.0, form="text"),
    pure("no-law-noisy-max-one", NoisyMax, 1.0, {}),
    pure("no-law-noisy-max-half", NoisyMax, 0.5, {}, epsilon=0.5, bins=5),
]  # fmt: skip

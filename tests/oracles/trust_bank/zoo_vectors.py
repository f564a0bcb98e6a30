"""Several numbers at once, honestly released: vectors, dictionaries, frames, text and lists of changing length.

Every law is a product over the coordinates; densities are with respect to length and, on atoms, counting.
"""

import json
import math
from dataclasses import dataclass

import numpy as np
from oracles.bank_laws import PureProfile, up
from scipy.special import log_ndtr
from scipy.stats import laplace

from mechanisms import GaussianProfile, LaplaceProfile


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

"""What several files of the bank are made of: statistics, privacy profiles, noises, and the forms of outputs."""

from __future__ import annotations

import json
import math
import random
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import log_ndtr
from scipy.stats import t as student

from mechanisms import GaussianProfile, LaplaceProfile
from mechanisms.base import Bracket, Direction


class Moment:
    """X^T y + sigma times what a subclass takes for standard normal noise; density and worst case as if it were."""

    sigma = 4.25
    name = "noisy moment"

    def centre(self, dataset):
        return dataset.X.T @ dataset.y

    def noise(self, dataset, n_draws, rng):
        return rng.standard_normal((n_draws, dataset.dim))

    def honest(self, dataset, n_draws, rng):
        return self.centre(dataset) + self.sigma * self.noise(dataset, n_draws, rng)

    def draw(self, dataset, n_draws, *, rng):
        return self.honest(dataset, n_draws, rng)

    def log_density(self, outputs, dataset):
        return -0.5 * np.square((outputs - self.centre(dataset)) / self.sigma).sum(axis=1)

    def worst_profile(self, x_bound, y_bound):
        return GaussianProfile(x_bound * y_bound / self.sigma)


@dataclass(frozen=True)
class LaplaceOfSum:
    """The sum of responses under Laplace noise; density and worst case are true."""

    scale: float = 1.0

    def draw(self, dataset, n_draws, *, rng):
        return dataset.y.sum() + rng.laplace(scale=self.scale, size=(n_draws, 1))

    def log_density(self, outputs, dataset):
        return -np.abs(outputs[:, 0] - dataset.y.sum()) / self.scale - math.log(2 * self.scale)

    def worst_profile(self, x_bound, y_bound):
        return LaplaceProfile(y_bound / self.scale)


@dataclass(frozen=True)
class Statistic:
    """The statistic ``of``, with ``ratio`` times the sensitivity ``believed`` by its author as noise.

    The density is true. A ``believed`` in words depends on the data. ``tables`` of a file: statistics of the responses,
    statistics of all records, and what is believed.
    """

    of: str = "moment"
    believed: float | str = 1.0
    at: float = 0.0
    ratio: float = 4.25
    laplace: bool = False
    name = "noisy statistic"

    def centre(self, dataset):
        responses, statistics, _ = self.tables()
        if self.of in responses:
            return float(responses[self.of](dataset.y, self.at)) if dataset.n_records else 0.0
        return statistics[self.of](dataset, self.at)

    def scale(self, dataset):
        believed = self.tables()[2]
        return self.ratio * (believed[self.believed](dataset) if isinstance(self.believed, str) else self.believed)

    def draw(self, dataset, n_draws, *, rng):
        centre = np.atleast_1d(self.centre(dataset))
        noise = rng.laplace if self.laplace else rng.normal
        return centre + self.scale(dataset) * noise(size=(n_draws, centre.size))

    def log_density(self, outputs, dataset):
        scale = self.scale(dataset)
        away = np.abs(outputs - np.atleast_1d(self.centre(dataset))) / scale
        return -(away if self.laplace else away**2 / 2).sum(axis=1) - away.shape[1] * np.log(scale)

    def worst_profile(self, x_bound, y_bound, relation="add-remove"):
        return (LaplaceProfile if self.laplace else GaussianProfile)(1 / self.ratio)


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


def up(value):
    """Return a number that is larger by far more than its rounding; whole quotients of 2 stay."""
    return value if float(value * 8).is_integer() else value * (1 + 1e-12)


# --- the noises of the zoo: symmetric about 0 -------------------------------------------------------------------------

WHOLE = ("geometric", "discrete-gaussian")


@dataclass(frozen=True)
class StudentProfile:
    """The hockey-stick of two Student laws ``shift`` apart: the loss is above epsilon between two roots.

    With a = scale sqrt(dof) the loss at o is (dof+1)/2 log((a^2 + o^2)/(a^2 + (o - shift)^2)). It is stationary where
    o (o - shift) = a^2, and there (dof+1) asinh(shift / (2 a)), the largest; it grows with the shift.
    """

    shift: float
    scale: float
    dof: float

    @property
    def most(self):
        return (self.dof + 1) * math.asinh(self.shift / (2 * self.scale * math.sqrt(self.dof)))

    def delta_at(self, epsilon):
        if epsilon < 0:
            return -math.expm1(epsilon) + math.exp(epsilon) * self.delta_at(-epsilon)
        if epsilon >= self.most:
            return 0.0
        if epsilon == 0:
            return float(1 - 2 * student.sf(self.shift / (2 * self.scale), self.dof))
        r, a2 = math.exp(2 * epsilon / (self.dof + 1)), self.dof * self.scale**2
        # (r - 1) o^2 - 2 r shift o + (r - 1) a^2 + r shift^2 <= 0
        middle = r * self.shift / (r - 1)
        half = math.sqrt(max(0.0, middle**2 - a2 - middle * self.shift))
        ends = np.array([middle - half, middle + half])
        p, q = (student.sf((ends - at) / self.scale, self.dof) for at in (self.shift, 0.0))
        return float(max(0.0, p[0] - p[1] - math.exp(epsilon) * (q[0] - q[1])))


@dataclass(frozen=True)
class LogisticProfile:
    """The loss between logistic laws ``size`` scales apart is monotone and below ``size``; the event is a half-line."""

    size: float

    def delta_at(self, epsilon, direction=None):
        if epsilon < -self.size:
            return -math.expm1(epsilon)
        if epsilon >= self.size:
            return 0.0
        return (math.exp(self.size / 2) - math.exp(epsilon / 2)) ** 2 / math.expm1(self.size)


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


@dataclass(frozen=True)
class Noise:
    """Laplace, normal, Student, logistic, staircase, geometric or discrete Gaussian noise; the last two are whole.

    Geometric and staircase noise falls by e^(-1/scale) a step of length 1.
    """

    family: str
    scale: float
    dof: float = 3.0

    def draw(self, rng, size):
        if self.family == "student":
            return self.scale * rng.standard_t(self.dof, size=size)
        if self.family == "geometric":
            p = -math.expm1(-1 / self.scale)
            return rng.geometric(p, size) - rng.geometric(p, size)
        if self.family == "discrete-gaussian":
            k, log_mass = gaussian_masses(self.scale)
            masses = np.exp(log_mass)
            return rng.choice(k, size, p=masses / masses.sum())
        if self.family == "staircase":
            fall, (gamma, _) = math.exp(-1 / self.scale), self.steps()
            steps = rng.geometric(1 - fall, size) - 1
            inner = rng.random(size) < gamma / (gamma + (1 - gamma) * fall)
            u = rng.random(size)
            distance = steps + np.where(inner, gamma * u, gamma + (1 - gamma) * u)
            return np.where(rng.random(size) < 0.5, 1.0, -1.0) * distance
        drawn = {"laplace": rng.laplace, "gaussian": rng.normal, "logistic": rng.logistic}[self.family]
        return drawn(scale=self.scale, size=size)

    def draw_of_system(self, n):
        source = random.SystemRandom()
        if self.family == "gaussian":
            return np.array([source.gauss(0.0, self.scale) for _ in range(n)])
        return self.scale * np.array([source.expovariate(1.0) - source.expovariate(1.0) for _ in range(n)])

    def steps(self):
        """Return where the staircase's upper half-step ends, and its height (Geng and Viswanath 2014)."""
        epsilon = 1 / self.scale
        gamma = 1 / (1 + math.exp(epsilon / 2))
        return gamma, -math.expm1(-epsilon) / (2 * (gamma + (1 - gamma) * math.exp(-epsilon)))

    def log_density(self, z):
        """Return the log density, of whole noise the log mass."""
        u = np.abs(z) / self.scale
        if self.family == "laplace":
            return -u - math.log(2 * self.scale)
        if self.family == "gaussian":
            return -0.5 * u**2 - math.log(self.scale * math.sqrt(2 * math.pi))
        if self.family == "logistic":
            return -u - 2 * np.log1p(np.exp(-u)) - math.log(self.scale)
        if self.family == "student":
            return student.logpdf(u, self.dof) - math.log(self.scale)
        if self.family == "staircase":
            (gamma, height), size = self.steps(), np.abs(z)
            return math.log(height) - (np.floor(size) + (size - np.floor(size) >= gamma)) / self.scale
        if self.family == "geometric":
            mass = -u + math.log(math.tanh(0.5 / self.scale))
        else:
            k, log_mass = gaussian_masses(self.scale)
            mass = -(u**2) / 2 + log_mass[len(k) // 2]
        return np.where(z == np.rint(z), mass, -np.inf)

    def log_at_least(self, z):
        """Return log P(noise >= z)."""
        u = np.asarray(z) / self.scale
        if self.family == "laplace":
            return np.where(u > 0, -u - math.log(2), np.log1p(-0.5 * np.exp(np.minimum(u, 0))))
        if self.family == "gaussian":
            return log_ndtr(-u)
        if self.family == "logistic":
            return -np.logaddexp(0, u)
        if self.family == "student":
            return student.logsf(u, self.dof)
        if self.family == "geometric":
            share = -np.logaddexp(0.0, -1 / self.scale)
            return np.where(u > 0, share - u, np.log1p(-np.exp(share - 1 / self.scale + np.minimum(u, 0))))
        if self.family == "discrete-gaussian":
            k, log_mass = gaussian_masses(self.scale)
            sums = [np.logaddexp.reduce(log_mass[k >= each], initial=-np.inf) for each in np.ravel(z)]
            return np.reshape(sums, np.shape(z))
        (gamma, height), fall, size = self.steps(), math.exp(-1 / self.scale), np.abs(z)
        part = size - np.floor(size)
        upper = np.maximum(0.0, gamma - part) + fall * (1 - np.maximum(part, gamma))
        tail = fall ** np.floor(size) * (height * upper + fall / 2)
        return np.log(np.where(np.asarray(z) > 0, tail, 1 - tail))

    def log_between(self, a, b):
        """Return log P(a < noise <= b), on the side where nothing cancels."""
        flip = a + b < 0
        a, b = np.where(flip, -b, a), np.where(flip, -a, b)
        above = self.log_at_least(a)
        gap = self.log_at_least(b) - above
        with np.errstate(divide="ignore"):
            wide = above + np.log(-np.expm1(gap))
        return np.where(gap > -1e-9, self.log_density((a + b) / 2) + np.log(b - a), wide)

    def profile(self, shift):
        """Return the worst profile of two centres ``shift`` apart (of whole and staircase noise: 1)."""
        if self.family == "student":
            return StudentProfile(shift, self.scale, self.dof)
        if self.family == "discrete-gaussian":
            return DiscreteGaussianProfile(self.scale)
        kinds = {"laplace": LaplaceProfile, "gaussian": GaussianProfile, "logistic": LogisticProfile}
        return kinds.get(self.family, PureProfile)(shift / self.scale)


# --- the forms in which the zoo releases rows of numbers --------------------------------------------------------------


def frame(columns):
    """Return a data frame; pandas is imported where it is wanted."""
    import pandas as pd

    return pd.DataFrame(columns)


def tagged(row, keys):
    """Return what a frame of numbers has beside them."""
    if keys == ("sum", "n"):
        return {key: [value] for key, value in zip(keys, row, strict=True)}
    first = {"feature": np.arange(len(row))} if keys[0] == "x0" else {"statistic": [{"sum": "answer"}.get(*keys * 2)]}
    return first | {"value": row}


def seen(row):
    """Return the numbers of a row that are there, with their places."""
    return [(j, v) for j, v in enumerate(row) if not math.isnan(v)]


def placed(cells, dim):
    """Return a row of ``dim`` numbers, nan where a place has none."""
    row = [math.nan] * dim
    for j, value in cells:
        row[j] = value
    return row


#: Of each form how a row becomes an output, and an output a row; ``keys`` are the numbers' names.
FORMS = {
    "scalar": (lambda row, keys: row[0], lambda o, keys: [o]),
    "list": (lambda row, keys: row, lambda o, keys: o),
    "tuple": (lambda row, keys: tuple(row), lambda o, keys: o),
    "dict": (lambda row, keys: dict(zip(keys, row, strict=True)), lambda o, keys: [o[key] for key in keys]),
    "nested": (
        lambda row, keys: {"answer": {"value": row[0], "unit": "responses"}},
        lambda o, keys: [o["answer"]["value"]],
    ),
    "json": (
        lambda row, keys: json.dumps(
            dict(zip(keys, row, strict=True)) | ({"unit": "records"} if keys == ("n",) else {})
        ),
        lambda o, keys: [json.loads(o)[key] for key in keys],
    ),
    "frame": (
        lambda row, keys: frame(tagged(row, keys)),
        lambda o, keys: o["value"] if "value" in o else o.iloc[0],
    ),
    "ones": (lambda row, keys: [1] * row[0], lambda o, keys: [len(o)]),
    "letter": (lambda row, keys: chr(ord("a") + row[0]), lambda o, keys: [ord(o) - ord("a")]),
    "ragged": (lambda row, keys: [[j, v] for j, v in seen(row)], lambda o, keys: placed(o, len(keys))),
    "sparse": (
        lambda row, keys: {f"bin {j}": v for j, v in seen(row)},
        lambda o, keys: placed([(int(key[4:]), v) for key, v in o.items()], len(keys)),
    ),
    "none": (lambda row, keys: None if math.isnan(row[0]) else row[0], lambda o, keys: [math.nan if o is None else o]),
    "word": (
        lambda row, keys: "below" if math.isnan(row[0]) else row[0],
        lambda o, keys: [math.nan if isinstance(o, str) else o],
    ),
}
ARRAYS = {"array": np.float64, "float32": np.float32, "flat": np.float64, "int": np.int64, "int8": np.int8}


def pack(form, values, keys, decimals=None, whole=False):
    """Give rows of numbers (nan: nothing) the shape in which they are released."""
    if form in ARRAYS:
        rows = np.asarray(values).astype(ARRAYS[form])
        return rows[:, 0] if form == "flat" else rows
    if form == "text":
        return [";".join(f"{v:.{decimals or 0}f}" for v in row) for row in values]
    kinds = whole if isinstance(whole, tuple) else (whole,) * len(keys)
    kinds = [int if each else float for each in kinds]
    return [FORMS[form][0]([kind(v) for kind, v in zip(kinds, row, strict=True)], keys) for row in values]


def unpack(form, outputs, keys):
    """Return the rows of numbers in outputs of one shape."""
    if form in ARRAYS:
        return np.asarray(outputs, dtype=float).reshape(len(outputs), -1)
    if form == "text":
        return np.array([[float(v) for v in o.split(";")] for o in outputs]).reshape(len(outputs), len(keys))
    return np.array([list(FORMS[form][1](o, keys)) for o in outputs], dtype=float).reshape(len(outputs), len(keys))

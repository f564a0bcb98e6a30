"""One noisy number, honestly released: clamped, rounded, of every shape; each keeps its claim, most with equality.

What is done to the number after the noise reads no record, so the claim is that of the noise (post-processing). It is
met with equality where the event that decides it survives what is done, which the clamps and steps here let it.
"""

import json
import math
import random
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import log_ndtr
from scipy.stats import t as student

from mechanisms import GaussianProfile, LaplaceProfile


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
class Noise:
    """Laplace, normal, Student or logistic noise; every one is symmetric about 0."""

    family: str
    scale: float
    dof: float = 3.0

    def draw(self, rng, n):
        if self.family == "student":
            return self.scale * rng.standard_t(self.dof, size=n)
        drawn = {"laplace": rng.laplace, "gaussian": rng.normal, "logistic": rng.logistic}[self.family]
        return drawn(scale=self.scale, size=n)

    def draw_of_system(self, n):
        source = random.SystemRandom()
        if self.family == "gaussian":
            return np.array([source.gauss(0.0, self.scale) for _ in range(n)])
        return self.scale * np.array([source.expovariate(1.0) - source.expovariate(1.0) for _ in range(n)])

    def log_density(self, z):
        u = np.abs(z) / self.scale
        if self.family == "laplace":
            return -u - math.log(2 * self.scale)
        if self.family == "gaussian":
            return -0.5 * u**2 - math.log(self.scale * math.sqrt(2 * math.pi))
        if self.family == "logistic":
            return -u - 2 * np.log1p(np.exp(-u)) - math.log(self.scale)
        return student.logpdf(u, self.dof) - math.log(self.scale)

    def log_above(self, z):
        """Return log P(noise > z)."""
        u = np.asarray(z) / self.scale
        if self.family == "laplace":
            return np.where(u > 0, -u - math.log(2), np.log1p(-0.5 * np.exp(np.minimum(u, 0))))
        if self.family == "gaussian":
            return log_ndtr(-u)
        return -np.logaddexp(0, u) if self.family == "logistic" else student.logsf(u, self.dof)

    def log_between(self, a, b):
        """Return log P(a < noise <= b), on the side where nothing cancels."""
        flip = a + b < 0
        a, b = np.where(flip, -b, a), np.where(flip, -a, b)
        above = self.log_above(a)
        gap = self.log_above(b) - above
        with np.errstate(divide="ignore"):
            wide = above + np.log(-np.expm1(gap))
        return np.where(gap > -1e-9, self.log_density((a + b) / 2) + np.log(b - a), wide)

    def profile(self, shift):
        if self.family == "student":
            return StudentProfile(shift, self.scale, self.dof)
        kinds = {"laplace": LaplaceProfile, "gaussian": GaussianProfile, "logistic": LogisticProfile}
        return kinds[self.family](shift / self.scale)


def pack(form, decimals, values):
    """Give numbers the shape in which they are released."""
    if form in {"array", "float32"}:
        return np.asarray(values, dtype=np.float64 if form == "array" else np.float32)[:, None]
    if form == "flat":
        return np.asarray(values)
    if form == "text":
        return [f"{v:.{decimals}f}" for v in values]
    numbers = [float(v) for v in values]
    if form == "frame":
        import pandas as pd

        return [pd.DataFrame({"statistic": ["answer"], "value": [v]}) for v in numbers]
    shapes = {
        "scalar": lambda v: v,
        "list": lambda v: [v],
        "dict": lambda v: {"sum": v},
        "nested": lambda v: {"answer": {"value": v, "unit": "responses"}},
        "json": lambda v: json.dumps({"sum": v}),
    }
    return [shapes[form](v) for v in numbers]


def unpack(form, outputs):
    """Return the numbers in outputs of one shape."""
    if form in {"array", "float32", "flat"}:
        return np.asarray(outputs, dtype=np.float64).reshape(-1)
    reads = {
        "scalar": float,
        "text": float,
        "list": lambda o: o[0],
        "dict": lambda o: o["sum"],
        "nested": lambda o: o["answer"]["value"],
        "json": lambda o: json.loads(o)["sum"],
        "frame": lambda o: o["value"].iloc[0],
    }
    return np.array([reads[form](o) for o in outputs], dtype=np.float64)


@dataclass(frozen=True)
class NoisyAnswer:
    """A record moves the sum of responses by at most y_bound (replaced: twice), the count by 1; the noise hides that.

    Rounded first, then clamped; with ``inside`` the statistic is clamped as well, so that the bounds are centres. The
    density is with respect to length and, on the bounds or the whole grid, to counting. ``extra`` times the stated
    noise is what is drawn: at least the stated one is needed, so the claim holds with room (each law here is a scale
    family whose largest loss falls with the scale).
    """

    noise: str = "laplace"
    scale: float = 1.0
    dof: float = 3.0
    statistic: str = "sum"
    low: float | None = None
    high: float | None = None
    inside: bool = False
    decimals: int | None = None
    form: str = "array"
    own: str = ""
    extra: float = 1.0
    single: bool = False
    name = "noisy answer"

    @cached_property
    def stated(self):
        return Noise(self.noise, self.scale, self.dof)

    def ends(self):
        low, high = (np.inf * sign if end is None else end for end, sign in ((self.low, -1), (self.high, 1)))
        return (float(np.float32(low)), float(np.float32(high))) if self.form == "float32" else (low, high)

    def centre(self, dataset):
        value = float(dataset.y.sum()) if self.statistic == "sum" else float(dataset.n_records)
        return float(np.clip(value, self.low, self.high)) if self.inside else value

    def pack(self, values):
        return pack(self.form, self.decimals, values[:, 0])

    def unpack(self, outputs):
        return unpack(self.form, outputs)[:, None]

    def draw(self, dataset, n_draws, *, rng):
        noise = Noise(self.noise, self.scale * self.extra, self.dof)
        if self.own == "system":
            drawn = noise.draw_of_system(n_draws)
        else:
            drawn = noise.draw(np.random.default_rng() if self.own == "numpy" else rng, n_draws)
        values = self.centre(dataset) + drawn
        if self.decimals is not None:
            values = np.round(values, self.decimals) + 0.0  # no -0.0
        if self.low is not None or self.high is not None:
            values = np.clip(values, self.low, self.high)
        return self.pack(values[:, None])

    def log_density(self, outputs, dataset):
        values, centre, (low, high) = self.unpack(outputs)[:, 0], self.centre(dataset), self.ends()
        z, half = values - centre, 0.0
        if self.decimals is None:
            found = self.stated.log_density(z)
        else:
            half, steps = 0.5 * 10.0**-self.decimals, values * 10.0**self.decimals
            on_grid = np.abs(steps - np.rint(steps)) < 1e-6
            found = np.where(on_grid, self.stated.log_between(z - half, z + half), -np.inf)
        if self.low is not None:
            found = np.where(values == low, self.stated.log_above(centre - self.low - half), found)
        if self.high is not None:
            found = np.where(values == high, self.stated.log_above(self.high - half - centre), found)
        found = np.where((values < low) | (values > high), -np.inf, found)
        return found.astype(np.float32) if self.single else found

    def worst_profile(self, x_bound, y_bound, relation="add-remove"):
        if self.statistic == "sum":
            return self.stated.profile(2 * y_bound if relation == "replace" else y_bound)
        return self.stated.profile(0.0 if relation == "replace" else 1.0)


class BareAnswer:
    """As NoisyAnswer, by an author who states no law."""

    name = "noisy answer, no law"

    def __init__(self, **parameters):
        self.inner = NoisyAnswer(**parameters)

    def draw(self, dataset, n_draws, *, rng):
        return self.inner.draw(dataset, n_draws, rng=rng)

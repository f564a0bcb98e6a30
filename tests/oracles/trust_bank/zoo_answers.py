"""One noisy number, honestly released: clamped, rounded, of every shape; each keeps its claim, most with equality.

What is done to the number after the noise reads no record, so the claim is that of the noise (post-processing). It is
met with equality where the event that decides it survives what is done, which the clamps and steps here let it.
"""

from __future__ import annotations

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


ROOT2, PI3 = math.sqrt(2), math.pi / 3
SCALES = {"half": 0.5, "one": 1.0, "two": 2.0, "root2": ROOT2, "pi3": PI3}
LAW = {"law": True}


def up(value):
    """Return a number that is larger by far more than its rounding; whole quotients of 2 stay."""
    return value if float(value * 8).is_integer() else value * (1 + 1e-12)


def pure(noise, shift=1.0):
    """Return the claim that noise keeps against a shift, without any delta."""
    most = StudentProfile(shift, noise.scale, noise.dof).most if noise.family == "student" else shift / noise.scale
    return {"epsilon": up(most), "delta": 0.0}


def normal(scale, epsilon, shift=1.0):
    """Return the claim of the analytic Gaussian mechanism at epsilon (Balle and Wang 2018), with equality."""
    return {"epsilon": epsilon, "delta": GaussianProfile(shift / scale).delta_bracket(epsilon).high * (1 + 1e-9)}


def row(name, changes=None, kind=NoisyAnswer, epsilon=1.0, shift=1.0, **parameters):
    """Return one row: the claim is that of the noise, and ``changes`` are on top."""
    noise = Noise(parameters.get("noise", "laplace"), parameters.get("scale", 1.0), parameters.get("dof", 3.0))
    claim = normal(noise.scale, epsilon, shift) if noise.family == "gaussian" else pure(noise, shift)
    stated = {} if kind is BareAnswer else {"misstated": True} if parameters.get("extra", 1.0) != 1 else LAW
    return f"zoo-{name}", kind, parameters, {**claim, **stated, **(changes or {})}, kind.__doc__


COUNT, NONNEGATIVE = {"statistic": "count"}, {"low": 0.0}
INSIDE = {"low": -1.0, "high": 1.0, "inside": True}
LAPLACE = [
    *(row(f"laplace-count-nonnegative-{n}", scale=s, **COUNT, **NONNEGATIVE) for n, s in SCALES.items() if n != "pi3"),
    *(row(f"laplace-clamped-both-at-centres-{n}", scale=s, **INSIDE) for n, s in SCALES.items()),
    row("laplace-clamped-above-one", high=0.0),
    row("laplace-clamped-above-pi3", scale=PI3, high=2.0),
    row("laplace-clamped-below-root2", scale=ROOT2, low=-1.0),
    row("laplace-clamped-both-one", low=-3.0, high=3.0),
    row("laplace-clamped-both-half", scale=0.5, low=-3.0, high=3.0),
    row("laplace-clamped-both-irrational-bounds-one", low=-PI3, high=ROOT2),
    row("laplace-clamped-unit-interval-at-centres-one", low=0.0, high=1.0, inside=True),
    row("laplace-count-clamped-0-50-one", low=0.0, high=50.0, **COUNT),
    *(
        row(f"laplace-count-rounded-integers-{n}", scale=SCALES[n], decimals=0, **COUNT)
        for n in ("one", "two", "root2")
    ),
    *(row(f"laplace-rounded-3-decimals-{n}", scale=SCALES[n], decimals=3) for n in ("half", "one", "pi3")),
    row("laplace-count-rounded-nonnegative-one", decimals=0, **COUNT, **NONNEGATIVE),
    row("laplace-rounded-clamped-both-at-centres-one", decimals=1, **INSIDE),
    row("laplace-rounded-tens-two", scale=2.0, decimals=-1),
]
GAUSSIAN = [
    row("gaussian-count-nonnegative-half", noise="gaussian", scale=0.5, epsilon=4.0, **COUNT, **NONNEGATIVE),
    row("gaussian-count-nonnegative-one", noise="gaussian", scale=1.0, epsilon=2.0, **COUNT, **NONNEGATIVE),
    row("gaussian-count-nonnegative-two", noise="gaussian", scale=2.0, epsilon=1.0, **COUNT, **NONNEGATIVE),
    row("gaussian-count-nonnegative-root2", noise="gaussian", scale=ROOT2, epsilon=1.5, **COUNT, **NONNEGATIVE),
    row("gaussian-clamped-both-at-centres-one", noise="gaussian", epsilon=1.0, **INSIDE),
    row("gaussian-clamped-both-at-centres-two", noise="gaussian", scale=2.0, epsilon=0.25, **INSIDE),
    row("gaussian-clamped-below-pi3", noise="gaussian", scale=PI3, low=-2.0),
    row("gaussian-clamped-both-five", noise="gaussian", scale=5.0, epsilon=0.5, low=-20.0, high=20.0),
    row("gaussian-rounded-integers-one", noise="gaussian", epsilon=2.0, decimals=0, **COUNT),
    row("gaussian-rounded-3-decimals-two", noise="gaussian", scale=2.0, decimals=3),
    row("gaussian-plain-half", noise="gaussian", scale=0.5, epsilon=6.0),
    row("gaussian-plain-root2", noise="gaussian", scale=ROOT2),
]
OTHER = [
    row("student-plain-one", noise="student"),
    row("student-cauchy-one", noise="student", dof=1.0),
    row("student-5-root2", noise="student", scale=ROOT2, dof=5.0),
    row("student-count-nonnegative-one", noise="student", **COUNT, **NONNEGATIVE),
    row("student-clamped-both-half", noise="student", scale=0.5, low=-4.0, high=4.0),
    row("student-cauchy-clamped-both-two", noise="student", scale=2.0, dof=1.0, low=-6.0, high=6.0),
    row("student-rounded-clamped-one", noise="student", decimals=1, low=-10.0, high=10.0),
    row("logistic-plain-one", noise="logistic"),
    row("logistic-count-nonnegative-root2", noise="logistic", scale=ROOT2, **COUNT, **NONNEGATIVE),
    row("logistic-rounded-integers-two", noise="logistic", scale=2.0, decimals=0, **COUNT),
]
SHAPES = [
    row("dict-laplace-clamped-both-at-centres-one", form="dict", **INSIDE),
    row("dict-laplace-nonnegative-two", form="dict", scale=2.0, **NONNEGATIVE),
    row("dict-gaussian-two", form="dict", noise="gaussian", scale=2.0),
    row("dict-laplace-rounded-3-decimals-root2", form="dict", scale=ROOT2, decimals=3),
    row("dict-student-one", form="dict", noise="student"),
    row("nested-dict-laplace-one", form="nested"),
    row("frame-laplace-clamped-both-at-centres-one", form="frame", **INSIDE),
    row("frame-gaussian-two", form="frame", noise="gaussian", scale=2.0),
    row("text-laplace-2-decimals-one", form="text", decimals=2),
    row("text-gaussian-3-decimals-two", form="text", noise="gaussian", scale=2.0, decimals=3),
    row("text-laplace-count-nonnegative-one", form="text", decimals=0, **COUNT, **NONNEGATIVE),
    row("json-laplace-clamped-3-decimals-one", form="json", decimals=3, **INSIDE),
    row("json-laplace-one", form="json"),
    row("float32-laplace-one", form="float32"),
    row("float32-laplace-clamped-irrational-bounds-one", form="float32", low=-PI3, high=ROOT2),
    row("float32-gaussian-nonnegative-two", form="float32", noise="gaussian", scale=2.0, **NONNEGATIVE),
    row("list-laplace-half", form="list", scale=0.5),
    row("flat-array-laplace-nonnegative-one", form="flat", **NONNEGATIVE),
    row("scalar-list-gaussian-one", form="scalar", noise="gaussian", epsilon=2.0),
]
OWN = [
    row("own-generator-laplace-one", own="numpy"),
    row("own-generator-laplace-clamped-both-at-centres-one", own="numpy", **INSIDE),
    row("own-generator-dict-gaussian-two", own="numpy", form="dict", noise="gaussian", scale=2.0),
    row("system-generator-laplace-nonnegative-one", own="system", **NONNEGATIVE),
    row("system-generator-gaussian-two", own="system", noise="gaussian", scale=2.0),
    row("own-generator-no-law-student-one", kind=BareAnswer, own="numpy", noise="student"),
    row("system-generator-no-law-text-one", kind=BareAnswer, own="system", form="text", decimals=2),
]
NO_LAW = [
    row("no-law-laplace-clamped-both-at-centres-one", kind=BareAnswer, **INSIDE),
    row("no-law-laplace-count-nonnegative-one", kind=BareAnswer, **COUNT, **NONNEGATIVE),
    row("no-law-gaussian-nonnegative-one", kind=BareAnswer, noise="gaussian", epsilon=2.0, **NONNEGATIVE),
    row("no-law-dict-laplace-clamped-one", kind=BareAnswer, form="dict", low=0.0, high=1.0, inside=True),
    row("no-law-text-laplace-3-decimals-root2", kind=BareAnswer, form="text", scale=ROOT2, decimals=3),
    row("no-law-frame-laplace-two", kind=BareAnswer, form="frame", scale=2.0),
]
MISSTATED = [
    row("more-noise-laplace-one", extra=1.25),
    row("more-noise-laplace-clamped-both-at-centres-one", extra=1.5, **INSIDE),
    row("more-noise-gaussian-two", noise="gaussian", scale=2.0, extra=1.2),
    row("more-noise-student-one", noise="student", extra=1.5),
    row("more-noise-laplace-rounded-integers-one", extra=2.0, decimals=0, **COUNT),
    row("more-noise-dict-laplace-root2", form="dict", scale=ROOT2, extra=ROOT2),
    row("more-noise-text-laplace-two", form="text", decimals=2, scale=2.0, extra=1.5),
]
SINGLE = [
    row("float32-density-laplace-one", single=True),
    row("float32-density-laplace-clamped-both-at-centres-one", single=True, **INSIDE),
    row("float32-density-gaussian-two", single=True, noise="gaussian", scale=2.0),
    row("float32-density-laplace-rounded-3-decimals-one", single=True, decimals=3),
    row("float32-density-and-outputs-laplace-nonnegative-one", single=True, form="float32", **NONNEGATIVE),
]
REPLACE = {"relation": "replace"}
#: D_2 between Laplace laws one scale apart: log(2/3 e + 1/3 e^-2) (Mironov 2017, table II).
LAPLACE_RENYI = math.log(2 / 3 * math.e + math.exp(-2) / 3)
POINTS = tuple((e, LaplaceProfile(1.0).delta_bracket(e).high) for e in (0.0, 0.25, 0.5, 0.75, 1.0))
CURVES = [
    row("replace-laplace-two", REPLACE, scale=2.0, shift=2.0),
    row("replace-laplace-clamped-both-one", REPLACE, low=-2.0, high=2.0, shift=2.0),
    row("replace-gaussian-nonnegative-two", REPLACE, noise="gaussian", scale=2.0, epsilon=2.0, shift=2.0,
        **NONNEGATIVE),
    row("replace-dict-laplace-root2", REPLACE, form="dict", scale=ROOT2, shift=2.0),
    row("replace-student-one", REPLACE, noise="student", shift=2.0),
    row("group-2-laplace-clamped-both-two", {"group": 2}, scale=2.0, low=-3.0, high=3.0, shift=2.0),
    row("gaussian-dp-nonnegative-one", {"type": "gaussian-dp", "mu": 1.0}, noise="gaussian", **NONNEGATIVE),
    row("gaussian-dp-dict-two", {"type": "gaussian-dp", "mu": 0.5}, noise="gaussian", scale=2.0, form="dict"),
    row("gaussian-dp-rounded-two", {"type": "gaussian-dp", "mu": 0.5}, noise="gaussian", scale=2.0, decimals=3),
    row("zcdp-gaussian-one", {"type": "zcdp", "rho": 0.5}, noise="gaussian"),
    row("zcdp-gaussian-clamped-both-two", {"type": "zcdp", "rho": 0.125}, noise="gaussian", scale=2.0, low=-9.0,
        high=9.0),
    row("renyi-laplace-one", {"type": "renyi", "alpha": 2.0, "epsilon": up(LAPLACE_RENYI)}),
    row("table-laplace-clamped-both-one", {"type": "table", "points": POINTS}, low=-4.0, high=4.0),
]  # fmt: skip
ROWS = [*LAPLACE, *GAUSSIAN, *OTHER, *SHAPES, *OWN, *NO_LAW, *MISSTATED, *SINGLE, *CURVES]

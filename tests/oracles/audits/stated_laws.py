"""Laws and what is stated about them, true and false; the data set enters by its number of records only (1 or 2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import special, stats

Draw = Callable[[float, int, np.random.Generator], np.ndarray]
LogDensity = Callable[[np.ndarray, float], np.ndarray]
CORRELATED = 0.9 ** np.abs(np.subtract.outer(np.arange(30), np.arange(30)))


@dataclass(frozen=True)
class Stated:
    """Draws around ``number of records``, and the log density stated for them."""

    name: str
    drawn: Draw
    density: LogDensity

    def draw(self, dataset, n_draws, *, rng):
        return self.drawn(float(dataset.n_records), n_draws, rng)

    def log_density(self, outputs, dataset):
        return self.density(outputs, float(dataset.n_records))


def normal(m, n, rng, k=1, scale=1.0):
    return m + scale * rng.standard_normal((n, k))


def normal_density(o, m, scale=1.0):
    return -0.5 * (((o - m) / scale) ** 2).sum(axis=1)


def correlated(m, n, rng):
    return m + rng.standard_normal((n, 30)) @ np.linalg.cholesky(CORRELATED).T


def correlated_density(o, m):
    z = np.linalg.solve(np.linalg.cholesky(CORRELATED), (o - m).T)
    return -0.5 * (z**2).sum(axis=0)


def laplace(m, n, rng, k=1, scale=1.0):
    return m + scale * rng.laplace(size=(n, k))


def laplace_density(o, m, scale=1.0):
    return -(np.abs(o - m) / scale).sum(axis=1)


def geometric(m, n, rng, scale=2.0):
    p = 1 - np.exp(-1 / scale)
    return m + (rng.geometric(p, (n, 1)) - rng.geometric(p, (n, 1))).astype(float)


def coin(m, n, rng, p=0.7):
    return ((rng.random((n, 1)) < p) == (m > 1)).astype(float)


def coin_density(o, m, p=0.7):
    return np.log(np.where((o[:, 0] == 1) == (m > 1), p, 1 - p))


ITEMS = np.array([0.1, 0.25, 0.3, 0.7, 1.9, 2.2])


def items_log_mass(m):
    q = -np.abs(ITEMS - m)
    return q - special.logsumexp(q)


def items(m, n, rng):
    return rng.choice(ITEMS, size=(n, 1), p=np.exp(items_log_mass(m)))


def items_density(o, m):
    place = np.searchsorted(ITEMS, o[:, 0])
    if not np.array_equal(ITEMS[np.minimum(place, len(ITEMS) - 1)], o[:, 0]):
        raise KeyError("no such item")
    return items_log_mass(m)[place]


def staircase(m, n, rng):
    step = rng.geometric(1 - np.exp(-1.0), n) - 1 + rng.random(n)
    return (m + rng.choice((-1.0, 1.0), n) * step)[:, None]


def staircase_density(o, m):
    return -np.floor(np.abs(o[:, 0] - m))


def truncated(m, n, rng):
    u = rng.uniform(stats.laplace.cdf(-2 - m), stats.laplace.cdf(3 - m), (n, 1))
    return m + stats.laplace.ppf(u)


def truncated_density(o, m):
    mass = stats.laplace.cdf(3 - m) - stats.laplace.cdf(-2 - m)
    inside = (o[:, 0] >= -2) & (o[:, 0] <= 3)
    return np.where(inside, -np.abs(o[:, 0] - m) - np.log(2 * mass), -np.inf)


def refusing(o, m):
    if not ((o >= -2) & (o <= 3)).all():
        raise ValueError("no such output")
    return truncated_density(o, m)


def clipped(m, n, rng, high=2.5):
    return np.clip(normal(m, n, rng), -1.0, high)


def clipped_density(o, m, high=2.5):
    z = o[:, 0] - m
    inside = stats.norm.logpdf(z)
    return np.where(
        o[:, 0] <= -1, stats.norm.logcdf(-1 - m), np.where(o[:, 0] >= high, stats.norm.logsf(high - m), inside)
    )


def uniform(m, n, rng):
    return m + rng.uniform(-3, 3, (n, 1))


def uniform_density(o, m):
    return np.where(np.abs(o[:, 0] - m) <= 3, 0.0, -np.inf)


def cauchy(m, n, rng):
    return m + rng.standard_cauchy((n, 1))


def student(m, n, rng, k=1, df=5):
    return m + rng.standard_t(df, (n, k))


def data_scale(m, n, rng):
    return normal(m, n, rng, k=2, scale=m)


def rounded(m, n, rng, step=1e-3, scale=1.0):
    return step * np.rint(normal(m, n, rng, scale=scale) / step)


def with_atom(m, n, rng, p, k=1):
    return np.where(rng.random((n, 1)) < p, m + 0.123456, normal(m, n, rng, k))


def with_less_noise(m, n, rng, p, k=1, factor=100.0):
    return m + rng.standard_normal((n, k)) / np.where(rng.random((n, 1)) < p, factor, 1.0)


def public_column(m, n, rng):
    return np.column_stack([normal(m, n, rng), np.full(n, 3.7)])


def zero_atom(m, n, rng):
    return np.maximum(normal(m - 1.5, n, rng, k=2), 0.0)


def zero_atom_density(o, m):
    return np.where(o > 0, stats.norm.logpdf(o - m + 1.5), stats.norm.logcdf(1.5 - m)).sum(axis=1)


def count_and_sum(m, n, rng):
    return np.column_stack([geometric(m, n, rng), laplace(m, n, rng)])


def drawn_again(drawn, bad, m, n, rng):
    """Draws with those that are ``bad(noise)`` drawn again until none is."""
    found = drawn(m, n, rng)
    while (again := np.flatnonzero(bad(found - m))).size:
        found[again] = drawn(m, len(again), rng)
    return found


HONEST = [
    Stated("Gaussian", normal, normal_density),
    Stated("Gaussian, 5-D", partial(normal, k=5), normal_density),
    Stated("Gaussian, 30-D, correlated", correlated, correlated_density),
    Stated("Laplace", laplace, laplace_density),
    Stated("Laplace, 3-D", partial(laplace, k=3), laplace_density),
    Stated("geometric", geometric, lambda o, m: -np.abs(o[:, 0] - m) / 2),
    Stated("geometric, wide", partial(geometric, scale=300.0), lambda o, m: -np.abs(o[:, 0] - m) / 300),
    Stated("geometric, 1e5", partial(geometric, scale=1e5), lambda o, m: -np.abs(o[:, 0] - m) / 1e5),
    Stated(
        "geometric, off the integers -inf",
        partial(geometric, scale=300.0),
        lambda o, m: np.where(o[:, 0] == np.rint(o[:, 0]), -np.abs(o[:, 0] - m) / 300, -np.inf),
    ),
    Stated("randomised response", coin, coin_density),
    Stated("exponential mechanism", items, items_density),
    Stated("staircase", staircase, staircase_density),
    Stated("truncated Laplace", truncated, truncated_density),
    Stated("clipped Gaussian", clipped, clipped_density),
    Stated("clipped Gaussian, rare atom", partial(clipped, high=5.0), partial(clipped_density, high=5.0)),
    Stated("two columns cut at 0", zero_atom, zero_atom_density),
    Stated("uniform", uniform, uniform_density),
    Stated("Cauchy", cauchy, lambda o, m: -np.log1p((o[:, 0] - m) ** 2)),
    Stated("Student", student, lambda o, m: -3 * np.log1p((o[:, 0] - m) ** 2 / 5)),
    Stated("scale of the data", data_scale, lambda o, m: normal_density(o, m, m) - 2 * np.log(m)),
    Stated("rounded to 1e-3", rounded, normal_density),
    Stated("rounded to 1e-2", partial(rounded, step=1e-2), normal_density),
    Stated("rounded to 1e-3, wide", partial(rounded, scale=30.0), partial(normal_density, scale=30.0)),
    *(
        Stated(
            f"scale {s:g}",
            lambda m, n, rng, s=s: s * normal(m, n, rng),
            lambda o, m, s=s: normal_density(o / s, m),
        )
        for s in (1e-300, 1e150)
    ),
    Stated("truncated, refuses all else", truncated, refusing),
    Stated("a public column", public_column, lambda o, m: normal_density(o[:, :1], m)),
    Stated("a count and a sum", count_and_sum, lambda o, m: -np.abs(o[:, 0] - m) / 2 - np.abs(o[:, 1] - m)),
]

#: Draws that do not follow what is stated, on one data set already.
FALSE = [
    Stated("density 0", normal, lambda o, m: np.zeros(len(o))),
    Stated("one column of two", partial(normal, k=2), lambda o, m: normal_density(o[:, :1], m)),
    Stated("sign", normal, lambda o, m: stats.norm.logsf(-np.sign(o[:, 0]) * m)),
    Stated("rounded", normal, lambda o, m: normal_density(np.rint(o), m)),
    Stated("sum of columns", partial(normal, k=2), lambda o, m: -0.25 * (o.sum(axis=1) - 2 * m) ** 2),
    Stated(
        "a noisy column that is ignored",
        lambda m, n, rng: np.column_stack([normal(m, n, rng), normal(m, n, rng, scale=0.1)]),
        lambda o, m: normal_density(o[:, :1], m),
    ),
    *(Stated(f"atom of {p:g}", partial(with_atom, p=p), normal_density) for p in (0.002, 0.005, 0.01, 0.02)),
    *(Stated(f"atom of {p:g}, 5-D", partial(with_atom, p=p, k=5), normal_density) for p in (0.002, 0.005)),
    Stated(
        "NaN to 0",
        lambda m, n, rng: np.where(rng.random((n, 1)) < 0.01, 0.0, normal(m, n, rng)),
        normal_density,
    ),
    Stated("less noise, .01", partial(with_less_noise, p=0.01), normal_density),
    Stated("less noise, .005", partial(with_less_noise, p=0.005), normal_density),
    Stated("less noise, .005, 5-D", partial(with_less_noise, p=0.005, k=5), normal_density),
    *(Stated(f"scale 10 % off: {s:g}", partial(normal, scale=s), normal_density) for s in (0.9, 1.1)),
    *(Stated(f"scale 10 % off, 5-D: {s:g}", partial(normal, k=5, scale=s), normal_density) for s in (0.9, 1.1)),
    Stated(
        "one scale of five 10 % off",
        lambda m, n, rng: m + rng.standard_normal((n, 5)) * np.array([1, 1, 0.9, 1, 1]),
        normal_density,
    ),
    *(Stated(f"Laplace, scale 10 % off: {s:g}", partial(laplace, scale=s), laplace_density) for s in (0.9, 1.1)),
    *(
        Stated(f"Laplace, scale 10 % off, 5-D: {s:g}", partial(laplace, k=5, scale=s), laplace_density)
        for s in (0.9, 1.1)
    ),
    Stated("mean off", lambda m, n, rng: normal(m + 0.1, n, rng), normal_density),
    Stated("correlations left out", correlated, normal_density),
    Stated(
        "two columns of 30 correlated, left out",
        lambda m, n, rng: (lambda z: np.column_stack([z[:, :29], 0.5 * z[:, 3] + 0.75**0.5 * z[:, 29]]) + m)(
            rng.standard_normal((n, 30))
        ),
        normal_density,
    ),
    Stated("Student as normal", student, lambda o, m: normal_density(o, m, (5 / 3) ** 0.5)),
    Stated("Student as normal, 5-D", partial(student, k=5), lambda o, m: normal_density(o, m, (5 / 3) ** 0.5)),
    Stated("larger noise stated", normal, partial(normal_density, scale=2.0)),
    Stated("geometric, other scale", geometric, lambda o, m: -np.abs(o[:, 0] - m) / 2.2),
    Stated("other coin", coin, partial(coin_density, p=0.65)),
    Stated("a pool of 100 noises", lambda m, n, rng: m + POOL[rng.integers(100, size=(n, 1))], normal_density),
    Stated("nan", normal, lambda o, m: np.where(o[:, 0] > 3 + m, np.nan, normal_density(o, m))),
    Stated("0 at a drawn output", normal, lambda o, m: np.where(o[:, 0] > 3.3 + m, -np.inf, normal_density(o, m))),
]

POOL = stats.norm.ppf((np.arange(100) + 0.5) / 100)

#: What only both data sets together show.
FALSE_ON_A_PAIR = [
    Stated(
        "a raw column that is ignored",
        lambda m, n, rng: np.column_stack([normal(m, n, rng), np.full(n, m / 3)]),
        lambda o, m: normal_density(o[:, :1], m),
    ),
    Stated("no noise", lambda m, n, rng: np.full((n, 1), m / 7), lambda o, m: normal_density(o, m / 7, 5.0)),
    Stated("no noise, density 0", lambda m, n, rng: np.full((n, 1), m / 7), lambda o, m: np.zeros(len(o))),
    Stated("density 0, two data sets", normal, lambda o, m: np.zeros(len(o))),
    Stated("constants differ", normal, lambda o, m: normal_density(o, m) + 0.2 * m),
    Stated("flipped", normal, lambda o, m: normal_density(o, 3 - m)),
    Stated("half of the loss", normal, lambda o, m: 0.5 * normal_density(o, m)),
    Stated("scale of the data, not normalised", data_scale, lambda o, m: normal_density(o, m, m)),
]

#: Draws that stop (or pause) where what is stated goes on, on one data set.
CUT_OFF = [
    Stated(f"{name}, drawn again {where}", partial(drawn_again, drawn, bad), density)
    for name, where, drawn, bad, density in (
        ("Laplace", "beyond 6", laplace, lambda z: np.abs(z[:, 0]) > 6, laplace_density),
        ("Laplace, 3-D", "beyond 4", partial(laplace, k=3), lambda z: np.abs(z).max(axis=1) > 4, laplace_density),
        ("Laplace", "from 3 to 3.1", laplace, lambda z: np.abs(z[:, 0] - 3.05) < 0.05, laplace_density),
        ("Gaussian", "beyond 3", normal, lambda z: np.abs(z[:, 0]) > 3, normal_density),
        ("Gaussian, 5-D", "beyond 3 in a column", partial(normal, k=5), lambda z: np.abs(z[:, 2]) > 3, normal_density),
        (
            "Gaussian, 5-D",
            "beyond a radius of 4.24",
            partial(normal, k=5),
            lambda z: (z**2).sum(axis=1) > 18,
            normal_density,
        ),
        (
            "Gaussian, 30-D",
            "beyond 3.5",
            partial(normal, k=30),
            lambda z: np.abs(z).max(axis=1) > 3.5,
            normal_density,
        ),
    )
]
CUT_OFF.append(
    Stated("Laplace, clipped at 6", lambda m, n, rng: np.clip(laplace(m, n, rng), m - 6, m + 6), laplace_density)
)

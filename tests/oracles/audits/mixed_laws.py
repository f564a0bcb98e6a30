"""Laws with point masses and a density, and what is stated of them, true and false; records enter by their number.

Densities are with respect to Lebesgue measure and counting measure together.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from oracles.audits.stated_laws import Stated, laplace, laplace_density, normal, normal_density
from scipy import stats


def clamped(noise, low, high, m, n, rng):
    return np.clip(m + noise.rvs(size=(n, 1), random_state=rng), low, high)


def clamped_density(noise, low, high, o, m, times=1.0):
    """``times`` the true mass at the ends."""
    z = o[:, 0] - m
    at_low, at_high = noise.logcdf(low - m) + np.log(times), noise.logsf(high - m) + np.log(times)
    return np.where(o[:, 0] <= low, at_low, np.where(o[:, 0] >= high, at_high, noise.logpdf(z)))


def clamp(name, noise, low, high):
    return Stated(name, partial(clamped, noise, low, high), partial(clamped_density, noise, low, high))


def cut(noise, threshold, m, n, rng, k=1):
    """Noisy values below a threshold are set to 0."""
    noisy = m + noise.rvs(size=(n, k), random_state=rng)
    return np.where(noisy < threshold, 0.0, noisy)


def cut_density(noise, threshold, o, m):
    inside = np.where(o < threshold, -np.inf, noise.logpdf(o - m))
    return np.where(o == 0, noise.logcdf(threshold - m), inside).sum(axis=1)


def spike(p, m, n, rng, k=1):
    return np.where(rng.random((n, 1)) < p, 0.0, m + rng.standard_normal((n, k)))


def spike_density(p, o, m, times=1.0, at=0.0):
    slab = np.log1p(-p) + stats.norm.logpdf(o - m).sum(axis=1)
    return np.where((o == at).all(axis=1), np.log(times * p), slab)


def both(m, n, rng):
    """A Poisson number of records or, as often, normal noise."""
    return np.where(rng.random((n, 1)) < 0.5, rng.poisson(2 * m, (n, 1)), m + rng.standard_normal((n, 1)))


def both_density(o, m):
    whole = (o[:, 0] >= 0) & (o[:, 0] == np.rint(o[:, 0]))
    at = stats.poisson.logpmf(np.where(whole, o[:, 0], 0), 2 * m)
    return np.where(whole, at, stats.norm.logpdf(o[:, 0] - m)) + np.log(0.5)


def rounded(law, step):
    return Stated(
        f"{law.name}, rounded to {step:g}", lambda m, n, rng: step * np.rint(law.drawn(m, n, rng) / step), law.density
    )


def stepped_density(o, m, step=1e-3):
    """Of a rounded Laplace law: the masses of its grid, and nothing off it."""
    steps = o[:, 0] / step
    masses = stats.laplace.cdf(o[:, 0] + step / 2 - m) - stats.laplace.cdf(o[:, 0] - step / 2 - m)
    return np.where(np.abs(steps - np.rint(steps)) < 1e-6, np.log(masses), -np.inf)


def two_columns(m, n, rng):
    return np.column_stack([clamped(stats.laplace, 0, np.inf, m, n, rng), clamped(stats.laplace, -1, 2, m, n, rng)])


def two_columns_density(o, m):
    first = clamped_density(stats.laplace, 0, np.inf, o[:, :1], m)
    return first + clamped_density(stats.laplace, -1, 2, o[:, 1:], m)


NON_NEGATIVE = clamp("non-negative Laplace, b 1", stats.laplace, 0, np.inf)
WIDE = clamp("non-negative Laplace, b 2", stats.laplace(scale=2), 0, np.inf)
LAPLACE = Stated("Laplace", laplace, laplace_density)
GAUSSIAN = Stated("Gaussian", normal, normal_density)
SPIKE = Stated("spike and slab", partial(spike, 0.2), partial(spike_density, 0.2))

HONEST = [
    NON_NEGATIVE,
    clamp("Laplace clamped on both sides, b 1", stats.laplace, -3, 3),
    clamp("Laplace clamped at far ends, b 1", stats.laplace, -6, 7),
    clamp("Laplace clamped above, b 1", stats.laplace, -np.inf, 3),
    clamp("non-negative Laplace, b 0.5", stats.laplace(scale=0.5), 0, np.inf),
    WIDE,
    clamp("clamped Gaussian", stats.norm, -1, 2.5),
    clamp("Gaussian clamped where its hazard is 1", stats.norm(loc=-1, scale=1.2), -np.inf, 1.3),
    clamp("nearly always clamped", stats.laplace(scale=0.4), 2.6, np.inf),
    clamp("clamped Student", stats.t(2), -2, 5),
    Stated("thresholded Laplace", partial(cut, stats.laplace, 2.0), partial(cut_density, stats.laplace, 2.0)),
    Stated("thresholded, 3 columns", partial(cut, stats.laplace, 1.5, k=3), partial(cut_density, stats.laplace, 1.5)),
    SPIKE,
    Stated("rare spike", partial(spike, 0.004), partial(spike_density, 0.004)),
    Stated("spike and slab, 2 columns", partial(spike, 0.3, k=2), partial(spike_density, 0.3)),
    Stated("discrete and continuous", both, both_density),
    Stated("two columns of Laplace, clamped", two_columns, two_columns_density),
    *(rounded(NON_NEGATIVE, step) for step in (1e-2, 1e-3, 1e-4)),
    rounded(SPIKE, 1e-2),
    Stated("Laplace rounded to 0.001, masses stated", rounded(LAPLACE, 1e-3).drawn, stepped_density),
    rounded(GAUSSIAN, 1e-3),
    Stated(
        "float32, clamped",
        lambda m, n, rng: clamped(stats.laplace, 0, 3, m, n, rng).astype(np.float32).astype(float),
        partial(clamped_density, stats.laplace, 0, 3),
    ),
]

FALSE = [
    *(
        Stated(f"{name}, its mass times {times:g}", law.drawn, partial(law.density, times=times))
        for name, law in (("non-negative", NON_NEGATIVE), ("clamped on both sides", HONEST[1]), ("spike", SPIKE))
        for times in (0.5, 2.0)
    ),
    Stated("spike at another place", partial(spike, 0.4), partial(spike_density, 0.4, at=1.0)),
    Stated("no spike in the density", partial(spike, 0.05), lambda o, m: stats.norm.logpdf(o[:, 0] - m)),
    Stated("non-negative, no mass stated", WIDE.drawn, lambda o, m: stats.laplace.logpdf(o[:, 0] - m, scale=2)),
    Stated(
        "rounded to 0.01, its mass times 2",
        rounded(NON_NEGATIVE, 1e-2).drawn,
        partial(NON_NEGATIVE.density, times=2.0),
    ),
]

"""Laws of outputs for the power and the level of the black-box audit: violations hard to find, and tight honest ones.

``outputs(extra, n, rng)`` returns ``n`` rows for a data set with ``extra`` (0 or 1) more records.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import optimize, stats

from audits.black_box.black_box_results import BlackBoxClaim
from mechanisms import Dataset, NeighbouringPair, Relation

Outputs = Callable[[int, int, np.random.Generator], np.ndarray]
PAIR = NeighbouringPair.add(Dataset(np.ones((1, 1)), np.zeros(1), 1.0, 1.0), [1.0], 0.0)
POOL = np.random.default_rng(20240911).laplace(size=10_000)


@dataclass(frozen=True)
class Law:
    """A mechanism that is only drawn from."""

    outputs: Outputs
    name: str = "law"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> np.ndarray:
        return np.asarray(self.outputs(dataset.n_records - 1, n_draws, rng), dtype=np.float64).reshape(n_draws, -1)


def claim(epsilon: float, delta: float) -> BlackBoxClaim:
    return BlackBoxClaim(epsilon, delta, (Relation.ADD,))


def atom(p: float) -> Outputs:
    def outputs(extra, n, rng):
        return np.where(rng.random(n) < p * extra, math.pi, extra + rng.laplace(size=n))

    return outputs


def redrawn(wanted: Callable[[np.ndarray, int], np.ndarray]) -> Outputs:
    """Laplace noise, drawn again until it is wanted."""

    def outputs(extra, n, rng):
        noise = rng.laplace(size=n)
        while len(bad := np.flatnonzero(~wanted(noise, extra))):
            noise[bad] = rng.laplace(size=len(bad))
        return extra + noise

    return outputs


def xor(extra, n, rng):
    z = rng.standard_normal((n, 3))
    z[:, 2] = np.abs(z[:, 2]) * np.sign(z[:, 0] * z[:, 1]) * (1 if extra else -1)
    return z


def decimal_parity(extra, n, rng):
    return (2 * np.rint(500 * (extra + rng.laplace(size=n))) + extra) / 1000


def on_grid(first: float, second: float) -> Outputs:
    def outputs(extra, n, rng):
        step = second if extra else first
        return np.rint((extra + rng.laplace(size=n)) * step) / step

    return outputs


def cauchy(extra, n, rng):
    rare = rng.random(n) < 0.01
    return np.where(rare, (10 if extra else 1) * rng.standard_cauchy(n), rng.laplace(size=n))


def svt(extra, n, rng):
    """Sparse vector technique whose released answer is not paid for: the noisy answer that passed the threshold."""
    answers = np.r_[np.full(9, float(extra)), 0.0] + rng.laplace(scale=2.0, size=(n, 10))
    above = answers >= rng.laplace(scale=2.0, size=(n, 1))
    first = above & (np.cumsum(above, axis=1) == 1)
    return np.where(first, answers, np.where(np.cumsum(above, axis=1) > 0, np.inf, np.nan))


PURE, TINY = claim(1.0, 0.0), claim(1.0, 1e-6)
#: Law, claim, and the evaluations (both data sets together) at which it must be found.
HARD: dict[str, tuple[Outputs, BlackBoxClaim, int]] = {
    "3-way XOR": (xor, PURE, 20_000),
    "parity of the 3rd decimal": (decimal_parity, PURE, 20_000),
    "decimal grids": (on_grid(1e8, 1e9), PURE, 20_000),
    "binary grids": (on_grid(2.0**20, 2.0**21), PURE, 20_000),
    "pool of 10^4 noises": (lambda e, n, rng: e + rng.choice(POOL, n), PURE, 20_000),
    "seed from the data": (lambda e, n, rng: e + np.random.default_rng(e).laplace(size=n), PURE, 20_000),
    "atom .005": (atom(0.005), TINY, 20_000),
    "atom .002": (atom(0.002), TINY, 200_000),
    "atom .001": (atom(0.001), TINY, 200_000),
    "no noise, probability .001": (
        lambda e, n, rng: e + np.where(rng.random(n) < 0.001, 0.0, rng.laplace(size=n)),
        TINY,
        200_000,
    ),
    "noise cut at 6 scales": (lambda e, n, rng: e + np.clip(rng.laplace(size=n), -6, 6), TINY, 200_000),
    "noise drawn again within 6": (redrawn(lambda z, e: np.abs(z) <= 6), TINY, 200_000),
    "(3, 3.1) never occurs": (redrawn(lambda z, e: (e == 0) | (z + e < 3) | (z + e > 3.1)), TINY, 200_000),
    "1 % Cauchy": (cauchy, claim(1.0, 1e-4), 200_000),
    "SVT, answer not paid for": (svt, PURE, 200_000),
}


def geometric(extra, n, rng):
    p = 1 - math.exp(-1)
    return extra + rng.geometric(p, n) - rng.geometric(p, n)


def exponential_mechanism(extra, n, rng):
    scores = np.where(np.arange(20) % 2 == extra, 0.5, -0.5)  # half go up, half down: the loss is 1 or -1
    weights = np.exp(scores)
    return rng.choice(20, size=n, p=weights / weights.sum())


def gaussian_delta(sigma: float, epsilon: float = 1.0) -> float:
    a, b = 0.5 / sigma - epsilon * sigma, -0.5 / sigma - epsilon * sigma
    return float(stats.norm.cdf(a) - math.exp(epsilon) * stats.norm.cdf(b))


SIGMA = float(optimize.brentq(lambda s: gaussian_delta(s) - 1e-2, 0.3, 10.0, xtol=1e-14))


def laplace_and_atom(extra, n, rng):
    """With the extra record, one output in a hundred is a value that never occurs without it: (1, .01) tight."""
    return np.where(rng.random(n) < 0.01 * extra, math.pi, np.rint(2**24 * (rng.laplace(size=n) + extra)) / 2**24)


#: Honest laws that reach their claims with equality.
TIGHT: dict[str, tuple[Outputs, BlackBoxClaim]] = {
    "Laplace": (lambda e, n, rng: e + rng.laplace(size=n), PURE),
    "Laplace, 3 columns": (lambda e, n, rng: e / 3 + rng.laplace(size=(n, 3)), PURE),
    "geometric": (geometric, PURE),
    "randomised response": (lambda e, n, rng: rng.random(n) < 1 / (1 + math.exp(1 - 2 * e)), PURE),
    "analytic Gaussian (1, 1e-2)": (lambda e, n, rng: e + SIGMA * rng.standard_normal(n), claim(1.0, 1e-2)),
    "Laplace and an atom": (laplace_and_atom, claim(1.0, 1e-2)),
    "exponential mechanism, 20": (exponential_mechanism, PURE),
}

"""RW21's Algorithms 1, 2 and 4 run one draw at a time, one dimension, one unit record or none: for formula tests."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from oracles.mechanisms.reports import algorithm_2, algorithm_4
from scipy.optimize import brentq
from scipy.stats import norm

BETA = {"logistic": 0.25, "squared": 1.0}


def slope(loss: str, theta: float) -> float:
    """f'(theta; 1)."""
    return theta - 1.0 if loss == "squared" else -1.0 / (1.0 + math.exp(theta))


def curvature(loss: str, theta: float) -> float:
    """f''(theta; 1)."""
    return 1.0 if loss == "squared" else 1.0 / (2.0 + math.exp(theta) + math.exp(-theta))


@dataclass(frozen=True)
class Draw:
    """One run: the target's derivatives, the three signed terms of C7, the releases."""

    first: float
    second: float
    terms: tuple[float, float, float]
    inner: float  # grad J^T grad l
    leverage: float
    H: float
    g_hat: float
    H_hat: float
    eigenvalue: float

    @property
    def loss(self) -> float:
        return abs(sum(self.terms))

    @property
    def size(self) -> float:
        """The sum of the absolute terms."""
        return sum(map(abs, self.terms))


def draws(p: dict, n: int, seed: int = 1) -> Iterator[Draw]:
    """Yield runs for the unit record (1, 1), outside empty data or the only record of the data."""
    rng, loss, lam, sigma = np.random.default_rng(seed), p["loss"], p["lam"], p["sigma"]
    inside = p["target"] == "inside"
    for _ in range(n):
        b = sigma * rng.standard_normal()
        theta = -b / lam
        if inside:
            theta = brentq(lambda t, b=b: slope(loss, t) + lam * t + b, -b / lam - 30 / lam, -b / lam + 30 / lam)
        first, second = slope(loss, theta), curvature(loss, theta)
        H, sign = lam + (second if inside else 0.0), -1.0 if inside else 1.0
        gradient = lam * theta + (first if inside else 0.0)  # = -b
        terms = (
            -math.log(1.0 + sign * second / H),
            first**2 / (2 * sigma**2),
            sign * gradient * first / sigma**2,
        )
        e, Z, w = rng.standard_normal(3)
        yield Draw(
            first,
            second,
            terms,
            gradient * first,
            1.0 / H,
            H,
            gradient + p["sigma_2"] * e,
            H + math.sqrt(2.0) * p["sigma_3"] * Z,
            H + p.get("sigma_4", 0.0) * w,
        )


def bound_2(p: dict, d: Draw, *, corrected: bool, released: bool = True) -> tuple[float, float, float]:
    """(g_bar, mu_bar, epsilon1_bar) of Algorithm 2; NaN where it takes the logarithm of a negative number."""
    more = {"g_hat": np.array([d.g_hat]), "H_hat": np.array([[d.H_hat]]), "corrected": corrected} if released else {}
    scales = {"sigma": p["sigma"], "lam": p["lam"], "rho": p["rho"], "sigma2": p["sigma_2"], "sigma3": p["sigma_3"]}
    try:
        return algorithm_2(np.ones(1), d.first, d.second, **scales, **more)
    except ValueError:
        return math.nan, math.nan, math.nan


@cache
def z(rho: float) -> float:
    """The standard normal quantile at 1 - rho/2."""
    return float(norm.isf(rho / 2))


def tau(p: dict) -> float:
    """The quantile at 1 - rho/2 of N(0, 2)."""
    return math.sqrt(2.0) * z(p["rho"])


def bound_4(p: dict, d: Draw, *, corrected: bool) -> tuple[float, float, float]:
    """(g_bar, mu_bar, epsilon1_bar) of Algorithm 4; infinite, or NaN as printed, where there is no logarithm."""
    scales = {"sigma": p["sigma"], "lam": p["lam"], "rho": p["rho"], "tau": tau(p)}
    noise = {"sigma2": p["sigma_2"], "sigma3": p["sigma_3"], "sigma4": p["sigma_4"]}
    releases = {"g_hat": np.array([d.g_hat]), "H_hat": np.array([[d.H_hat]]), "eigenvalue": d.eigenvalue}
    try:
        return algorithm_4(np.ones(1), d.first, d.second, **scales, **noise, **releases, corrected=corrected)
    except ValueError:
        nothing = math.inf if corrected else math.nan
        return nothing, nothing, nothing

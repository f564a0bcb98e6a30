"""Sufficient statistics perturbation with a ridge, one run after another in units of the paper: errors, (12), (13)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import exp, log, sqrt

import numpy as np
from scipy.optimize import brentq


@dataclass(frozen=True)
class RidgeProblem:
    """A diagonal Gram matrix, theta*, the bounds B and Y, lambda, and the budget."""

    eigenvalues: np.ndarray
    theta: np.ndarray
    B: float
    Y: float
    lam: float
    epsilon: float
    log_delta: float  # log(6/delta)
    rho: float

    @property
    def damped(self) -> np.ndarray:
        """Diagonal of X^T X + lambda I."""
        return self.eigenvalues + self.lam

    def noise(self) -> float:
        """||X||^2 (||Y||^2 + ||X||^2 ||theta*||^2) log(6/delta) log(2 d^2/rho)/epsilon^2."""
        d = len(self.theta)
        size = self.B**2 * (self.Y**2 + self.B**2 * self.theta @ self.theta)
        return float(size * self.log_delta * log(2 * d**2 / self.rho) / self.epsilon**2)


def rate_12(p: RidgeProblem) -> float:
    """The bound on |theta_hat - theta*|^2."""
    return p.noise() * sum(1 / p.damped**2) + p.lam**2 * sum(p.theta**2 / p.damped**2)


def rate_13(p: RidgeProblem) -> float:
    """The bound on F(theta_hat) - F(theta*), with the trace."""
    return p.noise() * sum(1 / p.damped) + p.lam**2 * sum(p.theta**2 / p.damped)


def last_of_13(p: RidgeProblem) -> float:
    """The bound on F(theta_hat) - F(theta*), with the smallest eigenvalue."""
    return len(p.theta) * p.noise() / min(p.damped) + p.lam * sum(p.theta**2)


def problem(dim: int, spectrum: str, lam: float, ratio: float) -> RidgeProblem:
    """A problem with B = 2, epsilon = 1/2, |theta*| = 0.3; eigenvalues as multiples of the noise matrix's size."""
    B, epsilon, log_delta = 2.0, 0.5, 10.0
    unit = B**2 * sqrt(log_delta) / (epsilon / 3) * sqrt(dim)
    multiples = {"large": np.full(dim, 6.0), "spread": np.geomspace(0.5, 500.0, dim)}[spectrum]
    theta = np.full(dim, 0.3 / sqrt(dim))
    return RidgeProblem(unit * multiples, theta, B, ratio * B * 0.3, unit * lam, epsilon, log_delta, 0.1)


def errors(p: RidgeProblem, power: int, runs: int, seed: int) -> np.ndarray:
    """|theta_hat - theta*|^2 (``power`` 2) or the excess of F (else) of single runs; 0 where (15) does not hold."""
    rng, d, found = np.random.Generator(np.random.PCG64DXSM(seed)), len(p.theta), []
    scale = sqrt(p.log_delta) / (p.epsilon / 3)
    gram = np.diag(p.eigenvalues)
    for _ in range(runs):
        upper = np.triu(rng.standard_normal((d, d)))
        E1 = p.B**2 * scale * (upper + np.triu(upper, 1).T)
        E2 = p.B * p.Y * scale * rng.standard_normal(d)
        error = np.linalg.solve(gram + p.lam * np.eye(d) + E1, gram @ p.theta + E2) - p.theta
        size = error @ error if power == 2 else error @ gram @ error / 2
        found.append(size if np.linalg.norm(E1, 2) <= (min(p.eigenvalues) + p.lam) / 2 else 0.0)
    return np.array(found)


Rate = Callable[[RidgeProblem], float]


def rho_at_the_median(p: RidgeProblem, rate: Rate, constant: float, power: int) -> tuple[float, float]:
    """Return the rho (no probability) at which ``constant`` times the rate is the median on (15), and P(above)."""
    found = errors(p, power, 1_500, 5)
    median = float(np.median(found[found > 0]))
    size = brentq(lambda size: constant * rate(replace(p, rho=exp(size))) - median, -7.0, 700.0)
    return exp(size), float(np.mean(found > median))

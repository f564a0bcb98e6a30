"""W18, appendix F, retyped: both rules for one-posterior sampling at bounds 1, solved by bisection."""

from __future__ import annotations

import math
from collections.abc import Callable

from oracles.mechanisms.profiles import quadratic_delta
from scipy.optimize import minimize_scalar
from scipy.stats import norm

RHO = 0.05


def solve(rising: Callable[[float], float], target: float) -> float:
    """Return where a rising function of a positive number meets ``target``, by bisection of the exponent."""
    low, high = -80.0, 80.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(math.exp(middle)) < target else (low, middle)
    return math.exp(low)


def printed_rule(lam: float, gamma: float, delta: float, n: int) -> float:
    """sqrt(gamma L^2 log(2/delta)/lambda) + gamma L^2/(2 (lambda + 1)) + (1 + log(2/delta))/(2 lambda)."""
    L, log = math.sqrt(n) / math.sqrt(2 * lam) + 1, math.log(2 / delta)
    return math.sqrt(gamma * L**2 * log / lam) + gamma * L**2 / (2 * (lam + 1)) + (1 + log) / (2 * lam)


def corrected_rule(lam: float, gamma: float, delta: float, n: int) -> float:
    """max{m z^2 - log(1 + m), log(1 + m)}/2 + z R sqrt(gamma m) + gamma R^2 m/(2 (1 + m)), m = 1/lambda."""
    m, z = 1 / lam, norm.isf(delta / 2)
    R = 1 + min(math.sqrt(n) / (2 * math.sqrt(lam)), n / lam)
    return (
        max(m * z * z - math.log1p(m), math.log1p(m)) / 2
        + z * R * math.sqrt(gamma * m)
        + gamma * R * R * m / (2 * (1 + m))
    )


def parameters(rule: str, *, printed: bool, epsilon: float, delta: float, n: int, dim: int = 1) -> tuple[float, float]:
    """Return lambda and gamma of a rule of appendix F."""
    bound = printed_rule if printed else corrected_rule
    if rule == "concentrated":
        return 1 / solve(lambda inverse: bound(1 / inverse, 1.0, delta, n), epsilon), 1.0
    floor = (1 + math.log(2 / delta)) / epsilon
    if not printed:
        floor = 1 / solve(lambda m: bound(1 / m, 0.0, delta, n), epsilon / 2)
    lam = floor
    spent = min(epsilon, math.sqrt(epsilon))
    tail = math.log(1 / RHO)
    c1 = (dim / 2 + math.sqrt(dim * tail) + tail) * math.log(2 / delta) / spent**2
    if rule == "conservative":
        lam = max(math.sqrt(c1), floor)
    if rule == "balanced":

        def objective(log_lam: float) -> float:
            at = math.exp(log_lam)
            norms = math.sqrt(n) / math.sqrt(2 * at) if printed else min(math.sqrt(n) / (2 * math.sqrt(at)), n / at)
            return math.log(c1 * (1 + norms) ** 2 / at + at)

        found = minimize_scalar(objective, bounds=(math.log(floor), math.log(floor) + 40), method="bounded")
        lam = min(floor, math.exp(found.x), key=lambda at: objective(math.log(at)))
    return lam, solve(lambda gamma: bound(lam, gamma, delta, n), epsilon)


def target_delta(lam: float, gamma: float, epsilon: float, y: float = 1.0) -> float:
    """Return the exact divergence of the sample on records x = 0 and on the same with a target (1, y) joined."""
    return max(quadratic_delta(epsilon, 1 / lam, math.sqrt(gamma) * y, backward=b) for b in (False, True))

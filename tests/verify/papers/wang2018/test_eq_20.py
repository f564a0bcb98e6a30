"""W18, (20) and the chain before it: one record by hand, quadratics by numpy's roots, literal draws for (20)."""

from __future__ import annotations

from math import exp, log, sqrt

import numpy as np
import pytest
from oracles.formula_cases import decide, exact_value, holds
from scipy.integrate import quad
from scipy.stats import norm

from verify.kernel.statement import Value
from verify.papers.wang2018.eq_20 import STATEMENT

ONE: dict[str, Value] = {"n": 1, "dim": 1, "seed": 0}


@pytest.mark.parametrize(
    ("version", "right"),
    [("printed", 3 / 2), ("corrected", 1 / 2), ("subtracted penalty 1 % smaller", 1 / 2 + 1 / 2 - 0.99 / 2)],
)
def test_first_equality_on_one_record(version: str, right: float) -> None:
    """x = 1, y = 0, lambda = 1, theta = 1: F(1) - F(0) = 1/2; with lambda |theta|^2 added 3/2; halved, taken off."""
    want = abs(right - 1 / 2) / max(right, 1 / 2)
    assert exact_value(STATEMENT, ".p1", version, ONE) == pytest.approx(want, rel=1e-12)


def test_first_equality_on_random_data() -> None:
    case = {"n": 4, "dim": 3, "seed": 8}
    assert holds(STATEMENT, ".p1", "corrected", case)
    assert not holds(STATEMENT, ".p1", "printed", case)


def _c(dim: int, rho: float, cross: float = 1.0) -> float:
    return dim / 2 + cross * sqrt(dim * log(1 / rho)) + log(1 / rho)


@pytest.mark.parametrize(("version", "weight"), [("printed", 1.0), ("corrected", 0.5)])
@pytest.mark.parametrize(("G", "lam", "gamma"), [(1.0, 0.5, 4.0), (100.0, 2.0**-10, 1.0), (1.0, 8.0, 1.0)])
@pytest.mark.parametrize("rho", [0.5, 1e-3])
def test_first_step_in_one_dimension(
    version: str, weight: float, G: float, lam: float, gamma: float, rho: float
) -> None:
    """t ~ N(G/(G + lambda), 1/(gamma (G + lambda))), theta* = 1: P(G (t - 1)^2/2 + w lambda (t^2 - 1) > c/gamma)."""
    square, linear, rest = G / 2 + weight * lam, -G, G / 2 - weight * lam - _c(1, rho) / gamma
    low, high = sorted(np.roots([square, linear, rest]).real)
    centre, spread = G / (G + lam), 1 / sqrt(gamma * (G + lam))
    want = norm.cdf(low, centre, spread) + norm.sf(high, centre, spread)
    case = {"dim": 1, "rho": rho, "eigenvalue": G, "lam": lam, "gamma": gamma}
    assert exact_value(STATEMENT, ".p2", version, case) == pytest.approx(want, rel=1e-6)


@pytest.mark.parametrize(("version", "cross"), [("corrected", 1.0), ("no cross term", 0.0)])
def test_first_step_in_several_dimensions(version: str, cross: float) -> None:
    """Null: the frequency of 40,000 literal draws; 6 standard errors 0.015. theta* = (1, ..., 1), G I the Gram."""
    d, G, lam, gamma, rho = 4, 2.0, 0.5, 1.5, 0.4
    rng = np.random.Generator(np.random.PCG64DXSM(3))
    theta = G / (G + lam) + rng.standard_normal((40_000, d)) / sqrt(gamma * (G + lam))

    def objective(t: np.ndarray) -> np.ndarray:
        return np.asarray(G / 2 * ((t - 1) ** 2).sum(axis=-1) + lam / 2 * (t**2).sum(axis=-1))

    above = np.mean(objective(theta) - objective(np.ones(d)) > _c(d, rho, cross) / gamma)
    case = {"dim": d, "rho": rho, "eigenvalue": G, "lam": lam, "gamma": gamma}
    assert exact_value(STATEMENT, ".p2", version, case) == pytest.approx(above, abs=0.015)


def test_first_step_is_refuted_at_a_tiny_rho() -> None:
    rare = {"dim": 1, "rho": 1e-18, "eigenvalue": 1.0, "lam": 2.0**-10, "gamma": 2.0**23}
    assert not holds(STATEMENT, ".p2", "printed", rare)
    assert holds(STATEMENT, ".p2", "corrected", rare)
    rare = {"dim": 50, "rho": 0.1, "eigenvalue": 100.0, "lam": 2.0**-10, "gamma": 1.0}
    assert not holds(STATEMENT, ".p2", "no cross term", rare)


#: (20): shift of the released constant and exponent of the bound over C_2, and whether c keeps its tail.
BOUNDS = {
    "printed": (1.0, 2.0, True),
    "corrected": (sqrt(2), 4 * sqrt(2), True),
    "exponent of the shift alone": (sqrt(2), 2 * sqrt(2), True),
    "no chi-square tail": (sqrt(2), 0.0, False),
}


@pytest.mark.parametrize("version", BOUNDS)
@pytest.mark.parametrize(("data", "delta"), [("linear", 1e-2), ("y = 0", 1e-2), ("linear", 1.7)])
def test_20_against_literal_draws(version: str, data: str, delta: float) -> None:
    """Null: the frequency of (20) failing, draw after draw; 3,000 each, 7 standard errors of the difference 0.09.

    B = Y = 1, a diagonal Gram matrix whose smallest eigenvalue is the released one, theta* flat of length 1 (or 0).
    """
    d, eigenvalue, condition, lam, epsilon, rho = 3, 1.0, 9.0, 0.2, 0.9, 1.0
    rng = np.random.Generator(np.random.PCG64DXSM(9))
    shift, exponent, tail = BOUNDS[version]
    G = np.geomspace(eigenvalue, eigenvalue * condition, d)
    theta = np.full(d, 1 / sqrt(d)) if data == "linear" else np.zeros(d)
    ridge, total = G * theta / (G + lam), eigenvalue + lam
    c1 = (_c(d, rho) if tail else d / 2) * log(2 / delta) / epsilon**2
    c2 = log(2 / delta) / epsilon
    bound = (1 + np.linalg.norm(theta)) ** 2 * (c1 * (1 + 1 / total) ** (exponent * c2) / total + lam)
    failures = 0
    for _ in range(3_000):
        step = log(1 + 1 / total)
        delta_ = log(1 + np.linalg.norm(ridge)) + step / (epsilon / sqrt(log(2 / delta))) * rng.standard_normal()
        released = exp(delta_ + shift * step * c2)
        gamma = total * epsilon**2 / (log(2 / delta) * released**2)
        sample = ridge + rng.standard_normal(d) / np.sqrt(gamma * (G + lam))
        failures += (sample - theta) @ (G * (sample - theta)) / 2 > bound
    case = {"data": data, "dim": d, "eigenvalue": eigenvalue, "condition": condition, "lam": lam}
    case |= {"epsilon": epsilon, "delta": delta, "rho": rho}
    sampled = decide(STATEMENT, "#20", version, case, draws=3_000).sampled
    assert sampled is not None
    assert sampled.value == pytest.approx(failures / 3_000, abs=0.09)


@pytest.mark.parametrize("version", ["printed", "exponent of the shift alone"])
def test_20_fails_by_its_exponent(version: str) -> None:
    """d = 1, y = 0, B = Y = lambda_min = 1, lambda = 0: fails where Z_2^2/2 4^(s Z_1) > c, s = sqrt(C_2/epsilon).

    The proved witness is a lower bound of that probability, by quadrature here; both are above delta + rho.
    """
    epsilon, delta, rho = 0.25, 1e-6, 0.05
    s = sqrt(log(2 / delta)) / epsilon
    true = quad(
        lambda z: norm.pdf(z) * 2 * norm.sf(sqrt(2 * _c(1, rho) * 4 ** (-s * z))), -8, 8, points=[0], limit=200
    )[0]
    case = {"data": "y = 0", "dim": 1, "eigenvalue": 1.0, "condition": 1.0, "lam": 0.0}
    case |= {"epsilon": epsilon, "delta": delta, "rho": rho}
    evidence = decide(STATEMENT, "#20", version, case)
    assert evidence.exact is not None
    assert delta + rho < evidence.exact.low < true
    assert evidence.claim.high == pytest.approx(delta + rho)

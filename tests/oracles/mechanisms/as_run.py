"""The experiments' code of W18, draw by draw as it stands there: inverses, loops, and a search for every minimiser."""

from __future__ import annotations

import math

import numpy as np
from scipy import optimize

from mechanisms import Dataset


def statistics(data: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Return X'X + I and X'y, record by record."""
    gram, moment = np.eye(data.dim), np.zeros(data.dim)
    for x, y in zip(data.X, data.y, strict=True):
        gram += np.outer(x, x)
        moment += y * x
    return gram, moment


def ssp(data: Dataset, epsilon: float, delta: float, vector: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Return one output of SSP from its two normal draws."""
    gram, moment = statistics(data)
    scale = math.sqrt(math.log(4 / delta)) / epsilon
    return np.asarray(np.linalg.inv(gram + scale * matrix) @ (moment + scale * vector))


def objpert(data: Dataset, epsilon: float, delta: float, z: np.ndarray) -> np.ndarray:
    """Return argmin |R theta - v/2| over |theta| <= 1, by a general solver."""
    gram, moment = statistics(data)
    b = 2 * math.sqrt(4 * math.log(2 / delta) + 2 * epsilon) / epsilon**2 * z
    H = gram + (2 / epsilon / epsilon - 1) * np.eye(data.dim)
    R = np.linalg.cholesky(H).T
    half = np.linalg.inv(R.T) @ (moment - b) / 2
    found = optimize.minimize(
        lambda theta: np.sum((R @ theta - half) ** 2), np.zeros(data.dim), jac=lambda t: 2 * R.T @ (R @ t - half),
        method="SLSQP", constraints={"type": "ineq", "fun": lambda t: 1 - t @ t, "jac": lambda t: -2 * t},
        options={"ftol": 1e-15, "maxiter": 500},
    )  # fmt: skip
    return np.asarray(found.x)


def c1(epsilon: float, delta: float, dim: int) -> float:
    """Return C_1 at rho = 0.05."""
    return (dim / 2 + math.sqrt(dim * math.log(20)) + math.log(20)) * math.log(2 / delta) / epsilon**2


def ops(data: Dataset, epsilon: float, delta: float, z: np.ndarray) -> np.ndarray:
    """Return one output of OPS-Balanced."""
    gram, moment = statistics(data)
    n, dim = data.n_records, data.dim
    lam = (c1(min(epsilon / 2, math.sqrt(epsilon / 2)), delta, dim) * n / 2) ** (1 / 3)
    lam = max(lam, (1 + math.log(2 / delta)) / epsilon)
    L = 1 + min(math.sqrt(n) / math.sqrt(2 * lam), n / lam)
    a, b = L**2 / (lam + 1), L * math.sqrt(math.log(2 / delta) / lam)
    c = (1 + math.log(2 / delta)) / 2 / lam - epsilon
    root = (-b + math.sqrt(b * b - 4 * a * c)) / (2 * a)
    H = gram + lam * np.eye(dim)
    R = np.linalg.cholesky(H).T
    return np.asarray(np.linalg.inv(H) @ moment + np.linalg.inv(R.T) @ z / root)


def adaops(data: Dataset, epsilon: float, delta: float, first: float, second: float, z: np.ndarray) -> np.ndarray:
    """Return one output of AdaOPS; the ridge by a bounded search of the objective."""
    gram, moment = statistics(data)
    n, dim, log = data.n_records, data.dim, math.log(6 / delta)
    released = min(np.linalg.svd(gram, compute_uv=False)) + first * math.sqrt(log) / (epsilon / 4) - log / (epsilon / 4)
    released = max(released, 0.0)
    target = max((1 + log) / 2 / (epsilon / 2 / 2) - released, 0.0)
    bar = (-1 + math.sqrt(1 + 4 * log / 2 * epsilon / 4)) / log
    C1, C2 = c1(bar, delta / 3, dim), math.log(2 / (delta / 3)) / (epsilon / 4)

    def objective(t: float) -> float:
        u = t + released
        return float(np.logaddexp(math.log(C1) + 2 * C2 * math.log1p(1 / u) - math.log(u), math.log(max(t, 1e-300))))

    lam = optimize.minimize_scalar(
        objective, bounds=(max(target, 1e-9), 100 * (C1 + C2)), method="bounded", options={"xatol": 1e-9}
    ).x
    h = lam + released
    H = gram + lam * np.eye(dim)
    theta = np.linalg.inv(H) @ moment
    sigma = math.log(1 + 1 / h) / (epsilon / 4)
    Delta = math.log(1 + np.linalg.norm(theta)) + second * sigma * math.sqrt(log) + sigma * log
    L = min(math.exp(Delta), 1 + math.sqrt(2 * math.sqrt(n) / h))
    a, b, c = L**2 / 2 / (h + 1), math.sqrt(L**2 * log / h), (1 + log) / 2 / h - epsilon / 2
    root = (-b + math.sqrt(b * b - 4 * a * c)) / (2 * a)
    R = np.linalg.cholesky(H).T
    return np.asarray(theta + np.linalg.inv(R.T) @ z / root)


def adassp(
    data: Dataset, epsilon: float, delta: float, first: float, vector: np.ndarray, matrix: np.ndarray
) -> np.ndarray:
    """Return one output of AdaSSP."""
    gram, moment = statistics(data)
    dim, log = data.dim, math.log(6 / delta)
    eta = math.sqrt(dim * log * math.log(2 * dim**2 / 0.05)) / (epsilon / 3)
    released = min(np.linalg.svd(gram, compute_uv=False)) + first * math.sqrt(log) / (epsilon / 3) - log / (epsilon / 3)
    lam = max(0.0, eta - max(released, 0.0))
    noisy = moment + math.sqrt(log) / (epsilon / 3) * vector
    hat = gram + math.sqrt(log) / (epsilon / 3) * 0.5 * (matrix + matrix.T)
    return np.asarray(np.linalg.inv(hat + lam * np.eye(dim)) @ noisy)

"""What the bounds around the noise along the target's features bound, computed outright: one Newton solve a point."""

from __future__ import annotations

import numpy as np


def minimiser(X, y, lam: float, noise):
    """The minimiser of sum log(1 + exp(-y x^T theta)) + lam/2 ||theta||^2 + noise^T theta, by damped Newton steps."""

    def gradient(theta):
        return -(X * (y / (1 + np.exp(y * (X @ theta))))[:, None]).sum(axis=0) + lam * theta + noise

    theta = np.zeros(X.shape[1])
    for _ in range(500):
        now = gradient(theta)
        if np.abs(now).max() < 1e-11 * (1 + np.abs(noise).max()):
            break
        step, length = np.linalg.solve(hessian(X, lam, theta), now), 1.0
        while np.linalg.norm(gradient(theta - length * step)) > np.linalg.norm(now) and length > 1e-12:
            length /= 2
        theta = theta - length * step
    return theta


def hessian(X, lam: float, theta):
    u = X @ theta
    return sum(w * np.outer(x, x) for w, x in zip(1 / (2 + 2 * np.cosh(u)), X, strict=True)) + lam * np.eye(len(theta))


def loss(X, y, lam: float, sigma: float, target_x, target_y: float, theta, *, inside: bool) -> float:
    """log p(theta) - log p'(theta) from the densities: noise = -gradient, Jacobian = Hessian; X, y are drawn from."""

    def log_density(X, y):
        b = (X * (y / (1 + np.exp(y * (X @ theta))))[:, None]).sum(axis=0) - lam * theta
        return -(b @ b) / (2 * sigma**2) + np.linalg.slogdet(hessian(X, lam, theta))[1]

    if inside:  # the last record is the target
        return float(log_density(X, y) - log_density(X[:-1], y[:-1]))
    return float(log_density(X, y) - log_density(np.vstack([X, target_x]), np.append(y, target_y)))


def move_and_margin(X, lam: float, start, end, signed):
    """(norm of the move in the Hessian at its start, fall of the margin, leverage at the end)."""
    H, move = hessian(X, lam, start), end - start
    leverage = signed @ np.linalg.solve(hessian(X, lam, end), signed)
    return float(np.sqrt(move @ H @ move)), float(-signed @ move), float(leverage)

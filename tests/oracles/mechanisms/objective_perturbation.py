"""Slow literal twins of objective perturbation: one record, one draw and one formula at a time."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from flint import arb, arb_series, ctx
from scipy.optimize import root
from scipy.special import erfc

from mechanisms.data.dataset import Dataset, FloatArray
from mechanisms.objective.losses import GlmLoss


def gradient(theta: FloatArray, dataset: Dataset, loss: GlmLoss, lam: float) -> FloatArray:
    """grad J(theta; D), record by record."""
    total = lam * theta
    for x, y in zip(dataset.X, dataset.y, strict=True):
        total = total + loss.first(np.asarray(x @ theta), np.asarray(y)) * x
    return np.asarray(total)


def hessian(theta: FloatArray, dataset: Dataset, loss: GlmLoss, lam: float) -> FloatArray:
    """grad^2 J(theta; D), record by record."""
    total = lam * np.eye(dataset.dim)
    for x, y in zip(dataset.X, dataset.y, strict=True):
        total = total + loss.second(np.asarray(x @ theta), np.asarray(y)) * np.outer(x, x)
    return total


def minimiser(noise: FloatArray, dataset: Dataset, loss: GlmLoss, lam: float) -> FloatArray:
    """argmin J(theta; D) + b^T theta by scipy's root finder, started at 0."""
    found = root(
        lambda t: gradient(t, dataset, loss, lam) + noise,
        np.zeros(dataset.dim),
        jac=lambda t: hessian(t, dataset, loss, lam),
        tol=1e-13,
    )
    return np.asarray(found.x)


def log_density(theta: FloatArray, dataset: Dataset, loss: GlmLoss, lam: float, sigma: float) -> float:
    """Change of variables (RW21, Lemma 30): log N(-grad J; 0, sigma^2 I) + log |det grad^2 J|."""
    b = -gradient(theta, dataset, loss, lam)
    log_normal = -(b @ b) / (2 * sigma**2) - dataset.dim * math.log(sigma * math.sqrt(2 * math.pi))
    return float(log_normal + np.linalg.slogdet(hessian(theta, dataset, loss, lam))[1])


def logistic_slope_1d(theta: complex, dataset: Dataset, lam: float) -> complex:
    """J'(theta; D) of one-dimensional logistic regression at a complex point."""
    total = lam * theta
    for (x,), y in zip(dataset.X, dataset.y, strict=True):
        total -= y * x / (1 + np.exp(y * x * theta))
    return total


def logistic_cdf_1d(theta: float, dataset: Dataset, lam: float, sigma: float) -> float:
    """P(output <= theta) = P(b >= -J'(theta)) = Phi(J'(theta)/sigma), as the output decreases in b."""
    return float(0.5 * erfc(-logistic_slope_1d(theta, dataset, lam).real / (sigma * math.sqrt(2))))


def logistic_density_1d(theta: float, dataset: Dataset, lam: float, sigma: float) -> float:
    """The derivative of ``logistic_cdf_1d`` by a complex step, which does not cancel."""
    step = 1e-30
    argument = -logistic_slope_1d(complex(theta, step), dataset, lam) / (sigma * math.sqrt(2))
    return float((0.5 * erfc(argument)).imag / step)


def hockey_stick_1d(log_p: FloatArray, log_q: FloatArray, grid: FloatArray, epsilon: float) -> float:
    """integral of (p - e^epsilon q)_+ by the trapezoidal rule."""
    return float(np.trapezoid(np.maximum(np.exp(log_p) - np.exp(epsilon + log_q), 0.0), grid))


#: The losses written once more as power series in the displacement of the predictor: name -> f(u; y).
SERIES: dict[str, Callable[[arb_series, arb, arb], arb_series]] = {
    "logistic": lambda u, y, w: (1 + (-y * u).exp()).log(),
    "squared": lambda u, y, w: w * (u - y) * (u - y) / 2,
    "poisson": lambda u, y, w: u.exp() - y * u,
    "smoothed hinge": lambda u, y, w: w * (1 + ((1 - y * u) / w).exp()).log(),
    "pseudo-Huber": lambda u, y, w: w * w * ((1 + (u - y) * (u - y) / (w * w)).sqrt() - 1),
}


def loss_derivatives(name: str, u: float, y: float, width: float) -> list[float]:
    """f, f', f'', f''' by ball arithmetic with 3000 bits on the power series around u."""
    old = ctx.prec, ctx.cap
    ctx.prec, ctx.cap = 3000, 4
    try:
        series = SERIES[name](arb_series([arb(u), arb(1)]), arb(y), arb(width))
        return [float(series[k] * math.factorial(k)) for k in range(4)]
    finally:
        ctx.prec, ctx.cap = old

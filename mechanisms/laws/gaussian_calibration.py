r"""How much normal noise a budget needs: the analytic Gaussian mechanism, and the classical constants beside it."""

from __future__ import annotations

import math

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy.special import ndtri

from ..base import check_nonnegative, check_positive
from ..data.dataset import FloatArray
from .gaussian_profile import gaussian_log_delta


def check_open_delta(delta: float, name: str = "delta") -> float:
    """Return ``delta`` as a float if it lies strictly between 0 and 1 (normal noise of finite size gives no other)."""
    number = float(delta)
    if not 0 < number < 1 or isinstance(delta, bool):
        raise ValueError(f"{name} must be in (0, 1), got {name}={delta}")
    return number


def upper_quantile(failure_prob: float) -> float:
    """Return ``z`` with ``P(Z > z) = failure_prob`` for a standard normal ``Z``."""
    return -float(ndtri(check_open_delta(failure_prob, "failure_prob")))


def analytic_mu(epsilon: float, delta: float) -> float:
    r"""Return the largest ``mu`` for which ``N(0, 1)`` and ``N(mu, 1)`` are ``(epsilon, delta)``-close.

    The root in ``mu`` of ``Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu) = delta`` (Balle and Wang 2018,
    theorem 8), taken in ``log mu`` and rounded to the safe side; ``epsilon >= 0`` and ``delta`` in (0, 1).
    """
    epsilon, delta = check_nonnegative("epsilon", epsilon), check_open_delta(delta)
    target = math.log(delta)

    def excess(log_mu: float) -> float:
        return max(float(gaussian_log_delta(epsilon, math.exp(log_mu))), -1e300) - target

    low, high = -20.0, 1.0
    while excess(low) > 0:
        low -= 20.0
    while excess(high) < 0:
        high += 1.0
    root = math.exp(float(scipy.optimize.brentq(excess, low, high, xtol=1e-15, rtol=8.9e-16, maxiter=500)))
    step = math.ulp(root)
    while gaussian_log_delta(epsilon, root) > target:
        root, step = root - step, 2 * step
    return root


def analytic_sigma(sensitivity: float, epsilon: float, delta: float) -> float:
    """Return the smallest standard deviation of normal noise that is ``(epsilon, delta)``-DP, exactly.

    ``sensitivity`` is Euclidean, finite and positive; the others are as in ``analytic_mu``.
    """
    return check_positive("sensitivity", sensitivity) / analytic_mu(epsilon, delta)


def classical_sigma(sensitivity: float, epsilon: float, delta: float, *, numerator: float = 1.25) -> float:
    """Return ``sensitivity sqrt(2 log(numerator/delta)) / epsilon`` (Dwork and Roth 2014, A.1: for epsilon < 1 only).

    Outside its domain the formula is still evaluated, so that it can be compared; it is then not enough noise in
    general (epsilon 10, delta 0.1 gives a true delta of 0.406).
    """
    sensitivity, epsilon = check_positive("sensitivity", sensitivity), check_positive("epsilon", epsilon)
    return sensitivity * math.sqrt(2 * math.log(numerator / check_open_delta(delta))) / epsilon


def gaussian_epsilons(mu: ArrayLike, delta: float) -> FloatArray:
    """Return the smallest ``epsilon >= 0`` with ``delta(epsilon) <= delta`` for every distance in ``mu``, in one pass.

    Bisection to the last bits, all entries at once; rounded to the safe side. ``delta`` is in (0, 1).
    """
    mu = np.asarray(mu, dtype=np.float64)
    target = math.log(check_open_delta(delta))
    low = np.zeros(mu.shape)
    # delta(epsilon) <= P(L > epsilon) <= exp(-(epsilon - mu^2/2)^2 / (2 mu^2))
    high = mu * (0.5 * mu + math.sqrt(-2 * target))
    high = np.where(gaussian_log_delta(0.0, mu) <= target, 0.0, high)
    for _ in range(80):
        middle = 0.5 * (low + high)
        enough = gaussian_log_delta(middle, mu) <= target
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high

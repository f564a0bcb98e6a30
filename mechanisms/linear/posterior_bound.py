r"""A proved bound on the loss of one posterior sample over all targets, and the posterior it leaves room for.

With ``m`` the leverage of the target outside the data and ``r`` its residual there, outside an event of probability
``delta`` the loss is, in both directions, at most

    max(m z^2 - log(1 + m), log(1 + m)) / 2 + z r sqrt(gamma m) + gamma r^2 m / (2 (1 + m))

with ``z = Phi^{-1}(1 - delta/2)``, provided ``z >= 1``; it grows with ``m`` and with ``r``
(docs/derivations/wang2018_adaops.md, section 2). At one epsilon, delta itself is at most that of the exact law at the
largest leverage ``m`` and the residual ``r sqrt(1 + m)`` (docs/derivations/compare.md, section 3), which says more.
"""

from __future__ import annotations

import math

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from ..base import BOTH, check_positive
from ..data.dataset import FloatArray
from ..laws.gaussian_calibration import check_open_delta
from ..laws.gaussian_profile import ROUNDING
from ..laws.quadratic_profile import QuadraticProfile, quadratic_log_delta

#: Largest delta for which the bound is proved: there the normal quantile z is still at least 1.
LARGEST_DELTA = 0.317


def two_sided_quantile(delta: float) -> float:
    """Return ``z`` with ``P(|Z| > z) = delta``; ``delta`` in (0, 0.317], where ``z >= 1``."""
    delta = check_open_delta(delta)
    if delta > LARGEST_DELTA:
        raise ValueError(f"delta must be at most {LARGEST_DELTA}, got delta={delta}")
    return -float(ndtri(delta / 2))


def leverage_part(leverage: ArrayLike, z: float) -> FloatArray:
    """Return the part of the bound that no temperature removes, ``max(m z^2 - log(1+m), log(1+m))/2``."""
    m = np.asarray(leverage, dtype=np.float64)
    return np.asarray(0.5 * np.maximum(m * z**2 - np.log1p(m), np.log1p(m)))


def loss_bound(leverage: ArrayLike, residual: ArrayLike, gamma: ArrayLike, delta: float) -> FloatArray:
    """Return the bound on the loss that holds in both directions outside probability ``delta``."""
    z = two_sided_quantile(delta)
    m, r, g = (np.asarray(part, dtype=np.float64) for part in (leverage, residual, gamma))
    return np.asarray(leverage_part(m, z) + z * r * np.sqrt(g * m) + 0.5 * g * r**2 * m / (1 + m))


def largest_leverage(epsilon: float, delta: float) -> float:
    """Return the leverage at which the temperature-free part of the bound alone is ``epsilon``."""
    z, epsilon = two_sided_quantile(delta), check_positive("epsilon", epsilon)
    high = 1.0
    while leverage_part(high, z) < epsilon:
        high *= 2
    root = scipy.optimize.brentq(lambda m: float(leverage_part(m, z)) - epsilon, 0.0, high, xtol=1e-300, rtol=1e-14)
    return float(root) * (1 - 1e-13)


def largest_gamma(leverage: ArrayLike, residual: ArrayLike, epsilon: float, delta: float) -> FloatArray:
    """Return the largest ``gamma`` whose bound is at most ``epsilon``; 0 where the leverage alone uses it up.

    Parameters
    ----------
    leverage, residual : array_like
        Upper bounds over all targets, positive.
    epsilon, delta : float
        The guarantee to be met.
    """
    z = two_sided_quantile(delta)
    m, r = (np.asarray(part, dtype=np.float64) for part in (leverage, residual))
    room = np.maximum(check_positive("epsilon", epsilon) - leverage_part(m, z), 0.0)
    # 1/2 m/(1+m) w^2 + z sqrt(m) w - room = 0 in w = r sqrt(gamma), in the form that does not cancel
    w = 2 * room / (z * np.sqrt(m) + np.sqrt(z**2 * m + 2 * room * m / (1 + m)))
    return np.asarray((w / r) ** 2 * (1 - 1e-13))


def proved_delta(leverage: float, scaled_residual: float, epsilon: float) -> float:
    """Return a proved bound on delta over all targets of at most this leverage and residual times ``sqrt(gamma)``."""
    m = leverage * (1 + ROUNDING)
    worst = QuadraticProfile(m, scaled_residual * math.sqrt(1 + m) * (1 + ROUNDING))
    at = epsilon - ROUNDING * max(1.0, abs(epsilon))
    return max(worst.delta_bracket(at, direction).high for direction in BOTH)


def largest_proved_gamma(leverage: ArrayLike, residual: ArrayLike, epsilon: float, delta: float) -> FloatArray:
    """Return the largest ``gamma`` at which ``proved_delta`` is at most ``delta``, in float64; 0 where none is.

    Parameters
    ----------
    leverage, residual : array_like
        Upper bounds over all targets, positive; any shapes that broadcast.
    epsilon, delta : float
        The guarantee to be met; positive, and in (0, 1).
    """
    m, r = np.broadcast_arrays(np.asarray(leverage, dtype=np.float64), np.asarray(residual, dtype=np.float64))
    target = math.log(check_open_delta(delta))

    def kept(log_gamma: FloatArray) -> NDArray[np.bool_]:
        scaled = r * np.sqrt(1 + m) * np.exp(0.5 * log_gamma)
        return np.asarray(np.maximum(*(quadratic_log_delta(epsilon, m, scaled, d) for d in BOTH)) <= target)

    # no larger one: there the shift of normal laws alone is 40 and more
    low, high = np.full(m.shape, -60.0), np.log(1600 * (1 + m) ** 2 / (m * r**2))
    low = np.minimum(low, high - 60.0)
    some = kept(low)
    for _ in range(60):
        middle = 0.5 * (low + high)
        good = kept(middle)
        low, high = np.where(good, middle, low), np.where(good, high, middle)
    return np.asarray(np.where(some, np.exp(low), 0.0))


def ridge_norm_bound(n_records: float, x_bound: float, y_bound: float, floor: ArrayLike) -> FloatArray:
    """Return a bound on ``|(X^T X + lam I)^{-1} X^T y|`` from a floor on the smallest eigenvalue of the matrix.

    ``min(sqrt(n) Y / sqrt(floor), n B Y / floor)``, since a singular value ``s`` of ``X`` contributes
    ``s/(s^2 + lam) <= 1/sqrt(s^2 + lam)``. (With ``lam`` itself as the floor, half of the first term suffices.)
    """
    floor = np.asarray(floor, dtype=np.float64)
    root = math.sqrt(n_records) * y_bound / np.sqrt(floor)
    return np.asarray(np.minimum(root, n_records * x_bound * y_bound / floor))

"""Exact epsilon at one delta for many privacy profiles at once: safeguarded Newton steps on whole arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_ndtr, ndtri

from ..base import Direction, check_delta
from ..data.dataset import FloatArray
from ..laws.gaussian_profile import gaussian_log_delta
from ..laws.quadratic_profile import CLOSE, quadratic_log_delta, quadratic_log_tail
from .mills import HALF_LOG_2PI

#: Profiles solved together; bounds memory and keeps the arrays in cache.
_CHUNK: Final = 8192
_STEPS: Final = 200

#: log delta and log tail at an array of epsilon, for the profiles at the given positions.
Law = Callable[[FloatArray, NDArray[np.intp]], tuple[FloatArray, FloatArray]]


def gaussian_epsilon(mu: ArrayLike, delta: float) -> FloatArray:
    """Return the smallest ``epsilon >= 0`` at ``delta`` between ``N(0, 1)`` and ``N(mu, 1)``, elementwise.

    Parameters
    ----------
    mu : (m,) array_like
        Finite and at least 0.
    delta : float
        In [0, 1].

    Returns
    -------
    (m,) array
        On the safe side: the divergence there is at most ``delta``, to float64.
    """
    mu = np.asarray(mu, dtype=np.float64)
    if mu.ndim != 1 or not (np.isfinite(mu) & (mu >= 0)).all():
        raise ValueError("mu must be finite and at least 0, one axis")
    delta = check_delta(delta)
    if delta in (0.0, 1.0):
        return np.where(mu > 0, math.inf if delta == 0.0 else 0.0, 0.0)

    def law(epsilon: FloatArray, at: NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
        m = mu[at]
        return gaussian_log_delta(epsilon, m), log_ndtr(0.5 * m - epsilon / m)

    upper = mu * (0.5 * mu + max(-float(ndtri(delta)), 0.0))
    return _solve(law, delta, upper, mu * (0.5 * mu + _edge(mu, delta)), np.full(mu.shape, math.inf), mu > 0)


def _edge(slope: FloatArray, delta: float) -> FloatArray:
    """Return about the ``z`` with ``phi(z) slope / (z (z + slope)) = delta``: where a gap of that slope is delta."""
    z = np.ones(slope.shape)
    with np.errstate(divide="ignore"):
        for _ in range(3):
            z = np.sqrt(np.maximum(2 * (np.log(slope / (z * (z + slope))) - HALF_LOG_2PI - math.log(delta)), 0.01))
    return z


def ops_epsilon(
    leverage: ArrayLike,
    scaled_residual: ArrayLike,
    delta: float,
    direction: Direction,
) -> FloatArray:
    """Return the smallest ``epsilon >= 0`` at ``delta`` of one-posterior sampling, elementwise.

    Parameters
    ----------
    leverage, scaled_residual : (m,) array_like
        Out of sample, as in ``QuadraticProfile``; leverages may be infinite
        (without the record the matrix is singular), where epsilon is infinite.
    delta : float
        In [0, 1].
    direction : Direction
        FORWARD: drawn without the record.

    Returns
    -------
    (m,) array
        On the safe side: the divergence there is at most ``delta``, to float64 (relatively 1e-11; ``epsilon_at`` of
        ``QuadraticProfile`` is proved).
    """
    mu, a = np.broadcast_arrays(np.asarray(leverage, dtype=np.float64), np.asarray(scaled_residual, dtype=np.float64))
    if mu.ndim != 1 or not (mu >= 0).all() or not np.isfinite(a[np.isfinite(mu)]).all():
        raise ValueError("leverage must be at least 0 and scaled_residual finite, one axis each")
    delta = check_delta(delta)
    if delta == 1.0:
        return np.zeros(mu.shape)
    lost = np.isinf(mu)
    mu, a = np.where(lost, 0.0, mu), np.where(lost, 0.0, np.abs(a))
    largest = np.where(mu > 0, 0.5 * (np.log1p(mu) + a**2 / (1 + mu)), 0.0)
    if delta == 0.0:
        epsilons = _past(largest, largest) if direction is Direction.BACKWARD else np.where(mu > 0, math.inf, 0.0)
        return np.where(lost, math.inf, epsilons)
    root = np.sqrt(mu)
    if direction is Direction.FORWARD:  # |Z| <= z except with probability delta
        z = -float(ndtri(0.5 * delta))
        upper = 0.5 * (a**2 * mu / (1 + mu) + mu * z**2) + a * root * z
        edge = _edge(root * (a + root), delta)
        guess = 0.5 * (a**2 * mu / (1 + mu) - np.log1p(mu) + mu * edge**2) + a * root * edge
    else:
        # L > epsilon is |W| < w with w^2 = 2 (largest - epsilon); two bounds of delta show that w is at least ...
        z = max(-float(ndtri(delta)), 0.0)
        mean, spread = a / (1 + mu), root / np.sqrt(1 + mu)
        upper = 0.5 * (np.log1p(mu) + mean**2 * mu - (spread * z) ** 2) + mean * spread * z
        upper = np.where(mean > spread * z, upper, largest)  # ... mean - spread z, from delta <= P(W < w)
        # ... and the root of delta <= (largest density) * integral of (w^2 - W^2)/2 = (2/3) w^3/(spread sqrt(2 pi))
        cube = 1.5 * delta * math.sqrt(2 * math.pi) * spread
        upper = np.maximum(np.minimum(upper, largest - 0.5 * np.cbrt(cube) ** 2), 0.0)
        w = mean - spread * _edge(mean * spread, delta)
        guess = np.where(w > np.cbrt(cube), largest - 0.5 * w**2, upper)

    def law(epsilon: FloatArray, at: NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
        return (
            quadratic_log_delta(epsilon, mu[at], a[at], direction),
            quadratic_log_tail(epsilon, mu[at], a[at], direction),
        )

    bound = largest if direction is Direction.BACKWARD else np.full(mu.shape, math.inf)
    return np.where(lost, math.inf, _past(_solve(law, delta, upper, guess, bound, mu > 0), bound))


def _past(epsilon: FloatArray, largest: FloatArray) -> FloatArray:
    """Step over the rounding of the distance to the largest loss, where that is more than an ulp moves delta by."""
    close = np.isfinite(largest) & (largest > 0) & (epsilon >= (1 - CLOSE) * largest)
    return np.where(close, epsilon + 4 * np.spacing(np.where(close, largest, 1.0)), epsilon)


def _solve(
    law: Law, delta: float, upper: FloatArray, guess: FloatArray, largest: FloatArray, moving: NDArray[np.bool_]
) -> FloatArray:
    out = np.zeros(upper.shape)
    positions = np.flatnonzero(moving)
    for start in range(0, positions.size, _CHUNK):
        at = positions[start : start + _CHUNK]
        out[at] = _newton(law, math.log(delta), upper[at], guess[at], largest[at], at)
    return out


def _newton(
    law: Law, target: float, upper: FloatArray, guess: FloatArray, largest: FloatArray, at: NDArray[np.intp]
) -> FloatArray:
    """Solve ``log delta = target`` on ``[0, upper]``; ``log delta`` is at most the target at ``upper``, up to rounding.

    The answer is 0 where that is so at 0. The slope is ``d log delta / d epsilon = 1 - P(L > epsilon)/delta``. Where
    log delta is concave the steps come from the right and stay there; one that leaves its bracket is halved instead.
    """
    low, high = np.full(at.size, -1.0), upper * (1 + 1e-12)  # low < 0: not yet known to be too small
    best, point, active = high.copy(), np.clip(guess, 0.0, high), np.arange(at.size)
    for _ in range(_STEPS):
        if active.size == 0:
            return best
        tried = point[active]
        log_delta, log_tail = law(tried, at[active])
        safe = log_delta <= target
        best[active] = np.where(safe, tried, best[active])
        high[active] = np.where(safe, tried, high[active])
        low[active] = np.where(safe, low[active], tried)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            slope = -np.expm1(log_tail - log_delta)
            step = (target - log_delta) / slope
            room = largest[active] - tried  # delta falls like a small power of it: there, a step in its logarithm
            step = np.where(-slope * room < 4, -room * np.expm1(-step / room), step)
        # close to the largest loss a minute step still changes delta: then both must have settled
        settled = (np.abs(log_delta - target) <= 1e-6) | (np.abs(step) <= 4 * np.spacing(tried))
        near = settled & (np.abs(step) <= 1e-13 * tried)
        new = tried + step
        left, right = low[active], high[active]
        new = np.where((new > left) & (new <= right), new, 0.5 * (np.maximum(left, 0.0) + right))
        new = np.where((left < 0) & (tried + step <= 0), 0.0, new)
        # a converged point on the unsafe side steps just over the root
        new = np.where(near & ~safe, np.minimum(tried * (1 + 4e-14) + step, right), new)
        point[active] = new
        active = active[~((near & safe) | (right - np.maximum(left, 0.0) <= 1e-14 * right))]
    raise ArithmeticError(f"the batched root search must settle in {_STEPS} steps, {active.size} profiles did not")

"""Normal tails without cancellation: the Mills ratio and the gaps that privacy profiles are made of."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erfcx, log_ndtr

from ..data.dataset import FloatArray

HALF_LOG_2PI: Final = 0.5 * math.log(2 * math.pi)
_LOG_SQRT_HALF_PI: Final = 0.5 * math.log(math.pi / 2)

#: Relative gap below which the difference of two Mills ratios is integrated instead of subtracted.
SMALL_GAP: Final = 1e-2
#: exp(-NEGLIGIBLE) is lost in float64.
NEGLIGIBLE: Final = 40.0
_NODES, _WEIGHTS = (0.5 * part for part in np.polynomial.legendre.leggauss(32))
_NODES = _NODES + 0.5
#: Elements integrated at once: 32 nodes each stay in the cache.
_CHUNK: Final = 256


def log_mills(t: ArrayLike) -> FloatArray:
    """Return ``log(Phi(t) / phi(t))`` for real ``t``, any shape, accurate on the whole line."""
    t = np.asarray(t, dtype=np.float64)
    out = np.asarray(_LOG_SQRT_HALF_PI + np.log(erfcx(-np.minimum(t, 0.0) / math.sqrt(2))))
    right = t > 0
    if right.any():
        out[right] = log_ndtr(t[right]) + 0.5 * t[right] ** 2 + HALF_LOG_2PI
    return out


def gap_integral(u: FloatArray, slope: FloatArray, curve: FloatArray, span: FloatArray | float = np.inf) -> FloatArray:
    r"""Integrate ``exp(u r - r^2/2) (1 - exp(-slope r - curve r^2/2))`` over ``0 < r < span``.

    Every term is positive, so nothing cancels, however small ``slope`` and ``curve`` are. Gauss-Legendre with 32 nodes
    on the part of the interval where ``exp(u r - r^2/2)`` is above ``exp(-40)`` of its value at 0: meant for ``u`` up
    to about 5 and a second factor that does not vary faster than the first. All of shape ``(m,)``; ``span`` may be
    infinite.
    """
    u, slope, curve, span = np.broadcast_arrays(u, slope, curve, span)
    total = np.empty(u.shape)
    for start in range(0, u.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        v, k, q = u[part, None], slope[part, None], curve[part, None]
        root = np.sqrt(v**2 + 2 * NEGLIGIBLE)
        reach = np.where(v > 0, v + root, 2 * NEGLIGIBLE / (root - np.minimum(v, 0.0)))
        width = np.minimum(reach, span[part, None])
        r = width * _NODES
        term, loss = 0.5 * r, -0.5 * q * r  # in place from here on: this is where the time goes
        np.subtract(v, term, out=term)
        term *= r
        np.exp(term, out=term)
        loss -= k
        loss *= r
        term *= np.expm1(loss, out=loss)
        total[part] = -width[:, 0] * (term @ _WEIGHTS)
    return total


def log_gap(u: ArrayLike, slope: ArrayLike, curve: ArrayLike = 0.0) -> FloatArray:
    r"""Return ``log(phi(u) * integral_0^inf exp(u r - r^2/2) (1 - exp(-slope r - curve r^2/2)) dr)``.

    With ``s = 1/sqrt(1 + curve)`` and ``R = Phi/phi`` the integral is ``R(u) - s R(s (u - slope))``: what one edge of a
    hockey-stick divergence between two normal laws amounts to. The two terms are subtracted where they differ by more
    than ``SMALL_GAP``, and ``gap_integral`` is used where they do not. Arguments are broadcast together;
    ``slope >= 0``, ``curve >= 0``.
    """
    u, slope, curve = np.broadcast_arrays(*(np.asarray(part, dtype=np.float64) for part in (u, slope, curve)))
    scale = 1 / np.sqrt(1 + curve)
    log_ratio = -0.5 * np.log1p(curve) + log_mills(scale * (u - slope)) - log_mills(u)
    with np.errstate(divide="ignore"):
        out = np.asarray(log_ndtr(u) + np.log(-np.expm1(np.minimum(log_ratio, 0.0))))
        small = (log_ratio > -SMALL_GAP) & np.isfinite(u)
        if small.any():
            v = u[small]
            out[small] = np.log(gap_integral(v, slope[small], curve[small])) - 0.5 * v**2 - HALF_LOG_2PI
    return out


def log_interval(v: ArrayLike, span: ArrayLike) -> FloatArray:
    """Return ``log P(v - span < Z < v)`` for a standard normal ``Z``; ``span >= 0`` may be infinite.

    Accurate in the left tail and for short intervals (integrated, not subtracted); in the right tail turn the
    interval round first.
    """
    v, span = np.broadcast_arrays(np.asarray(v, dtype=np.float64), np.asarray(span, dtype=np.float64))
    log_ratio = log_ndtr(v - span) - log_ndtr(v)
    with np.errstate(divide="ignore"):
        out = np.asarray(log_ndtr(v) + np.log(-np.expm1(np.minimum(log_ratio, 0.0))))
        small = (log_ratio > -SMALL_GAP) & np.isfinite(v)
        if small.any():
            r = span[small, None] * _NODES
            mass = np.exp(r * (v[small, None] - 0.5 * r)) @ _WEIGHTS
            out[small] = np.log(mass) + np.log(span[small]) - 0.5 * v[small] ** 2 - HALF_LOG_2PI
    return out

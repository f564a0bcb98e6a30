"""Renyi divergences of one Poisson-sampled step with normal noise, for all records at once, and what they promise."""

from __future__ import annotations

import math
from functools import lru_cache
from numbers import Real
from typing import Final, overload

import numpy as np
from flint import arb
from numpy.typing import ArrayLike

from ..base import Bracket, check_delta, check_nonnegative
from ..data.dataset import FloatArray
from ..numerics.balls import Ball, enclose
from .subsampled_gaussian import check_rate

#: Records evaluated at once: their terms stay in the cache.
_CHUNK: Final = 4096
#: Distances from here on have an infinite cost: their squares overflow.
_FAR: Final = 1e150


def check_order(order: float) -> int:
    """Return a Renyi order as an int if it is a whole number of at least 2."""
    if not isinstance(order, Real):
        raise ValueError(f"order must be a whole number of at least 2, got order={order!r}")
    if isinstance(order, bool) or not math.isfinite(order) or int(order) != order or order < 2:
        raise ValueError(f"order must be a whole number of at least 2, got order={order}")
    return int(order)


@lru_cache(maxsize=64)
def _log_weights(rate: float, order: int) -> tuple[FloatArray, FloatArray]:
    """Return the columns ``k (k - 1)/2`` and ``log C(order, k) (1 - rate)^(order - k) rate^k``, ``k = 2 … order``."""
    k = np.arange(2, order + 1, dtype=np.float64)
    weights: FloatArray = np.array([math.log(math.comb(order, j)) for j in range(2, order + 1)]) + k * math.log(rate)
    if rate < 1:
        weights += (order - k) * math.log1p(-rate)
    else:
        weights[:-1] = -math.inf
    return (0.5 * k * (k - 1))[:, None], weights[:, None]


def _log_excess(squared: FloatArray, pairs: FloatArray, weights: FloatArray) -> FloatArray:
    """Return ``log sum_k w_k (exp(pairs_k squared) - 1)``, a sum of positive terms; ``-inf`` where it is 0."""
    growth = pairs * squared
    exponents = weights + growth
    top = exponents.max(axis=0)
    exponents -= top
    np.exp(exponents, out=exponents)
    exponents *= -np.expm1(-growth)
    with np.errstate(divide="ignore"):
        return np.asarray(top + np.log(exponents.sum(axis=0)))


@overload
def renyi_divergence(rate: float, mu: float, order: int) -> float: ...


@overload
def renyi_divergence(rate: float, mu: FloatArray, order: int) -> FloatArray: ...


def renyi_divergence(rate: float, mu: ArrayLike, order: int) -> float | FloatArray:
    r"""Return the Renyi divergence of one step, the larger of the two directions (add or remove one record).

    With ``q = rate`` it is ``log(sum_k C(order, k) (1 - q)^(order - k) q^k exp(k (k - 1) mu^2/2)) / (order - 1)``
    (Mironov, Talwar and Zhang 2019, section 3.3), that of ``(1 - q) N(0, 1) + q N(mu, 1)`` against ``N(0, 1)``. It
    bounds every step whose clipped gradient of the record is at most ``mu`` long, and the other direction too
    (docs/derivations/dp_sgd.md, theorems 1 and 5). Not for a replaced record.

    Parameters
    ----------
    rate : float
        Probability that the record takes part, in (0, 1].
    mu : array_like
        Lengths of clipped gradients in standard deviations of the noise, at least 0; any shape.
    order : int
        At least 2.

    Returns
    -------
    float or array
        As ``mu``; to about 1e-13 relatively, as it comes (neither rounded up nor down). Infinite from 1e150 on.
    """
    pairs, weights = _log_weights(check_rate(rate), check_order(order))
    lengths = np.asarray(mu, dtype=np.float64)
    if not (lengths >= 0).all():
        raise ValueError(f"mu must be at least 0, got mu={mu if lengths.ndim == 0 else 'an array with other values'}")
    flat = lengths.ravel()
    out = np.full(flat.shape, math.inf)
    near = np.flatnonzero(flat < _FAR)
    for start in range(0, near.size, _CHUNK):
        part = near[start : start + _CHUNK]
        out[part] = np.logaddexp(0.0, _log_excess(flat[part] ** 2, pairs, weights)) / (order - 1)
    return float(out[0]) if lengths.ndim == 0 else out.reshape(lengths.shape)


def renyi_ball(rate: float, mu: float, order: int) -> Ball:
    """Return ``renyi_divergence`` as a ball at the precision of the flint context (for the numbers as stored)."""
    q, half = arb(check_rate(rate)), arb(check_nonnegative("mu", mu)) ** 2 / 2
    order = check_order(order)
    # (1 - q)^0 = 1 at the last term, also where q = 1
    terms = (
        arb(math.comb(order, k)) * (1 - q) ** (order - k) * q**k * (k * (k - 1) * half).expm1()
        for k in range(2, order + 1)
    )
    return sum(terms, arb(0)).log1p() / (order - 1)


def renyi_bracket(rate: float, mu: float, order: int) -> Bracket:
    """Return a proved enclosure of ``renyi_divergence``."""
    return enclose(lambda: renyi_ball(rate, mu, order), low=0.0)


def _check_real_order(order: float) -> float:
    number = float(order)
    if not 1 < number < math.inf:
        raise ValueError(f"order must be finite and exceed 1, got order={order}")
    return number


def _check_cost(cost: float) -> float:
    number = float(cost)
    if not number >= 0:
        raise ValueError(f"cost must be at least 0, got cost={cost}")
    return number


def renyi_to_epsilon(order: float, cost: float, delta: float) -> float:
    r"""Return an ``epsilon`` that a Renyi divergence of at most ``cost`` promises at ``delta``.

    ``cost + log((a - 1)/a) - (log delta + log a)/(a - 1)`` with ``a = order``, or 0 where that is negative (Canonne,
    Kamath and Steinke 2020, proposition 12; Balle et al. 2020, theorem 21; docs/derivations/dp_sgd.md, theorem 6).

    Parameters
    ----------
    order : float
        Above 1.
    cost : float
        At least 0; infinity promises nothing.
    delta : float
        In [0, 1]; infinity is returned at 0.
    """
    a, cost, delta = _check_real_order(order), _check_cost(cost), check_delta(delta)
    if delta == 0.0:
        return math.inf if cost > 0 else 0.0
    return max(0.0, cost + math.log1p(-1 / a) - (math.log(delta) + math.log(a)) / (a - 1))


def renyi_to_delta(order: float, cost: float, epsilon: float) -> float:
    r"""Return the ``delta`` that a Renyi divergence of at most ``cost`` promises at ``epsilon``: the inverse.

    ``exp((a - 1)(cost - epsilon)) (1 - 1/a)^(a - 1)/a`` with ``a = order``, or 1 where that is larger.
    """
    a, cost = _check_real_order(order), _check_cost(cost)
    if math.isnan(epsilon):
        raise ValueError("epsilon must be a number, got epsilon=nan")
    if math.isinf(epsilon):
        return 0.0 if epsilon > 0 and cost < math.inf else 1.0
    return math.exp(min(0.0, (a - 1) * (cost - epsilon + math.log1p(-1 / a)) - math.log(a)))

r"""Curves delta(epsilon) that claims of other forms imply. Derivations: ``docs/derivations/claim_forms.md``.

Each is an upper bound on the hockey-stick divergence of every mechanism that keeps the claim, in both directions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mechanisms.base import check_delta, check_nonnegative

FloatArray = NDArray[np.float64]

#: An implied curve is moved up by this share, far beyond the rounding of its formula.
ROUNDING = 1e-12


@dataclass(frozen=True)
class ZcdpCurve:
    r"""What rho-zCDP implies at every ``epsilon >= 0``: the least of what its orders ``alpha > 1`` imply.

    Parameters
    ----------
    rho : float
        Finite, at least 0: the divergence of order ``alpha`` is at most ``alpha rho`` (Bun and Steinke 2016).
    """

    rho: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", check_nonnegative("rho", self.rho))

    def __call__(self, epsilon: float) -> float:
        """Return the implied delta at ``epsilon``."""
        epsilon = check_nonnegative("epsilon", epsilon)
        if self.rho == 0:
            return 0.0
        order = 1.0 + math.exp(self._log_excess(epsilon))
        return _capped(renyi_log_delta(epsilon, order, order * self.rho), self.rho)

    def _log_excess(self, epsilon: float) -> float:
        """Return ``log(alpha - 1)`` for the best order: where the derivative of the exponent, which increases, is 0."""
        low, high = -40.0, max(0.0, math.log1p(epsilon / self.rho), -math.log(self.rho)) + 2.0
        for _ in range(60):
            middle = 0.5 * (low + high)
            excess = math.exp(middle)
            slope = (1 + 2 * excess) * self.rho - epsilon + middle - math.log1p(excess)
            low, high = (low, middle) if slope > 0 else (middle, high)
        return 0.5 * (low + high)

    def epsilon_at(self, delta: float) -> float:
        """Return the least ``epsilon >= 0`` whose implied delta is at most ``delta``, from above."""
        return _inverse(self, delta)


@dataclass(frozen=True)
class RenyiCurve:
    """What ``(order, epsilon)``-Renyi DP implies at every ``epsilon >= 0``.

    Parameters
    ----------
    order : float
        Finite, above 1.
    epsilon : float
        The bound on the divergence of that order; finite, at least 0.
    """

    order: float
    epsilon: float

    def __post_init__(self) -> None:
        order = float(self.order)
        if not (math.isfinite(order) and order > 1):
            raise ValueError(f"order must be finite and above 1, got order={self.order}")
        object.__setattr__(self, "order", order)
        object.__setattr__(self, "epsilon", check_nonnegative("epsilon", self.epsilon))

    def __call__(self, epsilon: float) -> float:
        """Return the implied delta at ``epsilon``."""
        epsilon = check_nonnegative("epsilon", epsilon)
        return _capped(renyi_log_delta(epsilon, self.order, self.epsilon), self.epsilon)

    def epsilon_at(self, delta: float) -> float:
        """Return the least ``epsilon >= 0`` whose implied delta is at most ``delta``, from above."""
        return _inverse(self, delta)


@dataclass(frozen=True)
class TableCurve:
    r"""What several points, each in both directions, imply at every ``epsilon >= 0``.

    In ``r = e^epsilon`` the divergence is convex, does not increase, and is 1 at ``r = 0``; a point ``(e, d)`` of the
    other direction is a point ``1 - (1 - d)/r`` at ``1/r`` of this one. The curve is the lower convex hull of all of
    these, constant after the last.

    Parameters
    ----------
    points : tuple of (epsilon, delta)
        At least one.
    """

    points: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        if not self.points:
            raise ValueError("points must be at least one (epsilon, delta), got points=()")
        for epsilon, delta in self.points:
            check_nonnegative("epsilon", epsilon)
            check_delta(delta)

    def __call__(self, epsilon: float) -> float:
        """Return the implied delta at ``epsilon``: the least chord above it."""
        epsilon = check_nonnegative("epsilon", epsilon)
        knots, values = self._knots
        left, right = knots <= epsilon, knots >= epsilon
        flat = float(values[left].min())
        if not right.any():
            return flat
        a, b = knots[left][:, None], knots[right]
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.exp(epsilon - b) * np.expm1(a - epsilon) / np.expm1(a - b)  # of the right end, linear in r
        share = np.where(a == b, 1.0, share)
        return float(min(flat, ((1 - share) * values[left][:, None] + share * values[right]).min()))

    @cached_property
    def _knots(self) -> tuple[FloatArray, FloatArray]:
        """Return the known points: epsilons (from minus infinity on) and deltas."""
        epsilons, deltas = np.array(self.points).T
        mirrored = -np.expm1(-epsilons) + np.exp(-epsilons) * deltas
        return np.concatenate([[-np.inf], -epsilons, epsilons]), np.concatenate([[1.0], mirrored, deltas])

    def epsilon_at(self, delta: float) -> float:
        """Return the least ``epsilon >= 0`` whose implied delta is at most ``delta``, from above; or infinity."""
        return _inverse(self, delta, max(epsilon for epsilon, _ in self.points))


def renyi_log_delta(epsilon: float, order: float, divergence: float) -> float:
    r"""Return the log of the delta at ``epsilon`` that a divergence of one order implies.

    ``exp((a-1)(tau - epsilon)) (1 - 1/a)^{a-1} / a`` for order ``a`` and divergence ``tau`` (Canonne, Kamath and
    Steinke 2020, proposition 12).
    """
    less = order - 1.0
    if less == 0.0:
        return 0.0
    return less * (divergence - epsilon + math.log(less) - math.log1p(less)) - math.log1p(less)


def _capped(log_delta: float, relative_entropy: float) -> float:
    """Return delta, at most the total variation that the relative entropy allows.

    Pinsker, and Bretagnolle and Huber: ``min(sqrt(K/2), sqrt(1 - e^{-K}))``.
    """
    variation = math.sqrt(min(0.5 * relative_entropy, -math.expm1(-relative_entropy)))
    return min(1.0, min(math.exp(min(log_delta, 0.0)), variation) * (1 + ROUNDING))


def _inverse(curve: Callable[[float], float], delta: float, last: float = math.inf) -> float:
    """Return the least ``epsilon >= 0`` with ``curve(epsilon) <= delta``, from above; infinity where there is none."""
    delta, high = check_delta(delta), 1.0
    if curve(0.0) <= delta:
        return 0.0
    if delta == 0.0 and last == math.inf:
        return math.inf
    while curve(high) > delta:
        if high > last:
            return math.inf
        high *= 2
    low = 0.0
    for _ in range(80):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if curve(middle) <= delta else (middle, high)
    return high

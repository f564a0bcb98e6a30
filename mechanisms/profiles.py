"""Exact privacy profiles: the law of the loss between two normal laws, and what every profile shares."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from flint import arb
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import log_ndtr

from .balls import Ball, enclose, ndtr_ball
from .base import Bracket, Direction, PrivacyProfile, check_delta, check_nonnegative
from .data import FloatArray
from .mills import log_gap


def gaussian_log_delta(epsilon: ArrayLike, mu: ArrayLike) -> FloatArray:
    r"""Return ``log delta(epsilon)`` between ``N(0, 1)`` and ``N(mu, 1)``, any shapes that broadcast.

    ``delta = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)`` (Balle and Wang 2018, theorem 8),
    evaluated as ``phi(a) [R(a) - R(a - mu)]`` with ``a = mu/2 - epsilon/mu`` and the Mills ratio ``R``, which does
    not cancel.

    Parameters
    ----------
    epsilon : array_like
        Any real numbers (natural log); for negative ones ``delta(e) = 1 - e^e + e^e delta(-e)``.
    mu : array_like
        Distances of the means in standard deviations, at least 0.

    Returns
    -------
    array
        ``-inf`` where delta is 0.
    """
    epsilon, mu = np.broadcast_arrays(np.asarray(epsilon, dtype=np.float64), np.asarray(mu, dtype=np.float64))
    if np.isnan(epsilon).any():
        raise ValueError("epsilon must be a number, got epsilon=nan")
    if not (np.isfinite(mu) & (mu >= 0)).all():
        raise ValueError("mu must be finite and at least 0")
    size = np.abs(epsilon)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        start = np.where(mu > 0, 0.5 * mu - size / mu, -np.inf)
    # a beyond 1e150 would overflow when squared; delta is exp(-1e300) there
    above = np.where(start > -1e150, log_gap(np.maximum(start, -1e150), mu), -np.inf)
    return from_nonnegative(epsilon, above)


def from_nonnegative(epsilon: FloatArray, log_delta_opposite: FloatArray) -> FloatArray:
    """Return log delta at ``epsilon`` of either sign from log delta at ``|epsilon|``.

    For negative ``epsilon`` the second argument belongs to the opposite direction:
    ``delta(e) = 1 - e^e + e^e delta_opposite(-e)``, a sum of positive terms.
    """
    below = np.minimum(epsilon, 0.0)
    with np.errstate(divide="ignore"):
        dual = np.logaddexp(np.log(-np.expm1(below)), below + log_delta_opposite)
    return np.asarray(np.where(epsilon < 0, dual, log_delta_opposite))


def smallest_epsilon(log_delta: Callable[[float], float], delta: float, upper: float) -> float:
    """Return the smallest ``epsilon`` in ``[0, upper]`` with ``log_delta(epsilon) <= log(delta)``, rounded upwards.

    Parameters
    ----------
    log_delta : callable
        Non-increasing.
    delta : float
        In (0, 1].
    upper : float
        A point where ``log_delta`` is at most ``log(delta)`` (up to rounding); finite.
    """
    target = math.log(delta)
    if log_delta(0.0) <= target:
        return 0.0
    while log_delta(upper) > target:
        upper = 2 * upper + math.ulp(1.0)
    # -inf is clipped: brentq needs finite values, and only their signs far from the root
    root = float(brentq(lambda e: max(log_delta(e), -1e300) - target, 0.0, upper, xtol=1e-300, rtol=1e-15, maxiter=500))
    step = math.ulp(root)
    while log_delta(root) > target:  # to the safe side
        root, step = min(root + step, upper), 2 * step
    return root


def epsilon_bracket(
    delta_bracket: Callable[[float], Bracket], delta: float, epsilon: float, *, widest: float = 1e-3
) -> Bracket:
    """Return a proved enclosure of the smallest ``epsilon >= 0`` with divergence at most ``delta``.

    Parameters
    ----------
    delta_bracket : callable
        Proved enclosure of the divergence, which is non-increasing in its argument.
    delta : float
        In [0, 1].
    epsilon : float
        A numerical solution, around which signs are proved; infinity is returned as it is.
    widest : float
        Largest relative half-width tried.

    Raises
    ------
    ArithmeticError
        If ``epsilon`` is not a solution to a relative accuracy of ``widest``.
    """
    if math.isinf(epsilon):
        return Bracket(epsilon, epsilon)
    room = 1e-14
    while room <= widest:
        slack = room * (epsilon or 1.0)
        low, high = max(epsilon - slack, 0.0), epsilon + slack
        low_proved = low == 0.0 or delta_bracket(low).low >= delta
        if low_proved and delta_bracket(high).high <= delta:
            return Bracket(low, high)
        room *= 10
    raise ArithmeticError(f"epsilon must solve delta(epsilon) = {delta}, got epsilon={epsilon}")


@dataclass(frozen=True)
class GaussianProfile:
    """The law of the loss between ``N(0, 1)`` and ``N(mu, 1)``; the same in both directions.

    Under either law the loss is normal with mean ``mu^2/2`` and variance ``mu^2``. It is the exact law for any two
    normal laws with one covariance matrix; ``mu`` is then the Mahalanobis distance of the means (W19-L2.4, exactly).

    Parameters
    ----------
    mu : float
        Distance of the means in standard deviations; finite, at least 0 (0: the two laws agree).
    """

    mu: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", check_nonnegative("mu", self.mu))

    def log_delta_at(self, epsilon: float, direction: Direction = Direction.FORWARD) -> float:
        """Return ``log delta(epsilon)``; ``-inf`` where delta is 0. See :func:`gaussian_log_delta`."""
        return float(gaussian_log_delta(epsilon, self.mu))

    def delta_at(self, epsilon: float, direction: Direction = Direction.FORWARD) -> float:
        """Return the hockey-stick divergence at ``epsilon`` (any real number, natural log)."""
        return math.exp(self.log_delta_at(epsilon, direction))

    def epsilon_at(self, delta: float, direction: Direction = Direction.FORWARD) -> float:
        """Return the smallest ``epsilon >= 0`` with ``delta(epsilon) <= delta``, rounded to the safe side."""
        delta = check_delta(delta)
        if self.mu == 0.0 or delta == 1.0:
            return 0.0
        if delta == 0.0:
            return math.inf
        # delta(epsilon) <= P(L > epsilon) <= exp(-(epsilon - mu^2/2)^2 / (2 mu^2))
        upper = self.mu * (0.5 * self.mu + math.sqrt(-2 * math.log(delta)))
        return smallest_epsilon(self.log_delta_at, delta, upper)

    def epsilon_bracket(self, delta: float, direction: Direction = Direction.FORWARD) -> Bracket:
        """Return a proved enclosure of the smallest ``epsilon >= 0`` with ``delta(epsilon) <= delta``."""
        return epsilon_bracket(self.delta_bracket, delta, self.epsilon_at(delta))

    def log_tail_at(self, epsilon: float, direction: Direction = Direction.FORWARD) -> float:
        """Return ``log P(L > epsilon) = log Phi(mu/2 - epsilon/mu)``."""
        if self.mu == 0.0:
            return 0.0 if epsilon < 0 else -math.inf
        return float(log_ndtr(0.5 * self.mu - epsilon / self.mu))

    def tail_at(self, epsilon: float, direction: Direction = Direction.FORWARD) -> float:
        """Return ``P(L > epsilon)``."""
        return math.exp(self.log_tail_at(epsilon, direction))

    def _edges(self, epsilon: float) -> tuple[Ball, Ball]:
        mu, ratio = arb(self.mu), arb(epsilon) / arb(self.mu)
        return ndtr_ball(mu / 2 - ratio), ndtr_ball(-mu / 2 - ratio)

    def delta_bracket(self, epsilon: float, direction: Direction = Direction.FORWARD) -> Bracket:
        """Return a proved enclosure of :meth:`delta_at`."""
        if self.mu == 0.0:
            return enclose(lambda: arb(0) if epsilon >= 0 else -arb(epsilon).expm1(), low=0.0, high=1.0)

        def delta() -> Ball:
            upper, lower = self._edges(epsilon)
            return upper - arb(epsilon).exp() * lower

        return enclose(delta, low=0.0, high=1.0)

    def tail_bracket(self, epsilon: float, direction: Direction = Direction.FORWARD) -> Bracket:
        """Return a proved enclosure of :meth:`tail_at`."""
        if self.mu == 0.0:
            return Bracket(float(epsilon < 0), float(epsilon < 0))
        return enclose(lambda: self._edges(epsilon)[0], low=0.0, high=1.0)


@dataclass(frozen=True)
class SwappedProfile:
    """The profile of a pair whose members changed places: the two directions are exchanged.

    Parameters
    ----------
    inner : PrivacyProfile
    """

    inner: PrivacyProfile

    def delta_at(self, epsilon: float, direction: Direction) -> float:
        """Return the hockey-stick divergence at ``epsilon``."""
        return self.inner.delta_at(epsilon, direction.opposite)

    def log_delta_at(self, epsilon: float, direction: Direction) -> float:
        """Return its logarithm."""
        return self.inner.log_delta_at(epsilon, direction.opposite)

    def epsilon_at(self, delta: float, direction: Direction) -> float:
        """Return the smallest ``epsilon >= 0`` with ``delta(epsilon) <= delta``."""
        return self.inner.epsilon_at(delta, direction.opposite)

    def tail_at(self, epsilon: float, direction: Direction) -> float:
        """Return ``P(L > epsilon)``."""
        return self.inner.tail_at(epsilon, direction.opposite)

    def delta_bracket(self, epsilon: float, direction: Direction) -> Bracket:
        """Return a proved enclosure of :meth:`delta_at`."""
        return self.inner.delta_bracket(epsilon, direction.opposite)

    def tail_bracket(self, epsilon: float, direction: Direction) -> Bracket:
        """Return a proved enclosure of :meth:`tail_at`."""
        return self.inner.tail_bracket(epsilon, direction.opposite)

    def epsilon_bracket(self, delta: float, direction: Direction) -> Bracket:
        """Return a proved enclosure of the smallest ``epsilon >= 0`` with ``delta(epsilon) <= delta``."""
        return epsilon_bracket(lambda e: self.delta_bracket(e, direction), delta, self.epsilon_at(delta, direction))

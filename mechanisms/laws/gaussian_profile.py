"""The exact privacy profiles of two normal laws with one covariance matrix, and of two Laplace laws of one scale."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from flint import arb
from numpy.typing import ArrayLike
from scipy.special import log_ndtr

from ..base import Bracket, Direction, check_delta, check_nonnegative
from ..data.dataset import FloatArray
from ..numerics.balls import Ball, at_infinity, enclose, ndtr_ball
from ..numerics.mills import log_gap
from .profile_tools import epsilon_bracket, from_nonnegative, smallest_epsilon

#: Relative room for rounding in the inputs of a closed form that is then evaluated in ball arithmetic.
ROUNDING = 1e-13


def gaussian_log_delta(epsilon: ArrayLike, mu: ArrayLike) -> FloatArray:
    r"""Return ``log delta(epsilon)`` between ``N(0, 1)`` and ``N(mu, 1)``, any shapes that broadcast.

    ``delta = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)`` (Balle and Wang 2018, theorem 8), evaluated
    as ``phi(a) [R(a) - R(a - mu)]`` with ``a = mu/2 - epsilon/mu`` and the Mills ratio ``R``, which does not cancel.
    For negative ``epsilon`` (natural log) ``delta(e) = 1 - e^e + e^e delta(-e)``; ``mu >= 0`` are distances of the
    means in standard deviations. ``-inf`` where delta is 0.
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


def gaussian_balls(epsilon: Ball, mu: Ball) -> tuple[Ball, Ball]:
    """Return ``(delta(epsilon), P(L > epsilon))`` as balls; not finite where more bits are needed.

    The two-term formula of ``gaussian_log_delta`` as it stands, at the precision of the flint context. A ``mu`` that is
    not told from 0 has the numbers between those at 0 and at its largest.
    """
    if not epsilon.is_finite():
        return at_infinity(epsilon)
    if mu == 0:
        return (-epsilon.expm1(), arb(1)) if epsilon < 0 else (arb(0), arb(0))
    if not mu > 0:
        top = mu.upper()
        if not (mu.is_finite() and top > 0 and (epsilon >= 0 or top * top < -2 * epsilon)):
            return arb("nan"), arb("nan")
        (delta, tail), (none, before) = gaussian_balls(epsilon, top), gaussian_balls(epsilon, arb(0))
        return delta.union(none), tail.union(before)  # both are monotone up to mu^2 = -2 epsilon
    tail, other_tail = _gaussian_tails(epsilon, mu)
    return tail - epsilon.exp() * other_tail, tail


def _gaussian_tails(epsilon: Ball, mu: Ball) -> tuple[Ball, Ball]:
    """Return ``P(L > epsilon)`` under ``N(mu, 1)`` and under ``N(0, 1)`` as balls, for ``mu > 0``."""
    ratio = epsilon / mu
    return ndtr_ball(mu / 2 - ratio), ndtr_ball(-mu / 2 - ratio)


@dataclass(frozen=True)
class GaussianProfile:
    """The law of the loss between ``N(0, 1)`` and ``N(mu, 1)``; the same in both directions.

    Under either law the loss is normal with mean ``mu^2/2`` and variance ``mu^2``. It is the exact law for any two
    normal laws with one covariance matrix; ``mu`` is then the Mahalanobis distance of the means (W19-L2.4, exactly).

    Parameters
    ----------
    mu : float
        Distance of the means in standard deviations; finite, at least 0 (0: the two laws agree).
    room : float
        How far the true distance may be from ``mu``, proved; finite, at least 0. Brackets are from its least to its
        largest (divergence and tail above 0 grow with it), ``epsilon_at`` is that of the largest, other numbers are
        those of ``mu``.

    Examples
    --------
    >>> law = GaussianProfile(mu=0.5)
    >>> round(law.delta_at(1.0), 6)
    0.00683
    >>> round(law.epsilon_at(1e-6), 6)
    2.254085
    """

    mu: float
    room: float = 0.0
    symmetric: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", check_nonnegative("mu", self.mu))
        object.__setattr__(self, "room", check_nonnegative("room", self.room))

    @classmethod
    def around(cls, mu: float, distance: Bracket) -> GaussianProfile:
        """Return the law at ``mu`` where the true distance is proved to be in ``distance``."""
        room = max(distance.high - mu, mu - distance.low, 0.0)
        return cls(mu, math.nextafter(room, math.inf) if room else 0.0)

    @property
    def least(self) -> float:
        """The least distance that is not excluded."""
        return max(0.0, math.nextafter(self.mu - self.room, -math.inf)) if self.room else self.mu

    @property
    def largest(self) -> float:
        """The largest distance that is not excluded."""
        return math.nextafter(self.mu + self.room, math.inf) if self.room else self.mu

    @property
    def ends(self) -> tuple[GaussianProfile, GaussianProfile]:
        """The laws at the least and the largest distance: one that the true law dominates, one that dominates it."""
        return (self, self) if not self.room else (GaussianProfile(self.least), GaussianProfile(self.largest))

    def log_delta_at(self, epsilon: float, direction: Direction = Direction.FORWARD) -> float:
        """Return ``log delta(epsilon)``; ``-inf`` where delta is 0. See ``gaussian_log_delta``."""
        return float(gaussian_log_delta(epsilon, self.mu))

    def delta_at(self, epsilon: float, direction: Direction = Direction.FORWARD) -> float:
        return math.exp(self.log_delta_at(epsilon, direction))

    def epsilon_at(self, delta: float, direction: Direction = Direction.FORWARD) -> float:
        """Return the smallest ``epsilon >= 0`` with ``delta(epsilon) <= delta``, rounded to the safe side."""
        delta, mu = check_delta(delta), self.largest
        if mu == 0.0 or delta == 1.0:
            return 0.0
        if delta == 0.0:
            return math.inf
        # delta(epsilon) <= P(L > epsilon) <= exp(-(epsilon - mu^2/2)^2 / (2 mu^2))
        upper = mu * (0.5 * mu + math.sqrt(-2 * math.log(delta)))
        return smallest_epsilon(lambda epsilon: float(gaussian_log_delta(epsilon, mu)), delta, upper)

    def epsilon_bracket(self, delta: float, direction: Direction = Direction.FORWARD) -> Bracket:
        if self.room:
            low, high = (law.epsilon_bracket(delta) for law in self.ends)
            return Bracket(low.low, high.high)
        return epsilon_bracket(self.delta_bracket, delta, self.epsilon_at(delta))

    def log_tail_at(self, epsilon: float, direction: Direction = Direction.FORWARD) -> float:
        """Return ``log P(L > epsilon) = log Phi(mu/2 - epsilon/mu)``."""
        if self.mu == 0.0:
            return 0.0 if epsilon < 0 else -math.inf
        return float(log_ndtr(0.5 * self.mu - epsilon / self.mu))

    def tail_at(self, epsilon: float, direction: Direction = Direction.FORWARD) -> float:
        return math.exp(self.log_tail_at(epsilon, direction))

    def delta_bracket(self, epsilon: float, direction: Direction = Direction.FORWARD) -> Bracket:
        """Return a proved enclosure of ``delta_at`` (for ``mu`` as it is stored, and all within ``room`` of it)."""
        return self._bracket(epsilon, 0)

    def tail_bracket(self, epsilon: float, direction: Direction = Direction.FORWARD) -> Bracket:
        return self._bracket(epsilon, 1)

    def _bracket(self, epsilon: float, part: int) -> Bracket:
        def at(mu: float) -> Bracket:
            return enclose(lambda: gaussian_balls(arb(epsilon), arb(mu))[part], low=0.0, high=1.0)

        if not self.room:
            return at(self.mu)
        first, last = at(self.least), at(self.largest)
        low = min(first.low, last.low)
        # at a negative epsilon the tail falls from 1 before it rises with mu: it is least where mu^2 = -2 epsilon
        if part == 1 and -math.inf < epsilon < 0:
            dip = math.sqrt(-2 * epsilon)
            low = min(low, at(dip).low * (1 - ROUNDING)) if self.least <= dip <= self.largest else low
        return Bracket(low, max(first.high, last.high))

    def tails(self, epsilon: Ball, direction: Direction = Direction.FORWARD) -> tuple[Ball, Ball]:
        if self.room:
            raise ValueError(f"room must be 0 for tails at any precision, got room={self.room}")
        if self.mu == 0.0:
            return (arb(1), arb(1)) if epsilon < 0 else (arb(0), arb(0))
        return _gaussian_tails(epsilon, arb(self.mu))


def gaussian_delta(mu: float, epsilon: float) -> float:
    """Return a proved upper bound on the divergence of two normal laws at distance ``mu`` (given up to rounding)."""
    if not math.isfinite(mu):
        return 1.0
    slack = ROUNDING * max(1.0, abs(epsilon))
    return GaussianProfile(mu * (1 + ROUNDING)).delta_bracket(epsilon - slack).high


def _laplace_balls(epsilon: Ball, size: Ball) -> tuple[Ball, Ball]:
    r"""Return ``(delta(epsilon), P(L > epsilon))`` as balls; not finite where more bits are needed.

    With ``s = size``, drawn from the law at 0 and compared with that at ``s``, the loss of ``o`` is ``|o - s| - |o|``:
    ``s`` with probability 1/2, ``-s`` with probability ``e^{-s}/2``, and ``s - 2o`` in between. Hence
    ``P(L > e) = 1 - e^{-(s-e)/2}/2`` and ``delta(e) = 1 - e^{-(s-e)/2}`` for ``-s <= e < s``.
    """
    if not epsilon.is_finite():
        return at_infinity(epsilon)
    if size == 0:
        return (-epsilon.expm1(), arb(1)) if epsilon < 0 else (arb(0), arb(0))
    if epsilon >= size:
        return arb(0), arb(0)
    if epsilon < -size:
        return -epsilon.expm1(), arb(1)
    if not (epsilon < size and epsilon >= -size):
        return arb("nan"), arb("nan")
    half = (epsilon - size) / 2
    return -half.expm1(), 1 - half.exp() / 2


def laplace_product_delta(size: float, count: int, epsilon: float) -> float:
    """Return a proved upper bound on delta for ``count`` independent pairs of Laplace laws, ``size`` apart or less.

    ``E exp(t L) = ((t+1) exp(t s) + t exp(-(t+1) s))/(2t+1)`` of each, and ``(1 - exp(e - L))_+`` is at most
    ``exp(t (L - e)) t^t/(1+t)^(1+t)`` for every ``t > 0``; the least over a grid of ``t``.
    """
    t = np.geomspace(1e-2, 1e5, 801)
    moment = t * size + np.log1p(t * np.expm1(-(2 * t + 1) * size) / (2 * t + 1))
    exponents = count * moment - t * epsilon + t * np.log(t) - (1 + t) * np.log1p(t)
    slack = 1e-13 * (1 + count * t * size + t * abs(epsilon))
    return min(1.0, math.exp(min(0.0, float((exponents + slack).min()))))


@dataclass(frozen=True)
class LaplaceProfile:
    """The law of the loss between Laplace laws of scale 1 at distance ``size``; the same in both directions.

    Its largest loss is ``size``, which has probability 1/2: the mechanism is ``(size, 0)``-private with equality.

    Parameters
    ----------
    size : float
        Distance of the two centres in units of the scale; finite, at least 0 (0: the two laws agree).
    """

    size: float
    symmetric: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", check_nonnegative("size", self.size))

    def delta_at(self, epsilon: float, direction: Direction = Direction.FORWARD) -> float:
        if epsilon < -self.size:
            return -math.expm1(epsilon)
        return -math.expm1(0.5 * min(0.0, epsilon - self.size))

    def log_delta_at(self, epsilon: float, direction: Direction = Direction.FORWARD) -> float:
        """Return ``log delta(epsilon)``; ``-inf`` from ``size`` on."""
        value = self.delta_at(epsilon, direction)
        return math.log(value) if value > 0 else -math.inf

    def epsilon_at(self, delta: float, direction: Direction = Direction.FORWARD) -> float:
        """Return the smallest ``epsilon >= 0`` with ``delta(epsilon) <= delta``, rounded to the safe side."""
        delta = check_delta(delta)
        if delta == 1.0:
            return 0.0
        root = max(0.0, self.size + 2 * math.log1p(-delta))
        while self.delta_at(root) > delta:
            root = math.nextafter(root, math.inf)
        return root

    def tail_at(self, epsilon: float, direction: Direction = Direction.FORWARD) -> float:
        if epsilon >= self.size:
            return 0.0
        return 1.0 if epsilon < -self.size else 1.0 - 0.5 * math.exp(0.5 * (epsilon - self.size))

    def delta_bracket(self, epsilon: float, direction: Direction = Direction.FORWARD) -> Bracket:
        """Return a proved enclosure of ``delta_at`` (for ``size`` as it is stored)."""
        return enclose(lambda: _laplace_balls(arb(epsilon), arb(self.size))[0], low=0.0, high=1.0)

    def tail_bracket(self, epsilon: float, direction: Direction = Direction.FORWARD) -> Bracket:
        return enclose(lambda: _laplace_balls(arb(epsilon), arb(self.size))[1], low=0.0, high=1.0)

    def tails(self, epsilon: Ball, direction: Direction = Direction.FORWARD) -> tuple[Ball, Ball]:
        size = arb(self.size)
        if epsilon >= size:
            return arb(0), arb(0)
        if epsilon < -size:
            return arb(1), arb(1)
        return 1 - ((epsilon - size) / 2).exp() / 2, (-(epsilon + size) / 2).exp() / 2

    def epsilon_bracket(self, delta: float, direction: Direction = Direction.FORWARD) -> Bracket:
        return epsilon_bracket(self.delta_bracket, delta, self.epsilon_at(delta))

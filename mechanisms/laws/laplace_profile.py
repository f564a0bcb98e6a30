"""The exact privacy profile of two Laplace laws of one scale."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from flint import arb

from ..base import Bracket, Direction, check_delta, check_nonnegative
from ..numerics.balls import Ball, at_infinity, enclose
from .profile_tools import epsilon_bracket


def laplace_balls(epsilon: Ball, size: Ball) -> tuple[Ball, Ball]:
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
        return enclose(lambda: laplace_balls(arb(epsilon), arb(self.size))[0], low=0.0, high=1.0)

    def tail_bracket(self, epsilon: float, direction: Direction = Direction.FORWARD) -> Bracket:
        return enclose(lambda: laplace_balls(arb(epsilon), arb(self.size))[1], low=0.0, high=1.0)

    def tails(self, epsilon: Ball, direction: Direction = Direction.FORWARD) -> tuple[Ball, Ball]:
        size = arb(self.size)
        if epsilon >= size:
            return arb(0), arb(0)
        if epsilon < -size:
            return arb(1), arb(1)
        return 1 - ((epsilon - size) / 2).exp() / 2, (-(epsilon + size) / 2).exp() / 2

    def epsilon_bracket(self, delta: float, direction: Direction = Direction.FORWARD) -> Bracket:
        return epsilon_bracket(self.delta_bracket, delta, self.epsilon_at(delta))

r"""The exact law of the privacy loss of one-posterior sampling: a quadratic in one normal variable.

For a target outside ``D`` with leverage ``mu = x^T H^{-1} x`` and scaled residual
``a = sqrt(gamma) (y - x^T theta_hat)`` put ``W = sqrt(gamma) (y - x^T theta)``. The log density ratio in the proof
of W19-T4.1 is

    log p_D - log p_D' = c + W^2/2,   c = -log(1 + mu)/2 - a^2/(2 (1 + mu)),

where ``W ~ N(a, mu)`` under ``D`` and ``W ~ N(a/(1 + mu), mu/(1 + mu))`` under ``D'``: the loss is monotone in ``|W|``,
so that every event about it is an interval or its complement. Derivations: docs/derivations/ops_profile.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from flint import arb
from numpy.typing import ArrayLike
from scipy.special import log_ndtr

from ..base import Bracket, Direction, check_delta, check_nonnegative
from ..data.dataset import FloatArray
from ..numerics.balls import Ball, at_infinity, enclose, ndtr_ball
from ..numerics.mills import HALF_LOG_2PI, NEGLIGIBLE, SMALL_GAP, gap_integral, log_gap, log_interval, log_mills
from .profile_tools import epsilon_bracket, from_nonnegative, smallest_epsilon

#: Relative distance to the largest loss below which one divergence is taken from ball arithmetic.
CLOSE: Final = 1e-4


def quadratic_log_delta(
    epsilon: ArrayLike, leverage: ArrayLike, scaled_residual: ArrayLike, direction: Direction
) -> FloatArray:
    """Return ``log delta(epsilon)`` of one-posterior sampling, any shapes that broadcast.

    Out of sample, ``leverage`` is ``mu = x^T H^{-1} x >= 0`` of the target and ``scaled_residual`` is
    ``a = sqrt(gamma) (y - x^T theta_hat)``, of either sign; ``epsilon`` is any real numbers (natural log). FORWARD:
    drawn without the target. ``-inf`` where delta is 0. Down to -700 off by at most 1e-12, and BACKWARD by
    ``5e-15/(1 - epsilon/top)`` more near the largest loss ``top``: a few units in the last place below it, ``-inf`` is
    returned though delta is positive. ``QuadraticProfile`` is accurate there too.
    """
    epsilon, mu, a = (np.asarray(part, dtype=np.float64) for part in (epsilon, leverage, scaled_residual))
    if np.isnan(epsilon).any():
        raise ValueError("epsilon must be a number, got epsilon=nan")
    if not (np.isfinite(mu) & (mu >= 0)).all() or not np.isfinite(a).all():
        raise ValueError("leverage must be finite and at least 0, and scaled_residual finite")
    epsilon, mu, a = (np.array(part) for part in np.broadcast_arrays(epsilon, mu, np.abs(a)))
    out = from_nonnegative(epsilon, np.full(epsilon.shape, -np.inf))
    forward = (direction is Direction.FORWARD) != (epsilon < 0)  # the law needed at |epsilon|
    for which, log_delta in ((forward, _log_delta_forward), (~forward, _log_delta_backward)):
        moved = which & (mu > 0) & np.isfinite(epsilon)
        part = log_delta(np.abs(epsilon[moved]), mu[moved], a[moved])
        out[moved] = from_nonnegative(epsilon[moved], part)
    return out


def _log_delta_forward(epsilon: FloatArray, mu: FloatArray, a: FloatArray) -> FloatArray:
    # delta = P(|W| > w) - e^epsilon P'(|W| > w), one gap for each of the edges w and -w
    w = np.sqrt(2 * epsilon + np.log1p(mu) + a**2 / (1 + mu))
    root = np.sqrt(mu)
    near = (a**2 * mu / (1 + mu) - 2 * epsilon - np.log1p(mu)) / ((a + w) * root)  # (a - w)/sqrt(mu)
    out = log_gap(near, root * w, mu)
    both = 2 * a * w < NEGLIGIBLE * mu  # elsewhere the edge -w is lost in float64: p(-w)/p(w) = exp(-2 a w/mu)
    if both.any():
        out[both] = np.logaddexp(out[both], _far_gap(mu[both], a[both], w[both]))
    return out


def _far_gap(mu: FloatArray, a: FloatArray, w: FloatArray) -> FloatArray:
    # the part of delta beyond the edge -w
    return log_gap(-(a + w) / np.sqrt(mu), np.sqrt(mu) * w, mu)


def _log_delta_backward(epsilon: FloatArray, mu: FloatArray, a: FloatArray) -> FloatArray:
    # delta = P'(|W| < w) - e^epsilon P(|W| < w); zero at and beyond the largest loss
    square = np.log1p(mu) + a**2 / (1 + mu) - 2 * epsilon
    below = square > 0
    out = np.full(square.shape, -np.inf)
    epsilon, mu, a, w = epsilon[below], mu[below], a[below], np.sqrt(square[below])
    root, spread = np.sqrt(mu), np.sqrt(mu / (1 + mu))
    near = (np.log1p(mu) - 2 * epsilon + a**2 * mu / (1 + mu) ** 2) / ((w + a / (1 + mu)) * spread)
    other = (np.log1p(mu) - 2 * epsilon - a**2 * mu / (1 + mu)) / ((w + a) * root)  # (w - a)/sqrt(mu)
    log_ratio = 0.5 * np.log1p(mu) + log_mills(other) - log_mills(near)
    small = log_ratio > -SMALL_GAP
    with np.errstate(divide="ignore"):
        edge = log_ndtr(near) + np.log(-np.expm1(np.minimum(log_ratio, 0.0)))
        both = ~small & (2 * a * w < NEGLIGIBLE * mu)
        part = np.array(edge)
        if both.any():
            part[both] = np.logaddexp(edge[both], epsilon[both] + _far_gap(mu[both], a[both], w[both]))
        if small.any():
            v, s, span = near[small], spread[small], 2 * w[small] / spread[small]
            part[small] = np.log(gap_integral(v, w[small] * s, -(s**2), span)) - 0.5 * v**2 - HALF_LOG_2PI
    out[below] = part
    return out


def quadratic_log_tail(
    epsilon: ArrayLike, leverage: ArrayLike, scaled_residual: ArrayLike, direction: Direction
) -> FloatArray:
    """Return ``log P(L > epsilon)`` of one-posterior sampling; arguments and accuracy as ``quadratic_log_delta``."""
    epsilon, mu, a = (np.asarray(part, dtype=np.float64) for part in (epsilon, leverage, scaled_residual))
    epsilon, mu, a = np.broadcast_arrays(epsilon, mu, np.abs(a))
    constant = np.log1p(mu) + a**2 / (1 + mu)  # -2 c
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # branches that np.where discards
        if direction is Direction.FORWARD:
            w = np.sqrt(np.maximum(constant + 2 * epsilon, 0.0))
            near = (a**2 * mu / (1 + mu) - 2 * epsilon - np.log1p(mu)) / ((a + w) * np.sqrt(mu))
            outside = np.logaddexp(log_ndtr(near), log_ndtr(-(a + w) / np.sqrt(mu)))
            law = np.where(constant + 2 * epsilon > 0, np.minimum(outside, 0.0), 0.0)
        else:
            w = np.sqrt(np.maximum(constant - 2 * epsilon, 0.0))
            spread = np.sqrt(mu / (1 + mu))
            near = (np.log1p(mu) - 2 * epsilon + a**2 * mu / (1 + mu) ** 2) / ((w + a / (1 + mu)) * spread)
            inside = log_interval(np.where(w > 0, near, 0.0), np.where(mu > 0, 2 * w / spread, 0.0))
            law = np.where(constant - 2 * epsilon > 0, np.minimum(inside, 0.0), -np.inf)
    return np.asarray(np.where(mu > 0, law, np.where(epsilon < 0, 0.0, -np.inf)))


def quadratic_balls(epsilon: Ball, leverage: Ball, scaled_residual: Ball, direction: Direction) -> tuple[Ball, Ball]:
    """Return ``(delta(epsilon), P(L > epsilon))`` as balls; not finite where more bits are needed.

    The two-term formulas as they stand, at the precision of the flint context.
    """
    if not epsilon.is_finite():
        return at_infinity(epsilon)
    if leverage == 0:
        return (-epsilon.expm1(), arb(1)) if epsilon < 0 else (arb(0), arb(0))
    if not leverage > 0:
        return arb("nan"), arb("nan")
    mu, a = leverage, abs(scaled_residual)
    one = 1 + mu
    square = one.log() + a**2 / one + (2 * epsilon if direction is Direction.FORWARD else -2 * epsilon)
    if square < 0:  # below the smallest loss, or above the largest
        return (-epsilon.expm1(), arb(1)) if direction is Direction.FORWARD else (arb(0), arb(0))
    if not square > 0:
        return arb("nan"), arb("nan")
    w, root, spread = square.sqrt(), mu.sqrt(), (mu / one).sqrt()
    ends = [((edge - a) / root, (edge - a / one) / spread) for edge in (w, -w)]
    (high, high_with), (low, low_with) = ends
    if direction is Direction.FORWARD:  # |W| > w
        tail = ndtr_ball(-high) + ndtr_ball(low)
        other = ndtr_ball(-high_with) + ndtr_ball(low_with)
    else:  # |W| < w
        tail = ndtr_ball(high_with) - ndtr_ball(low_with)
        other = ndtr_ball(high) - ndtr_ball(low)
    return tail - epsilon.exp() * other, tail


@dataclass(frozen=True)
class QuadraticProfile:
    """The exact privacy profile of one-posterior sampling for a target outside the first data set (W19-T4.1).

    FORWARD: the output is drawn without the target, its loss is at least ``c`` and unbounded above; BACKWARD: drawn
    with the target, the loss is at most ``-c``.

    Parameters
    ----------
    leverage : float
        ``mu = x^T (X^T X + lambda I)^{-1} x``, out of sample; finite, at least 0 (0: the two laws agree).
    scaled_residual : float
        ``a = sqrt(gamma) (y - x^T theta_hat)``, out of sample; finite. The profile does not depend on its sign.
    """

    leverage: float
    scaled_residual: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "leverage", check_nonnegative("leverage", self.leverage))
        if not math.isfinite(self.scaled_residual):
            raise ValueError(f"scaled_residual must be finite, got scaled_residual={self.scaled_residual}")
        object.__setattr__(self, "scaled_residual", float(self.scaled_residual))

    def largest_loss(self, direction: Direction) -> float:
        """Return the supremum of the loss, rounded upwards: infinite FORWARD (unless the laws agree), else ``-c``."""
        if self.leverage == 0.0:
            return 0.0
        if direction is Direction.FORWARD:
            return math.inf
        near, mu, a = self._largest, arb(self.leverage), arb(self.scaled_residual)
        if self.delta_bracket(near, direction).high == 0.0:
            return near
        return enclose(lambda: (mu.log1p() + a**2 / (1 + mu)) / 2).high

    @property
    def _largest(self) -> float:
        return 0.5 * (math.log1p(self.leverage) + self.scaled_residual**2 / (1 + self.leverage))

    def log_delta_at(self, epsilon: float, direction: Direction) -> float:
        """Return ``log delta(epsilon)``, to 1e-11 down to -700; ``-inf`` where delta is 0.

        From ``quadratic_log_delta``, and close to the largest loss, where that loses digits, from ball arithmetic (as
        long as the logarithm is above -1e12).
        """
        if self._close_to_largest(epsilon, direction):
            return self._proved_log(epsilon, 0)
        return float(quadratic_log_delta(epsilon, self.leverage, self.scaled_residual, direction))

    def delta_at(self, epsilon: float, direction: Direction) -> float:
        """Return the hockey-stick divergence at ``epsilon`` (any real number, natural log), relatively to 1e-11.

        0 at and above the largest loss, and where the divergence is below the least float.
        """
        return math.exp(self.log_delta_at(epsilon, direction))

    def epsilon_at(self, delta: float, direction: Direction) -> float:
        """Return the smallest ``epsilon >= 0`` with ``delta(epsilon) <= delta``, rounded to the safe side.

        Proved for the leverage and residual as they are stored: the divergence at what is returned is at most
        ``delta`` in ball arithmetic. At ``delta = 0`` that is the largest loss, rounded upwards.
        """
        delta = check_delta(delta)
        largest = self.largest_loss(direction)
        if largest == 0.0 or delta == 1.0:
            return 0.0
        if delta == 0.0:
            return largest
        top = largest
        if direction is Direction.FORWARD:  # |Z| <= z up to delta, in the quadratic of the module docstring
            mu, a = self.leverage, abs(self.scaled_residual)
            z = math.sqrt(2 * (math.log(2) - math.log(delta)))
            top = 0.5 * (a**2 * mu / (1 + mu) + mu * z**2) + a * math.sqrt(mu) * z
        epsilon = smallest_epsilon(lambda e: self.log_delta_at(e, direction), delta, top)
        step = max(math.ulp(epsilon), 1e-30)
        while self.delta_bracket(epsilon, direction).high > delta:
            epsilon, step = min(epsilon + step, largest), 2 * step
        return epsilon

    def epsilon_bracket(self, delta: float, direction: Direction) -> Bracket:
        epsilon = self.epsilon_at(delta, direction)
        return epsilon_bracket(lambda e: self.delta_bracket(e, direction), delta, epsilon)

    def log_tail_at(self, epsilon: float, direction: Direction) -> float:
        """Return ``log P(L > epsilon)``; ``-inf`` exactly where it is 0."""
        if self._close_to_largest(epsilon, direction):
            return self._proved_log(epsilon, 1)
        return float(quadratic_log_tail(epsilon, self.leverage, self.scaled_residual, direction))

    def tail_at(self, epsilon: float, direction: Direction) -> float:
        return math.exp(self.log_tail_at(epsilon, direction))

    def delta_bracket(self, epsilon: float, direction: Direction) -> Bracket:
        """Return a proved enclosure of ``delta_at`` (for the leverage and residual as they are stored)."""
        return self._bracket(epsilon, direction, 0)

    def tail_bracket(self, epsilon: float, direction: Direction) -> Bracket:
        return self._bracket(epsilon, direction, 1)

    def tails(self, epsilon: Ball, direction: Direction) -> tuple[Ball, Ball]:
        delta, tail = quadratic_balls(epsilon, arb(self.leverage), arb(self.scaled_residual), direction)
        return tail, (tail - delta) * (-epsilon).exp()

    def _close_to_largest(self, epsilon: float, direction: Direction) -> bool:
        """Return whether the distance of ``epsilon`` to the largest loss BACKWARD has lost its digits in float64."""
        if direction is Direction.FORWARD or self.leverage == 0.0:
            return False
        return abs(epsilon - self._largest) <= CLOSE * self._largest

    def _proved_log(self, epsilon: float, part: int) -> float:
        if self._bracket(epsilon, Direction.BACKWARD, part).high == 0.0:
            return -math.inf
        try:
            log = enclose(lambda: self._balls(epsilon, Direction.BACKWARD)[part].log())
        except ArithmeticError:  # a logarithm of about -1e12 and less
            function = quadratic_log_tail if part else quadratic_log_delta
            return float(function(epsilon, self.leverage, self.scaled_residual, Direction.BACKWARD))
        return 0.5 * (log.low + log.high)

    def _bracket(self, epsilon: float, direction: Direction, part: int) -> Bracket:
        return enclose(lambda: self._balls(epsilon, direction)[part], low=0.0, high=1.0)

    def _balls(self, epsilon: float, direction: Direction) -> tuple[Ball, Ball]:
        return quadratic_balls(arb(epsilon), arb(self.leverage), arb(self.scaled_residual), direction)

r"""Objective perturbation on no record against one record: the exact divergence, enclosed in ball arithmetic.

With ``D`` empty and ``D' = {(x, y)}`` only the coefficient ``t`` along ``x`` tells them apart, in every dimension. Its
distribution functions are ``Phi(lam t/sigma)`` and ``Phi((lam t + s f'(s t; y))/sigma)``, ``s = |x|``, so that the
divergence is a sum of their increments over the cells on which the loss is above epsilon
(docs/derivations/deployment.md, section 2).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np
from flint import arb, ctx

from ..base import Bracket, Direction
from ..data.dataset import FloatArray
from ..numerics.balls import Ball, ndtr_ball, outward
from .loss_slopes import Range
from .losses import ExactLoss

#: Outputs beyond this many standard deviations of the noise are counted in full.
REACH = 40.0
#: Cells whose sign is open at this mass, as a share of the tolerance, are counted in full.
SHARE = 1e-5
BITS = 128
#: Standard deviations of the noise within which the fine sum is taken.
WIDE = 14.0


def _product(first: Range, second: Range) -> Range:
    """Return the least and the largest product of two numbers in their ranges."""
    corners = [a * b for a in first for b in second]
    return reduce(arb.min, corners), reduce(arb.max, corners)


def _square(values: Range) -> Range:
    ends = values[0] ** 2, values[1] ** 2
    across = not (values[0] > 0 or values[1] < 0)
    return (arb(0) if across else ends[0].min(ends[1])), ends[0].max(ends[1])


@dataclass(frozen=True)
class OneRecord:
    """The pair: no record, and one record with features of norm ``x_norm`` and response ``y``."""

    loss: ExactLoss
    sigma: float
    lam: float
    x_norm: float
    y: float

    def delta(self, epsilon: float, direction: Direction, *, scale: float) -> Bracket:
        """Return a proved enclosure of the divergence at ``epsilon``, about ``SHARE * scale`` wide.

        Parameters
        ----------
        epsilon : float
            At least 0, natural log.
        direction : Direction
            FORWARD: drawn without the record.
        scale : float
            The divergence that matters (the claimed delta); positive.
        """
        with ctx.workprec(BITS):
            low, high = self._cells(arb(epsilon), direction, arb(SHARE * scale))
            return Bracket(max(0.0, outward(low).low), min(1.0, outward(high).high))

    def _cells(self, epsilon: Ball, direction: Direction, tolerance: Ball) -> tuple[Ball, Ball]:
        slopes = self.loss.slopes(arb(self.y))
        sigma, lam, s = arb(self.sigma), arb(self.lam), arb(self.x_norm)
        sign = 1 if direction is Direction.FORWARD else -1

        def edges(t: Ball) -> tuple[Ball, Ball]:
            """The two distribution functions' arguments at ``t``: the data set drawn from, then the other."""
            without, with_record = lam * t / sigma, (lam * t + s * slopes.first(s * t)) / sigma
            return (without, with_record) if sign > 0 else (with_record, without)

        def loss(left: Ball, right: Ball) -> Range:
            """The least and the largest loss between two outputs."""
            # (2 lam t + p) p/(2 sigma^2) - log(1 + s^2 f''/lam)
            first, second = slopes.over(s * left, s * right)
            pull = s * first[0], s * first[1]
            square, cross = _square(pull), _product((2 * lam * left, 2 * lam * right), pull)
            bent = [(s * s * each / lam).log1p() for each in second]
            least = (square[0] + cross[0]) / (2 * sigma**2) - bent[1]
            largest = (square[1] + cross[1]) / (2 * sigma**2) - bent[0]
            return (least, largest) if sign > 0 else (-largest, -least)

        def mass(low: Ball, high: Ball) -> Ball:
            return ndtr_ball(-low) - ndtr_ball(-high) if low > 0 else ndtr_ball(high) - ndtr_ball(low)

        # beyond the reach, under the law drawn from, whichever it is
        end = arb(REACH * self.sigma / self.lam)
        ends = edges(-end)[0], edges(end)[0]
        below, above = arb(0), ndtr_ball(ends[0]) + ndtr_ball(-ends[1])
        growth = epsilon.exp()
        stack = [(-end, end)]
        while stack:
            left, right = stack.pop()
            least, largest = loss(left, right)
            if largest <= epsilon:
                continue
            (p_low, q_low), (p_high, q_high) = edges(left), edges(right)
            drawn = mass(p_low, p_high)
            if least > epsilon:
                gain = drawn - growth * mass(q_low, q_high)
                below, above = below + gain, above + gain
            elif drawn < tolerance / 64 or right - left < arb(2) ** (-BITS // 2):
                above += drawn
            else:
                middle = (left + right) / 2
                middle = arb(middle.mid())
                stack += [(left, middle), (middle, right)]
        return below, above

    def delta_at(self, epsilon: float, direction: Direction) -> float:
        """Return the same in float64 by a fine sum: a guess for searches, not a bound."""
        t = self._grid()
        z = t * self.lam / self.sigma
        response = np.asarray(self.y)
        with np.errstate(over="ignore", invalid="ignore"):
            first = self.x_norm * self.loss.first(self.x_norm * t, response)
            second = self.x_norm**2 * self.loss.second(self.x_norm * t, response) / self.lam
            moved = z + first / self.sigma
            loss = (first * (2 * self.lam * t + first)) / (2 * self.sigma**2) - np.log1p(second)
            if direction is Direction.FORWARD:
                log_density = -0.5 * z**2
            else:
                loss, log_density = -loss, -0.5 * moved**2 + np.log1p(second)
            gains = np.exp(log_density) * -np.expm1(np.minimum(epsilon - loss, 0.0))
        return float(np.trapezoid(np.nan_to_num(gains, nan=0.0), z) / np.sqrt(2 * np.pi))

    def _grid(self) -> FloatArray:
        """Return coefficients that are close where the noise is spread, and on every scale around the loss's bend.

        The bend of a narrow loss under much noise lies between two points of any even grid.
        """
        spread = np.linspace(-WIDE, WIDE, 6001) * self.sigma / self.lam
        width = getattr(self.loss, "width", 1.0)
        bend = self.loss.slopes(arb(self.y)).bend
        near = np.concatenate([np.linspace(-60.0, 60.0, 2401), np.sinh(np.linspace(-40.0, 40.0, 3001))])
        around = (float(bend or 0) + width * near) / self.x_norm
        return np.unique(np.concatenate([spread, around[np.abs(around) <= spread[-1]]]))

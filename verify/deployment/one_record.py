r"""Objective perturbation on no record against one record: the exact divergence, enclosed in ball arithmetic.

With ``D`` empty and ``D' = {(x, y)}`` only the coefficient ``t`` along ``x`` tells them apart, in every dimension. Its
distribution functions are ``Phi(lam t/sigma)`` and ``Phi((lam t + s f'(s t; y))/sigma)``, ``s = |x|``, so that the
divergence is a sum of their increments over the cells on which the loss is above epsilon
(docs/derivations/deployment.md, section 2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from flint import arb, ctx

from mechanisms import Bracket, Direction, LogisticLoss, PoissonLoss, PseudoHuberLoss, SmoothedHingeLoss, SquaredLoss
from mechanisms.balls import Ball, ndtr_ball, outward
from mechanisms.data import FloatArray
from mechanisms.losses import GlmLoss

#: Outputs beyond this many standard deviations of the noise are counted in full.
REACH = 40.0
#: Cells whose sign is open at this mass, as a share of the tolerance, are counted in full.
SHARE = 1e-5
BITS = 128
#: Standard deviations of the noise within which the fine sum is taken.
WIDE = 14.0

Slopes = Callable[[Ball, Ball], tuple[Ball, Ball]]


def _sigmoid_slopes(margin: Ball, y: Ball, width: Ball) -> tuple[Ball, Ball]:
    """Return ``-y s(m)`` and ``s'(m)/width`` of the logistic function, by their values at the ends of the margins.

    ``s`` rises and ``s'`` falls with ``|m|``; evaluated on a wide ball as a whole both would say nothing.
    """
    ends = [end.exp() for end in (arb(margin.lower()), arb(margin.upper()))]
    first = [-y * (1 - 1 / (1 + rising)) for rising in ends]
    second = [1 / (width * (2 + rising + 1 / rising)) for rising in ends]
    highest = [1 / (4 * width)] if margin.contains(0) else []
    return _hull(*first), _hull(*second, *highest)


def _hull(first: Ball, *others: Ball) -> Ball:
    """Return a ball around all of some."""
    for other in others:
        first = first.union(other)
    return first


def slopes_of(loss: GlmLoss) -> Slopes:
    """Return ``(predictor, response) -> (f', f'')`` of a loss in ball arithmetic."""
    if isinstance(loss, LogisticLoss):
        return lambda u, y: _sigmoid_slopes(-y * u, y, arb(1))
    if isinstance(loss, SmoothedHingeLoss):
        width = arb(loss.width)
        return lambda u, y: _sigmoid_slopes((1 - y * u) / width, y, width)
    if isinstance(loss, PseudoHuberLoss):
        scale = arb(loss.width)

        def huber(u: Ball, y: Ball) -> tuple[Ball, Ball]:
            t = (u - y) / scale
            ends = [arb(t.lower()), arb(t.upper())]
            roots = [(1 + end * end).sqrt() for end in ends]
            highest = [arb(1)] if t.contains(0) else []  # the slope rises with t, the curvature falls with |t|
            slope = _hull(*(scale * end / root for end, root in zip(ends, roots, strict=True)))
            return slope, _hull(*(1 / root**3 for root in roots), *highest)

        return huber
    if isinstance(loss, SquaredLoss):
        factor = arb(loss.scale)
        return lambda u, y: (factor * (u - y), factor)
    if isinstance(loss, PoissonLoss):

        def poisson(u: Ball, y: Ball) -> tuple[Ball, Ball]:
            rising = _hull(arb(u.lower()).exp(), arb(u.upper()).exp())
            return rising - y, rising

        return poisson
    raise TypeError(f"loss must be one of the reference losses, got {type(loss).__name__}")


@dataclass(frozen=True)
class OneRecord:
    """The pair: no record, and one record with features of norm ``x_norm`` and response ``y``."""

    loss: GlmLoss
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
        slopes = slopes_of(self.loss)
        sigma, lam, s, y = arb(self.sigma), arb(self.lam), arb(self.x_norm), arb(self.y)
        sign = 1 if direction is Direction.FORWARD else -1

        def edges(t: Ball) -> tuple[Ball, Ball]:
            """The two distribution functions' arguments at ``t``: the data set drawn from, then the other."""
            without, with_record = lam * t / sigma, (lam * t + s * slopes(s * t, y)[0]) / sigma
            return (without, with_record) if sign > 0 else (with_record, without)

        def loss(cell: Ball) -> Ball:
            first, second = slopes(s * cell, y)
            pull = s * first
            return sign * ((2 * lam * cell + pull) * pull / (2 * sigma**2) - (s * s * second / lam).log1p())

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
            seen = loss(left.union(right))
            if seen <= epsilon:
                continue
            (p_low, q_low), (p_high, q_high) = edges(left), edges(right)
            drawn = mass(p_low, p_high)
            if seen > epsilon:
                gain = drawn - growth * mass(q_low, q_high)
                below, above = below + gain, above + gain
            elif drawn < tolerance / 64 or right - left < arb(2) ** (-BITS // 2):
                above += drawn
            else:
                middle = (left + right) / 2
                middle = arb(middle.mid())
                stack += [(left, middle), (middle, right)]
        return below, above

    def delta_float(self, epsilon: float, direction: Direction) -> float:
        """Return the same in float64 by a fine sum: a guess for searches, not a bound."""
        t = self._grid()
        z = t * self.lam / self.sigma
        response = np.asarray(self.y)
        first = self.x_norm * self.loss.first(self.x_norm * t, response)
        second = self.x_norm**2 * self.loss.second(self.x_norm * t, response) / self.lam
        with np.errstate(over="ignore", invalid="ignore"):
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
        bend = self.y if isinstance(self.loss, SmoothedHingeLoss | PseudoHuberLoss) else 0.0
        near = np.concatenate([np.linspace(-60.0, 60.0, 2401), np.sinh(np.linspace(-40.0, 40.0, 3001))])
        around = (bend + width * near) / self.x_norm
        return np.unique(np.concatenate([spread, around[np.abs(around) <= spread[-1]]]))

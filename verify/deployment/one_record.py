r"""Objective perturbation on no record against one record: the exact divergence, enclosed in ball arithmetic.

With ``D`` empty and ``D' = {(x, y)}`` only the coefficient ``t`` along ``x`` tells them apart, in every dimension. Its
distribution functions are ``Phi(lam t/sigma)`` and ``Phi((lam t + s f'(s t; y))/sigma)``, ``s = |x|``, so that the
divergence is a sum of their increments over the cells on which the loss is above epsilon
(docs/derivations/deployment.md, section 2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

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


Range = tuple[Ball, Ball]


@dataclass(frozen=True)
class Slopes:
    """A convex loss's first and second derivative by the predictor, in ball arithmetic.

    The first rises with the predictor; the second rises up to ``bend`` and falls beyond it (everywhere, for None). So the
    ends of a range give both; a ball around a wide range would say nothing.
    """

    first: Callable[[Ball], Ball]
    second: Callable[[Ball], Ball]
    bend: Ball | None

    def over(self, low: Ball, high: Ball) -> tuple[Range, Range]:
        """Return the least and the largest of both derivatives between two predictors."""
        ends = self.second(low), self.second(high)
        inside = self.bend is not None and not (self.bend < low or self.bend > high)
        top = self.second(self.bend) if inside else ends[0].max(ends[1])
        return (self.first(low), self.first(high)), (ends[0].min(ends[1]), top)


def slopes_of(loss: GlmLoss, y: Ball) -> Slopes:
    """Return the derivatives of a loss at a response."""
    if isinstance(loss, LogisticLoss | SmoothedHingeLoss):
        hinge = isinstance(loss, SmoothedHingeLoss)
        width, offset = (arb(loss.width), arb(1)) if isinstance(loss, SmoothedHingeLoss) else (arb(1), arb(0))

        def falling(u: Ball) -> Ball:
            return ((y * u - offset) / width).exp()

        return Slopes(
            lambda u: -y / (1 + falling(u)),
            lambda u: 1 / (width * (2 + falling(u) + 1 / falling(u))),
            y if hinge else arb(0),  # a response is -1 or 1
        )
    if isinstance(loss, PseudoHuberLoss):
        scale = arb(loss.width)

        def root(u: Ball) -> Ball:
            return (1 + ((u - y) / scale) ** 2).sqrt()

        return Slopes(lambda u: (u - y) / root(u), lambda u: 1 / root(u) ** 3, y)
    if isinstance(loss, SquaredLoss):
        factor = arb(loss.scale)
        return Slopes(lambda u: factor * (u - y), lambda _: factor, None)
    if isinstance(loss, PoissonLoss):
        return Slopes(lambda u: u.exp() - y, lambda u: u.exp(), None)
    raise TypeError(f"loss must be one of the reference losses, got {type(loss).__name__}")


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
        slopes = slopes_of(self.loss, arb(self.y))
        sigma, lam, s = arb(self.sigma), arb(self.lam), arb(self.x_norm)
        sign = 1 if direction is Direction.FORWARD else -1

        def edges(t: Ball) -> tuple[Ball, Ball]:
            """The two distribution functions' arguments at ``t``: the data set drawn from, then the other."""
            without, with_record = lam * t / sigma, (lam * t + s * slopes.first(s * t)) / sigma
            return (without, with_record) if sign > 0 else (with_record, without)

        def loss(left: Ball, right: Ball) -> Range:
            """The least and the largest loss between two outputs: (2 lam t + p) p/(2 sigma^2) - log(1 + s^2 f''/lam)."""
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

    def delta_float(self, epsilon: float, direction: Direction) -> float:
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
        bend = self.y if isinstance(self.loss, SmoothedHingeLoss | PseudoHuberLoss) else 0.0
        near = np.concatenate([np.linspace(-60.0, 60.0, 2401), np.sinh(np.linspace(-40.0, 40.0, 3001))])
        around = (bend + width * near) / self.x_norm
        return np.unique(np.concatenate([spread, around[np.abs(around) <= spread[-1]]]))

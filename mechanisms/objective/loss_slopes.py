"""A convex loss's slope and curvature in ball arithmetic, over ranges of the predictor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from flint import arb

from ..numerics.balls import Ball

Range = tuple[Ball, Ball]


@dataclass(frozen=True)
class Slopes:
    """A convex loss's first and second derivative by the predictor, in ball arithmetic.

    The first rises with the predictor; the second rises up to ``bend`` and falls beyond it (everywhere, for None). So
    the ends of a range give both; a ball around a wide range would say nothing.
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


def label_slopes(y: Ball, width: float, margin: float) -> Slopes:
    """Return those of ``width log(1 + exp((margin - y u)/width))`` for a label ``y``, -1 or 1."""
    scale, offset = arb(width), arb(margin)

    def falling(u: Ball) -> Ball:
        return ((y * u - offset) / scale).exp()

    return Slopes(
        lambda u: -y / (1 + falling(u)),
        lambda u: 1 / (scale * (2 + falling(u) + 1 / falling(u))),
        y * offset,
    )


def pseudo_huber_slopes(y: Ball, width: float) -> Slopes:
    """Return those of ``width^2 (sqrt(1 + ((u - y)/width)^2) - 1)``."""
    scale = arb(width)

    def root(u: Ball) -> Ball:
        return (1 + ((u - y) / scale) ** 2).sqrt()

    return Slopes(lambda u: (u - y) / root(u), lambda u: 1 / root(u) ** 3, y)

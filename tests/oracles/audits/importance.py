"""Slow twins of ``audits.rare.proposals`` and of the lower end in ``audits.rare.importance``, point by point."""

from __future__ import annotations

import math
from collections.abc import Sequence


def piece_density(piece, point: Sequence[float]) -> float:
    """Exponential beyond the surface times independent normal densities across the direction."""
    k = len(point)
    local = [sum(point[i] * float(piece.frame[i, j]) for i in range(k)) for j in range(k)]
    surface, across = piece.start, 1.0
    for j in range(1, k):
        scale = float(piece.scales[j - 1])
        u = (local[j] - float(piece.centre[j - 1])) / scale
        surface += float(piece.slope[j - 1]) * u + float(piece.bend[j - 1]) * u * u
        across *= math.exp(-u * u / 2) / math.sqrt(2 * math.pi) / scale
    beyond = local[0] - surface
    return 0.0 if beyond < 0 else piece.rate * math.exp(-piece.rate * beyond) * across


def mixture_density(mixture, point: Sequence[float]) -> float:
    """Sum of the pieces' densities, each with its share."""
    return math.fsum(
        float(share) * piece_density(piece, point) for piece, share in zip(mixture.pieces, mixture.shares, strict=True)
    )


def rejects_from_below(values: Sequence[float], mean: float, failure_prob: float, stake: float) -> bool:
    """Whether a gambler on "the mean is larger", values in [0, 1], ends with 1 / failure_prob."""
    n, need = len(values), 1 / failure_prob
    total, square, variance, capital = 0.5, 0.25, 0.25, 1.0
    for t, value in enumerate(values, start=1):
        bet = math.sqrt(2 * math.log(need) / (n * variance))
        capital *= 1 + min(bet, stake / mean) * (value - mean)
        total += value
        square += (value - total / (t + 1)) ** 2
        variance = square / (t + 1)
    return capital >= need


def lower_end(values: Sequence[float], cut: float, failure_prob: float, stake: float) -> float:
    """Lower end for the mean of ``min(value, cut)``: the largest mean that is still rejected, by bisection."""
    unit = [min(value, cut) / cut for value in values]
    low, high = 1e-12, 1.0
    if not rejects_from_below(unit, low, failure_prob, stake):
        return 0.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if rejects_from_below(unit, middle, failure_prob, stake) else (low, middle)
    return cut * low

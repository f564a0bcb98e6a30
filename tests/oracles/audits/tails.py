"""Slow, literal twins of the point estimates in ``audits.white_box.tails``."""

from __future__ import annotations

import math
from collections.abc import Sequence


def tail(losses: Sequence[float], epsilon: float) -> float:
    """Share of losses above epsilon, one by one."""
    return sum(1 for loss in losses if loss > epsilon) / len(losses)


def delta(losses: Sequence[float], epsilon: float) -> float:
    """Mean of max(1 - exp(epsilon - loss), 0), one by one."""
    return math.fsum(1 - math.exp(epsilon - loss) if loss > epsilon else 0.0 for loss in losses) / len(losses)


def delta_from_tail_curve(losses: Sequence[float], epsilon: float) -> float:
    """The integral of exp(epsilon - t) P(L > t) over t > epsilon for the empirical law, step by step."""
    above = sorted(loss for loss in losses if loss > epsilon)
    total, start = 0.0, epsilon
    for i, loss in enumerate(above):
        share = (len(above) - i) / len(losses)
        total += share * (math.exp(epsilon - start) - math.exp(epsilon - loss))
        start = loss
    return total

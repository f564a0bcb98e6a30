"""Adversarial search: the parameters at which a published epsilon leaves the largest excess of exact delta."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from audits import Budget
from audits.search.worst_case import search_maximum
from mechanisms import BOTH, PrivacyProfile

Point = dict[str, float]


@dataclass(frozen=True)
class Axis:
    """One searched parameter: ends of its range, searched on a logarithmic scale if ``log``."""

    low: float
    high: float
    log: bool = True

    def inner(self) -> tuple[float, float]:
        """Return the ends on the searched scale."""
        return (math.log(self.low), math.log(self.high)) if self.log else (self.low, self.high)

    def outer(self, value: float) -> float:
        """Return the parameter for a searched coordinate, never outside the range."""
        raw = math.exp(value) if self.log else value
        return min(max(raw, self.low), self.high)


def worst_point(
    box: Mapping[str, Axis], objective: Callable[[Point], float], budget: Budget, *, n_starts: int = 256
) -> Point:
    """Return the point of ``box`` with the largest objective that a multi-start search finds."""
    names = tuple(box)

    def inner(coordinates: np.ndarray) -> float:
        return objective(point(coordinates))

    def point(coordinates: np.ndarray) -> Point:
        return {name: box[name].outer(float(c)) for name, c in zip(names, coordinates, strict=True)}

    best = search_maximum(
        inner, [box[n].inner() for n in names], rng=budget.key.child("search").rng(), n_starts=n_starts
    )
    return point(np.asarray(best.point))


def excess(profile: PrivacyProfile, epsilon: float, delta: float) -> float:
    """Return log(exact delta / delta), worse direction: positive exactly where the formal claim fails."""
    return max(profile.log_delta_at(epsilon, d) for d in BOTH) - math.log(delta)

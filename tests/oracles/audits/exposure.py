"""Slow twins of ``exposure`` and ``record_laws``: one record, one rank at a time."""

from __future__ import annotations

import bisect
import math

import numpy as np
from scipy import stats
from scipy.optimize import brentq

from mechanisms import Dataset, Direction, ExactLaw, NeighbouringPair, WhiteBox


def exact_numbers(mechanism: ExactLaw, dataset: Dataset, delta: float) -> np.ndarray:
    """Advantage, epsilon with, epsilon without of each record: shape ``(3, n_records)``."""
    profiles = [mechanism.profile(NeighbouringPair.remove(dataset, i)) for i in range(dataset.n_records)]
    return np.array(
        [
            [profile.delta_at(0.0, Direction.FORWARD) for profile in profiles],
            [profile.epsilon_at(delta, Direction.FORWARD) for profile in profiles],
            [profile.epsilon_at(delta, Direction.BACKWARD) for profile in profiles],
        ]
    )


def losses(mechanism: WhiteBox, outputs: np.ndarray, dataset: Dataset) -> np.ndarray:
    """One pair at a time, shape ``(n_draws, n_records)``."""
    pairs = [NeighbouringPair.remove(dataset, i) for i in range(dataset.n_records)]
    return np.array([mechanism.privacy_loss(outputs, pair) for pair in pairs]).T


def _root(curve, delta: float) -> float:
    if curve(0.0) <= delta:
        return 0.0
    return brentq(lambda e: curve(e) - delta, 0.0, 200.0, xtol=1e-12) if curve(200.0) <= delta else math.inf


def sampled_numbers(sample: np.ndarray, grid: list[int], share: float, delta: float) -> list[float]:
    """Value, low, high of advantage and of epsilon with; value and low of epsilon without; for one record.

    The two enclosing laws as step functions of the threshold, integrated by ``delta(e) = int_e^inf tail(t) e^(e-t) dt``
    and, without the record, ``int_e^inf P(-L > t) e^t dt``.
    """
    n, radius = len(sample), math.sqrt(math.log(2 / (share / 2)) / (2 * len(sample)))
    each = share / 2 / (3 * len(grid))

    def tails(values: list[float], kind: str) -> list[tuple[float, float]]:
        """(threshold, bound on the tail to the left of it) from the largest draw to the smallest."""
        out = []
        for rank in range(1, n + 1):
            if kind == "plain":
                bound = rank / n
            elif kind == "low":
                k = grid[bisect.bisect_right(grid, rank) - 1]
                bound = max(rank / n - radius, stats.beta.ppf(each, k, n + 1 - k), out[-1][1] if out else 0.0)
            else:  # between the next draw and this one
                k = next((k for k in grid if k >= rank + 1), None)
                bound = min(rank / n + radius, 1.0 if k is None else stats.beta.isf(each, k, n + 1 - k))
                bound = 1.0 if rank == n else min(bound, 1.0)
            out.append((values[rank - 1], bound))
        return out

    def with_record(kind: str):
        values = sorted(sample.tolist(), reverse=True)
        steps = tails(values, kind)
        beyond = min(radius, stats.beta.isf(each, 1, n)) if kind == "high" else 0.0

        def curve(e: float) -> float:
            right, total = math.inf, 0.0
            bound = beyond
            for value, left_bound in steps:
                if value <= e:
                    break
                total += bound * (math.exp(e - value) - math.exp(e - right))
                right, bound = value, left_bound
            return total + bound * (1.0 - math.exp(e - right))

        return curve

    def without_record(kind: str):
        steps = tails(sorted((-sample).tolist(), reverse=True), kind)

        def curve(e: float) -> float:
            total, previous = 0.0, 0.0
            for value, bound in steps:
                if value <= e:
                    break
                total += (bound - previous) * (math.exp(value) - math.exp(e))
                previous = bound
            return total

        return curve

    kinds = ("plain", "low", "high")
    advantages = [min(with_record(kind)(0.0), 1.0) for kind in kinds]
    return [
        *advantages,
        *(_root(with_record(kind), delta) for kind in kinds),
        *(_root(without_record(kind), delta) for kind in kinds[:2]),
    ]

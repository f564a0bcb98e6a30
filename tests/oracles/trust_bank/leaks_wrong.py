"""What the leaks of classes 10 to 14 share: stacked records, and the best simple event of two known laws of noise."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import laplace, norm

from mechanisms import Dataset

from . import Entry
from .leaks import Leak, Pair, centre, table


def stacked(entry: Entry, *groups: tuple[int, Any, Any]) -> Dataset:
    """Groups of equal records: how many, their row (a number: on the first axis) and their response."""
    X, y = [], []
    for count, row, response in groups:
        X += [np.eye(entry.dim)[0] * row if np.isscalar(row) else np.asarray(row, dtype=float)] * count
        y += [response] * count
    return entry.dataset(np.array(X), np.array(y, dtype=float))


def responses(entry: Entry, *y: Any, x: float = 0.5) -> Dataset:
    """Records alike on the first axis."""
    values = np.concatenate([np.atleast_1d(np.asarray(each, dtype=float)) for each in y]) if y else np.zeros(0)
    return entry.dataset(np.outer(np.full(len(values), x), np.eye(entry.dim)[0]), values)


def added(entry: Entry, base: Dataset, x: Any, y: float, front: bool = False) -> Pair:
    """The records with one more at their end or in front, and without it."""
    row = np.eye(entry.dim)[0] * x if np.isscalar(x) else np.asarray(x, dtype=float)
    if not front:
        return base.with_record(row, y), base
    return entry.dataset(np.vstack([row, base.X]), np.append(y, base.y)), base


def without(entry: Entry, base: Dataset, index: int) -> Pair:
    return base, entry.dataset(np.delete(base.X, index, axis=0), np.delete(base.y, index))


def changed(entry: Entry, base: Dataset, index: int, x: Any, y: float) -> Pair:
    """The records with one replaced, and as they were."""
    row = np.eye(entry.dim)[0] * x if np.isscalar(x) else np.asarray(x, dtype=float)
    X, responses = base.X.copy(), base.y.copy()
    X[index], responses[index] = row, y
    return entry.dataset(X, responses), base


def told(entry: Entry, pair: Pair, n: int = 4000) -> Leak:
    """Of all half-lines and intervals along the line of the two centres the one that breaks the claim most.

    Known in closed form: the projection is normal (or, for one number, Laplace) on both data sets.
    """
    made, law = entry.factory(), laplace if getattr(entry.factory(), "laplace", False) else norm
    best: tuple[float, Any] = (-np.inf, None)
    for first, second in (pair, pair[::-1]):
        one, other = centre(entry, first), centre(entry, second)
        s, t, gap = made.scale(first), made.scale(second), one - other
        distance = float(np.linalg.norm(gap))
        unit = gap / distance if distance else np.eye(gap.size)[0]
        for at in np.linspace(-6.0, 6.0, 121):
            for inner in (None, False, True):
                if inner is None:  # beyond the second centre by this much
                    cut = distance + at * s
                    p, q = law.sf(at), law.sf(cut / t)
                else:  # around the second centre, or around the first
                    cut = abs(at) * (s if inner else t) + 1e-12
                    p = law.cdf(cut / s) - law.cdf(-cut / s) if inner else 1 - _inside(law, cut, -distance, s)
                    q = _inside(law, cut, distance, t) if inner else 2 * law.sf(cut / t)
                excess = entry.claim.excess(float(p), float(q))
                likely = entry.claim.type == "point" or min(p, 1 - p, q, 1 - q) > 0.02
                if likely and excess > best[0]:
                    best = (excess, ((first, second), one, other, unit, inner, cut, float(p), float(q)))
    chosen, one, other, unit, inner, cut, p, q = best[1]

    def event(outputs: list[Any]) -> np.ndarray:
        along = (table(outputs) - (one if inner else other)) @ unit
        if inner is None:
            return along > cut
        return np.abs(along) <= cut if inner else np.abs(along) > cut

    return Leak(chosen, event, n=n, p=p, q=q)


def _inside(law: Any, cut: float, shift: float, scale: float) -> float:
    """P(|shift + scale Z| <= cut), for a shift of either sign."""
    return float(law.cdf((cut + shift) / scale) - law.cdf((-cut + shift) / scale))

"""The leaks of classes 10 to 14: groups of equal records, one more or less, and the best simple event of both."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import laplace, norm

from mechanisms import Dataset

from . import Entry, formulas, read_off
from .leaks import Leak, Pair, centre, certain, column, table

#: How many records, their row (a number: on the first axis) and their response.
Group = tuple[int, Any, Any]


def row_of(entry: Entry, x: Any) -> np.ndarray:
    return np.eye(entry.dim)[0] * x if np.isscalar(x) else np.asarray(x, dtype=float)


def stacked(entry: Entry, *groups: Group) -> Dataset:
    X, y = [], []
    for count, row, response in groups:
        X += [row_of(entry, row)] * count
        y += [response] * count
    return entry.dataset(np.array(X), np.array(y, dtype=float))


def responses(entry: Entry, *y: Any) -> Dataset:
    """Records alike on the first axis."""
    values = np.concatenate([np.atleast_1d(np.asarray(each, dtype=float)) for each in y]) if y else np.zeros(0)
    return entry.dataset(np.outer(np.full(len(values), 0.5), np.eye(entry.dim)[0]), values)


def added(entry: Entry, base: Dataset, x: Any, y: float, front: bool = False) -> Pair:
    """The records with one more at their end or in front, and without it."""
    row = row_of(entry, x)
    if not front:
        return base.with_record(row, y), base
    return entry.dataset(np.vstack([row, base.X]), np.append(y, base.y)), base


def without(entry: Entry, base: Dataset, index: int) -> Pair:
    return base, entry.dataset(np.delete(base.X, index, axis=0), np.delete(base.y, index))


def changed(entry: Entry, base: Dataset, index: int, x: Any, y: float) -> Pair:
    """The records with one replaced, and as they were."""
    X, values = base.X.copy(), base.y.copy()
    X[index], values[index] = row_of(entry, x), y
    return entry.dataset(X, values), base


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


# --- kinds of pairs ---------------------------------------------------------------------------------------------------


def joined(entry: Entry, groups: list[Group], x: Any, y: float) -> Leak:
    """Groups of equal records and one record more."""
    return told(entry, added(entry, stacked(entry, *groups), x, y))


def short_rows(entry: Entry, lam: float, n: int) -> Leak:
    """Rows of length sqrt(lam / n) with one response make the coefficient sqrt(n / lam) / 2; one long row ends it."""
    return joined(entry, [(n, np.sqrt(lam / n), 1.0)], 1.0, -1.0)


def exchanged(entry: Entry, groups: list[Group], index: int, x: Any, y: float, n: int = 4000) -> Leak:
    """Groups of equal records, of which one is replaced."""
    return told(entry, changed(entry, stacked(entry, *groups), index, x, y), n)


def one_less(entry: Entry, pattern: list[float], times: int, index: int) -> Leak:
    """Responses that repeat themselves, without one of them."""
    return told(entry, without(entry, responses(entry, np.tile(pattern, times)), index))


def first_change(
    entry: Entry, pairs: Callable[[int], Pair], numbers: range, decided: Callable[[Dataset], object]
) -> Leak:
    """The first number of contrary records at which another choice begins to win."""
    for contrary in numbers:
        pair = pairs(contrary)
        if decided(pair[0]) != decided(pair[1]):
            return told(entry, pair)
    raise LookupError("no choice changes")


def validated(entry: Entry) -> Leak:
    def pair(contrary: int) -> Pair:
        return added(entry, stacked(entry, (40, 0.3, 1.0), (contrary, 0.3, -1.0), (1, (0.0, 0.3), 1.0)), 0.3, -1.0)

    return first_change(entry, pair, range(1, 40), formulas.chosen)


def best_split(entry: Entry) -> Leak:
    def pair(more: int) -> Pair:
        return added(entry, stacked(entry, (30, -0.9, -0.9), (30, 0.1, 0.0), (more, 0.9, 0.9)), 0.9, 0.9)

    return first_change(entry, pair, range(20, 60), lambda data: formulas.best_cut(data.X[:, 0], data.y))


def winner(entry: Entry) -> Leak:
    rng = np.random.default_rng(3)
    for _ in range(400):
        X = rng.uniform(-0.5, 0.5, (30, entry.dim))
        base = entry.dataset(X, np.clip(0.3 * X[:, 0] + rng.uniform(-0.3, 0.3, 30), -1, 1))
        pair = added(entry, base, 1.0, 1.0)
        first, second = (read_off.winner(each) for each in pair)
        if first != second:
            return certain(pair, column(0, lambda values, won=first: values == won))
    raise LookupError("no winner changes")


def mistaken(entry: Entry) -> Leak:
    """Rows of which each is a mistake for one run and none for the other, and drives them apart the most."""
    made = entry.factory()
    turns = np.linspace(0.0, 2 * np.pi, 720, endpoint=False)
    rows = 0.999 * np.column_stack([np.cos(turns), np.sin(turns)])
    base = entry.dataset([], [])
    pair = added(entry, base, (0.5, 0.5), 1.0, front=True)
    for _ in range(120):
        one, other = (made.centre(each) for each in pair)
        moved = [after + rows * (rows @ after <= 0.0)[:, None] for after in (one, other)]
        unclear = (np.abs(rows @ one - 0.01) < 0.02) | (np.abs(rows @ other - 0.01) < 0.02)
        apart = np.linalg.norm(moved[0] - moved[1], axis=1) - 100.0 * (unclear & (len(base.y) > 0))
        base = base.with_record(rows[int(apart.argmax())], 1.0)
        pair = added(entry, base, (0.5, 0.5), 1.0, front=True)
    return told(entry, pair)


LEAKS = {
    "in_front": lambda entry: told(entry, added(entry, responses(entry, np.zeros(30)), 0.5, 1.0, front=True)),
    "running": lambda entry: told(entry, added(entry, responses(entry, np.linspace(0.5, 0.9, 30)), 0.5, 0.1)),
    # a record on every axis, and one between them
    "orthogonal": lambda entry: joined(
        entry, [(1, row, 1.0) for row in np.eye(entry.dim)], np.full(entry.dim, 0.5), 1.0
    ),
    "whole": lambda entry: certain(
        added(entry, responses(entry, np.ones(5)), 0.5, 0.5)[::-1], column(0, lambda v: v == np.round(v))
    ),
    "first_hundred": lambda entry: told(entry, without(entry, responses(entry, np.ones(100), -np.ones(20)), 3)),
}

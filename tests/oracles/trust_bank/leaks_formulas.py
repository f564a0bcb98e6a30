"""The leaks of classes 10 to 14: groups of equal records, one more or less, and the best simple event of both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import laplace, norm

from mechanisms import Dataset

from . import Entry, formulas, read_off
from .leaks import Leak, Pair, centre, certain, column, table

#: How many records, their row (a number: on the first axis) and their response.
Group = tuple[int, Any, Any]
Made = Callable[[Entry], Leak]


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


def joined(groups: list[Group], x: Any, y: float) -> Made:
    """Groups of equal records and one record more."""
    return lambda entry: told(entry, added(entry, stacked(entry, *groups), x, y))


def short_rows(lam: float, n: int) -> Made:
    """Rows of length sqrt(lam / n) with one response make the coefficient sqrt(n / lam) / 2; one long row ends it."""
    return joined([(n, np.sqrt(lam / n), 1.0)], 1.0, -1.0)


def one_more(*groups: tuple[int, float], y: float = 1.0) -> Made:
    """Groups of equal responses and one record more."""
    return joined([(count, 0.5, value) for count, value in groups], 0.5, y)


def swapped(*groups: tuple[int, float], index: int = 0, to: float = 1.0, n: int = 4000) -> Made:
    """Groups of equal responses, of which one record is replaced."""
    base = [(count, 0.5, y) for count, y in groups]
    return lambda entry: told(entry, changed(entry, stacked(entry, *base), index, 0.5, to), n=n)


def one_less(pattern: list[float], times: int, index: int = 0) -> Made:
    """Responses that repeat themselves, without one of them."""
    return lambda entry: told(entry, without(entry, responses(entry, np.tile(pattern, times)), index))


def in_front(entry: Entry) -> Leak:
    return told(entry, added(entry, responses(entry, np.zeros(30)), 0.5, 1.0, front=True))


def far(entry: Entry) -> Leak:
    return joined([(60, -1.0, -1.0)], 1.0, 1.0)(entry)


def turned(entry: Entry) -> Leak:
    groups: list[Group] = [(40, (0.9, 0.0), 1.0), (40, (0.0, 0.9), -1.0), (1, (0.5, 0.0), 1.0)]
    return joined(groups, (0.0, 1.0), -1.0)(entry)


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


def orthogonal(entry: Entry) -> Leak:
    """A record on every axis, and one between them."""
    rows = np.eye(entry.dim)
    return joined([(1, row, 1.0) for row in rows], rows.sum(axis=0) / 2, 1.0)(entry)


def whole(entry: Entry) -> Leak:
    base = responses(entry, np.ones(5))
    return certain(added(entry, base, 0.5, 0.5)[::-1], column(0, lambda values: values == np.round(values)))


def trained(entry: Entry) -> Leak:
    """A single long record of the training part, and a test part far along it."""
    base = stacked(entry, (1, 1.0, 1.0), (119, 0.0, 0.0), (30, 1.0, 1.0))
    return told(entry, changed(entry, base, 0, 1.0, -1.0))


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


def correlated(entry: Entry) -> Leak:
    return told(entry, changed(entry, stacked(entry, (30, 0.01, 0.01), (30, -0.01, -0.01)), 0, 1.0, -1.0))


def gram_replaced(entry: Entry) -> Leak:
    return told(entry, changed(entry, stacked(entry, (20, 1.0, 0.3)), 3, (0.0, 1.0), 0.3), n=40_000)


def first_hundred(entry: Entry) -> Leak:
    return told(entry, without(entry, responses(entry, np.ones(100), -np.ones(20)), 3))


LEAKS: dict[str, Made] = {
    # class 10
    "penalty-alone-0.1": short_rows(0.1, 900),
    "penalty-alone-1": short_rows(1.0, 400),
    "penalty-alone-10": short_rows(10.0, 2500),
    "penalty-alone-gdp": short_rows(1.0, 200),
    "penalty-alone-zcdp": short_rows(1.0, 900),
    "ridge-clipped": short_rows(1.0, 225),
    "ridge-topped-up": short_rows(1.0, 400),
    "ridge-validated": validated,
    "ridge-intercept": far,
    "ridge-prediction": short_rows(1.0, 225),
    "lasso": joined([(100, 0.02, 1.0)], 1.0, -1.0),
    "elastic-net": joined([(40, 0.05, 1.0)], 1.0, -1.0),
    "logistic-mean-for-sum": joined([(60, 0.0, 1.0)], 1.0, 1.0),
    "logistic-quarter": joined([(1000, 0.01, -1.0)], 1.0, 1.0),
    "logistic-rows-of-3": joined([(2000, 0.01, -1.0)], 3.0, 1.0),
    "logistic-intercept": joined([(40, 0.0, -1.0)], 1.0, 1.0),
    "gram-by-entry": joined([(20, 1.0, 0.3)], 2.0, 0.3),
    "gram-centred": far,
    "gram-replaced": gram_replaced,
    "projected": turned,
    "principal-direction": turned,
    "principal-share": joined([(3, 0.7, 0.2)], (0.0, 1.0), 0.2),
    "determinant": joined([(60, 0.7, 0.2)], (0.0, 1.0), 0.2),
    "residual-sum": joined([(100, 0.01, 1.0)], 1.0, -1.0),
    # class 11
    "quantile-0.9": swapped((91, -1.0), (10, 1.0)),
    "median-replaced": swapped((21, -1.0), (20, 1.0)),
    "least-of-all": swapped((40, 1.0), to=-1.0),
    "quartile-distance": swapped((61, -1.0), (20, 1.0)),
    "median-of-blocks": swapped((20, -1.0), (20, -0.5), (20, 0.0), (20, 0.5), (20, 1.0), index=45),
    "trimmed-mean-0.1": swapped((50, -1.0), (50, 1.0), n=100_000),
    "trimmed-mean-0.4": swapped((50, -1.0), (50, 1.0)),
    "trimmed-mean-laplace": swapped((50, -1.0), (50, 1.0)),
    "winsorised-mean": swapped((181, 0.0), (20, 1.0)),
    "hodges-lehmann": swapped((15, -1.0), (45, 1.0)),
    "variance-1-over-n": swapped((50, -1.0)),
    "deviation-2-over-n": swapped((100, 0.3)),
    "geometric-mean": swapped((50, 0.9), to=0.0),
    "harmonic-mean": swapped((50, 1.0), to=-1.0),
    "skewness": swapped((50, 0.1), (50, 0.1001)),
    "correlation": correlated,
    "mode": swapped((20, -0.85), (20, 0.85), to=0.85),
    "share-above-mean": swapped((50, 0.0), (1, 0.1), (1, -0.2), index=51, to=-0.05),
    "stump-best-split": best_split,
    "stump-median-split": joined([(30, -0.5, -0.9), (30, 0.5, 0.9)], -0.5, -0.9),
    "stump-small-leaves": joined([(9, 0.5, 1.0)], 0.5, 1.0),
    "split-point": best_split,
    "top-column": joined([(20, (0.9, 0.0), 1.0), (20, (0.0, 0.9), 1.0)], (0.0, 1.0), 1.0),
    "ratio-of-sums": joined([(25, 0.02, 1.0)], 1.0, -1.0),
    # class 12
    "labels-or-numbers": one_more((30, -1.0), y=0.3),
    "whole-numbers": whole,
    "running-totals": lambda entry: told(entry, added(entry, responses(entry, np.linspace(0.5, 0.9, 30)), 0.5, 0.1)),
    "min-max": one_more((1, 0.0), (30, 0.01)),
    "median-deviation-zero": joined([(41, 0.0, 0.0), (40, 0.5, 0.1)], 0.5, 0.1),
    "own-codes": one_more((150, -0.1), *((6, 0.1 * k) for k in range(9))),
    "constant-dropped": joined([(30, (0.5, 0.1), 1.0)], (0.4, 0.1), 1.0),
    "sparse-dropped": joined([(90, (0.0, 0.5), 0.1), (10, (0.7, 0.5), 1.0)], (0.0, 0.5), 0.1),
    "odd-halved": one_more((10, -1.0), (10, 1.0)),
    "fewer-noise-from-1000": joined([(4000, 0.5, 0.1)], 1.0, 1.0),
    "fewer-noise-from-4000": joined([(9900, 0.5, 0.1)], 1.0, 1.0),
    "fewer-noise-gdp": joined([(900, 0.5, 0.1)], 1.0, 1.0),
    "count-in-uint8": one_more((255, 0.5)),
    "count-in-int8": one_more((127, 0.5)),
    "sum-in-int16-of-hundredths": one_more((327, 1.0)),
    "sum-in-int16-of-sixteenths": one_more((2047, 1.0)),
    "half-precision-sum": one_more((8196, 1.0)),
    "half-precision-overflow": one_more((655, 1.0)),
    "padded-to-power-of-two": one_more((256, 1.0)),
    "small-cells": one_more((4, 0.5)),
    "small-cells-20": one_more((19, 0.5)),
    "per-cent": one_more((60, 0.01)),
    "missing-codes": one_more((95, 0.0), (5, -1.0), y=-1.0),
    "log-where-spread": one_more((200, 0.09)),
    "decimals-of-data": one_more((40, 0.5), y=0.25),
    "own-weights": joined([(1, 1.0, 0.0)], 1.0, 0.0),
    "own-largest-entry": joined([(50, 0.1, 1.0)], 1.0, 1.0),
    # class 13
    "leverage-above-0.9": orthogonal,
    "leverage-above-twice-mean": joined(
        [(29, (0.9, 0.0), 0.5), (10, (0.0, 0.9), 1.0), (1, (0.0, 0.3), 1.0)], (0.9, 0.0), 0.5
    ),
    "once-per-key": joined([(3, 0.5, -1.0)], 0.5, 1.0),
    "joined-with-itself": joined([(20, 0.5, 0.9)], 0.5, 0.9),
    "reversals": joined([(30, 0.6, 0.9)], -0.6, 0.9),
    "collinear-dropped": joined([(30, (0.6, 0.6), 0.9)], (0.6, -0.6), 0.1),
    "orthogonal-design": joined([(40, (0.1, 0.0), 1.0), (40, (0.0, 0.1), 1.0)], (0.05, 0.05), 1.0),
    "balanced-weights": joined([(30, 0.5, -1.0)], 0.5, 1.0),
    "empty-class": joined([(30, 0.8, -0.9)], 0.1, 0.1),
    "class-means": joined([(19, 0.9, 1.0), (60, -0.9, -1.0)], 0.9, 1.0),
    "single-record": joined([], 1.0, 1.0),
    "all-equal": joined([(30, 0.5, 0.5)], 0.5, -0.5),
    "dense-ranks": joined([(30, 0.5, 0.9)], 0.6, 0.9),
    "tied-at-median": joined([(20, 0.2, -0.9), (20, 0.4, 0.9)], 0.4, 0.9),
    "nan-of-zero-row": joined([(30, 0.5, 0.9)], 0.0, 0.9),
    "zero-of-zero-row": joined([(50, 0.95, 0.2)], 0.0, 0.2),
    "three-sigma": joined([(90, 0.5, 0.0), (10, 0.5, 1.0)], 0.5, 0.0),
    "quartile-fences": joined([(60, 0.5, 0.0), (20, 0.5, 1.0)], 0.5, 1.0),
    "mean-imputed": joined([(30, 0.5, 0.0)], 0.5, 1.0),
    "matched-pairs": joined([(5, 0.5, 1.0), (4, -0.5, -1.0)], -0.5, -1.0),
    "majority-of-cell": joined([(20, 0.2, -1.0), (20, 0.2, 1.0)], 0.2, 1.0),
    "largest-group": joined([(20, 0.5, 1.0), (20, -0.5, -1.0)], 0.5, 1.0),
    "unanimous": joined([(30, 0.5, 0.1)], 0.5, -0.1),
    # class 14
    "block-sums": one_less([1.0, *[0.0] * 9, -1.0, *[0.0] * 9], 5),
    "block-spread": one_less([1.0] * 5 + [-1.0] * 5, 10),
    "test-error": trained,
    "last-ten": swapped((200, 0.0), index=195),
    "last-ten-laplace": swapped((100, 0.0), index=95),
    "every-tenth": one_less([1.0, *[-1.0] * 9], 10),
    "every-tenth-amplified": swapped((200, -1.0), index=50),
    "first-hundred": first_hundred,
    "folds-winner": winner,
    "moving-average": one_less([1.0, -1.0], 1),
    "autocovariance": one_less([1.0, -1.0, 1.0], 1, index=1),
    "pair-differences": one_less([1.0, -1.0], 15),
    "variation": one_less([-1.0, 1.0, -1.0], 1, index=1),
    "running-maximum": swapped((40, -1.0)),
    "from-first": in_front,
    "carried-forward": in_front,
    "one-epoch": joined([(40, 1.0, -1.0)], 1.0, 1.0),
    "one-epoch-gdp": joined([(10, 0.5, 0.0)], 1.0, 1.0),
    "momentum": joined([(1, 0.0, 0.0)], 1.0, 1.0),
    "perceptron": mistaken,
    "second-half-less-first": swapped((40, -1.0), index=30),
}

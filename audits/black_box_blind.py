"""A label-blind test of a claim: sets are chosen from the pooled outputs, the labels are what is tested.

Each of N draws comes from the first data set by a fair coin. Given all outputs, unlabelled, the labels are independent
and, under (epsilon, 0), each says "first" with probability at most ``1 / (1 + exp(-epsilon))``. Any order of the
outputs that ignores labels is therefore free: the most repeated value first, or inwards from an end of the range.
Betting along such an order is a supermartingale that may stop at its best (Ville). Under (epsilon, delta) all but a few
draws behave like that; the few are given away. Derivation: ``docs/derivations/black_box.md``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from .black_box_bet import Point, largest_refuted
from .black_box_scores import LARGEST, value_cells, whole_cells

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]

#: Stakes, as shares of all that may be lost on one label.
STAKES = np.array([0.6, 0.95])
#: Shares of the level of one direction, which has half of the line's: orders of the outputs.
REPEATED, REPEATED_IN_COLUMN, ENDS, DISTANCE = 0.4, 0.1, 0.35, 0.15
#: Share of the line's level that each direction pays for giving away a number of draws.
GIVEN_AWAY = 1.0 / 20.0
#: Fewest times that a value occurs, and most values that are followed.
LEAST_REPEATS, MOST_VALUES = 10, 50
#: Most outputs of one order, and most columns.
LONGEST, MAX_COLUMNS = 2000, 32
#: Standard deviations of the number of first labels that the draws made leave room for.
ROOM = 3.5


def n_labels(n_each: int) -> int:
    """Return how many fair coins can be thrown for which ``n_each`` draws of each data set nearly always suffice."""
    return max(0, 2 * n_each - math.ceil(ROOM * math.sqrt(2 * n_each)))


@dataclass(frozen=True)
class BlindTest:
    """The best order of the outputs against one claimed point; ``labels`` say "this direction's P" along it."""

    point: Point
    forward: bool
    event: str
    labels: BoolArray
    share: float
    n_labels: int
    level: float

    def p_value(self, epsilon: float | None = None, more: float = 0.0) -> float:
        """Return the p-value of the claim (or of a weaker one along the same order)."""
        epsilon = self.point.epsilon if epsilon is None else epsilon
        given = given_away(self.n_labels, self.point.delta(self.forward) + more, self.level)
        paid = 2 * GIVEN_AWAY * self.level if max(self.point.forward, self.point.backward) + more > 0 else 0.0
        wealth = most_wealth(self.labels, epsilon, given) + math.log(self.share)
        return min(1.0, math.exp(-min(max(wealth, 0.0), 690.0)) + paid)

    @property
    def hits(self) -> tuple[int, int]:
        """Labels of P and of Q where the wealth was largest."""
        given = given_away(self.n_labels, self.point.delta(self.forward), self.level)
        wealth = wealth_along(self.labels, self.point.epsilon, given)
        seen = self.labels[: int(np.argmax(wealth)) + 1]
        return int(seen.sum()), int((~seen).sum())

    def more_delta(self, level: float) -> float:
        """Return how much delta could be added to the claim and it would still be refuted at ``level``."""
        room = 1 - max(self.point.forward, self.point.backward)
        return largest_refuted(lambda more: self.p_value(more=more) <= level, room)

    def more_epsilon(self, level: float) -> float:
        """Return how much epsilon could be added to the claim and it would still be refuted at ``level``."""
        return largest_refuted(lambda more: self.p_value(self.point.epsilon + more) <= level, 60.0)


def given_away(n: int, delta: float, level: float) -> int:
    """Return a number of bad draws that is exceeded with probability ``GIVEN_AWAY * level`` at most.

    A draw is bad when it comes from P, which it does by a fair coin, and from the part of P that a claim of ``delta``
    leaves free: probability ``delta / 2`` at most.
    """
    return 0 if delta <= 0 else int(stats.binom.isf(GIVEN_AWAY * level, n, min(delta, 1.0) / 2))


def wealth_along(labels: BoolArray, epsilon: float, given: int) -> FloatArray:
    """Return the log wealth after each label; the first ``given`` wins do not count."""
    wins = np.cumsum(labels)
    losses = np.arange(1, len(labels) + 1) - wins
    win, loss = np.log1p(STAKES * math.exp(-epsilon)), np.log1p(-STAKES)
    logs = np.maximum(wins - given, 0)[:, None] * win + losses[:, None] * loss
    return np.asarray(special.logsumexp(logs, axis=1) - math.log(len(STAKES)), dtype=np.float64)


def most_wealth(labels: BoolArray, epsilon: float, given: int) -> float:
    """Return the largest log wealth along an order."""
    return float(wealth_along(labels, epsilon, given).max(initial=0.0))


def label_test(
    first: FloatArray, second: FloatArray, points: Sequence[Point], level: float, rng: np.random.Generator
) -> list[BlindTest]:
    """Return the best order against each claimed point, its share of the level included; empty where none is possible.

    Parameters
    ----------
    first, second : (n, k) arrays
        Independent draws on both data sets.
    points : sequence of Point
        Fixed beforehand; each has an equal share.
    level : float
        Of the whole line; it decides how many draws are given away.
    rng : Generator
        Throws the coins that decide how many draws of each data set are read, and breaks ties.
    """
    total = n_labels(min(len(first), len(second)))
    n_first = int(rng.binomial(total, 0.5))
    if total < 2 * LEAST_REPEATS or n_first > len(first) or total - n_first > len(second):
        return []  # decided by the coins alone
    outputs = np.concatenate([first[:n_first], second[: total - n_first]])
    labels = np.arange(total) < n_first
    runs = [(event, share, labels[places]) for event, share, places in _orders(outputs, rng.random(total))]
    return [_best(point, runs, total, level, len(points)) for point in points] if runs else []


def _best(
    point: Point, runs: Sequence[tuple[str, float, BoolArray]], total: int, level: float, n_points: int
) -> BlindTest:
    best: tuple[float, BlindTest] | None = None
    for forward in (True, False):
        given = given_away(total, point.delta(forward), level)
        for event, share, labels in runs:
            mine, share_of_all = labels if forward else ~labels, share / (2 * n_points)
            wealth = most_wealth(mine, point.epsilon, given) + math.log(share_of_all)
            if best is None or wealth > best[0]:
                best = wealth, BlindTest(point, forward, event, mine, share_of_all, total, level)
    assert best is not None
    return best[1]


def _orders(outputs: FloatArray, ties: FloatArray) -> Iterator[tuple[str, float, NDArray[np.intp]]]:
    """Yield orders of the pooled outputs: words, share (they add up to 1 at most), places. Labels have no part in it.

    Ties are broken by ``ties`` *before* an order is cut off: a cut by position would read the labels.
    """
    k = min(outputs.shape[1], MAX_COLUMNS)
    yield from _repeats(whole_cells(outputs)[0], "repeated value", REPEATED, ties)
    for column, key in enumerate(value_cells(outputs[:, :k]) if k > 1 else []):
        yield from _repeats(key, f"repeated value, column {column + 1}", REPEATED_IN_COLUMN / k, ties)
    values = np.clip(outputs[:, :k], -LARGEST, LARGEST)
    centres = np.median(np.nan_to_num(values), axis=0)
    values = np.where(np.isnan(values), centres, values)
    far = np.abs(values - centres)
    scales = np.median(far, axis=0)
    far = far / np.where(scales > 0, scales, np.maximum(far.mean(axis=0), 1e-300))
    for column in range(k):
        where = "" if outputs.shape[1] == 1 else f", column {column + 1}"
        for sign, end in ((1.0, "upper"), (-1.0, "lower")):
            places = _top(sign * values[:, column], ties)
            yield f"{end} end of the range{where}", ENDS / (2 * k), places
    yield "far from the median", DISTANCE, _top(far.max(axis=1), ties)


def _repeats(
    keys: IntArray, event: str, share: float, ties: FloatArray
) -> Iterator[tuple[str, float, NDArray[np.intp]]]:
    """Yield the outputs of each repeated value in random order; the j-th most repeated has a share 1 / (j (j + 1))."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    counts = np.diff(np.r_[starts, len(keys)])
    often = np.flatnonzero(counts >= LEAST_REPEATS)
    often = often[np.argsort(-counts[often], kind="stable")][:MOST_VALUES]
    for place, group in enumerate(often.tolist(), start=1):
        members = order[starts[group] : starts[group] + counts[group]]
        yield event, share / (place * (place + 1)), members[np.argsort(ties[members])][:LONGEST]


def _top(scores: FloatArray, ties: FloatArray) -> NDArray[np.intp]:
    """Return the places of the largest scores, largest first, ties in the order of ``ties``."""
    n = min(LONGEST, len(scores) // 2)
    places = np.flatnonzero(scores >= np.partition(scores, len(scores) - n)[len(scores) - n])
    return np.asarray(places[np.lexsort((ties[places], scores[places]))[::-1]][:n])

"""A label-blind test of a claim: sets are chosen from the pooled outputs, the labels are what is tested.

Each of N draws comes from the first data set by a fair coin. Given all outputs, unlabelled, the labels are independent
and, under (epsilon, 0), each says "first" with probability at most ``1 / (1 + exp(-epsilon))``. Any order of the
outputs that ignores labels is therefore free: the most repeated value first, or inwards from an end of the range.
Betting along such an order is a supermartingale that may stop at its best (Ville); of all outputs with one value the
label counts have a binomial law. Under (epsilon, delta) all but a few draws behave like that, and what those few can
add is bounded on average. Derivation: ``docs/derivations/black_box.md``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from mechanisms.data.dataset import FloatArray

from .black_box_bet import Point, largest_refuted
from .black_box_scores import LARGEST, value_cells, whole_cells

BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]

#: Stakes, as shares of all that may be lost on one label.
STAKES = np.array([0.6, 0.95])
#: Shares of the level of one direction, which has half of the line's: orders of the outputs.
REPEATED, REPEATED_IN_COLUMN, ENDS, DISTANCE = 0.6, 0.1, 0.2, 0.1
#: Share of the j-th most repeated value, times j^2.
FIRST_VALUE = 6 / math.pi**2
#: A tiny delta costs at most about this much log evidence at a repeated value, whose label counts need not be all hits.
DELTA_COST = 0.1
#: Fewest times that a value occurs, and most values that are followed.
LEAST_REPEATS, MOST_VALUES = 10, 50
#: Most outputs of one order, and most columns.
LONGEST, MAX_COLUMNS = 2000, 32
#: Standard deviations of the number of first labels that the draws made leave room for.
ROOM = 3.0


def n_labels(n_each: int) -> int:
    """Return how many fair coins can be thrown for which ``n_each`` draws of each data set nearly always suffice."""
    return max(0, 2 * n_each - math.ceil(ROOM * math.sqrt(2 * n_each)))


@dataclass(frozen=True)
class BlindTest:
    """The best order of the outputs against one claimed point; ``labels`` say "this direction's P" along it.

    ``share`` is that of the line's level. ``whole`` means that the order has no meaning and only the counts have. Of
    ``n_labels`` coins ``n_own`` say "this direction's P".
    """

    point: Point
    forward: bool
    event: str
    labels: BoolArray
    share: float
    n_labels: int
    n_own: int
    whole: bool

    def p_value(self, epsilon: float | None = None, more: float = 0.0) -> float:
        """Return the p-value of the claim, or of a weaker one along the same order."""
        epsilon = self.point.epsilon if epsilon is None else epsilon
        delta = min(self.point.delta(self.forward) + more, 1.0)
        log_p = log_evidence(self.labels, self.whole, epsilon, delta, self.n_labels)
        return math.exp(max(min(0.0, log_p - math.log(self.share)), -690.0))

    @property
    def hits(self) -> tuple[int, int]:
        """Labels of P and of Q: all, or up to the place where the wealth was largest."""
        end = len(self.labels) if self.whole else int(np.argmax(wealth_along(self.labels, self.point.epsilon))) + 1
        seen = self.labels[:end]
        return int(seen.sum()), int((~seen).sum())

    def more_delta(self, level: float) -> float:
        """Return how much delta could be added to the claim and it would still be refuted at ``level``."""
        room = 1 - max(self.point.forward, self.point.backward)
        return largest_refuted(lambda more: self.p_value(more=more) <= level, room)

    def more_epsilon(self, level: float) -> float:
        """Return how much epsilon could be added to the claim and it would still be refuted at ``level``."""
        return largest_refuted(lambda more: self.p_value(self.point.epsilon + more) <= level, 60.0)


def log_evidence(labels: BoolArray, whole: bool, epsilon: float, delta: float, n: int) -> float:
    """Return the log p-value of a claim from one order of the labels of ``n`` coins.

    A draw is bad when it comes from P, which it does by a fair coin, and from the part of P that a claim of ``delta``
    leaves free: probability ``delta / 2`` at most, independently. Their number B has ``E[t^B] <= (1 + (t - 1) delta /
    2)^n``, and that is what the evidence is divided by.
    """
    chance, mean = float(special.expit(epsilon)), n * delta / 2
    if not whole:
        return n * math.log1p((1 / chance - 1) * delta / 2) - float(wealth_along(labels, epsilon).max())
    if delta <= 0:
        return log_tail(int(labels.sum()), len(labels), chance, np.zeros(1))
    theta = max(1 / chance, min(1e3, 1 + DELTA_COST / mean))
    bad = np.arange(labels.sum() + 1.0)
    return n * math.log1p((theta - 1) * delta / 2) + log_tail(int(labels.sum()), len(labels), chance, bad, theta)


def log_tail(hits: int, n: int, chance: float, bad: FloatArray, theta: float = 1.0) -> float:
    """Return the largest log probability of ``hits`` less ``bad`` or more among ``n``, less ``bad`` times log theta."""
    tails = np.where(bad < hits, stats.binom.sf(hits - bad - 1, n, chance), 1.0)
    return float((np.log(np.maximum(tails, 1e-300)) - bad * math.log(theta)).max())


def wealth_along(labels: BoolArray, epsilon: float) -> FloatArray:
    """Return the log wealth after each label, under a claim of (epsilon, 0)."""
    wins = np.cumsum(labels)
    losses = np.arange(1, len(labels) + 1) - wins
    win, loss = np.log1p(STAKES * math.exp(-epsilon)), np.log1p(-STAKES)
    logs = wins[:, None] * win + losses[:, None] * loss
    return np.asarray(special.logsumexp(logs, axis=1) - math.log(len(STAKES)), dtype=np.float64)


def label_test(
    first: FloatArray, second: FloatArray, points: Sequence[Point], rng: np.random.Generator
) -> list[BlindTest]:
    """Return the best order against each claimed point, its share of the level included; empty where none is possible.

    Parameters
    ----------
    first, second : (n, k) arrays
        Independent draws on both data sets.
    points : sequence of Point
        Fixed beforehand; each has an equal share.
    rng : Generator
        Throws the coins that decide how many draws of each data set are read, and breaks ties.
    """
    total = n_labels(min(len(first), len(second)))
    n_first = int(rng.binomial(total, 0.5))
    if total < 2 * LEAST_REPEATS or n_first > len(first) or total - n_first > len(second):
        return []  # decided by the coins alone
    outputs = np.concatenate([first[:n_first], second[: total - n_first]])
    labels = np.arange(total) < n_first
    runs = [Run(event, share, whole, labels[at]) for event, share, whole, at in _orders(outputs, rng.random(total))]
    return [_best(point, runs, (n_first, total - n_first), len(points)) for point in points]


@dataclass(frozen=True)
class Run:
    """Labels along one order: words, share of the level of a direction, whether only counts matter, the labels."""

    event: str
    share: float
    whole: bool
    labels: BoolArray


def _best(point: Point, runs: Sequence[Run], coins: tuple[int, int], n_points: int) -> BlindTest:
    tests = [
        BlindTest(
            point,
            forward,
            run.event,
            run.labels if forward else ~run.labels,
            run.share / (2 * n_points),
            sum(coins),
            coins[0] if forward else coins[1],
            run.whole,
        )
        for forward in (True, False)
        for run in runs
    ]
    return min(tests, key=lambda test: test.p_value())


Orders = Iterator[tuple[str, float, bool, NDArray[np.intp]]]


def _orders(outputs: FloatArray, ties: FloatArray) -> Orders:
    """Yield orders of the pooled outputs, without labels: words, share (1 in all), if only counts matter, places.

    Ties are broken by ``ties`` *before* an order is cut off: a cut by position would read the labels.
    """
    k = min(outputs.shape[1], MAX_COLUMNS)
    alone = REPEATED_IN_COLUMN if k == 1 else 0.0
    yield from _repeats(whole_cells(outputs)[0], "repeated value", REPEATED + alone, ties)
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
            yield f"{end} end of the range{where}", ENDS / (2 * k), False, places
    yield "far from the median", DISTANCE, False, _top(far.max(axis=1), ties)


def _repeats(keys: IntArray, event: str, share: float, ties: FloatArray) -> Orders:
    """Yield the outputs of each repeated value, at most ``LONGEST``, by ``ties``; shares fall as 1 / j^2."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    counts = np.diff(np.r_[starts, len(keys)])
    often = np.flatnonzero(counts >= LEAST_REPEATS)
    often = often[np.argsort(-counts[often], kind="stable")][:MOST_VALUES]
    for place, group in enumerate(often.tolist(), start=1):
        members = order[starts[group] : starts[group] + counts[group]]
        yield event, share * FIRST_VALUE / place**2, True, members[np.argsort(ties[members])][:LONGEST]


def _top(scores: FloatArray, ties: FloatArray) -> NDArray[np.intp]:
    """Return the places of the largest scores, largest first, ties in the order of ``ties``."""
    n = min(LONGEST, len(scores) // 2)
    places = np.flatnonzero(scores >= np.partition(scores, len(scores) - n)[len(scores) - n])
    return np.asarray(places[np.lexsort((ties[places], scores[places]))[::-1]][:n])

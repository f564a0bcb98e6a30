"""Betting against a claim: on many learned sets at once, and on labels along orders that are blind to them.

A claim bounds ``P(S) <= exp(epsilon) Q(S) + delta`` for every set ``S``. For a pair of draws X ~ P, Y ~ Q and a stake
``0 <= l <= 1 / (exp(epsilon) + delta)``, the factor ``1 + l (1{X in S} - exp(epsilon) 1{Y in S} - delta)`` is
non-negative with mean at most 1. Sets, stakes and weights of each block of draws depend on earlier draws only, so the
wealth is a supermartingale and exceeds ``1 / level`` with probability ``level`` at most (Ville's inequality), whatever
the laws are: atoms, NaN and infinities included. Derivation: ``docs/derivations/black_box.md``.

The label-blind test chooses sets from the pooled outputs; the labels are what is tested. Each of N draws comes from the
first data set by a fair coin. Given all outputs, unlabelled, the labels are independent and, under (epsilon, 0), each
says "first" with probability at most ``1 / (1 + exp(-epsilon))``. Any order of the outputs that ignores labels is
therefore free: the most repeated value first, or inwards from an end of the range. Betting along such an order is a
supermartingale that may stop at its best; of all outputs with one value the label counts have a binomial law. Under
(epsilon, delta) all but a few draws behave like that, and what those few can add is bounded on average.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from mechanisms.data.dataset import FloatArray

from .black_box_families import FAMILIES, TREES, Family
from .black_box_results import Hits
from .black_box_scores import LARGEST, Score, telling_columns, value_cells, whole_cells

Pair = tuple[FloatArray, FloatArray]

#: Where blocks end, as shares of all pairs of draws; the first block is only learned from.
ENDS = (0.06, 0.25, 0.55, 1.0)
#: Shares of the past up to which scores are fitted and up to which sets are found; the rest predicts what they earn.
FITTED, FOUND = 0.35, 0.7
#: Stakes, as shares of the largest one allowed.
STAKES = (0.25, 0.6, 0.93)
#: Share of the wealth that follows the predicted growth; the rest is spread evenly.
TRUSTED = 0.8
#: Most draws per data set that a score is fitted on.
MAX_FIT = 20_000
#: Fewest pairs of draws with which this line plays.
LEAST_PAIRS = 250
#: Beyond this epsilon nothing that can be counted breaks a claim.
MAX_EPSILON = 50.0


@dataclass(frozen=True)
class Point:
    """A claimed point: epsilon, and delta in the two directions."""

    epsilon: float
    forward: float
    backward: float

    def delta(self, forward: bool) -> float:
        """Return the claimed delta of a direction."""
        return self.forward if forward else self.backward


@dataclass(frozen=True)
class Bet:
    """A stake on the set ``{score in interval}``; a ``forward`` one says that the first data set has too much of it."""

    score: Score
    interval: ScoreInterval
    forward: bool
    stake: float
    weight: float = 1.0

    @property
    def event(self) -> str:
        """The set in words."""
        return f"{self.score.name} {self.interval}"

    def counts(self, scores: Pair) -> Counts:
        """Return how often the set was hit, given the scores of paired draws of both data sets."""
        p, q = (self.interval.holds(s) for s in (scores if self.forward else scores[::-1]))
        return Counts(int(p.sum()), int(q.sum()), int((p & q).sum()), len(p))


@dataclass(frozen=True)
class Counts:
    """Of ``n`` pairs: hits under P, hits under Q, pairs in which both hit."""

    p: int
    q: int
    both: int
    n: int

    def growth(self, stake: float, epsilon: float, delta: float) -> float:
        """Return the log of the product of all factors."""
        factor = math.exp(epsilon)
        only_p, only_q = self.p - self.both, self.q - self.both
        logs = (1 - delta, -factor - delta, 1 - factor - delta, -delta)
        times = (only_p, only_q, self.both, self.n - only_p - only_q - self.both)
        return math.fsum(t * math.log1p(stake * x) if t else 0.0 for t, x in zip(times, logs, strict=True))


@dataclass(frozen=True)
class Played:
    """The bets of one block on one claimed point, with what they hit; bets without counts kept their stake in hand."""

    bets: tuple[Bet, ...]
    counts: tuple[Counts | None, ...]

    def log_wealth(self, epsilon: float, more: float, point: Point) -> float:
        """Return the log factor of this block for a claim of ``epsilon`` and ``more`` delta than the point's."""
        return float(special.logsumexp(self._logs(epsilon, more, point), b=[bet.weight for bet in self.bets]))

    def best(self, point: Point) -> int:
        """Return the place of the bet that earned most, its weight included."""
        logs = self._logs(point.epsilon, 0.0, point)
        return int(np.argmax([log + math.log(bet.weight) for log, bet in zip(logs, self.bets, strict=True)]))

    def _logs(self, epsilon: float, more: float, point: Point) -> list[float]:
        return [
            0.0 if counts is None else counts.growth(bet.stake, epsilon, point.delta(bet.forward) + more)
            for bet, counts in zip(self.bets, self.counts, strict=True)
        ]


@dataclass(frozen=True)
class BettingTest:
    """All blocks played against one claimed point; ``places`` points are attacked side by side (Bonferroni)."""

    point: Point
    played: tuple[Played, ...]
    places: int = 1
    method: ClassVar[str] = "black box, betting on learned sets, all draws"

    def p_value(self, epsilon: float | None = None, more: float = 0.0) -> float:
        """Return the p-value of the claim, or of a weaker one by the same sets and stakes: 1 over the most wealth."""
        epsilon = self.point.epsilon if epsilon is None else epsilon
        wealth = np.cumsum([block.log_wealth(epsilon, more, self.point) for block in self.played])
        return min(1.0, self.places * math.exp(-min(max(0.0, float(wealth.max(initial=0.0))), 690.0)))

    def best(self) -> tuple[Bet, Counts]:
        """Return the bet that earned most in any block, with its counts there."""
        best_of_blocks = [(block, block.best(self.point)) for block in self.played]
        earned = [
            -math.inf if counts is None else counts.growth(bet.stake, self.point.epsilon, self.point.delta(bet.forward))
            for bet, counts in ((block.bets[i], block.counts[i]) for block, i in best_of_blocks)
        ]
        block, i = best_of_blocks[int(np.argmax(earned))]
        return block.bets[i], block.counts[i] or Counts(0, 0, 0, 0)

    def seen(self) -> tuple[bool, str, Hits, float]:
        """Return direction and event of the best bet, its hits, P's first, and what they make of delta."""
        bet, counts = self.best()
        value = (counts.p - math.exp(self.point.epsilon) * counts.q) / max(counts.n, 1)
        return bet.forward, bet.event, Hits(counts.p, counts.n, counts.q, counts.n), value

    def more_delta(self, level: float) -> float:
        """Return how much delta could be added to the claim with the same bets and it would still be refuted."""
        room = (1 - 1e-6) * math.exp(self.point.epsilon) * (1 / max(STAKES) - 1)
        room = min(room, 1 - max(self.point.forward, self.point.backward))
        return _largest_refuted(lambda more: self.p_value(more=more) <= level, room)

    def more_epsilon(self, level: float) -> float:
        """Return how much epsilon could be added to the claim with the same bets and it would still be refuted."""
        room = -(1 - 1e-6) * math.log(max(STAKES))
        return _largest_refuted(lambda more: self.p_value(self.point.epsilon + more) <= level, room)


def _largest_refuted(refuted: Callable[[float], bool], room: float) -> float:
    """Return (almost) the largest number in ``[0, room]`` that is still refuted; refutation is monotone."""
    low, high = 0.0, max(room, 0.0)
    if refuted(high):
        return high
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low


def bet_against(
    first: FloatArray, second: FloatArray, points: Sequence[Point], *, trees: bool = False
) -> list[BettingTest]:
    """Return the test of each claimed point, in the order given; none where the draws are too few.

    ``first``, ``second``, (n, k) arrays: independent draws on both data sets, in the order in which they were made;
    equally many. ``points``: fixed beforehand. ``trees``: also bet on the score of boosted trees (needs scikit-learn).
    """
    n = min(len(first), len(second))
    points = [point for point in points if point.epsilon <= MAX_EPSILON]
    if n < LEAST_PAIRS or not points:
        return []
    families = (*FAMILIES, TREES) if trees else FAMILIES
    ends = [max(round(share * n), 30) for share in ENDS]
    played: list[list[Played]] = [[] for _ in points]
    for start, end in pairwise(ends):
        tried = _learn((first[:start], second[:start]), points, families)
        scored: dict[int, Pair] = {}
        for blocks, bets, grown in zip(played, *zip(*tried, strict=True), strict=True):
            counts = [
                _play(bet, growth, bets, (first[start:end], second[start:end]), scored)
                for bet, growth in zip(bets, grown, strict=True)
            ]
            blocks.append(Played(bets, tuple(counts)))
    return [BettingTest(point, tuple(blocks), len(points)) for point, blocks in zip(points, played, strict=True)]


def _play(bet: Bet, predicted: float, bets: Sequence[Bet], draws: Pair, scored: dict[int, Pair]) -> Counts | None:
    """Return what a bet hits; None where the past promised it nothing and it is not worth the time."""
    if bet.weight < 0.3 / len(bets) and predicted < -3:
        return None
    if id(bet.score) not in scored:
        scored[id(bet.score)] = bet.score(draws[0]), bet.score(draws[1])
    return bet.counts(scored[id(bet.score)])


def _learn(
    past: Pair, points: Sequence[Point], families: Sequence[Family]
) -> list[tuple[tuple[Bet, ...], tuple[float, ...]]]:
    """Return, for each point, the bets with their weights, and the growth that past draws predict for each."""
    first, second = past
    n, k = first.shape
    fitted, chosen_to = round(FITTED * n), round(FOUND * n)
    bets: list[list[Bet]] = [[] for _ in points]
    grown: list[list[float]] = [[] for _ in points]
    one, two = first[:fitted][:MAX_FIT], second[:fitted][:MAX_FIT]
    columns = telling_columns(one, two)
    for family in families:
        score = family.fit_on(one, two, columns)
        if score is None:
            continue
        begin = fitted if family.labelled[k > 1] else 0
        counted = Counted.of(score(first[begin:chosen_to]), score(second[begin:chosen_to]))
        held = score(first[chosen_to:]), score(second[chosen_to:])
        for place, point in enumerate(points):
            for bet in _bets(score, counted, point):
                bets[place].append(bet)
                counts = bet.counts(held)
                grown[place].append(counts.growth(bet.stake, point.epsilon, point.delta(bet.forward)))
    return [(_weigh(b, np.array(g)), tuple(g)) for b, g in zip(bets, grown, strict=True)]


def _bets(score: Score, counted: Counted, point: Point) -> list[Bet]:
    """Return the bets on the sets of one score that would have grown most, in both directions, at every stake."""
    factor, made = math.exp(point.epsilon), []
    for forward in (True, False):
        most = 1 / (factor + point.delta(forward))
        for share in STAKES:
            stake = share * most
            gain, loss = math.log1p(stake), math.log1p(-stake * factor)
            interval = counted.best(gain, loss) if forward else counted.best(loss, gain)
            made.append(Bet(score, interval, forward, stake))
    return made


def _weigh(bets: Sequence[Bet], growth: FloatArray) -> tuple[Bet, ...]:
    trust = np.exp(np.clip(growth, -5.0, 12.0))
    weights = TRUSTED * trust / trust.sum() + (1 - TRUSTED) / len(bets)
    return tuple(
        Bet(bet.score, bet.interval, bet.forward, bet.stake, float(weight))
        for bet, weight in zip(bets, weights, strict=True)
    )


BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class ScoreInterval:
    """Values from ``low`` to ``high``, both included; either end may be infinite."""

    low: float
    high: float

    def holds(self, scores: FloatArray) -> BoolArray:
        """Return whether each score lies in the interval, same shape."""
        return np.asarray((scores >= self.low) & (scores <= self.high))

    def __str__(self) -> str:
        """Return the interval in words."""
        if self.low == self.high:
            return f"equal to {self.low:.6g}"
        if math.isinf(self.low):
            return "anywhere" if math.isinf(self.high) else f"at most {self.high:.6g}"
        return f"at least {self.low:.6g}" if math.isinf(self.high) else f"in [{self.low:.6g}, {self.high:.6g}]"


@dataclass(frozen=True)
class Counted:
    """Distinct values of a score, ascending, and how often each occurs in two samples; shape ``(n_values,)`` each."""

    values: FloatArray
    first: FloatArray
    second: FloatArray

    @classmethod
    def of(cls, first: FloatArray, second: FloatArray) -> Counted:
        """Return the counts of two samples of scores (no NaN), shapes ``(n,)`` and ``(m,)``."""
        values, place = np.unique(np.concatenate([first, second]), return_inverse=True)
        counts = (np.bincount(part, minlength=len(values)) for part in (place[: len(first)], place[len(first) :]))
        in_first, in_second = (np.asarray(count, dtype=np.float64) for count in counts)
        return cls(values, in_first, in_second)

    def best(self, gain_first: float, gain_second: float) -> ScoreInterval:
        """Return the interval with the largest ``gain_first * hits in first + gain_second * hits in second``.

        Ends lie half-way to the next value outside, or are infinite where there is none.
        """
        total = np.r_[0.0, np.cumsum(gain_first * self.first + gain_second * self.second)]
        gains = total[1:] - np.minimum.accumulate(total[:-1])
        end = int(np.argmax(gains))
        start = int(np.argmin(total[: end + 1]))
        return ScoreInterval(self._low(start), self._high(end))

    def _low(self, start: int) -> float:
        if start == 0:
            return -math.inf
        below, at = self.values[start - 1], self.values[start]
        middle = 0.5 * below + 0.5 * at
        return float(middle if below < middle <= at else at)  # no middle beside an infinity or within one rounding

    def _high(self, end: int) -> float:
        if end == len(self.values) - 1:
            return math.inf
        at, above = self.values[end], self.values[end + 1]
        middle = 0.5 * at + 0.5 * above
        return float(middle if at <= middle < above else at)


IntArray = NDArray[np.int64]

#: Stakes, as shares of all that may be lost on one label.
LABEL_STAKES = np.array([0.6, 0.95])
#: Shares of the level of one direction, which has half of the line's: orders of the outputs.
REPEATED, REPEATED_IN_COLUMN, RANGE_ENDS, DISTANCE = 0.6, 0.1, 0.2, 0.1
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
    method: ClassVar[str] = "black box, label-blind betting, all draws"

    def p_value(self, epsilon: float | None = None, more: float = 0.0) -> float:
        """Return the p-value of the claim, or of a weaker one along the same order."""
        epsilon = self.point.epsilon if epsilon is None else epsilon
        delta = min(self.point.delta(self.forward) + more, 1.0)
        log_p = log_evidence(self.labels, self.whole, epsilon, delta, self.n_labels)
        return math.exp(max(min(0.0, log_p - math.log(self.share)), -690.0))

    def seen(self) -> tuple[bool, str, Hits, float]:
        """Return direction and event, labels of P and of Q up to the most wealth, and what they make of delta."""
        end = len(self.labels) if self.whole else int(np.argmax(_wealth_along(self.labels, self.point.epsilon))) + 1
        p, n, m = int(self.labels[:end].sum()), self.n_own, self.n_labels - self.n_own
        q = end - p
        value = p / max(n, 1) - math.exp(min(self.point.epsilon, 700.0)) * q / max(m, 1)
        return self.forward, self.event, Hits(p, n, q, m), value

    def more_delta(self, level: float) -> float:
        """Return how much delta could be added to the claim and it would still be refuted at ``level``."""
        room = 1 - max(self.point.forward, self.point.backward)
        return _largest_refuted(lambda more: self.p_value(more=more) <= level, room)

    def more_epsilon(self, level: float) -> float:
        """Return how much epsilon could be added to the claim and it would still be refuted at ``level``."""
        return _largest_refuted(lambda more: self.p_value(self.point.epsilon + more) <= level, 60.0)


def log_evidence(labels: BoolArray, whole: bool, epsilon: float, delta: float, n: int) -> float:
    """Return the log p-value of a claim from one order of the labels of ``n`` coins.

    A draw is bad when it comes from P, which it does by a fair coin, and from the part of P that a claim of ``delta``
    leaves free: probability ``delta / 2`` at most, independently. Their number B has ``E[t^B] <= (1 + (t - 1) delta /
    2)^n``, and that is what the evidence is divided by.
    """
    chance, mean = float(special.expit(epsilon)), n * delta / 2
    if not whole:
        return n * math.log1p((1 / chance - 1) * delta / 2) - float(_wealth_along(labels, epsilon).max())
    if delta <= 0:
        return log_tail(int(labels.sum()), len(labels), chance, np.zeros(1))
    theta = max(1 / chance, min(1e3, 1 + DELTA_COST / mean))
    bad = np.arange(labels.sum() + 1.0)
    return n * math.log1p((theta - 1) * delta / 2) + log_tail(int(labels.sum()), len(labels), chance, bad, theta)


def log_tail(hits: int, n: int, chance: float, bad: FloatArray, theta: float = 1.0) -> float:
    """Return the largest log probability of ``hits`` less ``bad`` or more among ``n``, less ``bad`` times log theta."""
    tails = np.where(bad < hits, stats.binom.sf(hits - bad - 1, n, chance), 1.0)
    return float((np.log(np.maximum(tails, 1e-300)) - bad * math.log(theta)).max())


def _wealth_along(labels: BoolArray, epsilon: float) -> FloatArray:
    """Return the log wealth after each label, under a claim of (epsilon, 0)."""
    wins = np.cumsum(labels)
    losses = np.arange(1, len(labels) + 1) - wins
    win, loss = np.log1p(LABEL_STAKES * math.exp(-epsilon)), np.log1p(-LABEL_STAKES)
    logs = wins[:, None] * win + losses[:, None] * loss
    return np.asarray(special.logsumexp(logs, axis=1) - math.log(len(LABEL_STAKES)), dtype=np.float64)


def label_test(
    first: FloatArray, second: FloatArray, points: Sequence[Point], rng: np.random.Generator
) -> list[BlindTest]:
    """Return the best order against each claimed point, its share of the level included; empty where none is possible.

    ``first``, ``second``, (n, k) arrays: independent draws on both data sets. ``points``: fixed beforehand; each has an
    equal share. ``rng``: throws the coins that decide how many draws of each data set are read, and breaks ties.
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
    said = outputs[:, 0] if outputs.shape[1] == 1 else None
    name = "repeated value" if said is None else "the output itself"
    yield from _repeats(whole_cells(outputs)[0], name, said, REPEATED + alone, ties)
    for column, key in enumerate(value_cells(outputs[:, :k]) if k > 1 else []):
        name = f"the output itself, column {column + 1}"
        yield from _repeats(key, name, outputs[:, column], REPEATED_IN_COLUMN / k, ties)
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
            yield f"{end} end of the range{where}", RANGE_ENDS / (2 * k), False, places
    yield "far from the median", DISTANCE, False, _top(far.max(axis=1), ties)


def _repeats(keys: IntArray, name: str, said: FloatArray | None, share: float, ties: FloatArray) -> Orders:
    """Yield the outputs of each repeated value, at most ``LONGEST``, by ``ties``; shares fall as 1 / j^2.

    ``said``: the value of each output, for the words; None where it is of several columns.
    """
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    counts = np.diff(np.r_[starts, len(keys)])
    often = np.flatnonzero(counts >= LEAST_REPEATS)
    often = often[np.argsort(-counts[often], kind="stable")][:MOST_VALUES]
    for place, group in enumerate(often.tolist(), start=1):
        members = order[starts[group] : starts[group] + counts[group]]
        event = name if said is None else f"{name} equal to {said[members[0]]:.6g}"
        yield event, share * FIRST_VALUE / place**2, True, members[np.argsort(ties[members])][:LONGEST]


def _top(scores: FloatArray, ties: FloatArray) -> NDArray[np.intp]:
    """Return the places of the largest scores, largest first, ties in the order of ``ties``."""
    n = min(LONGEST, len(scores) // 2)
    places = np.flatnonzero(scores >= np.partition(scores, len(scores) - n)[len(scores) - n])
    return np.asarray(places[np.lexsort((ties[places], scores[places]))[::-1]][:n])

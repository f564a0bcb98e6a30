"""Bets on which data set a draw came from: sets of outputs fixed beforehand, and sets learned from the draws so far.

Before each draw a fair coin says which of two data sets it is made on; its label is the coin. Bets are placed on
labels, given outputs, so that each draw counts by itself and both directions of a claim are attacked at once. Why the
wealth is a supermartingale under the claim: ``docs/derivations/sparing.md``.

Beside sets, labels are bet on by learned odds: the surer a score is of a data set, the more is staked. One player puts
a share of the wealth on each bet, by what each has earned, and keeps some in hand.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from mechanisms.data.dataset import FloatArray

from ..black_box.black_box_bet import Counted, Pair, Point, ScoreInterval
from ..black_box.black_box_families import FAMILIES, column_score
from ..black_box.black_box_results import Hits
from ..black_box.black_box_scores import MAX_ADDITIVE, Score, fit_additive, fit_hinges, fit_quadratic

#: Stakes, as shares of the largest one allowed.
STAKES = np.array([0.25, 0.5, 0.75, 0.95])
#: Shares of the pooled pilot between which the upper and the lower end of a column begin; most columns that have ends.
END_LEVELS, MAX_COLUMNS = (0.5, 0.65, 0.8, 0.95), 12

IntArray = NDArray[np.int64]


class Scored:
    """Scores of draws of both data sets: each distinct output is scored once, in one call that is blind to labels.

    A sum of products may differ in its last bit with the number of rows and the place among them; equal outputs scored
    apart could so be told apart by their label.
    """

    def __init__(self, draws: Pair) -> None:
        rows = np.ascontiguousarray(np.concatenate(draws))
        whole = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1])))[:, 0]
        _, at, place = np.unique(whole, return_index=True, return_inverse=True)
        self._rows, self._place, self._n_first = rows[at], place, len(draws[0])

    def __call__(self, score: Score) -> Pair:
        """Return the scores of the draws of either data set, in their order."""
        scores = score(self._rows)[self._place] if len(self._rows) else np.empty(0)
        return scores[: self._n_first], scores[self._n_first :]


@dataclass(frozen=True)
class LabelSets:
    """Where a label is bet on: "first" where a score is in ``forward``, "second" where it is in ``backward``.

    Where it is in both nothing is bet, and the same where it is in neither.
    """

    score: Score
    forward: ScoreInterval | None
    backward: ScoreInterval | None

    @property
    def event(self) -> str:
        """The sets in words."""
        ways = (("first", self.forward), ("second", self.backward))
        return "; ".join(f"{name} data set: {self.score.name} {at}" for name, at in ways if at is not None)

    def right_and_wrong(self, scores: Pair) -> tuple[int, int]:
        """Return how many labels are told rightly and wrongly, given the scores of draws of both data sets."""
        one, two = (self._sides(of) for of in scores)
        return one[0] + two[1], one[1] + two[0]

    def better_way(self, scores: Pair, share: float, point: Point) -> LabelSets:
        """Return the sets with that way alone which won more on some draws, if it was ever right."""
        gain, loss = math.log1p(share * math.exp(-point.epsilon)), math.log1p(-share)

        def won(way: LabelSets) -> tuple[bool, float]:
            right, wrong = way.right_and_wrong(scores)
            return right > 0, right * gain + wrong * loss

        ways = replace(self, backward=None), replace(self, forward=None)
        return max((way for way in ways if way.forward is not None or way.backward is not None), key=won)

    def hits(self, scores: Pair) -> Hits:
        """Return how many draws of either data set lie where anything is bet."""
        (n, m), (p, q) = (len(of) for of in scores), (sum(self._sides(of)) for of in scores)
        return Hits(p, n, q, m)

    def _sides(self, scores: FloatArray) -> tuple[int, int]:
        """Return how many draws are taken for one of the first data set, and for one of the second."""
        none = np.zeros(len(scores), dtype=np.bool_)
        ahead = none if self.forward is None else self.forward.holds(scores)
        behind = none if self.backward is None else self.backward.holds(scores)
        return int((ahead & ~behind).sum()), int((behind & ~ahead).sum())


@dataclass(frozen=True)
class Bets:
    """Many bets side by side: which sets, which share of the largest stake, against which claimed point."""

    sets: tuple[LabelSets | None, ...]
    place: IntArray
    share: FloatArray
    point: IntArray

    @property
    def there(self) -> NDArray[np.bool_]:
        """Which bets there are sets for."""
        return np.array([self.sets[place] is not None for place in self.place], dtype=np.bool_)

    def named(self, bet: int, points: Sequence[Point]) -> tuple[LabelSets | None, Point]:
        """Return the sets of a bet, and the point that it is against."""
        return self.sets[self.place[bet]], points[self.point[bet]]

    def growth(self, draws: Pair, points: Sequence[Point]) -> FloatArray:
        """Return the log of the factor of each bet on some draws; 0 where there are no sets to bet on."""
        scores_of, scored = Scored(draws), dict[int, Pair]()
        told = np.full((len(self.sets), 2), math.nan)
        for place, sets in enumerate(self.sets):
            if sets is None:
                continue
            if id(sets.score) not in scored:
                scored[id(sets.score)] = scores_of(sets.score)
            told[place] = sets.right_and_wrong(scored[id(sets.score)])
        right, wrong = told[self.place].T
        gain, loss, price = self._logs(points)
        growth = right * gain + wrong * loss - (len(draws[0]) + len(draws[1])) * price
        return np.where(np.isnan(growth), 0.0, growth)

    def _logs(self, points: Sequence[Point]) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the log factor of a right and of a wrong label, and the log price of a claimed delta of each draw."""
        of_points = np.array([(point.epsilon, point.forward, point.backward) for point in points])
        epsilon, forward, backward = of_points[self.point].T
        of_sets = [
            (s is not None and s.forward is not None, s is not None and s.backward is not None) for s in self.sets
        ]
        ways = np.array(of_sets, dtype=np.float64).reshape(-1, 2)[self.place].T
        stake = self.share * np.exp(-epsilon)
        price = np.log1p(0.5 * stake * (ways[0] * forward + ways[1] * backward))
        return np.log1p(stake), np.log1p(-self.share), price


#: Which ways a bet goes: both, forward alone, backward alone.
WAYS = ((True, True), (True, False), (False, True))


def bets_on_ends(pilot: Pair, points: Sequence[Point]) -> Bets:
    """Return bets on the ends of each column, cut where the pooled pilot has a share of its values; blind to labels."""
    pooled = np.concatenate(pilot)
    width = pooled.shape[1]
    sets: list[LabelSets] = []
    for column in range(min(width, MAX_COLUMNS)):
        score = column_score(column, width)
        values = score(pooled)
        values = values[np.isfinite(values)]
        if len(values) < 2 or values.min() == values.max():
            continue
        for level in END_LEVELS:
            low, high = (float(np.quantile(values, share)) for share in (1 - level, level))
            ends = ScoreInterval(high, math.inf), ScoreInterval(-math.inf, low)
            for above, below in (ends, ends[::-1]):
                sets += [LabelSets(score, above if f else None, below if b else None) for f, b in WAYS]
    return _each_stake(sets, points)


def _each_stake(sets: Sequence[LabelSets], points: Sequence[Point]) -> Bets:
    place, stake, point = (
        part.ravel() for part in np.meshgrid(range(len(sets)), range(len(STAKES)), range(len(points)), indexing="ij")
    )
    return Bets(tuple(sets), place.astype(np.int64), STAKES[stake.astype(np.int64)], point.astype(np.int64))


def bets_on_learned(past: Pair, points: Sequence[Point]) -> Bets:
    """Return bets on the sets that would have grown most on past draws: of each family, point, stake, and way."""
    sets: list[LabelSets | None] = []
    share: list[float] = []
    place: list[int] = []
    enough, scores_of = min(len(past[0]), len(past[1])) > 1, Scored(past)
    for family in FAMILIES:
        score = family.fit(*past) if enough else None
        counted = None if score is None else Counted.of(*scores_of(score))
        for number, point in enumerate(points):
            for stake in STAKES.tolist():
                gain, loss = math.log1p(stake * math.exp(-point.epsilon)), math.log1p(-stake)
                if counted is None or score is None:
                    sets += [None] * len(WAYS)
                else:
                    forward, backward = counted.best(gain, loss), counted.best(loss, gain)
                    sets += [LabelSets(score, forward if f else None, backward if b else None) for f, b in WAYS]
                share += [stake] * len(WAYS)
                place += [number] * len(WAYS)
    return Bets(tuple(sets), np.arange(len(sets)), np.array(share), np.array(place, dtype=np.int64))


#: The learned log odds are believed to these shares.
BELIEVED = (0.5, 0.75, 1.0)
#: Most that is staked, as shares of the largest stake allowed.
MOST = (0.3, 0.6, 0.95)
#: Fits of log odds, each with the fewest and the most columns that it is for.
FITS: tuple[tuple[Callable[[FloatArray, FloatArray], Score], int, int], ...] = (
    (fit_hinges, 1, 1),
    (fit_quadratic, 2, 64),
    (fit_additive, 2, MAX_ADDITIVE),
)


@dataclass(frozen=True)
class OddsBets:
    """Bets by each score, believed to each share, with each largest stake, against each point: in this order."""

    scores: tuple[Score | None, ...]
    n_points: int

    @property
    def there(self) -> NDArray[np.bool_]:
        """Which bets there are scores for."""
        of_each = len(BELIEVED) * len(MOST) * self.n_points
        return np.repeat(np.array([score is not None for score in self.scores], dtype=np.bool_), of_each)

    def growth(self, draws: Pair, points: Sequence[Point]) -> FloatArray:
        """Return the log of the factor of each bet on some draws."""
        grown: list[float] = []
        scores_of = Scored(draws)
        for score in self.scores:
            if score is None:
                grown += [0.0] * (len(BELIEVED) * len(MOST) * self.n_points)
                continue
            first, second = scores_of(score)
            grown += [
                _odds_growth(believed * first, most, point, first=True)
                + _odds_growth(believed * second, most, point, first=False)
                for believed in BELIEVED
                for most in MOST
                for point in points
            ]
        return np.array(grown)


def _odds_growth(odds: FloatArray, most: float, point: Point, *, first: bool) -> float:
    """Return the growth of one bet on draws of one data set, whose log odds of the first data set are given."""
    chance, least = float(special.expit(point.epsilon)), math.exp(-point.epsilon)
    rises, falls = (np.clip(special.expit(side) / chance - 1, 0.0, most * least) for side in (odds, -odds))
    right, wrong = (rises, falls) if first else (falls, rises)
    price = math.log1p(0.5 * most * least * (point.forward + point.backward))
    return float((np.log1p(right) + np.log1p(-wrong / least)).sum() - len(odds) * price)


def bets_on_odds(past: Pair, points: Sequence[Point]) -> OddsBets:
    """Return the bets by scores that are fitted on past draws."""
    enough, width = min(len(past[0]), len(past[1])) > 1, past[0].shape[1]
    fits = [fit for fit, least, most in FITS if least <= width <= most]
    return OddsBets(tuple(fit(*past) if enough else None for fit in fits), len(points))


#: Prior weight of keeping the wealth in hand, of the bets on ends, of those on learned sets, and by learned odds.
PRIOR = (0.1, 0.35, 0.25, 0.3)
#: Share of the wealth that is spread by the prior weights again before each block.
FLOOR = 0.01
#: Parts of the pilot that take turns in telling what is earned by bets learned from the other parts.
FOLDS = 3

Learned = tuple[Bets, OddsBets]


class Player:
    """Bets against some claimed points on draws of one pair; what it stakes is decided before each block.

    ``pilot``, (array, array): draws of both data sets, shapes ``(n, k)`` and ``(m, k)``, n and m at least 3: learned
    from and never bet on. ``points``: fixed beforehand.
    """

    def __init__(self, pilot: Pair, points: Sequence[Point]) -> None:
        self._points, self._past, self._n_pilot = tuple(points), pilot, (len(pilot[0]), len(pilot[1]))
        self._ends = bets_on_ends(pilot, self._points)
        parts = (np.zeros(1), self._ends.growth(pilot, self._points), *_folded(pilot, self._points))
        self._earned = np.concatenate(parts)
        shares = [np.full(len(part), share / max(len(part), 1)) for part, share in zip(parts, PRIOR, strict=True)]
        self._prior = np.concatenate(shares)

    @property
    def promise(self) -> float:
        """The log of what the same bets would have made of the pilot; it ranks pairs and refutes nothing."""
        return float(special.logsumexp(self._earned, b=self._prior / self._prior.sum()))

    def bet(self, draws: Pair) -> float:
        """Return the growth of the log wealth on these draws, by bets placed before them, and learn from the draws."""
        learned = self._learned()
        weights = self._weights(learned)
        growth = np.concatenate([[0.0], *(bets.growth(draws, self._points) for bets in (self._ends, *learned))])
        self._earned = self._earned + growth
        self._past = (np.concatenate([self._past[0], draws[0]]), np.concatenate([self._past[1], draws[1]]))
        return float(special.logsumexp(growth, b=weights))

    def best(self) -> tuple[LabelSets | None, Point, Hits]:
        """Return what the best bet on sets so far is on now, against which point, and how often that happened.

        Of a bet both ways, the way that won more. The counts are of all draws that were bet on; they describe, and the
        wealth refutes.
        """
        learned = self._learned()
        n_ends, n_sets = len(self._ends.place), len(learned[0].place)
        best = int(np.argmax(self._weights(learned)[1 : 1 + n_ends + n_sets]))
        bets, place = (self._ends, best) if best < n_ends else (learned[0], best - n_ends)
        sets, point = bets.named(place, self._points)
        first, second = (part[n:] for part, n in zip(self._past, self._n_pilot, strict=True))
        if sets is None:
            return None, point, Hits(0, len(first), 0, len(second))
        scores = Scored((first, second))(sets.score)
        way = sets.better_way(scores, float(bets.share[place]), point)
        return way, point, way.hits(scores)

    def _learned(self) -> Learned:
        return bets_on_learned(self._past, self._points), bets_on_odds(self._past, self._points)

    def _weights(self, learned: Learned) -> FloatArray:
        """Return the share of the wealth on each bet: a little by the prior, the rest also by what each has earned."""
        prior = self._prior * np.concatenate([[True], *(bets.there for bets in (self._ends, *learned))])
        earned = prior * np.exp(np.minimum(self._earned - self._earned[prior > 0].max(), 0.0))
        return np.asarray(FLOOR * prior / prior.sum() + (1 - FLOOR) * earned / earned.sum())


def _folded(pilot: Pair, points: Sequence[Point]) -> tuple[FloatArray, FloatArray]:
    """Return what learned bets would have earned on the pilot, each part of it by bets learned from the others."""
    sets: list[FloatArray] = []
    odds: list[FloatArray] = []
    for fold in range(FOLDS):
        held = [np.arange(len(part)) % FOLDS == fold for part in pilot]
        rest = pilot[0][~held[0]], pilot[1][~held[1]]
        told = pilot[0][held[0]], pilot[1][held[1]]
        sets.append(bets_on_learned(rest, points).growth(told, points))
        odds.append(bets_on_odds(rest, points).growth(told, points))
    return np.sum(sets, axis=0), np.sum(odds, axis=0)

"""Bets against a stated ratio of two laws, for ``audits.density_tests.stated_law``.

Let ``o ~ p`` and ``z ~ q`` and let ``s = p/(p + q)`` be stated. Then for every bounded ``g``

    x = g(o) (1 - s(o)) - g(z) s(z)     has mean     integral of g p q/(p + q) - integral of g q p/(p + q) = 0,

so that a gambler who multiplies a capital of 1 by ``1 + stake x`` at every draw has a non-negative martingale if the
statement is true, and is rich by chance with small probability (Ville). What he bets on, and how much, is learned
on other draws: where, among the points, there are more ``o`` or fewer than the stated ratio says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mechanisms.data.dataset import FloatArray

#: Below (or, mirrored, above) these stated probabilities lie the sets that are always tried; odd, to avoid ties.
RARE = (0.3017, 0.1009, 0.0307, 0.0031, 1.03e-5, 1.1e-8)

#: Bins of one score, and scores beside those of the columns.
BINS = 48
#: Bets kept for one comparison of laws, and of all.
KEPT_EACH, KEPT = 3, 10
#: Columns that are many.
MANY = 16
#: Multiples of the learned stake that are played at once, and their weights.
STAKES, STAKE_WEIGHTS = (0.25, 0.5, 1.0, 2.0), (0.15, 0.3, 0.4, 0.15)


@dataclass(frozen=True)
class Frame:
    """Where the outputs lie: medians and spreads of the columns on training draws, and columns that are scores."""

    centre: FloatArray
    spread: FloatArray
    scored: tuple[int, ...]

    @classmethod
    def of(cls, training: FloatArray, scored: Sequence[int]) -> Frame:
        """Return the frame of training draws, shape ``(n, k)``."""
        with np.errstate(all="ignore"):
            finite = np.where(np.isfinite(training), training, 0.0)
            low, centre, high = np.quantile(finite, (0.25, 0.5, 0.75), axis=0)
            spread = np.where(high > low, (high - low) / 1.349, np.ptp(finite, axis=0))
        return cls(centre, np.where((spread > 0) & np.isfinite(spread), spread, 1.0), tuple(scored))


@dataclass(frozen=True)
class PointsView:
    """Points, and the stated probability that each comes from the first law; computes scores when they are asked."""

    points: FloatArray
    share: FloatArray
    frame: Frame

    @cached_property
    def places(self) -> FloatArray:
        """The points in spreads from the medians, 0 where they are not finite; same shape."""
        with np.errstate(all="ignore"):
            places = (self.points - self.frame.centre) / self.frame.spread
        return np.asarray(np.clip(np.where(np.isfinite(places), places, 0.0), -1e6, 1e6))

    def score(self, index: int) -> FloatArray:
        """Return one of the scores that intervals are taken of, shape ``(n,)``: see ``score_names``."""
        # rounded: equal shares must not be told apart by the last bits, which know how a point was reached
        if index == 0:
            return np.round(self.share, 9)
        if index == 1:
            return np.asarray(
                np.round(np.sqrt(np.einsum("ij,ij->i", self.places, self.places) / len(self.places.T)), 9)
            )
        scored = self.frame.scored
        column = self.places[:, scored[(index - 2) % len(scored)]]
        return np.asarray(column if index < 2 + len(scored) else np.abs(column))

    @property
    def score_names(self) -> list[str]:
        """What the scores are: the share, the radius, columns and their distances."""
        columns = self.frame.scored
        return ["share", "radius", *(f"column {j}" for j in columns), *(f"distance of column {j}" for j in columns)]

    @property
    def features(self) -> FloatArray:
        """What is combined linearly, shape ``(n, m)``, each within [-1, 1]."""
        clipped, share = self._clipped, 2.0 * self.share[:, None] - 1.0
        return np.concatenate([np.ones_like(share), share, clipped, np.abs(clipped), share * clipped], axis=1)

    def combined(self, weights: FloatArray) -> FloatArray:
        """Return ``features @ weights``, shape ``(n,)``, without the features being written out."""
        clipped, share = self._clipped, 2.0 * self.share - 1.0
        own, distance, joint = np.split(weights[2:], 3)
        sums = clipped @ own + np.abs(clipped) @ distance + share * (clipped @ joint)
        return np.asarray(weights[0] + weights[1] * share + sums)

    @cached_property
    def _clipped(self) -> FloatArray:
        return np.asarray(np.clip(self.places[:, :32] / 3.0, -1.0, 1.0))


@dataclass(frozen=True)
class Sides:
    """Draws (or their images) of both laws, row by row."""

    first: PointsView
    second: PointsView

    def part(self, rows: slice) -> Sides:
        """Return some of the rows."""
        parts = (PointsView(view.points[rows], view.share[rows], view.frame) for view in (self.first, self.second))
        return Sides(*parts)


@dataclass(frozen=True)
class Everywhere:
    """``g = sign``: the two laws have too little, or too much, in common."""

    sign: float
    bound: float = 1.0

    @property
    def words(self) -> str:
        """What is bet on."""
        return "the overlap"

    def __call__(self, view: PointsView) -> FloatArray:
        """Return ``g`` at the points."""
        return np.full(len(view.points), self.sign)


@dataclass(frozen=True)
class Rare:
    """``g = 1`` where the stated share of the first law is below ``bound``, or ``-1`` where that of the second is."""

    bound: float
    first: bool

    @property
    def words(self) -> str:
        """What is bet on."""
        side = "draws" if self.first else "images"
        return f"points of which at most {self.bound:.2g} should be {side}"

    def __call__(self, view: PointsView) -> FloatArray:
        """Return ``g`` at the points."""
        if self.first:
            return np.asarray(np.where(view.share < self.bound, 1.0, 0.0))
        return np.asarray(np.where(1.0 - view.share < self.bound, -1.0, 0.0))


@dataclass(frozen=True)
class Within:
    """``g = sign`` where one score lies between two numbers."""

    score: int
    name: str
    low: float
    high: float
    sign: float
    bound: float = 1.0

    @property
    def words(self) -> str:
        """What is bet on."""
        return f"{self.name} in [{self.low:.3g}, {self.high:.3g}]"

    def __call__(self, view: PointsView) -> FloatArray:
        """Return ``g`` at the points."""
        score = view.score(self.score)
        return np.asarray(np.where((score > self.low) & (score <= self.high), self.sign, 0.0))


@dataclass(frozen=True)
class Linear:
    """``g`` is a combination of the features, cut at -1 and 1."""

    weights: tuple[float, ...]
    bound: float = 2.0

    @property
    def words(self) -> str:
        """What is bet on."""
        return "a combination of the columns"

    def __call__(self, view: PointsView) -> FloatArray:
        """Return ``g`` at the points."""
        return np.asarray(np.clip(view.combined(np.asarray(self.weights)), -1.0, 1.0))


Bet = Everywhere | Rare | Within | Linear


def payoffs(bet: Bet, sides: Sides) -> FloatArray:
    """Return ``x``, at least ``-bet.bound`` whatever the law is; shape ``(n,)``."""
    first, second = sides.first, sides.second
    return np.asarray(bet(first) * (1.0 - first.share) - bet(second) * second.share)


def stake_of(x: FloatArray, bound: float) -> tuple[float, float]:
    """Return a stake for payoffs like these, and the log of what it would have won on them."""
    mean = float(x.mean())
    if not mean > 0:
        return 0.0, 0.0
    # one imaginary loss of the whole bound: a bet that has never lost is not sure to win
    square = float(np.square(x).sum()) + bound**2
    stake = min(0.9 * float(x.sum()) / square, 0.9 / bound)
    return stake, float(np.log1p(stake * x).sum())


@dataclass(frozen=True)
class Chosen:
    """A bet, the comparison that it is about, its stake, and what it won in training (natural log)."""

    comparison: int
    bet: Bet
    stake: float
    won: float


def choose(comparison: int, sides: Sides, *, always: bool = False) -> list[Chosen]:
    """Return the best bets on one comparison by training draws; with ``always`` also some that had nothing to see."""
    kept = []
    for bet in candidates(sides):
        stake, won = stake_of(payoffs(bet, sides), bet.bound)
        if won > 0.5:
            kept.append(Chosen(comparison, bet, stake, won))
    kept = sorted(kept, key=lambda bet_kept: -bet_kept.won)[:KEPT_EACH]
    if always:
        kept += [Chosen(comparison, Rare(bound, True), 0.3 / bound, 0.0) for bound in RARE[2:5:2]]
    return kept


def candidates(sides: Sides) -> Iterator[Bet]:
    """Yield bets: everywhere, on rare points, on the best interval of every score, on a combination of features."""
    yield from (Everywhere(1.0), Everywhere(-1.0))
    for bound in RARE:
        yield from (Rare(bound, True), Rare(bound, False))
    yield from _intervals_of(sides)
    yield from _linear_of(sides)


def _intervals_of(sides: Sides) -> Iterator[Within]:
    """Yield, for each score, the interval in which the stated share is most clearly wrong."""
    first, second = sides.first, sides.second
    weights = np.concatenate([1.0 - first.share, -second.share])
    for index, name in enumerate(first.score_names):
        interval = best_interval(np.concatenate([first.score(index), second.score(index)]), weights)
        if interval is not None:
            low, high, sign = interval
            yield Within(index, name, low, high, sign)


def best_interval(score: FloatArray, weights: FloatArray) -> tuple[float, float, float] | None:
    """Return the interval of a score whose sum of weights is farthest from 0 in standard deviations, and its sign."""
    order = np.argsort(score)
    ranked, weights = score[order], weights[order]
    last = np.flatnonzero(np.append(np.diff(ranked) > 0, True))  # the last place of every value
    if last.size < 2:
        return None
    if last.size > BINS:
        quantiles = np.ceil(np.linspace(0.0, 1.0, BINS + 1)[1:] * (len(ranked) - 1)).astype(np.intp)
        last = np.unique(last[np.searchsorted(last, quantiles)])
    distinct, ends = ranked[last], np.append(0, last + 1)  # cell i: (distinct[i - 1], distinct[i]]
    total = np.append(0.0, np.cumsum(weights))[ends]
    square = np.append(0.0, np.cumsum(np.square(weights)))[ends]
    sums, squares = total[None, :] - total[:, None], square[None, :] - square[:, None]
    upper = np.triu(np.ones_like(sums, dtype=np.bool_), 1)
    z = np.where(upper, sums / np.sqrt(np.where(upper, squares, 0.0) + 1.0), 0.0)
    start, end = np.unravel_index(int(np.abs(z).argmax()), z.shape)
    if z[start, end] == 0:
        return None
    low = -np.inf if start == 0 else float(distinct[start - 1])
    high = np.inf if end == len(distinct) else float(distinct[end - 1])
    return low, high, float(np.sign(z[start, end]))


def _linear_of(sides: Sides) -> Iterator[Linear]:
    """Yield the combination of features with the largest mean for its square, by training draws."""
    if len(sides.first.frame.centre) > MANY:  # as many features as that are learned on half of the draws
        sides = sides.part(slice(None, None, 2))
    first, second = sides.first, sides.second
    features = first.features
    rows = features * (1.0 - first.share)[:, None] - second.features * second.share[:, None]
    gram = rows.T @ rows + 5.0 * np.eye(rows.shape[1])
    weights = np.linalg.solve(gram, rows.sum(axis=0))
    size = np.quantile(np.abs(features @ weights), 0.95)
    if size > 0:
        yield Linear(tuple((weights / size).tolist()))


def wealth(chosen: Sequence[Chosen], comparisons: Mapping[int, Sides | None]) -> tuple[float, int]:
    """Return the log of the largest capital that all the bets together ever had, and which bet won most."""
    paths: list[FloatArray] = []
    for kept, share in zip(chosen, shares_of(len(chosen)), strict=True):
        sides = comparisons[kept.comparison]
        if sides is not None:  # otherwise the density refuses these moves: the capital put on them is lost
            paths.append(share + grown(payoffs(kept.bet, sides), kept.stake, kept.bet.bound))
    return together(paths)


def together(paths: Sequence[FloatArray]) -> tuple[float, int]:
    """Return the log of the most capital of all, whose logs after each draw are given, and the place of the richest."""
    if not paths:
        return 0.0, 0
    all_of = np.logaddexp.reduce(paths, axis=0)
    return max(0.0, float(all_of.max())), int(np.argmax([path.max() for path in paths]))


def shares_of(n_bets: int) -> list[float]:
    """Return the natural logs of the shares of the capital that bets get by their rank in training."""
    shares = np.array([1.0 / (1.0 + rank) ** 1.5 for rank in range(n_bets)])
    return [float(log_share) for log_share in np.log(shares / shares.sum())]


def grown(x: FloatArray, stake: float, bound: float) -> FloatArray:
    """Return the natural log of a capital of 1 after each draw, put on payoffs ``x >= -bound`` at several stakes."""
    paths = [
        np.log(weight) + np.cumsum(np.log1p(min(stake * factor, 0.97 / bound) * x))
        for factor, weight in zip(STAKES, STAKE_WEIGHTS, strict=True)
    ]
    return np.asarray(np.logaddexp.reduce(paths, axis=0))

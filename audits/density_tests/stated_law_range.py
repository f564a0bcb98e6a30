"""Do the draws reach as far as the stated density does?

The moves of ``stated_law`` stay inside the range of the draws, so that a law which is cut off there follows
its density as far as they see. Here draws are pushed outwards, beyond all draws seen before, and into the widest
gaps between them: the stated density says how often a draw should lie there. The derivation is in
``docs/derivations/stated_law.md``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from mechanisms.data.dataset import FloatArray

from ..estimate import Budget
from .stated_law import LawAudit, LawTest, drawn_outputs, n_learning, stated, wherever_stated
from .stated_law_bets import grown, shares_of, stake_of, together
from .stated_law_columns import BoolArray, Column, RefusedError, atoms_of, columns_of, difference

IntArray = NDArray[np.intp]
LogDensity = Callable[[FloatArray], FloatArray]

#: Factors of a column's distance from its median; beyond ``MANY`` columns, the middle one only.
FACTORS, MANY = (1.15, 1.5, 2.0), 8
#: Factors for the farthest of many columns, and growths of all columns together in units of 1/sqrt(columns).
FARTHEST, TOGETHER = (1.15, 1.4), (0.5, 1.2)
#: Columns that are pushed one by one.
MOST = 32
#: Factor by which a column is drawn in towards a gap; gaps of one of few columns and of one of many; how many others
#: tell how wide a gap should be.
DRAWN_IN, GAPS, GAPS_OF_MANY, AROUND = 0.03, 8, 3, 40
#: On a grid nothing lies between neighbours: a gap is at least so many times as wide as this quantile of all gaps.
STEPS, NARROW = 20, 0.1
#: Thresholds lie as far beyond the largest learning score as it lies beyond these ranks.
RANKS = (1, 3)
#: How far out, for the reach of the learning draws, a flat density still is; halvings that find where it begins.
FAR, HALVINGS = (64.0, 1024.0, 16384.0), 80
#: Bets kept, and what they must have won in training.
KEPT, WORTH = 9, 1.0


@dataclass(frozen=True)
class Reach:
    """A column but for its atoms: its median, how far the learning draws go, and where the density ends being one."""

    index: int
    centre: float
    low: float
    high: float
    start: float
    end: float
    atoms: tuple[float, ...] = ()

    @classmethod
    def of(cls, column: Column, density: LogDensity, training: FloatArray) -> Reach:
        """Return the reach of a continuous column: to where the density is flat."""
        low, high = column.chart.low, column.chart.high
        centre = float(column.chart.back(np.array([column.centre]))[0])
        start, end = (_flat_from(density, training, column.index, edge, edge - centre) for edge in (low, high))
        return cls(column.index, centre, low, high, start, end, column.values)

    def holds(self, values: FloatArray) -> BoolArray:
        """Return which values lie in the piece."""
        inside = np.isfinite(values) & (values > self.start) & (values < self.end)
        return np.asarray(inside & ~np.isin(values, self.atoms))

    def place(self, values: FloatArray, side: int) -> FloatArray:
        """Return distances from the median, 1 at the last learning draw of that side; 0 on a side not asked about."""
        with np.errstate(all="ignore"):
            above, below = (
                (values - self.centre) / (self.high - self.centre),
                (values - self.centre) / (self.low - self.centre),
            )
        place = np.where(values > self.centre, above if side >= 0 else 0.0, below if side <= 0 else 0.0)
        return np.asarray(np.where(np.isfinite(place), place, 0.0))


@dataclass(frozen=True)
class Outward(ABC):
    """Moves columns away from their centres, or towards them, by ``factor``."""

    words: str
    reaches: tuple[Reach, ...]
    factor: float

    @property
    def log_jacobian(self) -> float:
        """Natural log of the factor by which volumes grow."""
        return math.log(self.factor)

    def movable(self, points: FloatArray) -> BoolArray:
        """Return which points lie between the atoms."""
        return np.asarray(np.all([reach.holds(points[:, reach.index]) for reach in self.reaches], axis=0))

    @abstractmethod
    def score(self, points: FloatArray, log_density: FloatArray) -> FloatArray:
        """Return how far out (or in) points are, shape ``(n,)``; minus infinity where they cannot be moved."""

    def images(self, points: FloatArray) -> FloatArray:
        """Return the points moved."""
        return self._moved(points, self.factor)

    def origins(self, points: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Return the points moved back, and which points are images at all."""
        back = self._moved(points, 1.0 / self.factor)
        return back, self.movable(back)

    @abstractmethod
    def _moved(self, points: FloatArray, factor: float) -> FloatArray: ...


@dataclass(frozen=True)
class Push(Outward):
    """Moves the column that is farthest out (of one or many) to ``factor`` times its distance from the median.

    Injective, since the farthest column stays the farthest. The score is that column's distance.
    """

    side: int = 0

    def score(self, points: FloatArray, log_density: FloatArray) -> FloatArray:
        """Return how far out the farthest column is."""
        return np.asarray(np.where(self.movable(points), self._places(points).max(axis=1), -np.inf))

    def origins(self, points: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Return the points moved back, and which points are images at all."""
        back, held = super().origins(points)
        same = self._places(back).argmax(axis=1) == self._places(points).argmax(axis=1)
        return back, np.asarray(same & held)

    def _places(self, points: FloatArray) -> FloatArray:
        return np.column_stack([reach.place(points[:, reach.index], self.side) for reach in self.reaches])

    def _moved(self, points: FloatArray, factor: float) -> FloatArray:
        farthest, result = self._places(points).argmax(axis=1), points.copy()
        for i, reach in enumerate(self.reaches):
            rows = farthest == i
            result[rows, reach.index] = reach.centre + factor * (points[rows, reach.index] - reach.centre)
        return result


@dataclass(frozen=True)
class Swell(Outward):
    """Moves all columns to ``factor`` times their distance from the medians. The score is minus the log density."""

    @property
    def log_jacobian(self) -> float:
        """Natural log of the factor by which volumes grow."""
        return len(self.reaches) * math.log(self.factor)

    def score(self, points: FloatArray, log_density: FloatArray) -> FloatArray:
        """Return minus the log density; minus infinity too where points never occur."""
        able = self.movable(points) & np.isfinite(log_density)
        return np.asarray(np.where(able, -log_density, -np.inf))

    def _moved(self, points: FloatArray, factor: float) -> FloatArray:
        result = points.copy()
        for reach in self.reaches:
            result[:, reach.index] = reach.centre + factor * (points[:, reach.index] - reach.centre)
        return result


@dataclass(frozen=True)
class Fill(Outward):
    """Draws a column in towards the middle of a gap between draws. The score is minus the distance from the middle."""

    centre: float = 0.0

    def score(self, points: FloatArray, log_density: FloatArray) -> FloatArray:
        """Return how near the middle points are."""
        values = points[:, self.reaches[0].index]
        return np.asarray(np.where(self.movable(points), -np.abs(values - self.centre), -np.inf))

    def _moved(self, points: FloatArray, factor: float) -> FloatArray:
        result, column = points.copy(), self.reaches[0].index
        result[:, column] = self.centre + factor * (points[:, column] - self.centre)
        return result


@dataclass(frozen=True)
class RangeBet:
    """A bet that fewer draws lie beyond a threshold than the stated density says, and what it won in training."""

    move: Outward
    threshold: float
    stake: float
    won: float


def audit_range(mechanism: Any, dataset: Any, budget: Budget, *, outputs: FloatArray | None = None) -> LawAudit:
    """Return whether draws lie beyond those seen before, and between them, as often as the stated density says.

    A refutation says that the draws stop where the stated density goes on: they do not follow it, and yet may be as
    private as it says, when they stop at public bounds.

    ``mechanism``: only ``draw``, ``log_density`` and ``name`` are used. ``budget``: ``n_draws`` from this data set.
    ``outputs``, (n, k) array: independent draws made before, instead of new ones.
    """
    drawn = drawn_outputs(mechanism, dataset, budget, "range") if outputs is None else outputs
    density = stated(mechanism.log_density, mechanism.name, dataset)
    log_drawn = density(drawn)
    n, level = n_learning(*drawn.shape), budget.spend("range")
    if n < 20 or not np.isfinite(log_drawn).all():  # what cannot be drawn is refuted by ``audit_law``
        return _nothing("too few draws, or draws of density 0", budget, len(drawn))
    density = wherever_stated(density)
    reaches = reaches_of(density, drawn, n)
    if not reaches:
        return _nothing("no column is continuous", budget, len(drawn))
    rng = budget.key.child("range", "columns").rng()
    moves = (*_pushes_of(reaches, rng), *_fills_of(reaches, drawn[:n]))
    bets = [cut for move in moves for cut in _cuts_of(density, move, drawn[:n], log_drawn[:n])]
    bets = sorted(bets, key=lambda bet: -bet.won)[:KEPT]
    log_wealth, best = _wealth(density, bets, drawn[n:], log_drawn[n:])
    p_value = math.exp(-log_wealth)
    words = "the draws reach as far as the stated density"
    if p_value <= level:
        words = "the draws stop where the stated density goes on"
    event = bets[best].move.words if bets else ""
    return LawAudit((LawTest("range", words, p_value, level, event, len(drawn) - n),), level, len(drawn))


def _flat_from(density: LogDensity, training: FloatArray, index: int, edge: float, outwards: float) -> float:
    """Return where the stated density becomes one number that it keeps however far out; infinity if it does not.

    No density is flat on a half-line. The number is the mass of an atom at its end, whether or not it was ever drawn.
    """
    point = training[np.isfinite(training[:, index])][:1].copy()

    def at(value: float) -> float:
        point[0, index] = value
        return float(density(point)[0])

    with np.errstate(all="ignore"):
        near, far = edge, edge + FAR[0] * outwards
        flat = at(far)
        if not math.isfinite(flat) or any(at(edge + factor * outwards) != flat for factor in FAR[1:]):
            return math.copysign(math.inf, outwards)
        for _ in range(HALVINGS):
            middle = near + (far - near) / 2
            near, far = (near, middle) if at(middle) == flat else (middle, far)
    return far


def _nothing(why: str, budget: Budget, n_draws: int) -> LawAudit:
    test = LawTest("range", f"the range of the draws was not tested: {why}", 1.0, budget.failure_prob, "", 0)
    return LawAudit((test,), budget.failure_prob, n_draws, 0.0)


def reaches_of(density: LogDensity, drawn: FloatArray, n: int) -> list[Reach]:
    """Return the reach of each continuous column, by the first ``n`` draws (atoms: by all of them)."""
    columns = columns_of(drawn, atoms_of(density, drawn, n), n)
    moving = (column for column in columns if column.kind == "continuous" and column.spread > 0)
    reaches = (Reach.of(column, density, drawn[:n]) for column in moving)
    return [reach for reach in reaches if reach.low < reach.centre < reach.high]


def _pushes_of(reaches: Sequence[Reach], rng: np.random.Generator) -> Iterator[Outward]:
    """Yield the moves: each column (or some by chance), the farthest of all, all together."""
    alone = [reaches[int(i)] for i in np.sort(rng.permutation(len(reaches))[:MOST])]
    for reach in alone:
        for factor in FACTORS if len(alone) <= MANY else FACTORS[1:2]:
            for side, words in ((0, "outside"), (1, "above"), (-1, "below")):
                yield Push(f"column {reach.index} {words} the draws seen before", (reach,), factor, side)
    if len(reaches) > 1:
        every = tuple(reaches)
        for factor in FARTHEST:
            yield Push("some column outside the draws seen before", every, factor)
        for growth in TOGETHER:
            words = "log density below that of all draws seen before"
            yield Swell(words, every, 1.0 + growth / math.sqrt(len(every)))


def _fills_of(reaches: Sequence[Reach], training: FloatArray) -> Iterator[Fill]:
    """Yield the moves into the gaps that are widest for the gaps around them, in each column."""
    most = GAPS if len(reaches) <= MANY else GAPS_OF_MANY
    for reach in reaches[:MOST]:
        values = training[:, reach.index]
        values = np.unique(values[reach.holds(values)])
        if len(values) < 2 * AROUND:
            continue
        gaps = np.diff(values)
        sums = np.concatenate([[0.0], np.cumsum(gaps)])
        first = np.clip(np.arange(len(gaps)) - AROUND // 2, 0, len(gaps) - AROUND)
        wide = gaps / np.maximum(sums[first + AROUND] - sums[first] - gaps, np.finfo(float).tiny)
        wide = np.where(gaps >= STEPS * np.quantile(gaps, NARROW), wide, 0.0)
        for i in np.argsort(wide)[::-1][:most]:
            if wide[i] == 0:
                break
            low, high = float(values[i]), float(values[i + 1])
            words = f"column {reach.index} between {low:.4g} and {high:.4g}"
            yield Fill(words, (reach,), DRAWN_IN, low + (high - low) / 2)


def _cuts_of(density: LogDensity, move: Outward, drawn: FloatArray, log_drawn: FloatArray) -> Iterator[RangeBet]:
    """Yield the bets of one move that are worth while by training draws."""
    scores = move.score(drawn, log_drawn)
    ranked = np.sort(scores[np.isfinite(scores)])[::-1]
    if len(ranked) <= max(RANKS):
        return
    thresholds = [float(2 * ranked[0] - ranked[rank]) for rank in RANKS]
    try:
        x = payoffs(density, move, drawn, log_drawn, thresholds)
    except RefusedError:
        return
    for threshold, payoff in zip(thresholds, x, strict=True):
        stake, won = stake_of(payoff, 1.0)
        if won > WORTH:
            yield RangeBet(move, threshold, stake, won)


def payoffs(
    density: LogDensity, move: Outward, drawn: FloatArray, log_drawn: FloatArray, thresholds: Sequence[float]
) -> list[FloatArray]:
    """Return ``s(z)`` for an image beyond a threshold less ``1 - s(o)`` for a draw beyond it; for each, shape ``(n,)``.

    A threshold rises to the largest score of the draws before.
    """
    least = min(thresholds)
    scores = move.score(drawn, log_drawn)
    image_scores, image_shares = _image_shares(density, move, drawn, log_drawn, scores, least)
    draw_shares = np.ones(len(drawn))
    beyond = np.flatnonzero(scores > least)
    if beyond.size:
        back, images = move.origins(drawn[beyond])
        own = expit(difference(log_drawn[beyond], density(back) - move.log_jacobian))
        draw_shares[beyond] = np.where(images, own, 1.0)
    before = np.concatenate([[-np.inf], np.maximum.accumulate(scores)[:-1]])
    of_thresholds = []
    for threshold in thresholds:
        level = np.maximum(threshold, before)
        of_thresholds.append(
            np.where(image_scores > level, image_shares, 0.0) - np.where(scores > level, 1 - draw_shares, 0.0)
        )
    return of_thresholds


def _image_shares(
    density: LogDensity, move: Outward, drawn: FloatArray, log_drawn: FloatArray, scores: FloatArray, least: float
) -> tuple[FloatArray, FloatArray]:
    """Return scores of the images, and the stated probability that a point there is a draw, where it is asked for."""
    image_scores, shares = np.full(len(drawn), -np.inf), np.zeros(len(drawn))
    rows = np.flatnonzero(np.isfinite(scores))
    if not isinstance(move, Swell):  # the score is that of the draw times the factor: few images lie beyond
        rows = rows[scores[rows] * move.factor > least - 1e-9 * abs(least)]
    if rows.size:
        with np.errstate(all="ignore"):
            images = move.images(drawn[rows])
        log_there = density(images)
        image_scores[rows] = move.score(images, log_there)
        shares[rows] = expit(difference(log_there, log_drawn[rows] - move.log_jacobian))
    return image_scores, shares


def _wealth(
    density: LogDensity, bets: Sequence[RangeBet], drawn: FloatArray, log_drawn: FloatArray
) -> tuple[float, int]:
    paths: list[FloatArray] = []
    for cut, share in zip(bets, shares_of(len(bets)), strict=True):
        try:
            (x,) = payoffs(density, cut.move, drawn, log_drawn, [cut.threshold])
        except RefusedError:  # what was put on it is lost
            x = np.full(len(drawn), -1.0)
        paths.append(share + grown(x, cut.stake, 1.0))
    return together(paths)

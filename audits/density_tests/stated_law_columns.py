"""Kinds of output columns, their atoms, and the pieces between these.

A column is one of three kinds, told on the training draws: *discrete* (nearly every value repeats), *whole* (whole
numbers, or decimals between which the density says that nothing lies) or *continuous*; a column of symbols holds the
*forms* of outputs. A number that an output does not have is infinite. An atom is a value that the draws repeat more
often than the steps of a grid would, or one at which the stated density jumps, so that it says itself that it counts
there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import poisson

from mechanisms.data.dataset import FloatArray

from ..harness.output_leaves import SYMBOLS

BoolArray = NDArray[np.bool_]
LogDensity = Callable[[FloatArray], FloatArray]

#: Share of values that repeat in a discrete column; with fewer than ``RARELY`` of them the others are no grid.
REPEATED, RARELY = 0.9, 0.1
#: Fewest other draws that show what lies between atoms, also as a share of the training draws.
FEWEST, FEWEST_SHARE = 20, 0.02
#: A value stands out if a grid on which some value is drawn ``PEAK`` times as often as is usual there would show such a
#: one with this probability. No level hangs on it.
PEAK, CHANCE = 4.0, 1e-3
#: How far from a draw, in spreads, a law on a grid says that nothing lies on either side; no multiple of a grid's step.
HOLE = 1e-4 / np.sqrt(2.0)
#: Most decimals of numbers that are whole in units of the last one, and fewest such numbers.
DECIMALS, FEWEST_DECIMALS = 9, 100
#: Different values of a continuous column that repeat and should not, beyond which its noise has few states.
TIES = 10
#: Most columns that are moved; the others of a wider output stay as they are drawn.
MOST_READ = 256


class RefusedError(Exception):
    """A density refuses too many of the outputs that were moved."""


def difference(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the difference of two log densities, nan (nothing stated) counting as a density of 0."""
    first, second = (np.where(np.isnan(logs), -np.inf, logs) for logs in (first, second))
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(first == second, 0.0, first - second))


@dataclass(frozen=True)
class Chart:
    """A piece ``(low, high)`` of a column, mapped onto the whole line."""

    low: float = -np.inf
    high: float = np.inf

    def holds(self, values: FloatArray) -> BoolArray:
        """Return which values lie in the piece."""
        return np.asarray(np.isfinite(values) & (values > self.low) & (values < self.high))

    def to(self, values: FloatArray) -> FloatArray:
        """Return the place of values inside the piece on the line."""
        below, above = np.isfinite(self.low), np.isfinite(self.high)
        if below and above:
            return np.asarray(np.log(values - self.low) - np.log(self.high - values))
        if below:
            return np.asarray(np.log(values - self.low))
        return np.asarray(-np.log(self.high - values)) if above else values

    def back(self, places: FloatArray) -> FloatArray:
        """Return the values at places on the line."""
        below, above = np.isfinite(self.low), np.isfinite(self.high)
        if below and above:
            width = self.high - self.low
            low = self.low + width / (1.0 + np.exp(-places))
            return np.asarray(np.where(places < 0, low, self.high - width / (1.0 + np.exp(places))))
        if below:
            return np.asarray(self.low + np.exp(places))
        return np.asarray(self.high - np.exp(-places)) if above else places

    def log_slope(self, values: FloatArray) -> FloatArray:
        """Return the log of the derivative of ``to``."""
        below, above = np.isfinite(self.low), np.isfinite(self.high)
        slope = np.zeros_like(values)
        if below:
            slope = slope - np.log(values - self.low)
        if above:
            slope = slope - np.log(self.high - values)
        return np.asarray(slope + np.log(self.high - self.low)) if below and above else slope


@dataclass(frozen=True)
class Column:
    """One column of the outputs."""

    index: int
    kind: str  #: "discrete", "whole", "continuous" or "forms"
    #: the values that may be exchanged: those of a discrete column that repeat, the atoms of a continuous one
    values: tuple[float, ...]
    chart: Chart
    #: of the values on the chart's line
    centre: float
    spread: float
    grain: float = 0.0  #: smallest gap between two values in spreads: below it a column on a grid has no density
    #: of whole numbers, which the chart, the centre and the spread count in units of the last decimal
    decimals: int = 0


@dataclass(frozen=True)
class Atoms:
    """The kind of a column ("discrete", "whole", "continuous", "forms", "unread"), its atoms in order, its decimals."""

    kind: str
    values: FloatArray
    decimals: int = 0

    def tags(self, values: FloatArray) -> NDArray[np.intp]:
        """Return for each value 1 + the place of the atom that it is; 0 where it is none, -1 where it is not finite."""
        finite = np.isfinite(values)
        if not self.values.size:
            return np.where(finite, 0, -1)
        place = np.minimum(np.searchsorted(self.values, np.where(finite, values, 0.0)), len(self.values) - 1)
        return np.where(finite, np.where(self.values[place] == values, place + 1, 0), -1)


def few_states(drawn: FloatArray, atoms: Sequence[Atoms]) -> str:
    """Return which column repeats values that no rounding explains, as noise of few states does; nothing if none does.

    Continuous laws repeat nothing. Values of nine decimals at most may, and so may atoms; others as often as rounding
    to their last bit, that of single precision where they have no more, makes draws equal.
    """
    for j, each in enumerate(atoms):
        if each.kind == "continuous":
            finite = drawn[np.isfinite(drawn[:, j]), j]
            values, counts = np.unique(finite, return_counts=True)
            tied = values[(counts > 1) & ~np.isin(values, each.values)]
            tied = tied[np.abs(tied - np.round(tied, 9)) > 1e-15 * np.abs(tied)]
            if len(tied) < TIES:
                continue
            with np.errstate(over="ignore"):
                single = bool((tied == tied.astype(np.float32)).all())
            step = float(np.spacing(np.median(np.abs(tied)), dtype=np.float64)) * (2.0**29 if single else 1.0)
            low, high = np.quantile(finite, (0.25, 0.75))
            if (high - low) * (len(tied) - TIES) >= len(finite) ** 2 * step:
                return f"column {j + 1} repeats {len(tied)} values that no rounding explains"
    return ""


def atoms_of(log_density: LogDensity, drawn: FloatArray, n_learning: int) -> list[Atoms]:
    """Return the kind of each column by the first ``n_learning`` draws, and its atoms by all of them.

    Which draws are equal says nothing about where the others lie, so that the atoms may be read off all draws.
    """
    read = columns_read(drawn.shape[1])
    outstanding = {j: standing_out(drawn[:, j]) for j in read}
    kinds = {j: _kind(drawn[:n_learning, j], out) for j, out in outstanding.items()}
    free = [j for j, kind in kinds.items() if kind == "continuous" or _many(kind, drawn[:n_learning, j])]
    jumps, atoms = jumps_at(log_density, drawn, free), []
    for j in range(drawn.shape[1]):
        if j not in kinds:
            atoms.append(Atoms("unread", np.empty(0)))
            continue
        values, kind, out = drawn[:, j], kinds[j], outstanding[j]
        kept, decimals = jumps[:, j] & np.isfinite(values), 0
        finite = values[np.isfinite(values)]
        if j in free and kept.sum() >= REPEATED * len(finite) and len(np.unique(finite)) >= FEWEST_DECIMALS:
            decimals = _decimals_of(finite)  # of every draw: what lies between atoms is no grid
        if kind == "continuous" and not decimals:
            atoms.append(Atoms(kind, np.unique(np.concatenate([out, _tied_ends(values), values[kept]]))))
        else:
            kind = "whole" if decimals else kind
            others = np.isfinite(values[:n_learning]) & ~np.isin(values[:n_learning], out)
            grid = kind in ("discrete", "whole") and others.sum() >= _fewest(n_learning)
            atoms.append(Atoms(kind, out if grid else np.empty(0), decimals))
    return atoms


def learned_atoms(log_density: LogDensity, learning: FloatArray, atoms: Sequence[Atoms]) -> list[FloatArray]:
    """Return the atoms of each column that learning draws show by themselves."""
    jumps = jumps_at(log_density, learning, [j for j, each in enumerate(atoms) if each.kind == "continuous"])
    return [
        np.empty(0)
        if each.kind == "unread"
        else np.concatenate([standing_out(values), _tied_ends(values), values[jumped]])
        for each, values, jumped in zip(atoms, learning.T, jumps.T, strict=True)
    ]


def columns_read(width: int) -> list[int]:
    """Return the columns of an output that may be moved: all, or, of very many, some that are evenly spread."""
    return sorted({int(j) for j in np.linspace(0, width - 1, min(width, MOST_READ))})


def columns_of(drawn: FloatArray, atoms: Sequence[Atoms], n_learning: int) -> tuple[Column, ...]:
    """Return the columns of the outputs that can be moved or permuted, by the first ``n_learning`` draws."""
    columns = []
    for j, known in enumerate(atoms):
        if known.kind == "unread":
            continue
        kind, values, listed = known.kind, drawn[:n_learning, j], tuple(known.values.tolist())
        chart = Chart()
        if kind == "forms":
            columns.append(Column(j, kind, (), chart, 0.0, 0.0))
            continue
        if kind == "continuous":
            chart = _piece(values, listed)
        elif kind == "whole":
            values = np.where(np.isfinite(values), np.rint(values * 10.0**known.decimals), values)
            finite = values[np.isfinite(values)]
            chart = Chart(float(finite.min()), float(finite.max()))
        else:
            distinct, counts = np.unique(values[np.isfinite(values)], return_counts=True)
            listed = tuple(distinct[(counts > 1) & ~np.isin(distinct, known.values)].tolist())
        inside = values[chart.holds(values) & ~np.isin(drawn[:n_learning, j], known.values)]
        if kind == "discrete" or inside.size < _fewest(len(values)):
            if len(listed) > 1:
                columns.append(Column(j, "discrete", listed, chart, 0.0, 0.0))
            continue
        places = chart.to(inside) if kind == "continuous" else inside
        low, centre, high = np.quantile(places, (0.25, 0.5, 0.75))
        spread = float(high - low) / 1.349
        columns.append(Column(j, kind, listed, chart, float(centre), spread, _grain(inside), known.decimals))
    return tuple(columns)


def _decimals_of(values: FloatArray) -> int:
    """Return how many decimals show numbers exactly; 0 where that is more than ``DECIMALS``, or none."""
    return next((n for n in range(1, DECIMALS + 1) if (np.round(values, n) == values).all()), 0)


def standing_out(values: FloatArray) -> FloatArray:
    """Return the values of a column, in order, that are drawn at least thrice and more often than a grid explains.

    On a grid the values that are drawn less often tell how many repeats are usual, by ``sum c (c - 1) / sum c`` of
    their counts ``c``. Only the counts are looked at, not where the values lie.
    """
    distinct, counts = np.unique(values[np.isfinite(values)], return_counts=True)
    for count in np.unique(counts[counts >= 3]).tolist():
        fewer = counts[counts < count]
        usual = float((fewer * (fewer - 1)).sum()) / max(1, int(fewer.sum()))
        if len(distinct) * float(poisson.sf(count - 1, PEAK * usual)) < CHANCE:
            return np.asarray(distinct[counts >= count])
    return np.empty(0)


def _tied_ends(values: FloatArray) -> FloatArray:
    """Return the smallest and the largest value where they were drawn more than once: draws are cut off there."""
    finite = values[np.isfinite(values)]
    return np.array([end for end in ((finite.min(), finite.max()) if finite.size else ()) if (finite == end).sum() > 1])


def _fewest(n: int) -> float:
    return max(FEWEST, FEWEST_SHARE * n)


def _grain(values: FloatArray) -> float:
    spread = _spread(values)
    return float(np.diff(np.unique(values)).min(initial=np.inf) / spread) if spread > 0 else 0.0


def _kind(values: FloatArray, outstanding: FloatArray) -> str:
    """Return the kind of a column; where all that repeats stands out, it is what the other values are."""
    values = values[np.isfinite(values)]
    if values.size and values.min() >= SYMBOLS:
        return "forms"
    if _repeated(values) >= REPEATED:
        rest = values[~np.isin(values, outstanding)]
        if rest.size < _fewest(len(values)) or _repeated(rest) >= RARELY:
            return "discrete"
    whole = values.size and (values == np.rint(values)).all() and np.abs(values).max() < 2**52
    return "whole" if whole else "continuous"


def _many(kind: str, values: FloatArray) -> bool:
    return kind == "discrete" and len(np.unique(values)) >= FEWEST_DECIMALS


def _repeated(values: FloatArray) -> float:
    _, counts = np.unique(values, return_counts=True)
    return float(counts[counts > 1].sum()) / max(1, len(values))


def _piece(values: FloatArray, atoms: Sequence[float]) -> Chart:
    """Return the piece between neighbouring atoms that holds most of the other values, cut to their range.

    What a density says beyond the range of the outputs is not asked: an author whose law is cut off at public bounds
    need not say that it is 0 there, as long as the same is true of both data sets (which the loss shows).
    """
    rest = values[np.isfinite(values) & ~np.isin(values, atoms)]
    if not rest.size:
        return Chart()
    between = np.searchsorted(np.asarray(atoms), rest)
    rest = rest[between == np.argmax(np.bincount(between))]
    return Chart(float(rest.min()), float(rest.max()))


def jumps_at(log_density: LogDensity, points: FloatArray, columns: Sequence[int]) -> BoolArray:
    """Return at which points, and in which of the columns, the stated density jumps; shape of ``points``.

    A continuous law jumps at none of its draws but by a chance of the order of 1e-9 a draw. A density that calls
    numbers near those of a grid equal jumps where nothing lies on either side, a little farther away.
    """
    jumps = np.zeros(points.shape, dtype=np.bool_)
    if not columns:
        return jumps
    jumps[:, columns] = ~np.isfinite(points[:, columns])
    log_at_points, steps, spreads = log_density(points), _steps(points, columns), _spreads(points, columns)

    def jumping(rows: NDArray[np.intp], moved: FloatArray) -> BoolArray:
        near = _jump(log_density, points[rows], log_at_points[rows], steps[rows] * moved)
        return near | _alone(log_density, points[rows], HOLE * spreads * moved)

    together = np.zeros(points.shape[1])
    together[list(columns)] = 1.0
    suspects = np.flatnonzero(jumping(np.arange(len(points)), together))
    if suspects.size:
        for j in columns:
            jumps[suspects, j] |= jumping(suspects, np.eye(1, points.shape[1], j)[0])
    return jumps


def _steps(points: FloatArray, columns: Sequence[int]) -> FloatArray:
    """Return how far from each number its neighbours are looked at; of other columns nothing is asked."""
    spread = _spreads(points, columns)
    with np.errstate(all="ignore"):
        return np.asarray(np.maximum(1e-9 * spread, 8 * np.spacing(np.abs(np.where(np.isfinite(points), points, 0.0)))))


def _spreads(points: FloatArray, columns: Sequence[int]) -> FloatArray:
    spread = np.zeros(points.shape[1])
    spread[list(columns)] = [_spread(points[:, j]) for j in columns]
    return spread


def _spread(column: FloatArray) -> float:
    column = column[np.isfinite(column)]
    low, high = np.quantile(column, (0.25, 0.75)) if column.size else (0.0, 0.0)
    return float(high - low)


def _jump(log_density: LogDensity, points: FloatArray, log_at_points: FloatArray, steps: FloatArray) -> BoolArray:
    tolerance = 1e-6 + 1e-12 * np.abs(log_at_points)
    with np.errstate(all="ignore"):  # an infinite or undefined neighbour jumps
        off = [~(np.abs(logs - log_at_points) <= tolerance) for logs in _beside(log_density, points, steps)]
    return np.asarray(off[0] | off[1])


def _alone(log_density: LogDensity, points: FloatArray, steps: FloatArray) -> BoolArray:
    """Return the points on either side of which the density says that nothing lies."""
    below, above = _beside(log_density, points, steps)
    return np.asarray(~(below > -np.inf) & ~(above > -np.inf))


def _beside(log_density: LogDensity, points: FloatArray, steps: FloatArray) -> list[FloatArray]:
    """Return the log density on both sides of points; undefined where it refuses too many of them."""
    logs = []
    for side in (points - steps, points + steps) if points.size else ():
        try:
            logs.append(log_density(side))
        except RefusedError:
            logs.append(np.full(len(points), np.nan))
    return logs or [np.zeros(len(points))] * 2

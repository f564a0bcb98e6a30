"""Kinds of output columns, the pieces between their atoms, and which values are atoms.

A column is one of three kinds, told on the training draws: *discrete* (nearly every value repeats), *whole* (whole
numbers) or *continuous*. An atom is a value at which the stated density jumps, so that it says itself that it counts
there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from mechanisms.data.dataset import FloatArray

BoolArray = NDArray[np.bool_]
LogDensity = Callable[[FloatArray], FloatArray]

#: Share of values that repeat in a discrete column.
REPEATED = 0.9


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
    """One column of the outputs.

    Attributes
    ----------
    kind : str
        "discrete", "whole" or "continuous".
    values : tuple of float
        The values that repeat: all of a discrete column, the atoms of a continuous one.
    centre, spread : float
        Of the values on the chart's line.
    grain : float
        Smallest gap between two values in spreads: below it a column on a grid has no density.
    """

    index: int
    kind: str
    values: tuple[float, ...]
    chart: Chart
    centre: float
    spread: float
    grain: float = 0.0


def kinds_of(training: FloatArray) -> list[str]:
    """Return the kind of each column by training draws, shape ``(n, k)``."""
    return [_kind(column) for column in training.T]


def columns_of(drawn: FloatArray, jumps: BoolArray, n_learning: int) -> tuple[Column, ...]:
    """Return the columns of the outputs that can be moved or permuted.

    Atoms are taken from all draws: which of them were hit says nothing about where the other draws lie. All else is
    read off the first ``n_learning`` draws.
    """
    columns = []
    for j, kind in enumerate(kinds_of(drawn[:n_learning])):
        values = drawn[:n_learning, j]
        atoms: tuple[float, ...] = ()
        chart = Chart()
        if kind == "continuous":
            every = drawn[:, j]
            atoms = tuple(np.unique(every[jumps[:, j] & np.isfinite(every)]).tolist())
            chart = _piece(values, atoms)
        elif kind == "whole":
            finite = values[np.isfinite(values)]
            chart = Chart(float(finite.min()), float(finite.max()))
        elif kind == "discrete":
            atoms = tuple(np.unique(values[np.isfinite(values)]).tolist())
        inside = values[chart.holds(values)]
        if kind == "discrete" or inside.size < max(20, 0.02 * len(values)):
            if len(atoms) > 1:
                columns.append(Column(j, "discrete", atoms, chart, 0.0, 0.0))
            continue
        places = chart.to(inside) if kind == "continuous" else inside
        low, centre, high = np.quantile(places, (0.25, 0.5, 0.75))
        columns.append(Column(j, kind, atoms, chart, float(centre), float(high - low) / 1.349, _grain(inside)))
    return tuple(columns)


def _grain(values: FloatArray) -> float:
    spread = _spread(values)
    return float(np.diff(np.unique(values)).min(initial=np.inf) / spread) if spread > 0 else 0.0


def _kind(values: FloatArray) -> str:
    _, counts = np.unique(values, return_counts=True)
    if counts[counts > 1].sum() >= REPEATED * len(values):
        return "discrete"
    finite = values[np.isfinite(values)]
    return (
        "whole" if finite.size and (finite == np.rint(finite)).all() and np.abs(finite).max() < 2**52 else "continuous"
    )


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

    A value at which it does is an atom, by the density's own word: a continuous law has none of them but by a chance
    of the order of 1e-9 a draw.
    """
    jumps = np.zeros(points.shape, dtype=np.bool_)
    if not columns:
        return jumps
    jumps[:, columns] = ~np.isfinite(points[:, columns])
    log_at_points, steps = log_density(points), _steps(points)
    together = np.zeros(points.shape[1])
    together[list(columns)] = 1.0
    suspects = np.flatnonzero(_jump(log_density, points, log_at_points, steps * together))
    if suspects.size:
        for j in columns:
            alone = np.zeros(points.shape[1])
            alone[j] = 1.0
            jumps[suspects, j] |= _jump(log_density, points[suspects], log_at_points[suspects], steps[suspects] * alone)
    return jumps


def _steps(points: FloatArray) -> FloatArray:
    with np.errstate(all="ignore"):
        finite = np.where(np.isfinite(points), points, np.nan)
        spread = np.array([_spread(column) for column in finite.T])
        return np.asarray(np.maximum(1e-9 * spread, 8 * np.spacing(np.abs(np.where(np.isfinite(points), points, 0.0)))))


def _spread(column: FloatArray) -> float:
    column = column[np.isfinite(column)]
    low, high = np.quantile(column, (0.25, 0.75)) if column.size else (0.0, 0.0)
    return float(high - low)


def _jump(log_density: LogDensity, points: FloatArray, log_at_points: FloatArray, steps: FloatArray) -> BoolArray:
    tolerance = 1e-6 + 1e-12 * np.abs(log_at_points)
    jumps = np.zeros(len(points), dtype=np.bool_)
    with np.errstate(all="ignore"):
        for side in (points + steps, points - steps):
            if not side.size:
                continue
            jumps |= ~(
                np.abs(log_density(side) - log_at_points) <= tolerance
            )  # an infinite or undefined neighbour jumps
    return jumps


#: Probability that a value is allowed where the density says 0: outputs may lie on a grid of any library's floats.
ALLOWED = 1e-4
#: A value must hold this share of all repeats of its column, or it is one point of a grid.
GRID_SHARE = 0.05
#: Values that are watched.
WATCHED = 3


def repeats(
    drawn: FloatArray, n_learning: int, jumps: NDArray[np.bool_], columns: Sequence[int], level: float
) -> tuple[str, str, float, float, str, int] | None:
    """Return the test (its name, words, p-value, level, event, hits) of values seen at least thrice in training.

    A law with a density gives each value probability 0; every watched one is granted ``ALLOWED``. Values at which the
    stated density jumps are atoms by its own word and are not watched.
    """
    if not columns:
        return None
    watched: list[tuple[int, int, float]] = []
    for j in columns:
        values = drawn[:n_learning, j][~jumps[:n_learning, j]]
        distinct, counts = np.unique(values, return_counts=True)
        repeated = counts[counts > 1].sum()
        for i in np.flatnonzero((counts >= 3) & (counts >= GRID_SHARE * repeated)):
            watched.append((int(counts[i]), j, float(distinct[i])))
    watched = sorted(watched, key=lambda each: -each[0])[:WATCHED]
    fresh, free = drawn[n_learning:], ~jumps[n_learning:]
    hit = np.zeros(len(fresh), dtype=np.bool_)
    for _, j, value in watched:
        hit |= (fresh[:, j] == value) & free[:, j]
    hits, name = int(hit.sum()), "values that repeat"
    if not hits:
        return name, "no output repeats where the stated density is continuous", 1.0, level, "", 0
    p_value = float(binom.sf(hits - 1, len(fresh), len(watched) * ALLOWED))
    event = "; ".join(f"column {j} equal to {value:.6g}" for _, j, value in watched)
    return name, "outputs repeat where the stated density is continuous", p_value, level, event, hits

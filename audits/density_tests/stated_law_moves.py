"""Bijections of the output space, for ``audits.density_tests.stated_law``: what a stated density must follow.

Discrete values are permuted, whole numbers shifted and mirrored, continuous ones shifted, scaled and sheared in a chart
that no move leaves: the range of the outputs between two atoms. Outputs of one form are moved to another, which may
have more numbers, or fewer: theirs are left behind, and others are drawn from a law learned for the other form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mechanisms.data.dataset import FloatArray

from .stated_law_columns import BoolArray, Column, LogDensity, RefusedError
from .stated_law_masses import LEAST, Places

#: Largest factor of a scale and largest shift in spreads (best near there for normal and Laplace noise).
SCALE, SHIFT, SLOPE = 1.8, 1.2, 0.8

#: Contractions towards the mode, for a rare release with less noise.
CONTRACTIONS = (0.3, 0.1, 0.01, 0.001)

#: Steps of a grid that fit into the spread after a contraction, so that the outputs still look continuous.
GRAINS = 50

#: Least mass that two laws, before and after a move, keep in common.
OVERLAP = 0.45

#: Columns beyond this number are moved in as many groups.
GROUPS = 8
#: Columns of values or whole numbers that are all moved alone; of more, some by chance, and groups of the others.
ALONE = 16
#: Least mass that two laws, before and after a move of such a group, keep in common; the group is halved until they do.
GROUP_OVERLAP = 0.05
#: Most columns along which the mode is searched; beyond, the medians stand for it.
MOST_SEARCHED = 64


@dataclass(frozen=True)
class Moved:
    """Points after a move (or before it), the log of the move's Jacobian, and which points a move can reach."""

    points: FloatArray
    log_jacobian: FloatArray
    movable: BoolArray


@dataclass(frozen=True)
class Affine:
    """Moves columns by ``centre + scale (t - centre) + shift + slope (lever's t - its centre)`` in their charts."""

    words: str
    columns: tuple[Column, ...]
    scale: tuple[float, ...]
    shift: tuple[float, ...]
    lever: Column | None = None
    slope: float = 0.0
    centres: tuple[float, ...] | None = None
    always: bool = False

    def movable(self, points: FloatArray) -> BoolArray:
        """Return which points lie in the charts; what an output does not have (infinite) moves nowhere."""
        movable, some = np.ones(len(points), dtype=np.bool_), np.zeros(len(points), dtype=np.bool_)
        for column in self.columns:
            held = column.chart.holds(points[:, column.index])
            movable &= held | (points[:, column.index] == np.inf)
            some |= held
        if self.lever is not None:
            movable &= self.lever.chart.holds(points[:, self.lever.index])
        return movable & some

    def __call__(self, points: FloatArray, *, back: bool = False) -> Moved:
        """Return the points moved (or moved back); the Jacobian is that of the move forwards, where it starts."""
        with np.errstate(all="ignore"):
            return self._moved(points, back)

    def _moved(self, points: FloatArray, back: bool) -> Moved:
        movable = self.movable(points)
        result, log_jacobian = points.copy(), np.zeros(len(points))
        where = slice(None) if movable.all() else movable  # a view, where all of them move
        rows = points[where]
        added = np.zeros(len(rows))
        if self.lever is not None:
            added = self.slope * (self.lever.chart.to(rows[:, self.lever.index]) - self.lever.centre)
        for i, column in enumerate(self.columns):
            centre = column.centre if self.centres is None else self.centres[i]
            old = rows[:, column.index]
            place = column.chart.to(old)
            push = self.shift[i] + added * column.spread
            if back:
                new = column.chart.back(centre + (place - push - centre) / self.scale[i])
            else:
                new = column.chart.back(centre + self.scale[i] * (place - centre) + push)
            new = np.where(old == np.inf, np.inf, new)
            result[where, column.index] = new
            start, end = (new, old) if back else (old, new)
            growth = column.chart.log_slope(start) - column.chart.log_slope(end)
            log_jacobian[where] += np.where(old == np.inf, 0.0, np.log(abs(self.scale[i])) + growth)
        return Moved(result, log_jacobian, movable)


@dataclass(frozen=True)
class Permutation:
    """Moves each listed value of a column ``step`` places along the list, round and round."""

    words: str
    column: int
    values: tuple[float, ...]
    step: int
    always: bool = False

    def __call__(self, points: FloatArray, *, back: bool = False) -> Moved:
        """Return the points moved (or moved back)."""
        return Together(self.words, (self,))(points, back=back)

    def moved(self, old: FloatArray, *, back: bool) -> tuple[FloatArray, BoolArray]:
        """Return the values of the column moved (or moved back), and which can be."""
        listed = self._listed
        place = np.minimum(np.searchsorted(listed, old), len(listed) - 1)
        movable = np.asarray(listed[place] == old)
        return listed[(place + (-self.step if back else self.step)) % len(listed)], movable

    @cached_property
    def _listed(self) -> FloatArray:
        return np.asarray(self.values)


@dataclass(frozen=True)
class Whole:
    """Moves the whole numbers of a column within their range: by ``shift``, round and round, or mirrors them.

    Numbers with decimals are whole in units of the last one.
    """

    words: str
    column: int
    low: float
    high: float
    shift: float = 0.0
    mirror: float | None = None
    decimals: int = 0
    always: bool = False

    def __call__(self, points: FloatArray, *, back: bool = False) -> Moved:
        """Return the points moved (or moved back)."""
        return Together(self.words, (self,))(points, back=back)

    def moved(self, old: FloatArray, *, back: bool) -> tuple[FloatArray, BoolArray]:
        """Return the values of the column moved (or moved back), and which can be."""
        exact, old = old, np.rint(old * 10.0**self.decimals)
        movable = (old >= self.low) & (old <= self.high) & (exact == np.round(exact, self.decimals))
        if self.mirror is None:
            size = self.high - self.low + 1
            new = self.low + np.mod(old - self.low + (-self.shift if back else self.shift), size)
        else:
            new = 2 * self.mirror - old
            movable &= (new >= self.low) & (new <= self.high)
        return np.round(new / 10.0**self.decimals, self.decimals), np.asarray(movable)


@dataclass(frozen=True)
class Together:
    """Moves several columns at once, each value that can be moved."""

    words: str
    moves: tuple[Permutation | Whole, ...]
    always: bool = False

    def __call__(self, points: FloatArray, *, back: bool = False) -> Moved:
        """Return the points moved (or moved back)."""
        result, reached = points.copy(), np.zeros(len(points), dtype=np.bool_)
        for move in self.moves:
            new, movable = move.moved(points[:, move.column], back=back)
            result[movable, move.column] = new[movable]
            reached |= movable
        return Moved(result, np.zeros(len(points)), reached)


Move = Affine | Permutation | Whole | Together


def moves_of(
    log_density: LogDensity, training: FloatArray, columns: Sequence[Column], rng: np.random.Generator
) -> Iterator[Move]:
    """Yield the moves: three of each continuous column (or group of columns), contractions, permutations, mirrors."""
    moving = [column for column in columns if column.kind == "continuous" and column.spread > 0]
    few = training[: min(len(training), 1000)]
    log_few = log_density(few)
    for group in _groups(moving, rng):
        places = {column.index for column in group}
        others = [column for column in moving if column.index not in places]
        for move in _smooth(group, others, rng):
            yield _sized(move, log_density, few, log_few)
    if moving:
        yield from _contractions(log_density, few, log_few, moving)
    listed = (replace(column, values=_repeated(column, training)) for column in columns)
    stepping = [column for column in listed if column.kind == "whole" or len(column.values) > 1]
    if len(stepping) <= ALONE:
        for column in stepping:
            yield from _steps(column)
        return
    order = [stepping[int(i)] for i in rng.permutation(len(stepping))]
    for column in order[:GROUPS]:
        yield from _steps(column)
    for part in np.array_split(np.arange(GROUPS, len(order)), GROUPS):
        yield _halved([next(_steps(order[int(i)])) for i in part], log_density, few, log_few)


def _steps(column: Column) -> Iterator[Permutation | Whole]:
    """Yield the moves of a column of whole numbers, or of the values that others share."""
    if column.kind == "whole":
        yield from _whole(column)
        return
    size = len(column.values)
    for step in sorted({1, max(1, size // 4), max(1, size // 2)}):
        words = f"values of column {column.index} exchanged, {step} along"
        yield Permutation(words, column.index, column.values, step)


def _halved(
    moves: Sequence[Permutation | Whole], log_density: LogDensity, few: FloatArray, log_few: FloatArray
) -> Together:
    """Return the moves made at once, of as many columns as leave the two laws something in common."""
    while True:
        together = Together(f"values of {len(moves)} columns exchanged", tuple(moves))
        if len(moves) == 1:
            return together
        try:
            shared = _shared(log_density(together(few).points), log_few)
        except RefusedError:
            shared = 0.0
        if shared >= GROUP_OVERLAP:
            return together
        moves = moves[: len(moves) // 2]


def _shared(there: FloatArray, here: FloatArray) -> float:
    """Return about which mass two laws have in common, by their log densities at draws of one of them."""
    return float(np.exp(np.minimum(np.nan_to_num(there - here, nan=-np.inf), 0.0)).mean())


def _repeated(column: Column, training: FloatArray) -> tuple[float, ...]:
    """Return the listed values that repeat in training: one that is listed for a later draw would favour that draw."""
    distinct, counts = np.unique(training[:, column.index], return_counts=True)
    return tuple(np.intersect1d(distinct[counts > 1], column.values).tolist())


def _groups(moving: Sequence[Column], rng: np.random.Generator) -> list[tuple[Column, ...]]:
    if len(moving) <= GROUPS:
        return [(column,) for column in moving]
    order = rng.permutation(len(moving))
    return [tuple(moving[int(i)] for i in part) for part in np.array_split(order, GROUPS)]


def _smooth(group: tuple[Column, ...], others: Sequence[Column], rng: np.random.Generator) -> Iterator[Affine]:
    size, ones, zeros = len(group) ** -0.5, (1.0,) * len(group), (0.0,) * len(group)
    words = "column " + ", ".join(str(column.index) for column in group)
    signs = np.ones(1) if len(group) == 1 else rng.choice((-1.0, 1.0), len(group))
    shift = tuple(float(sign) * SHIFT * size * c.spread for sign, c in zip(signs, group, strict=True))
    yield Affine(f"{words} shifted", group, ones, shift)
    yield Affine(f"{words} scaled", group, (SCALE**size,) * len(group), zeros)
    if others:
        lever = others[int(rng.integers(len(others)))]
        slope = SLOPE * size / lever.spread
        yield Affine(f"{words} sheared along column {lever.index}", group, ones, zeros, lever, slope)


def _sized(move: Affine, log_density: LogDensity, few: FloatArray, log_few: FloatArray) -> Affine:
    """Return the move made smaller until the two laws have enough in common."""
    for size in (1.0, 0.6, 0.36, 0.2, 0.1, 0.04, 0.01, 1e-3):
        tried = replace(
            move,
            scale=tuple(s**size for s in move.scale),
            shift=tuple(s * size for s in move.shift),
            slope=move.slope * size,
        )
        moved = tried(few)
        try:
            there = log_density(moved.points) + moved.log_jacobian
        except RefusedError:
            continue
        if _shared(there, log_few) >= OVERLAP:
            break
    return tried


def _contractions(
    log_density: LogDensity, few: FloatArray, log_few: FloatArray, moving: Sequence[Column]
) -> Iterator[Affine]:
    mode = _mode(log_density, few, log_few, moving)
    zeros = (0.0,) * len(moving)
    coarse = max(column.grain for column in moving)
    for factor in (contraction for contraction in CONTRACTIONS if contraction >= GRAINS * coarse):
        words = f"all columns drawn in to {factor:g} of their distance from the mode"
        yield Affine(words, tuple(moving), (factor,) * len(moving), zeros, centres=mode, always=True)


def _mode(log_density: LogDensity, few: FloatArray, log_few: FloatArray, moving: Sequence[Column]) -> tuple[float, ...]:
    """Return where the stated density is largest, by a search along the columns from the best of the draws."""
    if len(moving) > MOST_SEARCHED:
        return tuple(column.centre for column in moving)
    holds = np.all([column.chart.holds(few[:, column.index]) for column in moving], axis=0)
    if not holds.any():
        return tuple(column.centre for column in moving)
    order = np.where(holds, log_few, -np.inf)
    best, top = few[int(np.argmax(order))].copy(), float(np.max(order))
    grid, reach = np.linspace(-1.0, 1.0, 9), 1.0
    for _ in range(8):
        for column in moving:
            tried = np.repeat(best[None, :], len(grid), axis=0)
            place = column.chart.to(best[column.index : column.index + 1])
            tried[:, column.index] = column.chart.back(place + reach * column.spread * grid)
            logs = log_density(tried)
            logs = np.where(np.isfinite(logs), logs, -np.inf)
            if logs.max() > top:
                best, top = tried[int(logs.argmax())], float(logs.max())
        reach *= 0.35
    return tuple(float(c.chart.to(best[c.index : c.index + 1])[0]) for c in moving)


def _whole(column: Column) -> Iterator[Whole]:
    low, high, digits = column.chart.low, column.chart.high, column.decimals
    for shift in sorted({1.0, max(1.0, float(np.rint(SHIFT * column.spread)))}):
        words = f"column {column.index} shifted by {shift / 10**digits:g}"
        yield Whole(words, column.index, low, high, shift, decimals=digits)
    words = f"column {column.index} mirrored"
    yield Whole(words, column.index, low, high, mirror=float(np.rint(column.centre)), decimals=digits)


#: Share of the draws that may have forms which the learning draws hardly show.
UNSHOWN = 0.05


@dataclass(frozen=True)
class Refill:
    """A form, and for each column of its numbers the law from which they are drawn when an output is moved to it."""

    symbol: float
    laws: Mapping[int, Places]

    @classmethod
    def of(cls, symbol: float, rows: FloatArray, columns: Mapping[int, Column]) -> Refill | None:
        """Return it for learning draws of the form; None where they do not show how its numbers are distributed."""
        smooth, listed, inside = list[int](), list[int](), np.ones(len(rows), dtype=np.bool_)
        for j in np.flatnonzero(np.isfinite(rows[0]) & (rows[0] != symbol)).tolist():
            column, values = columns.get(j), rows[:, j]
            if column is not None and column.kind == "continuous":
                inside &= column.chart.holds(values) & ~np.isin(values, column.values)
                smooth.append(j)
            elif column is None and len(np.unique(values)) > 1:  # too few of them for a column
                inside &= len(np.unique(values)) == len(values)
                smooth.append(j)
            else:
                listed.append(j)
        if len(rows) < 2 or (smooth and inside.sum() < LEAST):
            return None
        laws = {j: Places.of(rows[inside, j], listed=j in listed) for j in (*smooth, *listed)}
        return cls(symbol, laws)

    def log_density(self, rows: FloatArray) -> FloatArray:
        """Return the log density of the numbers of rows of this form; minus infinity where none is drawn."""
        return np.asarray(sum((law.log_density(rows[:, j]) for j, law in self.laws.items()), start=np.zeros(len(rows))))

    def drawn(self, n: int, width: int, rng: np.random.Generator) -> FloatArray:
        """Return rows of this form with new numbers; those that it does not have are infinite."""
        rows = np.full((n, width), np.inf)
        for j, law in self.laws.items():
            rows[:, j] = law.drawn(n, rng)
        return rows


@dataclass(frozen=True)
class Exchange:
    """Moves outputs of each form to the one ``step`` places along a list, round and round, with new numbers.

    Together with the numbers that it leaves behind, and those that it would leave behind at its image, this is a
    bijection; the Jacobian holds both densities.
    """

    words: str
    column: int
    forms: tuple[Refill, ...]
    step: int
    rng: np.random.Generator
    always: bool = False

    def __call__(self, points: FloatArray, *, back: bool = False) -> Moved:
        """Return the points moved (or moved back), with new numbers at every call."""
        result, log_jacobian = points.copy(), np.zeros(len(points))
        movable = np.zeros(len(points), dtype=np.bool_)
        for i, form in enumerate(self.forms):
            rows = np.flatnonzero(points[:, self.column] == form.symbol)
            left = form.log_density(points[rows])
            rows, left = rows[np.isfinite(left)], left[np.isfinite(left)]
            other = self.forms[(i + (-self.step if back else self.step)) % len(self.forms)]
            images = other.drawn(len(rows), points.shape[1], self.rng)
            growth = left - other.log_density(images)
            images[:, self.column] = other.symbol
            result[rows], log_jacobian[rows], movable[rows] = images, -growth if back else growth, True
        return Moved(result, log_jacobian, movable)


def exchanges_of(learning: FloatArray, columns: Sequence[Column], rng: np.random.Generator) -> Iterator[Exchange]:
    """Yield the exchanges of the forms that learning draws show, in the order of how often they do."""
    of_forms = next((column.index for column in columns if column.kind == "forms"), None)
    if of_forms is None:
        return
    forms = _refills_of(learning, of_forms, columns)
    for step in sorted({1, len(forms) // 4, len(forms) // 2} - {0}) if len(forms) > 1 else ():
        yield Exchange(f"outputs of other forms, {step} along", of_forms, forms, step, rng)


def _refills_of(learning: FloatArray, of_forms: int, columns: Sequence[Column]) -> tuple[Refill, ...]:
    """Return the forms that can be moved to, those of most learning draws first."""
    symbols, counts = np.unique(learning[:, of_forms], return_counts=True)
    numbers = {column.index: column for column in columns}
    found = (
        Refill.of(symbol, learning[learning[:, of_forms] == symbol], numbers)
        for symbol in symbols[np.argsort(-counts, kind="stable")].tolist()
    )
    return tuple(form for form in found if form is not None)


def unshown(drawn: FloatArray, n_learning: int, columns: Sequence[Column]) -> str:
    """Return what nobody can tell where too many draws have forms that the learning draws do not show; else nothing."""
    for column in columns:
        if column.kind == "forms":
            shown = np.unique(drawn[:n_learning, column.index])
            if shown.size > 1:
                shown = np.array([form.symbol for form in _refills_of(drawn[:n_learning], column.index, columns)])
            share = 1.0 - float(np.isin(drawn[:, column.index], shown).mean())
            if share > UNSHOWN:
                return f"{share:.1%} of the outputs are of forms that are too rare to be compared"
    return ""

"""Have the atoms of the draws the masses that the stated density gives them?

A draw at an atom is moved to a place between the atoms that chance decides. What the density says there and at the atom
is compared with how many draws lie at either, by the identity that all tests of a stated law use. The derivation is in
``docs/derivations/stated_law.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import binom

from mechanisms.data.dataset import FloatArray

from ..stats.intervals import even_capital
from .stated_law_bets import Everywhere, Frame, PointsView, Rare, Sides, payoffs
from .stated_law_columns import Atoms, BoolArray, LogDensity, RefusedError, difference, learned_atoms

IntArray = NDArray[np.intp]

#: Cells of the law of the places that draws at an atom are moved to.
CELLS = 16
#: Learning draws between the atoms without which nothing can be compared.
LEAST = 8
#: Learning draws at an atom without which it cannot be refuted.
TOLD = 3
#: Groups of atoms that are compared, and patterns among which they are looked for.
GROUPS, PATTERNS = 6, 60
#: Stakes; one above 1 is put on places that cannot lose more than it can bear.
LOTS = (0.03, 0.1, 0.2, 0.4, 0.6, 0.9, 2.0, 5.0, 15.0, 50.0, 150.0)


#: Outputs that repeat most, and the probability below which no law with these densities repeats them so.
REPEATING, UNLIKELY = 20, 1e-5


def one_sided(first: FloatArray, second: FloatArray, loss: Callable[[FloatArray], FloatArray]) -> bool:
    """Return whether some output repeats on one data set, and on the other not as often as the densities say.

    An output that is an atom for one data set is one for the other: whatever measure the densities refer to, the
    masses there have the ratio that the loss states. Given all draws of it, those of the first data set are binomial.
    This accuses nobody; a law of which it is true vouches for nothing.
    """
    rows, place = np.unique(np.concatenate([first, second]), axis=0, return_inverse=True)
    ours = np.bincount(place.ravel()[: len(first)], minlength=len(rows))
    all_of = np.bincount(place.ravel(), minlength=len(rows))
    most = np.argsort(-all_of, kind="stable")[:REPEATING]
    most = most[all_of[most] >= TOLD]
    if not most.size or np.isnan(rows[most]).any():
        return False
    share = expit(loss(rows[most]) + math.log(len(first) / len(second)))
    below = binom.cdf(ours[most], all_of[most], share)
    above = binom.sf(ours[most] - 1, all_of[most], share)
    return bool((np.minimum(below, above) < UNLIKELY).any())


@dataclass(frozen=True)
class Places:
    """A law of places between the atoms of a column: even in each of some cells, or on listed values."""

    edges: FloatArray
    listed: bool = False

    @classmethod
    def of(cls, rest: FloatArray, *, listed: bool = False) -> Places:
        """Return the law for learning draws between the atoms."""
        return cls(np.unique(rest if listed else np.quantile(rest, np.linspace(0.0, 1.0, CELLS + 1))), listed)

    def drawn(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Return independent places, shape ``(n,)``."""
        if self.listed:
            return np.asarray(self.edges[rng.integers(len(self.edges), size=n)])
        cell, inside = rng.integers(len(self.edges) - 1, size=n), rng.random(n)
        return np.asarray(self.edges[cell] + inside * (self.edges[cell + 1] - self.edges[cell]))

    def log_density(self, values: FloatArray) -> FloatArray:
        """Return the log density at values (of listed ones: the log mass), minus infinity where they never come."""
        place = np.searchsorted(self.edges, values, side="right") - 1
        if self.listed:
            there = self.edges[np.maximum(place, 0)] == values
            return np.asarray(np.where(there, -math.log(len(self.edges)), -np.inf))
        inside = (place >= 0) & (place < len(self.edges) - 1)
        widths = np.diff(self.edges)
        logs = -np.log(widths[np.clip(place, 0, len(widths) - 1)]) - math.log(len(widths))
        return np.asarray(np.where(inside, logs, -np.inf))


@dataclass(frozen=True)
class Group:
    """Atoms of some columns that draws lie at together, and the draws whose other columns are at the same atoms."""

    columns: tuple[int, ...]
    values: tuple[float, ...]
    at: BoolArray
    between: BoolArray

    @property
    def words(self) -> str:
        """Where the draws are."""
        return ", ".join(f"column {j} equal to {v:.6g}" for j, v in zip(self.columns, self.values, strict=True))


@dataclass(frozen=True)
class Mass:
    """How the mass of one group agrees with the density: p-values if it is an atom, and under any of its readings.

    ``told`` is whether the learning draws alone show the group, so that the others may refute it.
    """

    words: str
    as_atom: float
    p_value: float
    hits: int
    told: bool


def groups_of(drawn: FloatArray, atoms: Sequence[Atoms], n_learning: int) -> list[Group]:
    """Return the groups with the most learning draws; the other draws rank those without any."""
    tags = np.column_stack([each.tags(column) for each, column in zip(atoms, drawn.T, strict=True)])
    patterns, kinds, counts = np.unique(tags, axis=0, return_inverse=True, return_counts=True)
    kinds = kinds.reshape(-1)
    learned = np.bincount(kinds[:n_learning], minlength=len(patterns))
    late = np.where(learned > 0, 0, counts)
    common = np.lexsort((-late, -learned))[:PATTERNS]
    found: dict[tuple[tuple[int, int], ...], list[tuple[int, int]]] = {}
    for here in common.tolist():
        for there in _released(patterns, here, [other for other in common.tolist() if learned[other]]):
            columns = np.flatnonzero(patterns[here] != patterns[there])
            key = tuple((int(j), int(patterns[here, j])) for j in columns)
            found.setdefault(key, []).append((here, there))
    sizes = {key: [-sum(int(of[at]) for at, _ in pairs) for of in (learned, late)] for key, pairs in found.items()}
    groups = []
    for key in sorted((key for key in found if sum(sizes[key]) < -1), key=sizes.__getitem__)[:GROUPS]:
        pairs = [pair for pair in found[key] if learned[pair[0]]] or found[key]
        at, between = (np.isin(kinds, [pair[side] for pair in pairs]) for side in (0, 1))
        values = tuple(float(atoms[j].values[tag - 1]) for j, tag in key)
        groups.append(Group(tuple(j for j, _ in key), values, at, between))
    return groups


def _released(patterns: IntArray, here: int, others: Sequence[int]) -> list[int]:
    """Return the patterns that are this one with the fewest of its atoms left."""
    freed = {
        other: int((patterns[other] != patterns[here]).sum())
        for other in others
        if other != here
        and ((patterns[other] == patterns[here]) | ((patterns[other] == 0) & (patterns[here] > 0))).all()
    }
    return [other for other, columns in freed.items() if columns == min(freed.values())]


def masses(
    density: LogDensity,
    drawn: FloatArray,
    log_drawn: FloatArray,
    atoms: Sequence[Atoms],
    n_learning: int,
    rng: np.random.Generator,
) -> Iterator[Mass]:
    """Yield how the masses of the atoms agree with the density, by the draws that were not learned from.

    Readings: the value is an atom beside draws that are continuous, or (in a discrete column) beside values that count
    as it does (of whole numbers the only one); or it stands for its cell of a grid, and is drawn no more often than the
    density gives to that cell. Whole numbers are not refuted here: they may stand for cells of any width.
    """
    known = learned_atoms(density, drawn[:n_learning], atoms)
    for group in groups_of(drawn, atoms, n_learning):
        training = drawn[:n_learning][group.between[:n_learning]]
        kinds = {atoms[j].kind for j in group.columns}
        readings = (True,) if "whole" in kinds else (False, True) if kinds == {"discrete"} else (False,)
        of_atom, of_cell = [], 0.0
        for listed in readings if len(training) >= LEAST else ():
            places = [Places.of(training[:, j], listed=listed) for j in group.columns]
            ratios = _ratios(density, group, places, drawn[n_learning:], log_drawn[n_learning:], rng)
            if ratios is not None:
                of_atom.append(_capital(ratios, 0.0, (1.0, -1.0)))
                if not listed:
                    cells = (_log_cell(v, training[:, j]) for j, v in zip(group.columns, group.values, strict=True))
                    of_cell = _capital(ratios, sum(cells), (-1.0,))
        capital = min(of_atom, default=0.0)
        told = int(group.at[:n_learning].sum()) >= TOLD
        told = told and all(value in known[j] for j, value in zip(group.columns, group.values, strict=True))
        yield Mass(
            group.words,
            math.exp(-capital) if of_atom else 0.0,
            math.exp(-min(capital, of_cell)) if told and of_atom else 1.0,
            int(group.at[n_learning:].sum()),
            told,
        )


def _ratios(
    density: LogDensity,
    group: Group,
    places: Sequence[Places],
    drawn: FloatArray,
    log_drawn: FloatArray,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray] | None:
    """Return log ratios of the density between the atoms to that of what is moved there from atoms of width 1.

    At the draws (infinite where they do not lie between) and at the images (minus infinity where a draw has none). None
    if there is one place only, or the density refuses too many points.
    """
    if any(len(each.edges) < 2 for each in places):
        return None
    at, between = (np.flatnonzero(rows[-len(drawn) :]) for rows in (group.at, group.between))
    images, origins, columns = drawn[at], drawn[between], list(group.columns)
    log_places = sum(each.log_density(origins[:, j]) for j, each in zip(columns, places, strict=True))
    origins[:, columns] = group.values
    images[:, columns] = np.column_stack([each.drawn(len(at), rng) for each in places])
    log_there = sum(each.log_density(images[:, j]) for j, each in zip(columns, places, strict=True))
    of_draws, of_images = np.full(len(drawn), np.inf), np.full(len(drawn), -np.inf)
    try:
        of_draws[between] = difference(log_drawn[between], density(origins) + log_places)
        of_images[at] = difference(density(images), log_drawn[at] + log_there)
    except RefusedError:
        return None
    return of_draws, of_images


def _capital(ratios: tuple[FloatArray, FloatArray], log_width: float, signs: Sequence[float]) -> float:
    """Return the log of the largest capital of bets on more draws between the atoms (1) and on more draws at them (-1).

    Each has all of ``LOTS`` as its stakes.
    """
    frame = Frame(np.zeros(1), np.ones(1), ())
    views = (PointsView(np.empty((len(each), 0)), expit(each - log_width), frame) for each in ratios)
    sides, paths = Sides(*views), []
    for sign in signs:
        for lot in LOTS:
            bet = Everywhere(sign) if lot < 1 else Rare(0.97 / lot, sign > 0)
            paths.append(np.cumsum(np.log1p(lot * payoffs(bet, sides))))
    return even_capital(paths)


def _log_cell(value: float, rest: FloatArray) -> float:
    """Return the log width of the cell of a value: half way to its neighbours, as far on a side without one."""
    below, above = rest[rest < value], rest[rest > value]
    down = value - float(below.max()) if below.size else math.inf
    up = float(above.min()) - value if above.size else math.inf
    down, up = (min(down, up) if math.isinf(gap) else gap for gap in (down, up))
    return math.log(down / 2 + up / 2)

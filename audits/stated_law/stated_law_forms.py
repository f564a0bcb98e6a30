"""Have outputs of each form the mass that the stated density gives them?

Outputs of one form are moved to another, which may have more numbers, or fewer: theirs are left behind, and others are
drawn from a law that was learned for the other form. The derivation is in ``docs/derivations/stated_law.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mechanisms.data.dataset import FloatArray

from .stated_law_columns import Column
from .stated_law_masses import LEAST, Places
from .stated_law_moves import Moved

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
    forms = refills_of(learning, of_forms, columns)
    for step in sorted({1, len(forms) // 4, len(forms) // 2} - {0}) if len(forms) > 1 else ():
        yield Exchange(f"outputs of other forms, {step} along", of_forms, forms, step, rng)


def refills_of(learning: FloatArray, of_forms: int, columns: Sequence[Column]) -> tuple[Refill, ...]:
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
                shown = np.array([form.symbol for form in refills_of(drawn[:n_learning], column.index, columns)])
            share = 1.0 - float(np.isin(drawn[:, column.index], shown).mean())
            if share > UNSHOWN:
                return f"{share:.1%} of the outputs are of forms that are too rare to be compared"
    return ""

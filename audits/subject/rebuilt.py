"""Outputs that are objects, as rows that a stated density is asked about, and such rows as outputs again."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mechanisms.data.dataset import FloatArray

from .forms import Form, Printing, built, form_of, in_units, printing_of
from .output_leaves import ABSENT, symbol, take_apart

#: Stands in a row for a number that an output does not have.
MISSING = math.inf
#: Whole numbers of which this share repeats belong to the form, where outputs differ in form.
REPEATED = 0.9

_INDEX = re.compile(r"\[\d+\]")


class Known(NamedTuple):
    """A form, for each of its numbers the column that holds it (or none), and those that belong to the form."""

    form: Form
    columns: tuple[int | None, ...]
    own: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Rebuilt:
    """Rows of objects: their numbers, those of one place in one column, and in the last column a symbol of the form.

    Attributes
    ----------
    printing : mapping
        How numbers are printed in texts.
    columns : mapping
        The column of each place of a number.
    known : mapping
        The forms that were read so far, by their symbols.
    """

    printing: Printing
    columns: dict[str, int]
    known: dict[float, Known] = field(default_factory=dict, repr=False)
    _symbols: dict[Any, float] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, outputs: Sequence[Any]) -> Rebuilt | None:
        """Return how outputs like these become rows; None if one of them is not what its row makes again."""
        try:
            printing = printing_of(outputs)
            read = [_read(output, printing) for output in outputs]
            places = dict.fromkeys(place for _, numbers in read for place, _ in numbers)
            several = len({form for form, _ in read}) > 1
            fixed = _repeated([numbers for _, numbers in read]) if several else set()
            columns = [place for place in places if _group(place) not in fixed]
            found = cls(printing, {place: i for i, place in enumerate(columns)})
            again, possible = found.outputs(found.rows(outputs))
        except Exception:  # an object of the user's own that cannot be looked at, or not be made of numbers
            return None
        same = all(take_apart(one)[::2] == take_apart(other)[::2] for one, other in zip(again, outputs, strict=False))
        return found if outputs and bool(possible.all()) and same else None

    @property
    def frames(self) -> bool:
        """Whether there are data frames, or series, among the outputs, or in them."""
        return any(
            "'frame'" in form or "'series'" in form for form in (repr(each.form) for each in self.known.values())
        )

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.columns) + 1

    def rows(self, outputs: Sequence[Any]) -> FloatArray:
        """Return the rows of outputs, shape ``(n, width)``; "absent" throughout where there is no form."""
        rows = np.full((len(outputs), self.width), ABSENT)
        for row, output in zip(rows, outputs, strict=True):
            try:
                form, numbers = _read(output, self.printing)
            except Exception:  # an object of the user's own that cannot be looked at
                continue
            row[:] = MISSING
            row[-1] = self._symbol(form, numbers)
            for place, value in numbers:
                if place in self.columns:
                    row[self.columns[place]] = value
        return rows

    def outputs(self, rows: FloatArray) -> tuple[list[Any], NDArray[np.bool_]]:
        """Return the outputs of the rows that are outputs, and which these are."""
        made, possible = [None] * len(rows), np.zeros(len(rows), dtype=np.bool_)
        for value in np.unique(rows[:, -1]).tolist():
            if value not in self.known:
                continue
            form, columns, own = self.known[value]
            at = np.flatnonzero(rows[:, -1] == value)
            at = at[self._are(self.known[value], rows[at])]
            possible[at] = True
            numbers = (np.full(len(at), v) if c is None else rows[at, c] for c, v in zip(columns, own, strict=True))
            for place, output in zip(at.tolist(), built(form, numbers, len(at)), strict=True):
                made[place] = output
        return [made[place] for place in np.flatnonzero(possible).tolist()], possible

    def _symbol(self, form: Form, numbers: Sequence[tuple[str, float]]) -> float:
        """Return the symbol of a form with the numbers that belong to it, which is known from then on."""
        columns = tuple(self.columns.get(place) for place, _ in numbers)
        own = tuple(value if column is None else 0.0 for column, (_, value) in zip(columns, numbers, strict=True))
        if (form, own) not in self._symbols:
            self._symbols[form, own] = found = symbol(repr((form, own)))
            self.known[found] = Known(form, columns, own)
        return self._symbols[form, own]

    def _are(self, known: Known, rows: FloatArray) -> NDArray[np.bool_]:
        """Return which rows of a form are outputs: no number lacks or is too many, and printed ones are whole units."""
        there = np.isin(np.arange(self.width), [self.width - 1, *(c for c in known.columns if c is not None)])
        whole = [c for c, units in zip(known.columns, in_units(known.form), strict=True) if units and c is not None]
        right = (np.isfinite(rows) == there).all(axis=1) & (rows[:, whole] == np.rint(rows[:, whole])).all(axis=1)
        return np.asarray(right)


def _read(output: Any, printing: Printing) -> tuple[Form, list[tuple[str, float]]]:
    numbers: list[tuple[str, float]] = []
    form = form_of(output, printing, lambda place, value: numbers.append((place, value)))
    return form, numbers


def _group(place: str) -> str:
    """Return where a number stands but for the place in the outermost list, whose length may be what differs."""
    return _INDEX.sub("[*]", place, count=1)


def _repeated(read: Sequence[Sequence[tuple[str, float]]]) -> set[str]:
    """Return the groups of places that hold whole numbers which repeat: indices, codes, small counts."""
    values: dict[str, list[float]] = {}
    for numbers in read:
        for place, value in numbers:
            values.setdefault(_group(place), []).append(value)
    return {
        group
        for group, each in values.items()
        if all(value.is_integer() for value in each) and _share(each) >= REPEATED
    }


def _share(values: Sequence[float]) -> float:
    """Return the share of values that are not alone."""
    _, counts = np.unique(values, return_counts=True)
    return float(counts[counts > 1].sum()) / len(values)

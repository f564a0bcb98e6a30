"""Records as a release takes them: columns with a public range or public levels, made of rows of the public ball.

Pairs of data sets are built of rows of norm at most ``x_bound`` and responses of size at most ``y_bound``. Each column
of a record is a function of one of these coordinates alone, so data sets that are neighbours stay neighbours.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mechanisms import Dataset
from mechanisms.data.dataset import FloatArray

#: Levels of a column that are named in a sentence.
SHOWN = 4
FORMS = "a mapping from columns to (low, high) or to a list of levels, or one of these for records that are one value"


@dataclass(frozen=True)
class Range:
    """A column of numbers from ``low`` to ``high``, whole ones where both ends are ``int``."""

    low: float
    high: float

    def values(self, part: FloatArray) -> Any:
        """Return the values at these parts of the range, in [0, 1]."""
        if not isinstance(self.low, int) or not isinstance(self.high, int):
            return self.low + part * (self.high - self.low)
        return self.low + np.minimum(np.floor(part * (self.high - self.low + 1)), self.high - self.low).astype(np.int64)


@dataclass(frozen=True)
class Levels:
    """A column that has one of these values."""

    levels: tuple[Any, ...]

    def values(self, part: FloatArray) -> Any:
        """Return the levels at these parts of their list, in [0, 1]."""
        places = np.minimum((part * len(self.levels)).astype(np.int64), len(self.levels) - 1)
        return [self.levels[place] for place in places]


@dataclass(frozen=True)
class RawRecords:
    """The records of a data set as a release takes them: all columns, and the last one apart."""

    whole: Any
    X: Any
    y: Any


@dataclass(frozen=True)
class PublicRecords:
    """Which values the columns of a record may have; of records that are one value, the column has no name.

    Examples
    --------
    >>> public = PublicRecords.of({"age": (17, 90), "sex": ["f", "m"]})
    >>> public.of_rows(Dataset([[1.0], [-1.0], [0.0]], [1.0, -1.0, 0.0], 1.0, 1.0)).whole
       age sex
    0   90   m
    1   17   f
    2   54   m
    """

    columns: Mapping[str, Range | Levels]

    @classmethod
    def of(cls, given: Any) -> PublicRecords:
        """Return the records that a call or a configuration describes.

        Raises ValueError if it is none.
        """
        if isinstance(given, PublicRecords):
            return given
        named = isinstance(given, Mapping) and set(given) != {"low", "high"}
        if not given or (named and not all(isinstance(name, str) and name.strip() for name in given)):
            raise ValueError(f"records must be {FORMS}, got {given!r:.60}")
        return cls({name: _column(each) for name, each in given.items()} if named else {"": _column(given)})

    @property
    def dim(self) -> int:
        """Columns of X that the rows must have: the last column of a record is made of the response."""
        return max(1, len(self.columns) - 1)

    @property
    def words(self) -> str:
        """What a record may be, in one line: ``age from 17 to 90, sex of f, m``."""
        said = []
        for name, each in self.columns.items():
            few = ", ".join(map(str, each.levels[:SHOWN])) if isinstance(each, Levels) else ""
            more = ", ..." * (isinstance(each, Levels) and len(each.levels) > SHOWN)
            of = f"of {few}{more}" if isinstance(each, Levels) else f"from {each.low} to {each.high}"
            said.append(f"{name or 'values'} {of}")
        return ", ".join(said)

    def one_by_one(self, dataset: Dataset) -> list[str]:
        """Return each record of a data set in words: ``age 17, sex f``, or its value."""
        whole = self.of_rows(dataset).whole
        if "" in self.columns:
            return [str(value) for value in whole]
        rows = whole.to_dict("records")
        return [
            ", ".join(
                f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}" for name, value in row.items()
            )
            for row in rows
        ]

    def plain(self) -> Any:
        """Return what a configuration says of them."""
        said = {
            name: {"low": each.low, "high": each.high} if isinstance(each, Range) else list(each.levels)
            for name, each in self.columns.items()
        }
        return said.get("", said)

    def of_rows(self, dataset: Dataset) -> RawRecords:
        """Return the records that stand for the rows of a data set.

        Raises ValueError if its rows are too short.
        """
        if dataset.dim < self.dim:
            raise ValueError(f"rows must have {self.dim} columns at least, got {dataset.dim}")
        wide = dataset.X * math.sqrt(dataset.dim) / dataset.x_bound  # the box in the ball is [-1, 1]^dim
        coordinates = [*wide[:, : len(self.columns) - 1].T, dataset.y / dataset.y_bound]
        parts = ((np.clip(each, -1.0, 1.0) + 1.0) / 2.0 for each in coordinates)
        made = {name: each.values(part) for (name, each), part in zip(self.columns.items(), parts, strict=True)}
        if "" in made:
            return RawRecords(made[""], made[""], made[""])
        import pandas as pd

        frame = pd.DataFrame(made)
        last = list(made)[-1]
        return RawRecords(frame, frame.drop(columns=last), frame[last])


def _column(given: Any) -> Range | Levels:
    if isinstance(given, Mapping) and set(given) == {"low", "high"}:
        given = (given["low"], given["high"])
    if isinstance(given, tuple) and len(given) == 2 and all(type(end) in (int, float) for end in given):
        if not (math.isfinite(given[1] - given[0]) and given[0] < given[1]):
            raise ValueError(f"records must have ranges of two finite numbers, the lower first, got {given}")
        return Range(*given)
    if isinstance(given, Sequence) and not isinstance(given, str | tuple) and len(given) > 1:
        if not all(isinstance(level, str | int | float | bool) for level in given):
            raise ValueError("records must have levels that are texts, numbers, true or false, got another kind")
        return Levels(tuple(given))
    raise ValueError(f"records must be {FORMS}, got {given!r:.60}")

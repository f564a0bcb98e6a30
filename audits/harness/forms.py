"""The form of an output: all of it but its numbers, and how outputs of one form are made of other numbers.

A form is nested tuples, so that equal ones are one key and each says how to fill it. A number that is printed in a text
counts as one only where it can be printed again, digit for digit, in the way that its place is printed in.

Outputs that are objects so become rows that a stated density is asked about, and such rows outputs again.
"""

from __future__ import annotations

import dataclasses
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mechanisms.data.dataset import FloatArray

from .output_leaves import (
    ABSENT,
    MAX_ARRAY,
    NUMBER,
    Refusal,
    Row,
    mapping_order,
    number_type,
    of_pandas,
    symbol,
    take_apart,
)

#: A form; its first member says of what kind.
Form = tuple[Any, ...]
#: How a number is printed: with so many decimals ("fixed"), rounded to so many of which the last zeros are left out
#: ("short"), or as Python prints a float ("float").
Printed = tuple[str, int]
#: How the numbers at places of texts are printed.
Printing = Mapping[str, Printed]
#: Takes a number out of an output: called with its place and its value.
Found = Callable[[str, float], None]
#: Beyond, float64 does not hold every whole number.
WHOLE = 2**53
#: Share of the numbers at a place of texts that are printed alike, where they are read as numbers.
ALIKE = 0.9
#: Most decimals of a number that was rounded.
MOST_DECIMALS = 9


def _form_of(output: Any, printing: Printing, found: Found, path: str = "") -> Form:
    """Return the form of an output, and hand over its numbers one by one.

    Raises ``TypeError`` if it holds what could not be made again.
    """
    if isinstance(output, bool | int | float | np.bool_ | np.integer | np.floating):
        return _number(output, found, path)
    if isinstance(output, str):
        return _text(output, printing, found, path)
    if output is None or output is getattr(sys.modules.get("pandas"), "NA", None) or isinstance(output, Enum | bytes):
        return "same", type(output), output
    if isinstance(output, np.ndarray) and output.dtype.kind in "biuf" and output.size <= MAX_ARRAY:
        for i, value in enumerate(output.reshape(-1).tolist()):
            if not _held(value):
                raise TypeError("an array must hold finite numbers that float64 holds")
            found(f"{path}[{i}]", float(value))
        return "array", output.dtype.str, output.shape
    members = [(key, _form_of(member, printing, found, f"{path}{key}")) for key, member in _members(output)]
    return (*_head(output), tuple(form for _, form in members))


def _head(output: Any) -> Form:
    if of_pandas(output, "DataFrame"):
        return "frame", tuple(output.columns), tuple(output.index), tuple(output.dtypes)
    if of_pandas(output, "Series"):
        return "series", output.name, tuple(output.index), output.dtype
    if isinstance(output, dict):
        return "mapping", tuple(output)
    return ("sequence" if isinstance(output, list | tuple) else "record"), type(output)


def _members(output: Any) -> Iterator[tuple[str, Any]]:
    """Yield the places and the members of a container, in the order of ``take_apart``."""
    if of_pandas(output, "DataFrame"):
        for j, (name, column) in enumerate(output.items()):
            yield f".{name} {j}", _cells(column)
    elif of_pandas(output, "Series"):
        yield "", _cells(output)
    elif isinstance(output, dict) and not isinstance(output, Row):
        for key in mapping_order(output):
            yield f".{key!r}", output[key]
    elif isinstance(output, list | tuple):
        for i, member in enumerate(output):
            yield f"[{i}]", member
    elif dataclasses.is_dataclass(output) and not isinstance(output, type | Refusal):
        for each in dataclasses.fields(output):
            yield f".{each.name}", getattr(output, each.name)
    else:
        raise TypeError(f"an output must be made of numbers and texts, got {type(output).__name__}")


def _cells(column: Any) -> Any:
    return column.to_numpy() if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf" else column.tolist()


def _held(value: Any) -> bool:
    return math.isfinite(value) and (not isinstance(value, int) or abs(value) < WHOLE)


def _number(output: Any, found: Found, path: str) -> Form:
    value = output.item() if isinstance(output, np.generic) else output
    if not _held(value):
        return "same", type(output), math.nan if value != value else value
    found(f"{path}[0]", float(value))
    return "number", number_type(output)


def _text(output: str, printing: Printing, found: Found, path: str) -> Form:
    """Return the form of a text: what stands between the numbers that can be printed again."""
    literals, printed, start = list[str](), list[Printed](), 0
    for i, match in enumerate(NUMBER.finditer(output)):
        how, token = printing.get(f"{path} number {i}"), match.group()
        if how is not None and _reprinted(token, how):
            literals.append(output[start : match.start()])
            printed.append(how)
            start = match.end()
            found(f"{path} number {i}", _read(token, how))
    return "text", (*literals, output[start:]), tuple(printed)


def _read(token: str, how: Printed) -> float:
    """Return a printed number; one with a limited number of decimals in units of the last one."""
    kind, decimals = how
    if kind == "fixed":
        return float(int(token.replace(".", "")))
    return float(token) if kind == "float" else float(round(float(token) * 10**decimals))


def _shown(value: float, how: Printed) -> str:
    """Return a number as it is printed: the inverse of ``_read``."""
    kind, decimals = how
    if kind != "fixed":
        return repr(value if kind == "float" else value / 10**decimals)
    whole, rest = divmod(abs(int(value)), 10**decimals)
    return f"{'-' if value < 0 else ''}{whole}" + (f".{rest:0{decimals}d}" if decimals else "")


def _reprinted(token: str, how: Printed) -> bool:
    """Return whether a printed number is what it would be printed as."""
    try:
        value = _read(token, how)
    except (ValueError, OverflowError):
        return False
    return math.isfinite(value) and (how[0] == "float" or abs(value) < WHOLE) and _shown(value, how) == token


def _printing_of(outputs: Sequence[Any]) -> dict[str, Printed]:
    """Return how numbers are printed in the texts of some outputs, at each place where nearly all are printed alike.

    Two decimals or more count as fixed only where zeros fill them, and as rounded only where most of the different
    numbers have them all: what a moved number would be printed as must be what the author would print.
    """
    tokens: dict[str, list[str]] = {}
    for output in outputs:
        for text, path in _texts(output, ""):
            for i, token in enumerate(NUMBER.findall(text)):
                tokens.setdefault(f"{path} number {i}", []).append(token)
    printing: dict[str, Printed] = {}
    for place, seen in tokens.items():
        counts = Counter(len(token.partition(".")[2]) for token in set(seen))
        common, n = counts.most_common(1)[0]
        filled = any(token.endswith("0") and _reprinted(token, ("fixed", common)) for token in seen)
        ways = [("fixed", common)] if common < 2 or filled else []
        ways += [("short", common)] if common == max(counts) <= MOST_DECIMALS and 2 * n > len(set(seen)) else []
        for how in (*ways, ("float", 0)):
            if sum(_reprinted(token, how) for token in seen) >= ALIKE * len(seen):
                printing[place] = how
                break
    return printing


def _texts(output: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(output, str):
        yield output, path
    elif (
        of_pandas(output, "DataFrame", "Series")
        or isinstance(output, dict | list | tuple)
        or dataclasses.is_dataclass(output)
    ):
        for key, member in _members(output):
            yield from _texts(member, f"{path}{key}")


def built(form: Form, columns: Iterator[FloatArray], n: int) -> list[Any]:
    """Return ``n`` outputs of a form, with the numbers of the next columns, in the order of ``_form_of``."""
    kind, *rest = form
    if kind == "same":
        return [rest[1]] * n
    if kind == "number":
        return _numbers(rest[0], next(columns))
    if kind == "text":
        literals, printed = rest
        shown = [[_shown(value, how) for value in next(columns).tolist()] for how in printed]
        pieces = [[literal] * n for literal in literals]
        ordered = [piece for pair in zip(pieces, shown, strict=False) for piece in pair] + [pieces[-1]]
        return ["".join(row) for row in zip(*ordered, strict=True)]
    if kind == "array":
        values = np.column_stack([np.empty((n, 0)), *(next(columns) for _ in range(math.prod(rest[1])))])
        return list(_whole(values, np.dtype(rest[0])).reshape(n, *rest[1]))
    members = [built(member, columns, n) for member in rest[-1]]
    if kind in ("frame", "series"):
        return _frames(form, members, n)
    rows = list(zip(*members, strict=True)) if members else [()] * n
    if kind == "mapping":
        order = mapping_order(dict.fromkeys(rest[0]))
        places = [order.index(key) for key in rest[0]]
        return [{key: row[place] for key, place in zip(rest[0], places, strict=True)} for row in rows]
    if kind == "sequence":
        return [rest[0](*row) if hasattr(rest[0], "_fields") else rest[0](row) for row in rows]
    names = [each.name for each in dataclasses.fields(rest[0])]
    return [rest[0](**dict(zip(names, row, strict=True))) for row in rows]


def _frames(form: Form, members: Sequence[Sequence[Any]], n: int) -> list[Any]:
    """Return data frames, or series, as parts of one that holds all: made one by one they take eight times as long."""
    import pandas as pd

    kind, labels, index, dtypes, _ = form
    if kind == "series":
        labels, dtypes = (labels,), (dtypes,)
    columns = [_long(cells, dtype) for cells, dtype in zip(members, dtypes, strict=True)]
    whole = pd.DataFrame(dict(enumerate(columns)), index=list(index) * n)
    whole.columns = pd.Index(labels)
    parts = [whole.iloc[i * len(index) : (i + 1) * len(index)] for i in range(n)]
    return parts if kind == "frame" else [part.iloc[:, 0] for part in parts]


def _long(cells: Sequence[Any], dtype: Any) -> Any:
    if isinstance(cells[0], np.ndarray):
        return np.concatenate(cells)
    return sys.modules["pandas"].array([cell for each in cells for cell in each], dtype=dtype)


def _whole(values: FloatArray, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    return values.astype(dtype) if dtype.kind != "f" and bool((values == np.rint(values)).all()) else values


def _numbers(of: str, values: FloatArray) -> list[Any]:
    """Return numbers of a type, or floats where one of them is none of that type."""
    kind: type = float
    if of[0] == "b":
        kind = bool if bool(np.isin(values, (0.0, 1.0)).all()) else float
    elif of[0] in "iu":
        kind = int if bool((values == np.rint(values)).all() and np.isfinite(values).all()) else float
    listed: list[Any] = values.tolist()
    return listed if kind is float else [kind(value) for value in listed]


def _in_units(form: Form) -> Iterator[bool]:
    """Yield for each number of a form whether it is counted in units of its last decimal, so that it is whole."""
    kind, *rest = form
    if kind == "text":
        yield from (how != "float" for how, _ in rest[-1])
    elif kind in ("number", "array"):
        yield from [False] * (math.prod(rest[1]) if kind == "array" else 1)
    elif kind != "same":
        for member in rest[-1]:
            yield from _in_units(member)


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
    """Rows of objects: their numbers, those of one place in one column, and in the last column a symbol of the form."""

    printing: Printing  #: how numbers are printed in texts
    columns: dict[str, int]  #: the column of each place of a number
    #: the forms that were read so far, by their symbols
    known: dict[float, Known] = field(default_factory=dict, repr=False)
    _symbols: dict[Any, float] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, outputs: Sequence[Any]) -> Rebuilt | None:
        """Return how outputs like these become rows; None if one of them is not what its row makes again."""
        try:
            printing = _printing_of(outputs)
            read = [_numbers_of(output, printing) for output in outputs]
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
                form, numbers = _numbers_of(output, self.printing)
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
        whole = [c for c, units in zip(known.columns, _in_units(known.form), strict=True) if units and c is not None]
        right = (np.isfinite(rows) == there).all(axis=1) & (rows[:, whole] == np.rint(rows[:, whole])).all(axis=1)
        return np.asarray(right)


def _numbers_of(output: Any, printing: Printing) -> tuple[Form, list[tuple[str, float]]]:
    numbers: list[tuple[str, float]] = []
    form = _form_of(output, printing, lambda place, value: numbers.append((place, value)))
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
    _, counts = np.unique(values, return_counts=True)
    return float(counts[counts > 1].sum()) / len(values)

"""What one call of ``draw`` returned, as its outputs: a block of numbers where it is one, otherwise a list."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from mechanisms.data.dataset import FloatArray

from .output_leaves import Leaf, Parts, Row, exact_floats, kinds_of, number_type, of_pandas, row_structure, take_apart

if TYPE_CHECKING:
    import pandas as pd


#: Types of numbers as Python calls them.
_NAMED = {"i8": "int", "f8": "float"}


@dataclass(frozen=True)
class Block:
    """Outputs that are arrays of numbers of one shape."""

    values: FloatArray  #: (n, k) array: one output a row, complex numbers as pairs; one zero and one NaN
    #: as in ``Parts``, the same for every row
    structure: str
    types: str
    paths: tuple[str, ...]  #: where in an output each column stands
    raw: Any = field(repr=False, compare=False)  #: what they were made of
    #: whether they are numbers that came one by one, not in an array
    scalars: bool = field(default=False, compare=False)
    #: of what kind they were where they came one by one as lists, or tuples, of floats
    rows_of: type | None = field(default=None, compare=False)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def kinds(self) -> str:
        """What counts of the types."""
        return kinds_of(self.types)

    def items(self) -> list[Any]:
        """Return the outputs themselves, one by one."""
        if self.rows_of is not None:
            return [self.rows_of(row) for row in self.raw.tolist()]
        return self.raw.to_dict("records") if of_pandas(self.raw, "DataFrame") else list(self.raw)

    def parts(self) -> Iterator[Parts]:
        """Yield the parts of each row."""
        for row in self.values.tolist():
            leaves = tuple(Leaf(path, value) for path, value in zip(self.paths, row, strict=True))
            yield Parts(self.structure, self.types, leaves)


#: The outputs of some calls, in order.
Outputs = Block | list[Any]


class WrongRows(ValueError):
    """A call for ``n_draws`` outputs returned another number of them."""


def outputs_of(returned: Any, n_draws: int) -> Outputs:
    """Return the outputs of one call.

    Accepted are arrays with ``n_draws`` rows (of any number of axes, or none), data frames and series with as many,
    mappings from names to columns of that length, and any other iterable of ``n_draws`` things. What a call for one
    output returned is that output itself if it is none of these.

    Raises ``WrongRows`` if more than one output was asked for and another number came.
    """
    for outputs in _shapes(returned, n_draws):
        return outputs
    if n_draws == 1:
        return as_outputs([returned])
    raise WrongRows("draw must return n_draws outputs, got another number of them")


def _shapes(returned: Any, n: int) -> Iterator[Outputs]:
    """Yield the outputs where ``returned`` holds ``n`` of them; nothing otherwise."""
    if of_pandas(returned, "DataFrame", "Series"):
        if len(returned) == n:
            yield _frame(returned) if of_pandas(returned, "DataFrame") else _series(returned)
    elif isinstance(returned, np.ndarray):
        if returned.ndim and len(returned) == n and n:
            yield _array(returned)
    elif isinstance(returned, Mapping):
        columns = list(returned.values())
        if columns and all(_is_column(column, n) for column in columns):
            rows = zip(*columns, strict=True)
            yield as_outputs([dict(zip(returned, row, strict=True)) for row in rows])
    elif isinstance(returned, list | tuple) and not hasattr(returned, "_fields"):
        if len(returned) == n:
            yield as_outputs(list(returned))
    elif hasattr(returned, "__array__") and len(getattr(returned, "shape", ())) > 0:
        yield from _shapes(np.asarray(returned), n)
    elif hasattr(returned, "__next__"):
        items = list(islice(returned, n + 1))
        if len(items) == n:
            yield as_outputs(items)


def _is_column(values: Any, n: int) -> bool:
    return hasattr(values, "__len__") and not isinstance(values, str | bytes) and len(values) == n


def _series(series: pd.Series[Any]) -> Outputs:
    return _array(series.to_numpy()) if _numeric(series.dtype) else as_outputs(series.tolist())


def _array(array: np.ndarray[Any, Any]) -> Outputs:
    if np.ma.isMaskedArray(array) or array.dtype.kind not in "biufc":
        return as_outputs(list(array)) if array.ndim < 2 or array.dtype.names else [list(row) for row in array]
    shape = array.shape[1:]
    values = exact_floats(array.reshape(len(array), -1)) if array.size else None
    if values is None:  # or rows without a number
        return list(array)
    paths = _places(values.shape[1])
    structure = row_structure(shape) + ("c" if array.dtype.kind == "c" else "")
    return Block(values, structure, array.dtype.str[1:], paths, array)


@lru_cache(maxsize=256)
def _places(width: int) -> tuple[str, ...]:
    return tuple(f"[{i}]" for i in range(width))


def _frame(frame: pd.DataFrame) -> Outputs:
    """Return the rows of a data frame; its index counts where it is not just 0, 1, 2, …"""
    names = [str(name) for name in frame.columns]
    named = {n if names.count(n) == 1 else f"{n} {i}": frame.iloc[:, i] for i, n in enumerate(names)}
    if not frame.index.equals(sys.modules["pandas"].RangeIndex(len(frame))):
        named["index"] = frame.index.to_series()
    if not all(_numeric(column.dtype) for column in named.values()):
        columns = [column.tolist() for column in named.values()]
        return [Row(zip(named, row, strict=True)) for row in zip(*columns, strict=True)]
    if not named:
        return [Row() for _ in range(len(frame))]
    columns_as_floats = [exact_floats(column.to_numpy()[:, None]) for column in named.values()]
    if any(column is None for column in columns_as_floats):
        return [Row(zip(named, row, strict=True)) for row in zip(*named.values(), strict=True)]
    parts = [column for column in columns_as_floats if column is not None]
    paths = tuple(f".{name}{i or ''}" for name, part in zip(named, parts, strict=True) for i in range(part.shape[1]))
    types = ",".join(column.to_numpy().dtype.str[1:] for column in named.values())
    return Block(np.concatenate(parts, axis=1), f"frame({','.join(paths)})", types, paths, frame)


def _numeric(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind in "biufc"


def as_outputs(items: list[Any]) -> Outputs:
    """Return a list of outputs, as a block where all are numbers, or arrays of numbers, of one shape and type."""
    if not items:
        return items
    first = items[0]
    if type(first) is np.ndarray and all(  # a mask would be lost
        type(item) is np.ndarray and item.shape == first.shape and item.dtype == first.dtype for item in items
    ):
        return _array(np.stack(items)) if first.dtype.kind in "biufc" and first.size else items
    if type(first) in (list, tuple) and _plain_rows(items, len(first)):
        found = _array(np.array(items, dtype=np.float64))
        return replace(found, rows_of=type(first)) if isinstance(found, Block) else found
    kind = number_type(first)
    if kind in ("f8", "f4", "i8", "i4", "b1", "c16") and all(number_type(item) == kind for item in items):
        array = np.array(items)
        if array.dtype.kind in "biufc" and array.shape == (len(items),):
            found = _array(array)
            return replace(found, scalars=array.dtype.kind != "c") if isinstance(found, Block) else found
    return items


def _plain_rows(items: list[Any], length: int) -> bool:
    return length > 0 and all(
        type(item) in (list, tuple) and len(item) == length and all(type(x) in (float, np.float64) for x in item)
        for item in items
    )


def in_blocks(items: Sequence[Any]) -> tuple[list[tuple[Block, list[int]]], list[int]]:
    """Return the outputs of a list that are arrays of numbers, in a block for each shape and type, and other places."""
    kinds: dict[tuple[Any, ...], list[int]] = {}
    others: list[int] = []
    for place, item in enumerate(items):
        if type(item) is np.ndarray:
            kinds.setdefault((np.ndarray, item.shape, item.dtype.str), []).append(place)
        elif type(item) in (list, tuple):
            kinds.setdefault((type(item), len(item)), []).append(place)
        else:
            others.append(place)
    blocks: list[tuple[Block, list[int]]] = []
    for places in kinds.values():
        block = as_outputs([items[place] for place in places])
        if isinstance(block, Block):
            blocks.append((block, places))
        else:
            others += places
    return blocks, others


def joined(parts: Sequence[Outputs]) -> list[Outputs]:
    """Return the outputs in the same order in as few pieces as their kinds allow."""
    blocks_joined: list[Outputs] = []
    for alike, group in groupby(parts, key=_kind):
        members = list(group)
        if alike is None:
            blocks_joined.append([item for part in members if isinstance(part, list) for item in part])
        elif len(members) == 1 or not alike[-1]:
            blocks_joined += members
        else:
            blocks = [part for part in members if isinstance(part, Block)]
            values = np.concatenate([block.values for block in blocks])
            raw = np.concatenate([block.raw for block in blocks])
            blocks_joined.append(replace(blocks[0], values=values, raw=raw))
    return blocks_joined


def _kind(outputs: Outputs) -> tuple[Any, ...] | None:
    if isinstance(outputs, list):
        return None
    of_array = isinstance(outputs.raw, np.ndarray)
    return outputs.structure, outputs.types, outputs.scalars, outputs.rows_of, np.shape(outputs.raw)[1:], of_array


def came_as_objects(parts: Sequence[Outputs]) -> bool:
    """Return whether outputs came one by one, and not all as arrays, as rows of a frame, or as lists of floats."""
    return any(isinstance(part, list) for part in parts) or all(
        isinstance(part, Block) and part.scalars for part in parts
    )


def as_objects(outputs: Outputs) -> list[Any]:
    """Return the outputs one by one."""
    return outputs if isinstance(outputs, list) else outputs.items()


def types_apart(first: Sequence[Outputs], second: Sequence[Outputs]) -> str:
    """Return in words the types of numbers of two data sets where nothing but these differs; empty where they agree."""
    sides = [
        {
            (part.structure, part.types)
            for outputs in side
            for part in ([outputs] if isinstance(outputs, Block) else all_parts(outputs))
        }
        for side in (first, second)
    ]
    alike = [{(structure, kinds_of(types)) for structure, types in side} for side in sides]
    if sides[0] == sides[1] or alike[0] != alike[1]:
        return ""
    named = [
        " or ".join(sorted({_NAMED.get(each, each) for _, types in side for each in re.split("[,|]", types) if each}))
        for side in sides
    ]
    return f"numbers are of type {named[0]} on the first data set and of type {named[1]} on the second"


def all_parts(outputs: Outputs) -> Iterator[Parts]:
    """Yield the parts of every output."""
    if isinstance(outputs, Block):
        yield from outputs.parts()
    else:
        for output in outputs:
            yield take_apart(output)

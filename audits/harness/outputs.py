"""Outputs as they are: any list of outputs as float64 rows of one width, equal outputs as equal rows.

| output | becomes |
|---|---|
| array of numbers, `n` rows of one shape and dtype | its numbers, a column each, and nothing else |
| integer, boolean, float of any size, data frame of numbers | the number |
| complex | two columns, real and imaginary part |
| integer beyond 2^53, `Decimal`, `Fraction`, long double | the nearest float64; a symbol of its exact value |
| `-0.0`, NaN, infinity | 0.0; one NaN; infinity |
| exception | a symbol of its type; never its message |
| text, bytes | a symbol; its length; a symbol of it without its numbers; the first eight numbers in it |
| None, missing value, enumeration, anything else | a symbol |
| list (of numbers: an array), tuple, set, mapping, frame, record, object | a column for each of its leaves by place |
| kind of number (``kinds_of``), structure (lengths, key sets, shapes) | a symbol each, where they differ |
| ragged or optional parts | "absent"; count, smallest, middle, largest, sum of each list or column of numbers |
| array of more than 4,096 numbers inside an object | a symbol of all, and their smallest, middle, largest and sum |
| the whole output | a symbol, unless its numbers say everything |
| `views=[...]` of the user's | a number, symbol or sequence for each output, appended as columns |

A symbol is a float that stands for a text (``output_leaves.symbol``). Which columns there are is learned
from a pilot of the pooled outputs of both data sets, blind to whose they are; columns that say nothing in it are left
out. An output of another structure or kind than the pilot's is its own symbol in every column that numbers would fill.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechanisms.data.dataset import FloatArray

from .output_leaves import (
    ABSENT,
    SYMBOLS,
    Parts,
    Refusal,
    summaries_of_few,
    summaries_of_rows,
    symbol,
    take_apart,
    whole_symbol,
)
from .returned import Block, Outputs, all_parts, as_outputs, in_blocks

#: Most columns for leaves by place, and for lists or columns of varying length, where structures differ.
MAX_LEAVES, MAX_GROUPS = 64, 16
#: With at most this many different outputs in the pilot, the symbol of the whole output says everything.
FEW = 8

_INDEX = re.compile(r"\[\d+\]")

#: Kind of a column, and which one of the kind.
Column = tuple[str, str]
WHOLE: Column = ("whole", "")


@dataclass(frozen=True)
class Layout:
    """The columns of one encoding."""

    #: where every output of the pilot is numbers of one structure (a few atoms aside): that structure, and the columns
    #: are its numbers; an output of another one is its symbol in each of them
    structure: str | None
    n_numbers: int  #: number of these columns
    #: Kinds of numbers that the pilot had (``kinds_of``); more than one add a column. Empty: they are ignored.
    types: tuple[str, ...]
    columns: tuple[Column, ...]  #: the columns where structures differ
    views: tuple[Callable[[Any], Any], ...] = ()  #: each with a layout of its own in ``view_layouts``
    view_layouts: tuple[Layout, ...] = ()

    @property
    def plain(self) -> bool:
        """Whether rows are the outputs' own numbers and nothing else."""
        return self.structure is not None and len(self.types) <= 1 and not self.views

    @property
    def width(self) -> int:
        """Number of columns."""
        own = len(self.columns) if self.structure is None else self.n_numbers + (len(self.types) > 1)
        return own + sum(layout.width for layout in self.view_layouts)

    @classmethod
    def learn(
        cls, pilot: Sequence[Outputs], *, views: Sequence[Callable[[Any], Any]] = (), types: bool = True
    ) -> Layout:
        """Return the layout for outputs like those of the pilot, which must not say whose they are.

        ``pilot``: of both data sets together. ``types``: whether the types of numbers are part of an output.
        """
        seen = tuple(Layout.learn([_seen(view, outputs) for outputs in pilot]) for view in views)
        single = _single_structure(pilot)
        if single is not None:
            structure, width, seen_types = single
            return cls(structure, width, seen_types if types else (), (), tuple(views), seen)
        parts = [part for outputs in pilot for part in all_parts(outputs)]
        columns = _columns(parts, types)
        return cls(None, 0, ("",) if types else (), columns, tuple(views), seen)

    def encode(self, outputs: Outputs) -> FloatArray:
        """Return the rows of some outputs, shape ``(n, width)``."""
        own = self._numbers(outputs) if self.structure is not None else self._general(outputs)
        if not self.views:
            return own
        pairs = zip(self.views, self.view_layouts, strict=True)
        return np.concatenate([own, *(layout.encode(_seen(view, outputs)) for view, layout in pairs)], axis=1)

    def _numbers(self, outputs: Outputs) -> FloatArray:
        if isinstance(outputs, Block) and outputs.structure == self.structure and self._knows(outputs.kinds):
            if len(self.types) <= 1:
                return outputs.values
            return np.column_stack([outputs.values, np.full(len(outputs), symbol(outputs.kinds))])
        rows = [self._row(part) for part in all_parts(outputs)]
        return np.array(rows, dtype=np.float64).reshape(len(rows), self.n_numbers + (len(self.types) > 1))

    def _knows(self, kinds: str) -> bool:
        return not self.types or kinds in self.types

    def _row(self, part: Parts) -> list[float]:
        if part.structure == self.structure and len(part.leaves) == self.n_numbers and self._knows(part.kinds):
            row = [leaf.value for leaf in part.leaves]
        else:
            row = [part.whole(types=bool(self.types))] * self.n_numbers
        return [*row, symbol(part.kinds)] if len(self.types) > 1 else row

    def _general(self, outputs: Outputs) -> FloatArray:
        types = bool(self.types)
        if isinstance(outputs, Block):
            return _block_rows(outputs, self.columns, types)
        rows = np.empty((len(outputs), len(self.columns)))
        blocks, others = in_blocks(outputs)
        for block, places in blocks:
            rows[places] = _block_rows(block, self.columns, types)
        for place in others:
            rows[place] = _row(take_apart(outputs[place]), self.columns, types)
        return rows


def _single_structure(pilot: Sequence[Outputs]) -> tuple[str, int, tuple[str, ...]] | None:
    """Return structure, width and types if all outputs are numbers of one structure, but for at most ``FEW`` atoms."""
    kinds: dict[str, int] = {}
    types: dict[str, set[str]] = {}
    others: set[float] = set()
    for outputs in pilot:
        if isinstance(outputs, Block):
            if len(outputs):
                kinds[outputs.structure] = outputs.values.shape[1]
                types.setdefault(outputs.structure, set()).add(outputs.kinds)
            continue
        for part in all_parts(outputs):
            if part.numeric and part.leaves:
                kinds[part.structure] = len(part.leaves)
                types.setdefault(part.structure, set()).add(part.kinds)
            else:
                others.add(part.whole())
    if len(kinds) != 1 or len(others) > FEW:
        return None
    ((structure, width),) = kinds.items()
    return structure, width, tuple(sorted(types[structure]))


def _row(part: Parts, columns: Sequence[Column], types: bool) -> list[float]:
    leaves = {leaf.path: leaf.value for leaf in part.leaves}
    groups: dict[str, float] | None = None
    row: list[float] = []
    for kind, which in columns:
        if kind == "leaf":
            row.append(leaves.get(which, ABSENT))
        elif kind == "group":
            groups = _groups(part) if groups is None else groups
            row.append(groups.get(which, ABSENT))
        elif kind == "leaves":
            row.append(float(len(part.leaves)))
        elif kind == "whole":
            row.append(part.whole(types=types))
        else:
            row.append(symbol(part.structure if kind == "structure" else part.kinds))
    return row


def _block_rows(block: Block, columns: Sequence[Column], types: bool) -> FloatArray:
    """Return the rows of a block, the same as ``_row`` of each of its outputs."""
    finite = np.isfinite(block.values).all(axis=1)
    rows = np.empty((len(block), len(columns)))
    if not finite.all():
        parts = list(block.parts())
        for place in np.flatnonzero(~finite):
            rows[place] = _row(parts[place], columns, types)
    values, places = block.values[finite], {path: i for i, path in enumerate(block.paths)}
    groups = _groups_of_block(values, block.paths) if any(kind == "group" for kind, _ in columns) else {}
    same = {"structure": symbol(block.structure), "types": symbol(block.kinds), "leaves": float(len(block.paths))}
    for i, (kind, which) in enumerate(columns):
        if kind == "leaf":
            rows[finite, i] = values[:, places[which]] if which in places else ABSENT
        elif kind == "group":
            rows[finite, i] = groups.get(which, ABSENT)
        elif kind == "whole":
            rows[finite, i] = [whole_symbol(block.structure, block.kinds if types else "", row) for row in values]
        else:
            rows[finite, i] = same[kind]
    return rows


def _groups_of_block(values: FloatArray, paths: Sequence[str]) -> dict[str, Any]:
    """Return the ``_groups`` of all rows of finite numbers, one value or one for each."""
    members: dict[str, list[int]] = {}
    for i, path in enumerate(paths):
        group = _group_of(path)
        if group != path:
            members.setdefault(group, []).append(i)
    groups: dict[str, Any] = {}
    for group, places in members.items():
        groups[f"{group} count"] = float(len(places))
        for name, column in summaries_of_rows(values[:, places]):
            groups[f"{group} {name}"] = column
    return groups


@lru_cache(maxsize=1 << 16)
def _group_of(path: str) -> str:
    return _INDEX.sub("[*]", path)


def _groups(part: Parts) -> dict[str, float]:
    """Return the summaries of each group of numbers whose places differ by indices only."""
    members: dict[str, list[float]] = {}
    for leaf in part.leaves:
        group = _group_of(leaf.path)
        if leaf.is_number and group != leaf.path:
            members.setdefault(group, []).append(leaf.value)
    groups_of: dict[str, float] = {}
    for group, values in members.items():
        groups_of[f"{group} count"] = float(len(values))
        for name, value in summaries_of_few(values):
            groups_of[f"{group} {name}"] = value
    return groups_of


def _columns(parts: Sequence[Parts], types: bool) -> tuple[Column, ...]:
    """Return the columns for outputs of several structures: the whole output's symbol, and what else says something."""
    wholes = np.array([part.whole(types=types) for part in parts])
    if len(np.unique(wholes)) <= FEW:
        return (WHOLE,)
    places = Counter(leaf.path for part in parts for leaf in part.leaves)
    of_parts = [_groups(part) for part in parts]
    several = {name for groups in of_parts for name, value in groups.items() if name.endswith(" count") and value > 1}
    sizes = Counter(name for groups in of_parts for name in groups if _count_of(name) in several)
    candidates: list[Column] = [("leaf", path) for path, _ in _most_common(places, MAX_LEAVES)]
    candidates += [("group", name) for name, _ in _most_common(sizes, 5 * MAX_GROUPS)]
    candidates += [("leaves", ""), ("structure", ""), *([("types", "")] if types else []), WHOLE]
    table = np.array([_row(part, candidates, types) for part in parts])
    return tuple(_telling(candidates, table))


def _count_of(name: str) -> str:
    return name.rpartition(" ")[0] + " count"


def _most_common(counts: Counter[str], most: int) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:most]


def _telling(candidates: Sequence[Column], table: FloatArray) -> list[Column]:
    """Return the columns that vary over the pilot and repeat no other one; the whole output's symbol always."""
    bits = np.ascontiguousarray(table.T).view(np.int64)
    whole = _partition(bits[-1])
    kept: list[Column] = []
    known: set[bytes] = set()
    for column, values, numbers in zip(candidates, bits, table.T, strict=True):
        only_symbols = bool((numbers >= SYMBOLS).all())
        repeats = values.tobytes() in known or (only_symbols and column != WHOLE and _partition(values) == whole)
        if column == WHOLE or not ((values == values[0]).all() or repeats):
            kept.append(column)
            known.add(values.tobytes())
    return kept


def _partition(values: NDArray[np.int64]) -> bytes:
    _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    return bytes(first[inverse].tobytes())


def _seen(view: Callable[[Any], Any], outputs: Outputs) -> Outputs:
    """Return what a view says of each output; a refusal is seen as it is, and a view's exception as one."""
    items = outputs.items() if isinstance(outputs, Block) else outputs
    viewed: list[Any] = []
    for item in items:
        try:
            viewed.append(item if isinstance(item, Refusal) else view(item))
        except Exception as stop:  # the user's own view; its message may quote the output
            viewed.append(Refusal(type(stop).__name__))
    return as_outputs(viewed)


def encode(outputs: Outputs, layout: Layout | None = None) -> FloatArray:
    """Return the rows of some outputs, by a layout learned from themselves unless one is given."""
    return (layout or Layout.learn([outputs])).encode(outputs)

"""Outputs from their numbers: what a stated density is asked about where outputs are objects and not rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mechanisms.data.dataset import FloatArray

from .output_leaves import mapping_order, take_apart


@dataclass(frozen=True)
class Rebuilt:
    """Outputs of one structure whose leaves are all numbers, in fixed places.

    Attributes
    ----------
    example : object
        One of them; the numbers of another go into its places.
    """

    example: Any = field(repr=False)

    @classmethod
    def of(cls, outputs: Sequence[Any]) -> Rebuilt | None:
        """Return how outputs like these are rebuilt; None if one of them is not what its numbers make again."""
        if not outputs:
            return None
        found = cls(outputs[0])
        return found if all(found._again(output) for output in outputs) else None

    def outputs(self, rows: FloatArray) -> list[Any]:
        """Return the outputs with the numbers of rows, shape ``(n, k)``."""
        return _filled(self.example, iter(rows.T))

    def _again(self, output: Any) -> bool:
        parts = take_apart(output)
        numbers = np.array([[leaf.value for leaf in parts.leaves]])
        try:
            again = take_apart(self.outputs(numbers)[0])
        except Exception:  # an object of the user's own that cannot be made of numbers
            return False
        return parts.numeric and (again.structure, again.leaves) == (parts.structure, parts.leaves)


def _filled(example: Any, columns: Iterator[FloatArray]) -> list[Any]:
    """Return objects like the example with the numbers of the next columns, in the order of ``take_apart``."""
    if isinstance(example, bool | int | float | np.bool_ | np.integer | np.floating):
        return _numbers(example, next(columns))
    if isinstance(example, np.ndarray) and example.dtype.kind in "iuf" and example.size:
        values = np.column_stack([next(columns) for _ in range(example.size)])
        whole = example.dtype.kind != "f" and bool((values == np.rint(values)).all())
        return list((values.astype(example.dtype) if whole else values).reshape(-1, *example.shape))
    if isinstance(example, dict):
        members = {key: _filled(example[key], columns) for key in mapping_order(example)}
        return [dict(zip(example, row, strict=True)) for row in zip(*(members[key] for key in example), strict=True)]
    if isinstance(example, tuple) and hasattr(example, "_fields"):
        return [type(example)(*row) for row in zip(*(_filled(member, columns) for member in example), strict=True)]
    if isinstance(example, list | tuple):
        return [type(example)(row) for row in zip(*(_filled(member, columns) for member in example), strict=True)]
    if dataclasses.is_dataclass(example) and not isinstance(example, type):
        names = [each.name for each in dataclasses.fields(example)]
        rows = zip(*(_filled(getattr(example, name), columns) for name in names), strict=True)
        return [dataclasses.replace(example, **dict(zip(names, row, strict=True))) for row in rows]
    raise TypeError(f"example must be made of numbers, got {type(example).__name__}")


def _numbers(example: Any, values: FloatArray) -> list[Any]:
    """Return numbers of the example's kind, or floats where one of them is none of that kind."""
    kind: type = float
    if isinstance(example, bool | np.bool_):
        kind = bool if bool(np.isin(values, (0.0, 1.0)).all()) else float
    elif isinstance(example, int | np.integer):
        kind = int if bool((values == np.rint(values)).all() and np.isfinite(values).all()) else float
    listed: list[Any] = values.tolist()
    return listed if kind is float else [kind(value) for value in listed]

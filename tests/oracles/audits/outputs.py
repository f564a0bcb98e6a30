"""What equal outputs are, spelt out literally, and exact tests by counting every arrangement."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Set
from fractions import Fraction
from typing import Any

import numpy as np

TYPES = {bool: "truth value", int: "real", float: "real", complex: "complex"}


def canonical(output: Any) -> Any:
    """A nested tuple that is equal for equal outputs and unequal for unequal ones; NaN counts as equal to NaN."""
    if output is None:
        return ("nothing",)
    if isinstance(output, str | bytes):
        return ("text" if isinstance(output, str) else "bytes", output)
    if isinstance(output, bool | int | float | complex):
        return ("number", TYPES[type(output)], number(output))
    if isinstance(output, list | tuple) and output and all(map(plain, output)):
        return ("reals", tuple(number(x) for x in output)) if len(output) > 1 else canonical(output[0])
    if isinstance(output, Mapping):
        return ("mapping", frozenset((str(key), canonical(value)) for key, value in output.items()))
    if isinstance(output, Set):
        return ("set", frozenset(canonical(item) for item in output))
    return (type(output).__name__, tuple(canonical(item) for item in output))


def plain(item: Any) -> bool:
    """A real number that float64 holds."""
    return type(item) is float or (type(item) is int and abs(item) < 2**53)


def number(value: Any) -> Any:
    """An exact number; -0.0 is 0, NaN is itself."""
    if isinstance(value, complex):
        return (number(value.real), number(value.imag))
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return Fraction(value)


def encode_one_by_one(outputs: list[Any], layout: Any) -> np.ndarray:
    """The rows of each output on its own."""
    return np.concatenate([layout.encode([output]) for output in outputs])


def more_hits_by_counting(hits: int, n: int, other_hits: int, other_n: int) -> float:
    """Share of all placements of the hits in which the first ``n`` places get at least as many."""
    places = list(itertools.combinations(range(n + other_n), hits + other_hits))
    return sum(sum(place < n for place in chosen) >= hits for chosen in places) / len(places)


def independence_by_permuting(first: list[bool], second: list[bool]) -> float:
    """Twice the smaller tail of the number of joint hits over all permutations of the second, at most 1."""
    seen = sum(a and b for a, b in zip(first, second, strict=True))
    counts = [sum(a and b for a, b in zip(first, p, strict=True)) for p in itertools.permutations(second)]
    high = sum(count >= seen for count in counts) / len(counts)
    low = sum(count <= seen for count in counts) / len(counts)
    return min(1.0, 2 * min(high, low))

"""What equal outputs are, spelt out literally, and exact tests by counting every arrangement."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Set
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from audits.harness.output_leaves import symbol

TYPE_NAMES = {bool: "b1", int: "i8", float: "f8"}
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


def literal_parts(output: Any, path: str = "") -> tuple[str, list[str], list[tuple[str, float, bool]]]:
    """Structure, types and leaves (place, value, whether a number) of what is made of numbers below 2**53, texts,
    None, lists, tuples, dicts and data frames with plain labels: each case written out, whatever came before."""
    if output is None:
        return "nothing", [], [(path, symbol("nothing None"), False)]
    if isinstance(output, str):
        leaves = [(path, symbol(output), False), (f"{path} length", float(len(output)), True)]
        found = re.findall(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", output)
        if found:
            rest = re.sub(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", "#", output)
            leaves.append((f"{path} without its numbers", symbol(rest), False))
        return "text", [], leaves + [(f"{path} number {i}", float(x) + 0.0, True) for i, x in enumerate(found[:8])]
    if isinstance(output, bool | int | float):
        return "(1,)", [TYPE_NAMES[type(output)]], [(f"{path}[0]", float(output) + 0.0, True)]
    if isinstance(output, np.ndarray) and output.dtype.kind in "bif":
        leaves = [(f"{path}[{i}]", float(x) + 0.0, True) for i, x in enumerate(output.ravel())]
        return str(output.shape), [output.dtype.str[1:]], leaves
    if isinstance(output, list | tuple) and output and all(map(plain, output)):
        types = "|".join(sorted({TYPE_NAMES[type(x)] for x in output}))
        return f"({len(output)},)", [types], [(f"{path}[{i}]", float(x) + 0.0, True) for i, x in enumerate(output)]
    if isinstance(output, list | tuple):
        name, members = type(output).__name__, [(f"[{i}]", x) for i, x in enumerate(output)]
    elif isinstance(output, pd.DataFrame):
        name = "frame"
        members = [(f".{label(column)}", output[column].to_numpy()) for column in output]
        if list(output.index) != list(range(len(output))):
            members.append((".index", output.index.to_numpy()))
    elif isinstance(output, np.ndarray):
        members = [(f"[{i}]", x) for i, x in enumerate(output.ravel())]
        name = f"array{output.shape}"
    else:
        quoted = {key: label(key) if label(key).isidentifier() else repr(label(key)) for key in output}
        name, members = "mapping", [(f".{quoted[key]}", output[key]) for key in sorted(output, key=quoted.get)]
    read = [literal_parts(member, path + at) for at, member in members]
    places = [""] * len(members) if name.startswith("array") else [f"{at}:" for at, _ in members]
    named = [at + inner for at, (inner, _, _) in zip(places, read, strict=True)]
    types = [each for _, types, _ in read for each in types]
    return f"{name}({','.join(named)})", types, [leaf for _, _, leaves in read for leaf in leaves]


def label(key: Any) -> str:
    return key if isinstance(key, str) else f"{type(key).__name__} {key!r}"


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

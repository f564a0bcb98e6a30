"""One output of any type, taken apart: its structure, its types, and its leaves, which are numbers or symbols.

A symbol is a float that stands for a text: ``2**100 (1 + h / 2**52)`` with 52 bits ``h`` of the text's BLAKE2b. It is
the same in every process and lies beyond most numbers, so that an event of a half-line can be "there was no number".
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import re
import struct
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from numbers import Number
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

#: Where the symbols begin.
SYMBOLS = 2.0**100
#: Arrays with more numbers than this are kept as one symbol and a few summaries.
MAX_ARRAY = 4096
#: Most numbers that are read out of one text.
MAX_NUMBERS = 8
#: Nested deeper than this, an output is read by its ``repr``.
MAX_DEPTH = 20

#: Types of the numbers that a list may mix and still be an array of float64, where each is below this.
REAL, WHOLE = frozenset({int, float, *(np.dtype(code).type for code in "bhilqBHILQefd")}), 2**53
#: A number in a text.
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")


@dataclasses.dataclass(frozen=True)
class Refusal:
    """An exception instead of an output."""

    kind: str  #: name of the exception's type; all that counts as output
    #: first line of its message, kept only where the data are public; takes no part in comparisons
    reason: str = dataclasses.field(default="", compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.kind}: {self.reason}" if self.reason else self.kind


#: How a call may end that is no exception, with the article that it is said with.
_ENDS = re.compile(r"error|closed|timeout|too long|(?:exit|signal|HTTP) .*")


def at_every_call(refusals: Sequence[str]) -> str:
    """Return in words that every call was refused, and how; the text of the first error only, where it has one.

    ``refusals``: at least one, as ``str`` of a ``Refusal`` gives it.

    Examples
    --------
    >>> at_every_call(["TypeError: no such column", "TypeError: another text"])
    'the code raised TypeError at every call (no such column)'
    >>> at_every_call(["HTTP 500"])
    'every call ended with HTTP 500'
    """
    kinds = list(dict.fromkeys(refusal.partition(": ")[0] for refusal in refusals))
    how = " or ".join("an error" if kind == "error" else kind for kind in kinds)
    text = refusals[0].partition(": ")[2]
    said = (
        f"every call ended with {how}" if any(map(_ENDS.fullmatch, kinds)) else f"the code raised {how} at every call"
    )
    return f"{said} ({text})" if text else said


def shown(line: str) -> str:
    """Return the beginning of a line of a message, without what a terminal would obey or no file could hold."""
    return "".join(char if char.isprintable() else "?" for char in line[:200])


class Row(dict[str, Any]):
    """One row of a data frame that a call returned with a row for each output."""


class Leaf(NamedTuple):
    """A number, or a symbol, and where in the output it was found."""

    path: str
    value: float
    is_number: bool = True


class Parts(NamedTuple):
    """What an output is made of; equal outputs have equal parts, unequal ones unequal parts (up to hash collisions)."""

    structure: str  #: kinds of containers, their lengths, key sets and shapes
    types: str  #: types of the numbers, in order
    leaves: tuple[Leaf, ...]

    @property
    def kinds(self) -> str:
        """What counts of the types of the numbers."""
        return kinds_of(self.types)

    @property
    def numeric(self) -> bool:
        """Whether every leaf is a number."""
        return all(leaf.is_number for leaf in self.leaves)

    def whole(self, *, types: bool = True) -> float:
        """Return the symbol of the whole output."""
        return whole_symbol(self.structure, self.kinds if types else "", [leaf.value for leaf in self.leaves])


def symbol(text: str | bytes) -> float:
    """Return the float that stands for a text; the same in every process."""
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    digest = hashlib.blake2b(raw, digest_size=8).digest()
    return SYMBOLS * (1.0 + (int.from_bytes(digest, "little") >> 12) / 2.0**52)


#: Stands in a column whose place an output does not have.
ABSENT = symbol("absent")


def _one_value(value: float) -> float:
    """Return the number with one representation of zero and of NaN."""
    return float("nan") if value != value else value + 0.0


def whole_symbol(structure: str, types: str, values: Sequence[float] | np.ndarray[Any, Any]) -> float:
    """Return the symbol of an output from its parts."""
    head = f"{structure}\0{types}\0".encode("utf-8", "surrogatepass")
    if isinstance(values, np.ndarray):
        return symbol(head + values.astype("<f8").tobytes())
    return symbol(head + struct.pack(f"<{len(values)}d", *values))


@lru_cache(maxsize=1 << 12)
def kinds_of(types: str) -> str:
    """Return what counts of the types of numbers: real ones of one value are one output, a truth value is none of them.

    Examples
    --------
    >>> kinds_of("i8,f4,Decimal,b1,c16")
    'f8,f8,f8,b1,c16'
    """
    return ",".join(each if each in ("", "b1", "c8", "c16", "c32") else "f8" for each in types.split(","))


def row_structure(shape: tuple[int, ...]) -> str:
    """Return the structure of an array of numbers; a scalar is an array of one."""
    return str(shape or (1,))


def take_apart(output: Any) -> Parts:
    """Return the parts of any output; what cannot be read is a symbol of its type and its ``repr``."""
    types: list[str] = []
    leaves: list[Leaf] = []
    try:
        structure = _walk(output, "", types, leaves, 0)
    except Exception:  # an object of the user's own that cannot be looked at is an output, too
        structure, types, leaves = f"unreadable {type(output).__name__}", [], [_unreadable("", output)]
    return Parts(structure, ",".join(types), tuple(leaves))


def _walk(output: Any, path: str, types: list[str], leaves: list[Leaf], depth: int) -> str:
    """Append what ``output`` holds to ``types`` and ``leaves``; return its structure."""
    reader = _any if depth > MAX_DEPTH else _FREQUENT.get(type(output), _any)
    return reader(output, path, types, leaves, depth)


def _any(output: Any, path: str, types: list[str], leaves: list[Leaf], depth: int) -> str:
    if depth > MAX_DEPTH:
        leaves.append(_unreadable(path, output))
        return "deep"
    if isinstance(output, Refusal):
        leaves.append(Leaf(path, symbol(f"refused {output.kind}"), False))
        return "refused"
    pandas = sys.modules.get("pandas")
    if output is None or output is getattr(pandas, "NA", None) or output is getattr(pandas, "NaT", None):
        leaves.append(Leaf(path, symbol(f"nothing {output}"), False))
        return "nothing"
    if isinstance(output, str | bytes | bytearray):
        return _text(output, path, leaves)
    if isinstance(output, Enum):
        leaves.append(Leaf(path, symbol(f"enum {type(output).__name__}.{output.name}"), False))
        return "enum"
    if isinstance(output, np.generic) and not isinstance(output, np.number | np.bool_):
        return _generic(output, path, types, leaves, depth)
    if isinstance(output, Number | np.bool_):
        return _number(output, path, types, leaves)
    if isinstance(output, np.ndarray):
        return _array(output, path, types, leaves, depth)
    if type(output) in (list, tuple) and _plain_numbers(output):
        types.append("|".join(sorted({number_type(x) for x in output})))
        return _array(np.array(output, dtype=np.float64), path, [], leaves, depth)
    if isinstance(output, Row):
        return _frame_row(output, path, types, leaves, depth)
    for name, members in _members(output):
        return _container(name, members, path, types, leaves, depth)
    leaves.append(_unreadable(path, output))
    return f"object {type(output).__name__}"


def _container(
    name: str, members: list[tuple[str, Any]], path: str, types: list[str], leaves: list[Leaf], depth: int
) -> str:
    inner = [f"{at}:{_walk(member, f'{path}{at}', types, leaves, depth + 1)}" for at, member in members]
    return f"{name}({','.join(inner)})"


def _frame_row(output: Row, path: str, types: list[str], leaves: list[Leaf], depth: int) -> str:
    """Read the row of a data frame as the rows of a frame of numbers are read, whatever else its call returned."""
    inner = []
    for name, value in output.items():
        before = len(leaves)
        inner.append(_walk(value, f"{path}.{name}", types, leaves, depth + 1))
        if inner[-1] in ("(1,)", "(1,)c"):
            added = leaves[before:]
            leaves[before:] = [leaf._replace(path=f"{path}.{name}{i or ''}") for i, leaf in enumerate(added)]
    if all(part in ("(1,)", "(1,)c") for part in inner):
        return f"frame({','.join(leaf.path for leaf in leaves if leaf.path.startswith(path))})"
    return f"frame({','.join(f'.{name}:{part}' for name, part in zip(output, inner, strict=True))})"


def _unreadable(path: str, output: Any) -> Leaf:
    try:
        shown = _ADDRESS.sub("", repr(output))
    except Exception:  # a ``repr`` of the user's own
        shown = ""
    return Leaf(path, symbol(f"object {type(output).__name__} {shown}"), False)


def _text(output: str | bytes | bytearray, path: str, leaves: list[Leaf]) -> str:
    kind, raw = ("text", output) if isinstance(output, str) else ("bytes", bytes(output))
    leaves.append(Leaf(path, symbol(raw), False))
    leaves.append(Leaf(f"{path} length", float(len(raw))))
    shown = raw if isinstance(raw, str) else raw.decode("latin-1")
    numbers = NUMBER.findall(shown)
    if numbers:
        leaves.append(Leaf(f"{path} without its numbers", symbol(NUMBER.sub("#", shown)), False))
        leaves += [Leaf(f"{path} number {i}", _one_value(float(text))) for i, text in enumerate(numbers[:MAX_NUMBERS])]
    return kind


def _generic(output: np.generic, path: str, types: list[str], leaves: list[Leaf], depth: int) -> str:
    """Structured records are mappings, texts are texts, times are the texts that they print as."""
    if isinstance(output, np.void) and output.dtype.names:
        fields = {name: output[name] for name in output.dtype.names}
        return "record " + _walk(fields, path, types, leaves, depth + 1)
    if isinstance(output, np.str_ | np.bytes_):
        return _walk(output.item(), path, types, leaves, depth + 1)
    return f"{output.dtype} " + _walk(str(output), path, types, leaves, depth + 1)


def number_type(output: Any) -> str:
    """Return the name of a number's type, the same for Python's and for NumPy's of the same size."""
    names = {bool: "b1", int: "i8", float: "f8", complex: "c16"}
    name = names.get(type(output))
    return name or (output.dtype.str[1:] if isinstance(output, np.generic) else type(output).__name__)


def _number(output: Any, path: str, types: list[str], leaves: list[Leaf]) -> str:
    types.append(number_type(output))
    if isinstance(output, complex | np.complexfloating):
        exact = [_real(part, f"{path}[{i}]", leaves) for i, part in enumerate((output.real, output.imag))]
        return "(1,)c" if all(exact) else "(1,)c!"
    return "(1,)" if _real(output, f"{path}[0]", leaves) else "(1,)!"


def _plain_numbers(output: Sequence[Any]) -> bool:
    """Return whether these are real numbers, some at least, that float64 holds."""
    if not output or not all(type(x) in REAL for x in output):
        return False
    return all(-WHOLE < x < WHOLE for x in output if isinstance(x, int | np.integer))


def _real(output: Any, path: str, leaves: list[Leaf]) -> bool:
    """Append a real number, and its exact value as a symbol where float64 does not hold it; return whether it does."""
    if isinstance(output, np.integer):  # compared with a float it would be rounded first
        output = int(output)
    if isinstance(output, Decimal) and output.is_nan():  # a signalling NaN compares with nothing
        leaves.append(Leaf(path, float("nan")))
        return True
    try:
        value = float(output)
    except OverflowError:
        value = float("inf") if output > 0 else float("-inf")
    except (TypeError, ValueError):
        leaves += [Leaf(path, float("nan")), Leaf(f"{path} exactly", symbol(repr(output)), False)]
        return False
    leaves.append(Leaf(path, _one_value(value)))
    exact = value != value or bool(value == output)
    if not exact:
        leaves.append(Leaf(f"{path} exactly", symbol(_exact_text(output)), False))
    return exact


def _exact_text(output: Any) -> str:
    if isinstance(output, int | np.integer):
        return hex(int(output))
    if isinstance(output, Decimal) and output.is_finite():  # equal numbers alike; no power of ten is worked out
        sign, digits, exponent = output.as_tuple()
        text = "".join(map(str, digits))
        shorter = text.rstrip("0")
        return f"{sign} {shorter.lstrip('0')} {int(exponent) + len(text) - len(shorter)}"
    return repr(output)


def _array(output: np.ndarray[Any, Any], path: str, types: list[str], leaves: list[Leaf], depth: int) -> str:
    if np.ma.isMaskedArray(output) or output.dtype.kind not in "biufc":
        inner = [_walk(item, f"{path}[{i}]", types, leaves, depth + 1) for i, item in enumerate(output.reshape(-1))]
        return f"array{output.shape}({','.join(inner)})"
    flat = output.reshape(-1)
    if flat.size > MAX_ARRAY and depth:
        return _large_array(output, path, types, leaves)
    types.append(output.dtype.str[1:])
    values = exact_floats(flat)
    if values is None:
        before = len(leaves)
        for i, item in enumerate(flat):
            _real(item, f"{path}[{i}]", leaves)
        return f"{row_structure(output.shape)}!{len(leaves) - before}"
    leaves += [Leaf(f"{path}[{i}]", value) for i, value in enumerate(values.tolist())]
    return row_structure(output.shape) + ("c" if output.dtype.kind == "c" else "")


def _large_array(output: np.ndarray[Any, Any], path: str, types: list[str], leaves: list[Leaf]) -> str:
    types.append(output.dtype.str[1:])
    flat = np.ascontiguousarray(output.reshape(-1)) + output.dtype.type(0)
    leaves.append(Leaf(path, symbol(flat.tobytes()), False))
    parts = np.abs(flat) if output.dtype.kind == "c" else flat
    numbers = np.asarray(parts, dtype=np.float64)
    finite = numbers[np.isfinite(numbers)]
    leaves += [Leaf(f"{path} {name}", value) for name, value in summaries(finite)]
    return row_structure(output.shape) + "large"


def summaries(values: np.ndarray[Any, Any]) -> list[tuple[str, float]]:
    """Return smallest, middle and largest value and the sum of finite numbers, shape ``(m,)``; none of no numbers."""
    if not values.size:
        return []
    with np.errstate(over="ignore", invalid="ignore"):
        named = {"smallest": values.min(), "middle": np.median(values), "largest": values.max(), "sum": values.sum()}
    return [(name, _one_value(float(value))) for name, value in named.items()]


def summaries_of_few(values: Sequence[float]) -> list[tuple[str, float]]:
    """Return the ``summaries`` of the finite ones among a few numbers, without an array."""
    finite = sorted(value for value in values if math.isfinite(value))
    if not finite:
        return []
    middle = 0.5 * finite[(len(finite) - 1) // 2] + 0.5 * finite[len(finite) // 2]
    total = 0.0
    for value in finite:  # one after the other, as in ``summaries_of_rows``: equal outputs must have equal sums
        total += value
    return [
        ("smallest", finite[0]),
        ("middle", _one_value(middle)),
        ("largest", finite[-1]),
        ("sum", _one_value(total)),
    ]


def summaries_of_rows(rows: np.ndarray[Any, Any]) -> list[tuple[str, np.ndarray[Any, Any]]]:
    """Return the ``summaries_of_few`` of each row of finite numbers, shape ``(n, m)`` with ``m`` of at least 1."""
    ordered, m = np.sort(rows, axis=1), rows.shape[1]
    with np.errstate(over="ignore", invalid="ignore"):
        middle = 0.5 * ordered[:, (m - 1) // 2] + 0.5 * ordered[:, m // 2]
        total = np.cumsum(ordered, axis=1)[:, -1]
    named = {"smallest": ordered[:, 0], "middle": middle, "largest": ordered[:, -1], "sum": total}
    return [(name, np.where(np.isnan(values), np.nan, values + 0.0)) for name, values in named.items()]


def exact_floats(flat: np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[np.float64]] | None:
    """Return numbers of any dtype as float64, complex ones as pairs; None if float64 does not hold one of them.

    Both zeros become one, and every NaN becomes one. Shape ``(…, k)`` stays, or becomes ``(…, 2 k)`` if complex.
    """
    if flat.dtype.kind == "c":
        flat = np.stack([flat.real, flat.imag], axis=-1).reshape(*flat.shape[:-1], 2 * flat.shape[-1])
    values = np.asarray(flat, dtype=np.float64) + 0.0
    if flat.dtype.kind in "iu" and flat.dtype.itemsize == 8 and values.size and np.abs(values).max() >= 2.0**53:
        return None
    if flat.dtype.kind == "f" and flat.dtype.itemsize > 8:
        with np.errstate(invalid="ignore"):
            if not ((values == flat) | np.isnan(values)).all():
                return None
    missing = np.isnan(values)
    if missing.any():
        values[missing] = np.nan
    return values


def of_pandas(value: Any, *names: str) -> bool:
    """Return whether a value has one of these types of pandas, which its maker has imported then; it takes long."""
    pandas = sys.modules.get("pandas")
    return isinstance(value, tuple(getattr(pandas, name, ()) for name in names))


def _members(output: Any) -> Iterator[tuple[str, list[tuple[str, Any]]]]:
    """Yield at most one name and list of members, where the output is a container."""
    if of_pandas(output, "DataFrame", "Series"):
        yield _frame_members(output)
    elif isinstance(output, Mapping):
        yield "mapping", _mapping_members(output)
    elif isinstance(output, tuple) and hasattr(output, "_fields"):
        yield type(output).__name__, [(f".{n}", v) for n, v in zip(output._fields, output, strict=True)]
    elif isinstance(output, Set):
        ordered = sorted(output, key=lambda item: _order(take_apart(item)))
        yield "set", [(f"[{i}]", item) for i, item in enumerate(ordered)]
    elif isinstance(output, Sequence):
        name = "list" if isinstance(output, list) else type(output).__name__
        yield name, [(f"[{i}]", item) for i, item in enumerate(output)]
    elif hasattr(output, "__array__"):
        yield type(output).__name__, [("", np.asarray(output))]
    elif dataclasses.is_dataclass(output) and not isinstance(output, type):
        fields = dataclasses.fields(output)
        yield type(output).__name__, [(f".{f.name}", getattr(output, f.name)) for f in fields]
    elif getattr(output, "__dict__", None) and not isinstance(output, type) and not callable(output):
        yield type(output).__name__, [(f".{name}", value) for name, value in sorted(vars(output).items())]


def mapping_order(output: Mapping[Any, Any]) -> list[Any]:
    """Return the keys of a mapping in the order in which its members are read."""
    return sorted(output, key=_place)


def _mapping_members(output: Mapping[Any, Any]) -> list[tuple[str, Any]]:
    return sorted(((_place(key), output[key]) for key in output), key=itemgetter(0))


def _place(key: Any) -> str:
    return f".{_quoted(_key(key))}"


def _frame_members(output: Any) -> tuple[str, list[tuple[str, Any]]]:
    index, pandas = output.index, sys.modules["pandas"]
    if output.ndim == 1:
        columns = [("", output.to_numpy())]
    else:
        names = output.columns.tolist()
        columns = [(f".{_key(name)}", values) for name, values in zip(names, _arrays(output, names), strict=True)]
    counted = type(index) is pandas.RangeIndex and index.start == 0 and index.step == 1
    if not counted and not index.equals(pandas.RangeIndex(len(output))):
        columns.append((".index", index.to_numpy()))
    return "frame" if output.ndim == 2 else "series", columns


def _arrays(frame: Any, names: Sequence[Any]) -> Sequence[np.ndarray[Any, Any]]:
    """Return the columns of a data frame; where pandas keeps arrays, without a series for each, which is slow."""
    kept: Any = getattr(frame, "_mgr", None)
    plain = type(frame) is sys.modules["pandas"].DataFrame and len(set(names)) == len(names)
    if plain and hasattr(kept, "column_arrays") and all(type(each.values) is np.ndarray for each in kept.blocks):
        return list(kept.column_arrays)
    return [frame[name].to_numpy() for name in names]


def _key(key: Any) -> str:
    return key if isinstance(key, str) else f"{type(key).__name__} {_ADDRESS.sub('', repr(key))}"


def _quoted(key: str) -> str:
    """Return a key that cannot be mistaken for several of them, nor for what follows it in a path."""
    return key if key.isidentifier() else repr(key)


def _order(parts: Parts) -> tuple[bool, tuple[float, ...], float]:
    """Sort members of a set: numbers by value, everything else by its symbol."""
    values = tuple(leaf.value for leaf in parts.leaves) if parts.numeric else ()
    return not parts.numeric, tuple(v if v == v else float("inf") for v in values), parts.whole()


def _float(output: Any, path: str, types: list[str], leaves: list[Leaf], depth: int) -> str:
    types.append("f8")
    leaves.append(Leaf(f"{path}[0]", _one_value(float(output))))
    return "(1,)"


#: Readers of the most frequent types, which ``_any`` finds after a dozen questions.
_FREQUENT: dict[type, Callable[[Any, str, list[str], list[Leaf], int], str]] = {
    float: _float,
    np.float64: _float,
    np.ndarray: _array,
    str: lambda output, path, types, leaves, depth: _text(output, path, leaves),
    dict: lambda output, path, *more: _container("mapping", _mapping_members(output), path, *more),
}

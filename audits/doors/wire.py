"""What is written to a mechanism behind a line of JSON, and how its answer is read.

A request is one line of JSON, an answer one line of JSON for each draw. Equal JSON values are equal outputs; how they
are spelt (white space, blank lines, ``2`` or ``2.0``) is not looked at.

A number is a float where it is that float, or what a float is written as; another one keeps its exact value. A list of
one thing is another value than the thing.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol

from ..subject.output_leaves import Refusal, shown
from ..subject.returned import WrongRows

#: Seeds are whole numbers below this, which every JSON reader holds.
SEEDS = 2**53


class AnswerCache(Protocol):
    """Where answers are kept, so that a stopped audit goes on without asking twice.

    What is kept holds outputs on private records. A line's bytes that are no UTF-8 are lone surrogates in its text; one
    that begins with a line's end says how a call ended without outputs.
    """

    def get(self, key: str) -> list[str] | None:
        """Return what was kept under a key; None if nothing was."""
        ...

    def put(self, key: str, lines: list[str]) -> None:
        """Keep lines under a key; called from several threads."""
        ...


class Single(list[Any]):
    """A list of one thing, which is not taken for the thing."""


@dataclass(frozen=True)
class PlainLine:
    """A line of an answer that is no JSON value: an output, other than the JSON text of the same characters.

    Attributes
    ----------
    text : str
        The line; bytes that are no UTF-8 as lone surrogates.
    """

    text: str


def read_answer(lines: Sequence[bytes], n_draws: int, *, public: bool = False) -> list[Any]:
    """Return the outputs that the lines of one answer hold.

    Parameters
    ----------
    lines : sequence of bytes
        Blank lines are no lines.
    n_draws : int
        Outputs that were asked for.
    public : bool
        Whether the text of an error may be kept as the reason of its refusal.

    Raises
    ------
    WrongRows
        If there are more or fewer lines than draws.
    """
    if len(lines) != n_draws:
        came, asked = _count(len(lines), "line"), _count(n_draws, "draw")
        raise WrongRows(f"an answer must have a line for each draw, got {came} for {asked}")
    return [read_line(line, public=public) for line in lines]


def _count(number: int, name: str) -> str:
    return f"{number} {name}" if number == 1 else f"{number} {name}s"


def read_line(line: bytes, *, public: bool = False) -> Any:
    """Return the output that one line holds.

    A number is a float unless float64 does not hold it: then it is a whole number or a ``Decimal``.
    ``{"error": "text"}`` is a refusal, another one for each text. What is no JSON (a name that stands twice in an
    object included) is a ``PlainLine``.
    """
    try:
        text = line.decode("utf-8")
        value = _singles((_EXACT if _LONG.search(text) else _DECODER).decode(text))
    except (ValueError, ArithmeticError, RecursionError):  # an exponent that is beyond all numbers included
        return PlainLine(line.decode("utf-8", "surrogateescape"))
    if isinstance(value, dict) and list(value) == ["error"] and isinstance(value["error"], str):
        return _refusal(value["error"], public)
    return value


def _whole(text: str) -> float | int:
    value = int(text)
    try:
        rounded = float(value)
    except OverflowError:
        return value
    return rounded if math.isfinite(rounded) and int(rounded) == value else value


def _real(text: str) -> float | Decimal:
    value, exact = float(text), Decimal(text)
    written = (Decimal(value), Decimal(repr(value)), Decimal(f"{value:.17g}"))
    return value if exact in written else exact


def _singles(value: Any) -> Any:
    """Return a value whose lists of one thing are marked."""
    if isinstance(value, list):
        inner = [_singles(item) if isinstance(item, list | dict) else item for item in value]
        return Single(inner) if len(inner) == 1 else inner
    return {name: _singles(item) for name, item in value.items()} if isinstance(value, dict) else value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read = dict(pairs)
    if len(read) < len(pairs):
        raise ValueError("a name stands twice")
    return read


_DECODER = json.JSONDecoder(parse_int=_whole, object_pairs_hook=_object)
_EXACT = json.JSONDecoder(parse_int=_whole, parse_float=_real, object_pairs_hook=_object)
#: What a number has in its text that may not be a float: more than 15 digits, or a large exponent.
_LONG = re.compile(r"[\d.]{17}|[eE][+-]?\d{3}")


def _refusal(text: str, public: bool) -> Refusal:
    lines = text.strip().splitlines() if public else []
    return Refusal(f"error #{short_digest(text.encode('utf-8', 'surrogatepass'))}", shown(lines[0]) if lines else "")


def short_digest(raw: bytes) -> str:
    """Return eight hexadecimal digits of SHA-256, which stand for a text that is not shown."""
    return hashlib.sha256(raw).hexdigest()[:8]

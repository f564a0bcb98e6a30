"""Strict JSON, both ways, for the frozen dataclasses of layout; a non-finite number is written as a string."""

from __future__ import annotations

import base64
import dataclasses
import functools
import json
import math
import types
import typing
from enum import Enum
from typing import Any, TypeVar

T = TypeVar("T")

_NON_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_KIND = "kind"
#: Metadata of a field that is left out where it has its default: what is written without it stays as it was.
LEFT_OUT = {"left out at its default": True}


def to_plain(value: object) -> Any:
    """Return the value as JSON types: a dataclass becomes an object whose ``kind`` names its class.

    >>> from reports.row import Fact
    >>> to_plain(Fact("draws", "1e6"))
    {'kind': 'Fact', 'label': 'draws', 'value': '1e6', 'link': ''}
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        held = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        left_out = {field.name for field in _optional(type(value)) if held[field.name] == field.default}
        fields = {name: to_plain(each) for name, each in held.items() if name not in left_out}
        return {_KIND: type(value).__name__, **fields}
    if isinstance(value, tuple):
        return [to_plain(item) for item in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def dumps(value: object) -> str:
    """Return strict JSON text (ASCII, no NaN literal) of a dataclass of layout."""
    return json.dumps(to_plain(value), allow_nan=False, indent=1)


def loads(text: str, expected: type[T]) -> T:
    """Return the dataclass ``expected`` from JSON text written by ``dumps``.

    Raises
    ------
    ValueError
        One line that names the place (``Document.sections[2].title``) and the rule: an unknown or missing field, a
        value of another type, a kind that is not allowed there, or a rule of the dataclass itself.
    """
    try:
        plain = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise ValueError(f"{expected.__name__} must be JSON text, got {error}") from None
    return from_plain(plain, expected)


def from_plain(plain: object, expected: type[T]) -> T:
    """Return the dataclass ``expected`` from JSON types; raises as ``loads``."""
    result: T = _decode(plain, expected, expected.__name__)
    return result


def _refuse_constant(name: str) -> float:
    raise ValueError(f"a number must be strict JSON, got {name}")


@functools.cache
def _optional(cls: Any) -> tuple[dataclasses.Field[Any], ...]:
    return tuple(field for field in dataclasses.fields(cls) if field.metadata == LEFT_OUT)


@functools.cache
def _hints(cls: type) -> dict[str, Any]:
    return typing.get_type_hints(cls)


def _decode(plain: Any, hint: Any, place: str) -> Any:
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        return _decode_union(plain, typing.get_args(hint), place)
    if origin is tuple:
        if not isinstance(plain, list):
            raise _wrong(place, "a list", plain)
        return tuple(_decode(item, typing.get_args(hint)[0], f"{place}[{i}]") for i, item in enumerate(plain))
    if dataclasses.is_dataclass(hint):
        return _decode_dataclass(plain, typing.cast(type, hint), place)
    if issubclass(hint, Enum):
        if plain not in [member.value for member in hint]:
            raise _wrong(place, " or ".join(str(member.value) for member in hint), plain)
        return hint(plain)
    return _decode_scalar(plain, hint, place)


def _decode_scalar(plain: Any, hint: type, place: str) -> Any:
    if hint is bytes and isinstance(plain, str):
        try:
            return base64.b64decode(plain, validate=True)
        except ValueError:
            raise _wrong(place, "base64 text", plain) from None
    if hint is float:
        if isinstance(plain, str) and plain in _NON_FINITE:
            return _NON_FINITE[plain]
        if isinstance(plain, int | float) and not isinstance(plain, bool):
            return float(plain)
    elif type(plain) is hint:
        return plain
    raise _wrong(place, {"str": "text", "float": "a number"}.get(hint.__name__, hint.__name__), plain)


def _decode_union(plain: Any, options: tuple[Any, ...], place: str) -> Any:
    if plain is None and type(None) in options:
        return None
    classes: dict[str, Any] = {}
    for option in options:
        if dataclasses.is_dataclass(option):
            classes[getattr(option, "__name__", "")] = option
    if isinstance(plain, dict):
        kind = plain.get(_KIND)
        if kind not in classes:
            raise _wrong(f"{place}.{_KIND}", " or ".join(classes) or "absent", kind)
        return _decode_dataclass(plain, classes[kind], place)
    scalars = [option for option in options if option is not type(None) and option not in classes.values()]
    if not scalars:
        raise _wrong(place, "an object", plain)
    return _decode(plain, scalars[0], place)


def _decode_dataclass(plain: Any, cls: type, place: str) -> Any:
    if not isinstance(plain, dict):
        raise _wrong(place, "an object", plain)
    if plain.get(_KIND) != cls.__name__:
        raise _wrong(f"{place}.{_KIND}", cls.__name__, plain.get(_KIND))
    hints = _hints(cls)
    plain = {field.name: to_plain(field.default) for field in _optional(cls)} | plain
    given = set(plain) - {_KIND}
    if given != set(hints):
        wrong = ", ".join(sorted(given ^ set(hints)))
        raise ValueError(f"{place} must have exactly the fields of {cls.__name__}, unknown or missing: {wrong}")
    values = {name: _decode(plain[name], hints[name], f"{place}.{name}") for name in hints}
    try:
        return cls(**values)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None


def _wrong(place: str, rule: str, plain: object) -> ValueError:
    shown = repr(plain)
    return ValueError(f"{place} must be {rule}, got {shown if len(shown) <= 60 else shown[:57] + '...'}")

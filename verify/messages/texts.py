"""Text files of the user, and what they hold: one line for whatever may be wrong with them."""

from __future__ import annotations

import json
import os
import shutil
import textwrap
import tomllib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .errors import UserError

#: Whole numbers are of 64 bits, as TOML promises no more.
SMALLEST, LARGEST = -(2**63), 2**63 - 1
#: Levels that tables and lists may be nested.
DEEPEST = 64


def read_text(path: Path, name: str, rule: str = "a readable file") -> str:
    """Return the text of a file that the user named.

    Raises
    ------
    UserError
        ``name must be <rule>, got name=path (why)``: no file, a folder, a pipe, a device, not UTF-8, not to be read.
    """
    try:
        if path.is_file():
            return path.read_bytes().decode()  # as it is: line ends count in a digest
        why = "a folder" if path.is_dir() else "no regular file" if path.exists() else "No such file or directory"
    except OSError as stop:
        why = stop.strerror or type(stop).__name__
    except MemoryError:
        why = "too large"
    except ValueError as stop:
        why = "not UTF-8 text" if isinstance(stop, UnicodeDecodeError) else "no name of a file"
    raise UserError(f"{name} must be {rule}, got {name}={path} ({why})")


def source_date() -> datetime | None:
    """Return the moment of ``SOURCE_DATE_EPOCH``, None where it is not set; UserError if it is no moment."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        if epoch and not epoch.isdecimal():
            raise ValueError
        return datetime.fromtimestamp(int(epoch), UTC) if epoch else None
    except (ValueError, OverflowError, OSError):
        rule = "a whole number of seconds from 1970 on, before the year 10000"
        raise UserError(f"SOURCE_DATE_EPOCH must be {rule}, got SOURCE_DATE_EPOCH={epoch}") from None


def toml_value(value: Any) -> str:
    """Return a value as TOML: a float with all its digits, a list of lists with a line for each.

    Examples
    --------
    >>> toml_value({"at": [0.1, 2], "name of it": "a"})
    '{ at = [0.1, 2], "name of it" = "a" }'
    """
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{toml_key(key)} = {toml_value(each)}' for key, each in value.items())} }}"
    if isinstance(value, list | tuple):
        row = "\n    " if any(isinstance(each, list | tuple) for each in value) else ""
        return f"[{', '.join(row + toml_value(each) for each in value)}]"
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    return repr(value.item() if hasattr(value, "item") else value)  # a number of NumPy's as the number itself


def toml_key(key: str) -> str:
    """Return a key as TOML, in quotes where it needs them."""
    return key if key.isascii() and key.replace("_", "").replace("-", "").isalnum() else toml_value(key)


def read_toml(text: str, name: str, shown: str) -> dict[str, Any]:
    """Return the tables of a TOML text.

    Raises ``UserError`` if it is none, is nested beyond reason, or has a whole number beyond 64 bits.
    """
    try:
        raw = tomllib.loads(text.removeprefix("\ufeff"))
        for place, value in walk(raw):
            if isinstance(value, int) and not SMALLEST <= value <= LARGEST:
                raise UserError(f"{place} must be a number of at most 64 bits, got a longer one in {shown}")
        return raw
    except RecursionError:
        raise UserError(f"{name} must be TOML of a few levels, got {shown}: nested too deeply") from None
    except ValueError as stop:  # of tomllib, or of a whole number with thousands of digits
        why = stop if isinstance(stop, tomllib.TOMLDecodeError) else "a number with too many digits"
        raise UserError(f"{name} must be TOML, got {shown}: {why}") from None


def walk(raw: Any, place: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield every value of nested tables and lists, with its place."""
    if depth > DEEPEST:
        raise RecursionError
    if isinstance(raw, dict):
        for key, value in raw.items():
            yield from walk(value, f"{place}.{key}" if place else str(key), depth + 1)
    elif isinstance(raw, list):
        for i, value in enumerate(raw):
            yield from walk(value, f"{place}[{i}]", depth + 1)
    else:
        yield place, raw


def read_json(text: str) -> Any:
    """Return what a strict JSON text holds; whatever is wrong with it is a ``ValueError``."""
    try:
        return json.loads(text, parse_constant=_strict)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _strict(constant: str) -> Any:
    raise ValueError(f"strict JSON has no {constant}")


#: Widest line of text, where the terminal has room for it.
WIDEST = 100


def _text_width() -> int:
    """Return how wide text is set."""
    return min(WIDEST, shutil.get_terminal_size((WIDEST, 0)).columns)


def labelled(label: str, text: str, indent: int) -> str:
    """Return a text beside its label, all its lines indented alike."""
    indents = {"initial_indent": label.ljust(indent), "subsequent_indent": " " * indent}
    return textwrap.fill(text, _text_width(), break_on_hyphens=False, **indents)  # type: ignore[arg-type]

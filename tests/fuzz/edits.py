"""Damage to a file: to its bytes, its lines, one place of a line of JSON, or to what kind of file it is."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: What a place of a JSON value may be replaced by, as JSON text (``NaN`` Python reads, and JSON forbids).
VALUES = (
    *("null", "true", "0", "-1", "1e308", "-0.0", "5e-324", "1e999", "NaN", "1" + "0" * 30, '""', '"text"', "[]", "{}"),
    *("[[]]", '{"a": {"a": 1}}', '"\\u0000"', '"\\ud800"', '"\\u202e"', '"1"', "[1, 2, 3]", "[" * 60 + "]" * 60),
)
DEEP = "[" * 100_000 + "]" * 100_000


@dataclass(frozen=True)
class Edit:
    """One damage: ``what`` is done to ``file``, at a share ``at`` of its bytes, lines or places, with ``value``."""

    file: str
    what: str
    at: float = 0.0
    value: str = ""


def apply(edit: Edit, folder: Path) -> None:
    """Damage a file."""
    path = folder / edit.file
    if edit.what in KINDS:
        path.unlink()
        KINDS[edit.what](path)
        return
    data = path.read_bytes()
    if edit.what in BYTES:
        path.write_bytes(BYTES[edit.what](data, int(edit.at * len(data)), edit.value))
    elif edit.what in LINES:
        lines = data.splitlines(keepends=True)
        path.write_bytes(b"".join(LINES[edit.what](lines, int(edit.at * len(lines)))))
    else:
        path.write_text(_in_json(data.decode(), edit), encoding="utf-8", errors="surrogatepass")


def _flip(data: bytes, at: int, value: str) -> bytes:
    return data[:at] + bytes([data[at] ^ (1 << int(value))]) + data[at + 1 :] if data else data


BYTES: dict[str, Any] = {
    "flip": _flip,
    "cut": lambda data, at, _: data[:at],
    "insert": lambda data, at, value: data[:at] + value.encode("latin-1") + data[at:],
    "empty": lambda *_: b"",
    "deep": lambda *_: DEEP.encode(),
    "random": lambda data, at, value: value.encode("latin-1"),
}
LINES: dict[str, Any] = {
    "drop line": lambda lines, at: lines[:at] + lines[at + 1 :],
    "double line": lambda lines, at: lines[:at] + lines[at : at + 1] * 2 + lines[at + 1 :],
    "swap lines": lambda lines, at: lines[:at] + lines[at + 1 : at + 2] + lines[at : at + 1] + lines[at + 2 :],
    "cut line": lambda lines, at: (
        lines[:at] + [line[: len(line) // 2] for line in lines[at : at + 1]] + lines[at + 1 :]
    ),
}
#: What stands where the file was.
KINDS: dict[str, Any] = {
    "gone": lambda _: None,
    "folder": lambda path: path.mkdir(),
    "pipe": os.mkfifo,
    "link to nothing": lambda path: path.symlink_to("nothing"),
    "link to itself": lambda path: path.symlink_to(path.name),
    "link to a device": lambda path: path.symlink_to("/dev/zero"),
}
JSON = ("replace", "rename", "remove", "double key", "deep value")


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return every place inside a JSON value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found: list[tuple[Any, ...]] = []
    for key, each in inside:
        found += [(*at, key), *places(each, (*at, key))]
    return found


def _in_json(text: str, edit: Edit) -> str:
    """Return text with one place of it changed; lines of JSON are counted as one list, shallow places first."""
    lines = text.splitlines() if edit.file.endswith(".jsonl") else [text]
    values = [json.loads(line) for line in lines]
    known = sorted(((number, *place) for number, value in enumerate(values) for place in places(value)), key=_order)
    number, *place = known[int(edit.at * len(known))]
    values[number] = _changed(values[number], place, edit)
    marked = json.dumps(values[number])
    lines[number] = marked.replace('"@raw@"', DEEP if edit.what == "deep value" else edit.value)
    return "\n".join(lines) + "\n"


def _order(place: tuple[Any, ...]) -> tuple[int, int]:
    return len(place), place[0]


def _changed(value: Any, place: list[Any], edit: Edit) -> Any:
    holder = value
    for key in place[:-1]:
        holder = holder[key]
    last = place[-1]
    match edit.what:
        case "remove":
            del holder[last]
        case "rename" if isinstance(holder, dict):
            holder[edit.value] = holder.pop(last)
        case "double key" if isinstance(holder, dict):
            holder[edit.value] = holder[last]
        case _:
            holder[last] = "@raw@"
    return value

"""A tree as TOML, tables by their headers; what TOML cannot say is not made."""

from __future__ import annotations

import datetime
import json
import re
from typing import Any

#: A value that stands in the text as it is (a date, a number too long for Python's float).
Raw = type("Raw", (str,), {"__doc__": "Text that stands as it is."})


def written(tree: dict[str, Any]) -> str:
    """Return the text of a configuration or grid."""
    plain = [f"{_key(key)} = {_value(value)}" for key, value in tree.items() if not _is_table(value)]
    for key, value in tree.items():
        if _is_table(value):
            head = f"[{_key(key)}]" if isinstance(value, dict) else f"[[{_key(key)}]]"
            for each in [value] if isinstance(value, dict) else value:
                plain += [head, *(f"{_key(name)} = {_value(inner)}" for name, inner in each.items())]
    return "\n".join(plain) + "\n"


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and bool(value) and all(isinstance(v, dict) for v in value)
    )


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    match value:
        case Raw():
            return str(value)
        case bool():
            return "true" if value else "false"
        case str():
            return _text(value)
        case datetime.date():
            return value.isoformat()
        case list() | tuple():
            return "[" + ", ".join(_value(each) for each in value) + "]"
        case dict():
            return "{" + ", ".join(f"{_key(key)} = {_value(each)}" for key, each in value.items()) + "}"
        case _:
            return repr(value)

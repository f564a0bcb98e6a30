"""A record that is not as it was written: line and key, by the JSON Schema, in one line that quotes no value."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import UserError
from .faults import keep_traceback
from .texts import read_json

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

#: What a reader raises that meets something else than was written. Good records pay nothing for it.
DAMAGE = (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RuntimeError, AssertionError, Warning)
_KINDS = {
    "object": "an object",
    "array": "a list",
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "null": "null",
}


@contextmanager
def as_written(path: Path, schema: str = "record") -> Iterator[None]:
    """Take what is raised while a record is read or shown for what it is: damage, told with line and key.

    Parameters
    ----------
    schema : str
        Which of the JSON Schemas that ship with the package says what its lines are.
    """
    try:
        yield
    except DAMAGE as stop:
        raise damaged(path, schema, stop) from stop


def damaged(path: Path, schema: str, stop: BaseException) -> UserError:
    """Return the line about a record whose reader was stopped by an exception."""
    try:
        found = where(path, schema)
    except (OSError, *DAMAGE):
        found = ""
    return UserError(
        f"record must be as pdp-verify wrote it, got record={path} "
        f"({found or f'{type(stop).__name__}, {keep_traceback(stop)}'})"
    )


def where(path: Path, schema: str) -> str:
    """Return the first line and key of a record that are not as the schema says, or nothing when all are."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    whole = json.loads(files("verify").joinpath(f"schemas/{schema}.schema.json").read_text(encoding="utf-8"))
    validators: dict[str, Any] = {}
    before: dict[str, int] = {}
    for number, line in enumerate(path.read_bytes().decode().removesuffix("\n").split("\n"), start=1):
        if before.setdefault(line, number) != number:
            return f"line {number}: the same as line {before[line]}"
        try:
            row = read_json(line)
        except ValueError as stop:
            return f"line {number}: {stop}"
        kind = row.get("kind") if isinstance(row, dict) else None
        if not isinstance(kind, str) or kind not in whole["$defs"]:
            return f"line {number}: no row of a known kind"
        validator = validators.setdefault(
            kind, Draft202012Validator({"$ref": f"#/$defs/{kind}", "$defs": whole["$defs"]})
        )
        error = best_match(validator.iter_errors(row))
        if error is not None:
            return f"line {number}: {_in_words(error)}"
        if (kind == "header") != (number == 1):
            return f"line {number}: {'a second header' if kind == 'header' else 'no header'}"
        if kind == "figure" and not _can_be_drawn(row["figure"]):
            return f"line {number}: 'figure' has lists that do not fit together"
    return ""


def _can_be_drawn(figure: Any) -> bool:
    from reports.codec import from_plain
    from reports.row import Figure, HeatMap

    try:
        return figure is None or bool(from_plain(figure, HeatMap if figure["kind"] == "HeatMap" else Figure))
    except DAMAGE:
        return False


def _in_words(error: ValidationError) -> str:
    """Return what is wrong, with the key; a value may be private and is not told."""
    key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path).lstrip(".")
    inside = f" in '{key}'" if key else ""
    rule: Any = error.validator_value
    if error.validator == "required":
        return f"no key '{next(name for name in rule if name not in error.instance)}'{inside}"
    if error.validator in ("additionalProperties", "unevaluatedProperties"):
        return f"an unknown key{inside}"
    if error.validator == "type":
        allowed = [rule] if isinstance(rule, str) else list(rule)
        return f"'{key}' is not {' or '.join(_KINDS[each] for each in allowed)}"
    return f"'{key}' has another value"

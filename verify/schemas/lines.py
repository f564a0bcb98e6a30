"""The lines of the five kinds of record: checked when they are read, and as JSON Schemas.

``python -m verify.schemas.lines`` writes the schemas of this folder again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from . import certificate_rows, run_rows, table_rows

DRAFT = "https://json-schema.org/draft/2020-12/schema"
LACKING = "Numbers that JSON lacks are the strings inf, -inf and nan."
#: Record -> its title, what it holds, and the type of each kind of line.
RECORDS: Mapping[str, tuple[str, str, Mapping[str, Any]]] = {
    "record": (
        "One line of audit.jsonl",
        f"The first line is the header; then statements, cases, figures and verdicts. {LACKING}",
        {
            "header": run_rows.RunHeader,
            "statement": run_rows.StatementRow,
            "case": run_rows.CaseRow,
            "figure": run_rows.StatementFigureRow,
            "verdict": run_rows.VerdictRow,
        },
    ),
    "calibration": (
        "One line of calibration.jsonl",
        "The first line is the header; then exact coverage, rates of false alarms, and mutants.",
        {
            "header": table_rows.CalibrationHeader,
            "exact": table_rows.ExactRow,
            **dict.fromkeys(("rate", "control", "prediction"), table_rows.RateRow),
            "mutant": table_rows.MutantRow,
        },
    ),
    "certificate": (
        "One line of a certificate's audit.jsonl",
        "The first line is the header; then what was released, then every claim with its checks and figures. "
        f"{LACKING}",
        {
            "header": certificate_rows.CertificateHeader,
            "release": certificate_rows.ReleaseRow,
            "claim": certificate_rows.ClaimRow,
            "check": certificate_rows.CheckRow,
            "figure": certificate_rows.ClaimFigureRow,
            "budget": certificate_rows.BudgetRow,
        },
    ),
    "sweep": (
        "One line of the table of a sweep",
        f"The first line is what every row depends on; then a row a cell. {LACKING}",
        {"sweep": table_rows.SweepHeader, "cell": table_rows.CellRow},
    ),
    "comparison": (
        "One line of comparison.jsonl",
        "The first line is what every row depends on; then a row for each mechanism, calibration and promise. "
        f"{LACKING}",
        {"header": table_rows.ComparisonHeader, "choice": table_rows.ChoiceRow},
    ),
    "run": (
        "run.json",
        "What is about the run and not about its findings: clock, host and command line.",
        {"run": run_rows.RunAbout},
    ),
}
#: What a value must be, by the error of a value that is not.
KINDS = {
    "dict_type": "an object",
    "list_type": "a list",
    "string_type": "text",
    "float_type": "a number",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "none_required": "null",
}


@cache
def checkers(record: str) -> Mapping[str, TypeAdapter[Any]]:
    """Return what checks each kind of line of a record."""
    types = RECORDS[record][2]
    adapters = {kind: TypeAdapter(kind) for kind in dict.fromkeys(types.values())}
    return {name: adapters[kind] for name, kind in types.items()}


def trouble(row: Any, record: str, number: int) -> str:
    """Return what is wrong with a line of a record, in words that tell the key and no value; empty when nothing is."""
    kind = row.get("kind") if isinstance(row, dict) else None
    checker = checkers(record).get(kind) if isinstance(kind, str) else None
    if checker is None:
        return "no row of a known kind"
    first = kind == next(iter(RECORDS[record][2]))
    if first != (number == 1):
        return "a second header" if first else "no header"
    try:
        checker.validate_python(row)
    except ValidationError as stop:
        return _in_words(row, stop.errors(include_url=False, include_input=False))
    if kind == "figure" and not _can_be_drawn(row["figure"]):
        return "'figure' has lists that do not fit together"
    return ""


def _in_words(row: Any, errors: list[ErrorDetails]) -> str:
    """Return the first of a line's errors in words; those of the same place, of which one must not be, are joined."""
    place, rule = _place(row, errors[0]), errors[0]["type"]
    key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).lstrip(".")
    inside = f" in '{key}'" if key else ""
    if rule == "missing":
        return f"no key '{errors[0]['loc'][-1]}'{inside}"
    if rule == "extra_forbidden":
        return f"an unknown key{inside}"
    kinds = [KINDS.get(error["type"]) for error in errors if _place(row, error) == place]
    allowed = list(dict.fromkeys(kind for kind in kinds if kind))
    return f"'{key}' is not {' or '.join(allowed)}" if allowed and None not in kinds else f"'{key}' has another value"


def _place(row: Any, error: ErrorDetails) -> tuple[str | int, ...]:
    """Return where in a line an error is: its location without the names of types in between, and what is lacking."""
    path: list[str | int] = []
    location = error["loc"][:-1] if error["type"] in ("missing", "extra_forbidden") else error["loc"]
    for part in location:
        inside = isinstance(row, list) and isinstance(part, int) and part < len(row)
        if inside or (isinstance(row, dict) and part in row):
            row = row[part]
            path.append(part)
    return tuple(path)


def _can_be_drawn(figure: Any) -> bool:
    from reports.codec import from_plain
    from reports.row import Figure, HeatMap

    try:
        return figure is None or bool(from_plain(figure, HeatMap if figure["kind"] == "HeatMap" else Figure))
    except (ValueError, TypeError):
        return False


def json_schema(record: str) -> dict[str, Any]:
    """Return the JSON Schema of a record's lines."""
    title, description, types = RECORDS[record]
    schema: dict[str, Any] = {"$schema": DRAFT, "title": title, "description": description}
    single = next(iter(types.values())) if len(types) == 1 else None
    if single is not None:
        return TypeAdapter(single).json_schema() | schema
    kinds = dict.fromkeys(types.values())
    shapes, shared = TypeAdapter.json_schemas([(kind, "validation", TypeAdapter(kind)) for kind in kinds])
    return schema | {"oneOf": [shapes[kind, "validation"] for kind in kinds], **shared}


def schema_text(record: str) -> str:
    """Return a JSON Schema as the file that ships holds it."""
    return json.dumps(json_schema(record), indent=1) + "\n"


if __name__ == "__main__":
    for name in RECORDS:
        (Path(__file__).parent / f"{name}.schema.json").write_text(schema_text(name), encoding="utf-8")

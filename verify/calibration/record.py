"""The record of a calibration: strict JSON lines, no clock, no path, no host; and its pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reports.files import write_atomic

from ..errors import UserError
from ..record import json_lines
from ..rows import Row, dumps
from ..versions import library_versions, platform_tag, source_digest

SCHEMA_VERSION = 1
#: What the reader of a record relies on, by kind of row.
REQUIRED = {
    "header": "schema_version record complete tasks tasks_done profile seed platform versions",
    "exact": "level n p low high compatible",
    "rate": "auditor law level n_draws repeats low high any interval smallest_rate_refused compatible",
    "mutant": "auditor name unit graded stated n_draws failure_prob grades smallest_found found",
}
REQUIRED |= dict.fromkeys(("control", "prediction"), REQUIRED["rate"])


@dataclass(frozen=True)
class Calibration:
    """A calibration as it was counted: the header, then rates and mutants in canonical order."""

    header: Row
    rows: tuple[Row, ...]

    @property
    def complete(self) -> bool:
        """Whether every task was done."""
        return bool(self.header["complete"])


def header(profile: str, seed: int, *, n_tasks: int, n_done: int) -> Row:
    """Return the first line: everything that the rows depend on."""
    return {
        "kind": "header",
        "record": "calibration",
        "schema_version": SCHEMA_VERSION,
        "complete": n_done == n_tasks,
        "tasks": n_tasks,
        "tasks_done": n_done,
        "profile": profile,
        "seed": seed,
        "versions": library_versions(),
        "platform": platform_tag(),
        "sources": source_digest(),
    }


def write(calibration: Calibration, path: Path) -> None:
    """Write the record atomically."""
    rows = (calibration.header, *calibration.rows)
    write_atomic(path, "".join(f"{dumps(row)}\n" for row in rows).encode())


def begin(path: Path, profile: str, seed: int, *, n_tasks: int) -> None:
    """Write a record of which nothing is done, so that the folder of a calibration that is killed says what it is of."""
    write(Calibration(header(profile, seed, n_tasks=n_tasks, n_done=0), ()), path)


def read(path: Path) -> Calibration:
    """Read a record.

    Raises
    ------
    UserError
        If the file cannot be read, is no record of a calibration, or has an unknown ``schema_version``.
    """
    rows = list(json_lines(path))
    first = rows[0]
    if first.get("kind") != "header" or first.get("record") != "calibration":
        raise UserError(f"record must begin with the header of a calibration, got {path}")
    version = first.get("schema_version")
    if version != SCHEMA_VERSION:
        raise UserError(f"schema_version must be {SCHEMA_VERSION}, got schema_version={version} in {path}")
    for number, row in enumerate(rows, start=1):
        if row.get("kind") not in REQUIRED or (row["kind"] == "header") != (number == 1):
            raise UserError(f"record must have rows of a calibration, got {path} line {number}")
        for name in REQUIRED[row["kind"]].split():
            if name not in row:
                raise UserError(f"row must have a field {name}, got {path} line {number}")
    return Calibration(first, tuple(rows[1:]))


def render(calibration: Calibration, run: Mapping[str, Any], path: Path) -> None:
    """Write the pages of a calibration; the same record and ``run.json`` give the same bytes. Nothing is drawn."""
    from reports.document import render_pdf

    from .layout import document

    render_pdf(document(calibration, date=str(run.get("finished", ""))[:10]), path)

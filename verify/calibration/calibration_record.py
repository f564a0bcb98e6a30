"""The record of a calibration: strict JSON lines, no clock, no path, no host; and its pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reports.files import write_atomic

from ..engine.record import SCHEMA_VERSIONS, checked_rows
from ..engine.rows import Row, dumps
from ..engine.versions import header


@dataclass(frozen=True)
class Calibration:
    """A calibration as it was counted: the header, then rates and mutants in canonical order."""

    header: Row
    rows: tuple[Row, ...]

    @property
    def complete(self) -> bool:
        """Whether every task was done."""
        return bool(self.header["complete"])

    @property
    def crashed(self) -> tuple[str, ...]:
        """What killed its worker process every time."""
        return tuple(self.header.get("crashed", ()))


def first_line(profile: str, seed: int, *, n_tasks: int, n_done: int, crashed: Sequence[str] = ()) -> Row:
    """Return the header; ``crashed`` names what killed its worker process every time."""
    own = {"complete": n_done == n_tasks, "tasks": n_tasks, "tasks_done": n_done, "profile": profile, "seed": seed}
    first = header(own, schema_version=SCHEMA_VERSIONS["calibration"], record="calibration")
    return first | ({"crashed": list(crashed)} if crashed else {})


def write(calibration: Calibration, path: Path) -> None:
    """Write the record atomically."""
    rows = (calibration.header, *calibration.rows)
    write_atomic(path, "".join(f"{dumps(row)}\n" for row in rows).encode())


def begin(path: Path, profile: str, seed: int, *, n_tasks: int) -> None:
    """Write a record of which nothing is done, so that the folder of a killed calibration says what it is of."""
    write(Calibration(first_line(profile, seed, n_tasks=n_tasks, n_done=0), ()), path)


def read(path: Path) -> Calibration:
    """Read a record.

    Raises
    ------
    UserError
        If the file cannot be read, is no record of a calibration of this version, or is not as it was written.
    """
    first, *rows = checked_rows(path, "calibration")
    return Calibration(first, tuple(rows))


def render(calibration: Calibration, run: Mapping[str, Any], path: Path) -> None:
    """Write the pages of a calibration; the same record and ``run.json`` give the same bytes. Nothing is drawn."""
    from reports.formats import write_document

    from .calibration_pages import document

    write_document(document(calibration, date=str(run.get("finished", ""))[:10]), path)

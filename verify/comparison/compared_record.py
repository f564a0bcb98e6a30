"""What can be compared: a record of any kind as its header and its rows, read by the one reader of records."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Union

from ..engine.record import Record, checked_rows, header_of, json_lines, record_file, record_of
from ..engine.rows import Row
from ..engine.versions import source_digest
from ..messages.errors import UserError

if TYPE_CHECKING:
    from ..calibration.calibration_record import Calibration
    from ..certificates.certify_call import Certification

#: A record as it is read, decided or counted; its rows with the header first; or the file or folder that holds it.
RecordLike = Union["ComparedRecord", Record, "Calibration", "Certification", Sequence[Row], str, "os.PathLike[str]"]
#: What a kind is called here, by the schema of its lines.
NAMES = {"record": "run", "certificate": "certificate", "sweep": "sweep", "calibration": "calibration"}
#: Folders of a certificate, each with a record of its own.
PARTS = ("curator", "release")


@dataclass(frozen=True)
class ComparedRecord:
    """A record of a kind: ``run``, ``certificate``, ``sweep`` or ``calibration``."""

    kind: str
    header: Row
    rows: tuple[Row, ...]

    def of(self, *kinds: str) -> tuple[Row, ...]:
        """Return the rows of some kinds, kind by kind, in their order."""
        return tuple(row for kind in kinds for row in self._by_kind.get(kind, ()))

    @cached_property
    def _by_kind(self) -> dict[str, list[Row]]:
        grouped: dict[str, list[Row]] = {}
        for row in self.rows:
            grouped.setdefault(row["kind"], []).append(row)
        return grouped

    @property
    def confidential(self) -> bool:
        """Whether it holds what only a curator may read; a sweep over a user's own data is taken to."""
        return bool(self.header.get("contains_private")) or (self.kind == "sweep" and self.header["data"] is not None)


def compared_record(record: RecordLike) -> ComparedRecord:
    """Return a record with its kind.

    Raises
    ------
    UserError
        If it cannot be read, is of an unknown schema, is not as it was written, or is of no kind that can be compared.
    """
    if isinstance(record, ComparedRecord):
        return record
    if isinstance(record, (str, os.PathLike)):
        return _read(Path(record))
    rows = _rows(record)
    kind = NAMES.get(header_of(rows[0]) or "record") if rows else None
    if kind is None:
        raise UserError(f"record must begin with the header of {', '.join(NAMES.values())}, got {len(rows)} rows")
    return ComparedRecord(kind, rows[0], tuple(rows[1:]))


def _rows(record: object) -> Sequence[Row]:
    if isinstance(record, Record):
        return [record.header, *record.statements, *record.cases, *record.figures, *record.verdicts]
    if isinstance(record, Sequence):
        return record
    rows: Sequence[Row] = getattr(record, "rows")  # noqa: B009
    header = getattr(record, "header", None)
    return rows if header is None else [header, *rows]


def _read(path: Path) -> ComparedRecord:
    file = file_of(path)
    schema = record_of(file) or "record"
    if schema == "comparison":
        raise UserError(f"record must be that of a {', a '.join(NAMES.values())}, got record={file} (a comparison)")
    try:
        header, *rows = checked_rows(file, schema if schema in NAMES else "record")
    except UserError as stop:
        raise UserError(f"{stop}{_of_others(file)}") from stop
    return ComparedRecord(NAMES[schema], header, tuple(rows))


def _of_others(file: Path) -> str:
    """Return, for a record that could not be read, whether other sources of ours wrote it, whose rows may differ."""
    try:
        header = next(json_lines(file))
    except UserError:
        return ""
    theirs = header.get("sources", source_digest())
    return "" if theirs == source_digest() else "; other sources of pdp-verify wrote it"


def file_of(path: Path) -> Path:
    """Return the file of a record, given that or the folder that holds it.

    Raises
    ------
    UserError
        If a folder holds the records of both audiences of a certificate, or if a sweep is given by another file than
        the table that ``--export FILE.jsonl`` writes.
    """
    if path.suffix in (".sqlite", ".parquet", ".toml", ".pdf", ".md") and not path.is_dir():
        raise UserError(f"record must be strict JSON lines (of a sweep: --export FILE.jsonl), got record={path}")
    if not path.is_dir() or record_file(path).exists():
        return record_file(path)
    parts = [path / part / "audit.jsonl" for part in PARTS if (path / part / "audit.jsonl").exists()]
    if len(parts) > 1:
        named = " or ".join(str(path / part) for part in PARTS)
        raise UserError(f"record must be that of one audience, got record={path}; name {named}")
    tables = sorted(table for table in path.glob("*.jsonl") if table.is_file())
    if not parts and len(tables) > 1:
        raise UserError(f"record must be one file, got record={path}; name {tables[0]} or another of {len(tables)}")
    return parts[0] if parts else tables[0] if len(tables) == 1 else record_file(path)

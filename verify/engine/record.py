"""The record: strict JSON lines in a fixed order, written atomically, refused in one line when they are not ours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from audits.estimate import Result
from reports.files import write_atomic

from ..kernel.rows import Row, dumps
from ..messages.errors import UserError
from ..messages.texts import read_json, read_text

#: Version of the lines of each kind of record; every kind is read in this version alone.
SCHEMA_VERSIONS: Mapping[str, int] = {"record": 2, "certificate": 2, "sweep": 2, "calibration": 1, "comparison": 1}
#: The record of a calibration, which takes the place of ``audit.jsonl`` in its folder.
CALIBRATION = "calibration.jsonl"
#: The record of a comparison of mechanisms, in the same way.
COMPARISON = "comparison.jsonl"
#: What ``run.json`` says of a day, which a report is dated by; one that says something else is as good as none.
DATES = ("started", "finished", "date")
#: What a verdict rests on, as records called it until 2026-11 -> as it is called now.
RENAMED = {"vouched": "attested", "examined": "no violation found", "not examined": "not tested"}
KINDS = ("statement", "case", "figure", "verdict")


@dataclass(frozen=True, repr=False)
class Record(Result):
    """A run as it was decided: the header, then statements, cases, figures and verdicts, each in canonical order.

    The statement rows hold formulas and words, so that a report needs the record alone.
    """

    header: Row
    statements: tuple[Row, ...]
    cases: tuple[Row, ...]
    figures: tuple[Row, ...]
    verdicts: tuple[Row, ...]

    def entries(self) -> dict[str, Any]:
        """Return the settings and how many rows of each kind there are."""
        settings = {name: self.header.get(name) for name in ("profile", "seed", "complete")}
        counts = {"verdicts": len(self.verdicts), "cases": len(self.cases), "figures": len(self.figures)}
        return settings | counts | {"unexpected": sum(bool(row.get("unexpected")) for row in self.verdicts)}

    def lines(self) -> Iterable[str]:
        """Yield the record's lines."""
        for row in (self.header, *self.statements, *self.cases, *self.figures, *self.verdicts):
            yield dumps(row)

    def verdict(self, id_: str) -> Row:
        """Return the verdict row of an id of this record."""
        for row in self.verdicts:
            if row["id"] == id_:
                return row
        raise UserError(f"id must be in the record, got id={id_}; it has {', '.join(r['id'] for r in self.verdicts)}")

    def cases_of(self, id_: str) -> tuple[Row, ...]:
        """Return the case rows of a statement, or of one of its parts."""
        return tuple(row for row in self.cases if id_ in (row["id"], row["part"]))


def write(record: Record, path: Path) -> None:
    """Write the record atomically."""
    write_atomic(path, "".join(f"{line}\n" for line in record.lines()).encode())


def read(path: Path) -> Record:
    """Read a record.

    Parameters
    ----------
    path : Path
        ``audit.jsonl``, or the folder that holds it.

    Returns
    -------
    Record
        The header and the rows by kind.

    Raises
    ------
    UserError
        If the file cannot be read, is no record, has an unknown ``schema_version``, or is not as it was written.
    """
    header, *rows = checked_rows(record_file(path), "record")
    by_kind = {kind: tuple(row for row in rows if row["kind"] == kind) for kind in KINDS}
    return Record(header, *(by_kind[kind] for kind in KINDS))


def checked_rows(path: Path, of: str) -> list[Row]:
    """Return the rows of a record, each checked against its type; raises as ``read``.

    ``of`` says which of the records of ``verify.schemas.lines`` it must be.
    """
    from ..schemas.lines import trouble

    rows = []
    for number, row in enumerate(json_lines(path), start=1):
        if number == 1:
            _check_kind(row, path, of)
        words = trouble(row, of, number)
        if words:
            raise UserError(f"record must be as pdp-verify wrote it, got record={path} (line {number}: {words})")
        rows.append(_in_words_of_now(row))
    return rows


def _in_words_of_now(row: Row) -> Row:
    """Return a row of a certificate or a sweep with what its verdict rests on as it is called now."""
    new = row | {"ground": RENAMED[row["ground"]]} if row.get("ground") in RENAMED else row
    words = str(row.get("words", ""))
    old = words[words.find("(") + 1 : -1]
    return new | {"words": words.replace(f"({old})", f"({RENAMED[old]})")} if old in RENAMED else new


def record_file(path: Path) -> Path:
    """Return the record of a folder, or the path itself."""
    if not path.is_dir():
        return path
    others = (path / name for name in ("audit.jsonl", CALIBRATION, COMPARISON))
    return next((record for record in others if record.exists()), path / "audit.jsonl")


def record_of(path: Path) -> str:
    """Return what a record's first line says it is of: ``certificate``, ``calibration``, ``sweep``, …, or nothing."""
    try:
        header = read_json(next(iter(_lines(record_file(path))), ""))
    except ValueError:
        return ""
    return header_of(header) if isinstance(header, dict) else ""


def header_of(row: Row) -> str:
    """Return what a first line says that its record is of; nothing for a run."""
    return "sweep" if row.get("kind") == "sweep" else str(row.get("record", ""))


def holds_certificate(folder: Path) -> bool:
    """Return whether a folder is that of a certificate, or of one of its audiences."""
    if any((folder / audience / "audit.jsonl").exists() for audience in ("curator", "release")):
        return True
    record = folder / "audit.jsonl"
    return record.exists() and record_of(record) == "certificate"


def json_lines(path: Path) -> Iterator[Row]:
    """Yield the objects of a file of strict JSON lines, of which there must be one at least."""
    lines = _lines(path)
    if not lines:
        raise UserError(f"record must not be empty, got record={path}")
    before: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        if before.setdefault(line, number) != number:
            raise UserError(f"record must have no line twice, got {path} line {number}, which is line {before[line]}")
        try:
            row = read_json(line)
            if not isinstance(row, dict):
                raise ValueError("not an object")
        except ValueError as stop:
            raise UserError(f"record must be strict JSON lines, got {path} line {number}: {stop}") from stop
        yield row


def _lines(path: Path) -> list[str]:
    text = read_text(path, "record").removesuffix("\n")
    return text.split("\n") if text else []


def _check_kind(row: Row, path: Path, of: str) -> None:
    """Refuse the header of another record, or of another version."""
    kind = header_of(row) or "record"
    if row.get("kind") != "header" and kind != "sweep":
        raise UserError(f"record must begin with its header, got {path}")
    if of == "record" and kind == "certificate":
        raise UserError(
            f"record must be that of a run, got a certificate in {path}; draw it again with pdp-verify certify, "
            "or examine its folder with pdp-verify check"
        )
    if of == "record" and kind == "calibration":
        raise UserError(f"record must be that of a run, got a calibration in {path}; pdp-verify report renders it")
    if of == "record" and kind == "comparison":
        raise UserError(f"record must be that of a run, got a comparison in {path}; pdp-verify report renders it")
    if of == "record" and kind == "sweep":
        raise UserError(
            f"record must be that of a run, got the table of a sweep in {path}; pdp-verify diff compares it"
        )
    if kind != of:
        raise UserError(f"record must begin with the header of a {of}, got {path}")
    words = other_version(row, of)
    if words:
        raise UserError(f"{words} in {path}")


def other_version(header: Row, of: str) -> str:
    """Return in words that a record is of another version than the one that is read here, or nothing."""
    ours, theirs = SCHEMA_VERSIONS[of], header.get("schema_version")
    return "" if theirs == ours else f"schema_version must be {ours}, got schema_version={str(theirs)[:20]}"


def read_run(path: Path) -> Row:
    """Return ``run.json`` beside a record, or an empty row when there is none."""
    beside = (path if path.is_dir() else path.parent) / "run.json"
    try:
        row = read_json(read_text(beside, "run.json"))
    except (UserError, ValueError):
        return {}
    if not isinstance(row, dict):
        return {}
    return {key: value for key, value in row.items() if key not in DATES or _is_date(value)}


def _is_date(value: object) -> bool:
    try:
        return bool(date.fromisoformat(str(value)[:10]))
    except ValueError:
        return False

"""What changed between two records: the function behind ``pdp-verify diff`` and a certificate's first page."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Union

from ..engine.record import Record, checked_rows, header_of, json_lines, record_file, record_of
from ..engine.versions import source_digest
from ..kernel.rows import Row, dumps
from ..messages.errors import UserError
from .page import Difference
from .rules import CHANGES, HEADER, ComparedRecord, restated
from .walk import Comparer, Turn, compared

if TYPE_CHECKING:
    from ..calibration.calibration_record import Calibration
    from ..certificates.certify_call import Certification

#: A record as it is read, decided or counted; its rows with the header first; or the file or folder that holds it.
RecordLike = Union["ComparedRecord", Record, "Calibration", "Certification", Sequence[Row], str, "os.PathLike[str]"]
#: What a kind is called here, by the schema of its lines, and the module that compares it.
NAMES = {"record": "run", "certificate": "certificate", "sweep": "sweep", "calibration": "calibration"}
#: Folders of a certificate, each with a record of its own.
PARTS = ("curator", "release")
#: What comes first among the changes that go one way.
FIRST = ("verdict", "expectation", "mutant", "promise", "profile", "complete", "gone", "outcome", "number")


def difference(old: RecordLike, new: RecordLike) -> Difference:
    """Say what changed between two records of one kind.

    Proved numbers are compared under one seed only (the data and the points of a search are drawn from it), and so are
    sampled ones; two intervals without a common value have moved. Intervals that overlap show no difference, which is
    not that there is none.

    Parameters
    ----------
    old, new : record, rows or path
        What ``read`` or ``certify`` returned; the rows of a record, header first; or the file or folder that holds it.

    Returns
    -------
    Difference
        ``worse``, ``changes`` and ``lines()``; ``notes`` says what was not compared.

    Raises
    ------
    UserError
        If a record cannot be read, or the two cannot be compared: they are of two kinds, or for two audiences of which
        one may not read what the other may.

    Examples
    --------
    >>> from verify import difference
    >>> header = {"kind": "header", "profile": "quick", "seed": 1, "failure_prob": 1e-4, "complete": True,
    ...           "versions": {}, "platform": "", "sources": "", "data": {}}
    >>> difference([header], [header | {"profile": "standard"}]).lines()
    ['profile  quick -> standard']
    """
    before, after = compared_record(old), compared_record(new)
    _check_comparable(before, after)
    comparer, notes = _comparer_of(before, after)
    found = [*compared(HEADER, before.header, after.header), *CHANGES[before.kind](before, after, comparer)]
    places = {what: place for place, what in enumerate(FIRST)}
    found.sort(key=lambda change: (list(Turn).index(change.turn), places.get(change.what, len(FIRST))))
    said = (*notes, *_said(before, after), *([] if found else _unsaid(before, after)))
    confidential = before.confidential or after.confidential
    return Difference(before.kind, tuple(found), said, dict(comparer.compared), confidential)


def _unsaid(old: ComparedRecord, new: ComparedRecord) -> list[str]:
    """Return that lines differ although no change was found, so that "no change" alone is said of equal records."""
    headers = ({name: value for name, value in record.header.items() if name != "previous"} for record in (old, new))
    both = zip(headers, (old, new), strict=True)
    lines = [Counter(map(dumps, (header, *record.rows))) for header, record in both]
    count = max((lines[0] - lines[1]).total(), (lines[1] - lines[0]).total())
    words = "1 line differs" if count == 1 else f"{count} lines differ"
    return [f"{words}, in numbers whose intervals overlap or in what is not compared"] if count else []


def _check_comparable(old: ComparedRecord, new: ComparedRecord) -> None:
    if old.kind != new.kind:
        raise UserError(f"records must be of one kind, got a {old.kind} and a {new.kind}")
    audiences = [record.header.get("audience") for record in (old, new)]
    if audiences[0] != audiences[1] and (old.confidential or new.confidential):
        raise UserError(f"records must be for one audience, got {audiences[0]} and {audiences[1]}")


def _said(old: ComparedRecord, new: ComparedRecord) -> list[str]:
    """Return what a reader must know of two records that are compared all the same."""
    notes = []
    if old.kind == "certificate":
        others = restated(old.header, new.header)
        notes += [f"numbers of {name} are not compared: it claims something else" for name in others]
        deployed = [{**side.header["configuration"], "code": side.header["mechanism_digest"]} for side in (old, new)]
        keys = ("data", "mechanism", "release", "report", "code")
        if any(deployed[0].get(key) != deployed[1].get(key) for key in keys):
            notes.append("the configurations differ: these are verdicts on two deployments")
    for name, record in (("OLD", old), ("NEW", new)):
        if record.header.get("complete") is False:
            notes.append(f"{name} is not complete: what is absent there was not reached")
    return notes


def _comparer_of(old: ComparedRecord, new: ComparedRecord) -> tuple[Comparer, tuple[str, ...]]:
    """Return how the numbers of two records are compared, and in words what is not, and why."""
    if old.kind == "calibration":  # nothing is drawn from its seed but the repetitions, and their counts are compared
        return Comparer(numbers=True, exactly=True), ()
    notes = []
    seeds = old.header["seed"], new.header["seed"]
    same_data = old.kind == "run" or old.header.get("data") == new.header.get("data")
    if seeds[0] != seeds[1]:
        notes.append(
            f"numbers are not compared: the seeds differ ({seeds[0]}, {seeds[1]}), and with them what a case is about"
        )
    elif not same_data:
        notes.append("numbers are not compared: the data differ")
    exactly = all(old.header[name] == new.header[name] for name in ("platform", "versions"))
    if not notes and not exactly:
        notes.append("another platform or other versions: numbers are compared to 1e-9, and to 1e-12 near 0")
    return Comparer(numbers=seeds[0] == seeds[1] and same_data, exactly=exactly), tuple(notes)


def compared_record(record: RecordLike) -> ComparedRecord:
    """Return a record with its kind.

    Raises ``UserError`` if it cannot be read, is of an unknown schema, is not as it was written, or is of no kind that
    can be compared.
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

    Raises ``UserError`` if a folder holds the records of both audiences of a certificate, or if a sweep is given by
    another file than the table that ``--export FILE.jsonl`` writes.
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

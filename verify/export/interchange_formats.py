"""The formats in which a record is handed to other tools: one renderer each, chosen by the end of the file's name."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reports.files import write_atomic

from ..engine.record import checked_rows, read, record_file, record_of
from ..kernel.rows import Row
from ..messages.errors import UserError

PRIVATE = 0o600


@dataclass(frozen=True)
class HandedRecord:
    """A record and what stands beside it.

    ``of`` is ``certificate``, ``calibration``, or nothing for a run; ``digest`` the SHA-256 of its bytes; ``date`` that
    of ``run.json``, or nothing; ``source`` the configuration as the repository has it.
    """

    path: Path
    of: str
    digest: str
    date: str
    source: Path | None = None

    def rows(self) -> list[Row]:
        """Return the rows of a certificate; whatever else the record is of is refused."""
        return checked_rows(self.path, "certificate")


@dataclass(frozen=True)
class Written:
    """The bytes of a file, and whether its reader must be the curator."""

    data: bytes
    private: bool


def _sarif(handed: HandedRecord) -> Written:
    from .sarif_log import certificate_problems, places_in_configuration, places_in_record, run_problems, sarif_log

    if handed.of == "certificate":
        rows = handed.rows()
        header = rows[0]
        source = handed.source
        places = places_in_configuration(source, header) if source else places_in_record(handed.path.name, rows)
        about = {"verdict": header["words"], "audience": header["audience"], "recordSha256": handed.digest}
        problems, complete = certificate_problems(rows, places), True
    else:
        if handed.source is not None:
            raise UserError("source must be given for a certificate alone, got the record of a run")
        record = read(handed.path)
        header = record.header
        about = {"profile": header["profile"], "statements": len(header["statements"]), "recordSha256": handed.digest}
        problems, complete = run_problems(record), bool(header["complete"])
    data = sarif_log(
        problems,
        version=header["versions"]["pdp-verify"],
        complete=complete,
        about=about,
        artefact=header.get("artefact"),
    )
    return Written(data, bool(header.get("contains_private")))


def _bill(handed: HandedRecord) -> Written:
    from .attested_bill import attested_bill

    rows = handed.rows()
    return Written(attested_bill(rows, digest=handed.digest, date=handed.date), bool(rows[0]["contains_private"]))


def _entry(handed: HandedRecord) -> Written:
    from .register_entry import register_entry

    return Written(register_entry(handed.rows(), digest=handed.digest), False)


#: End of a file's name -> what renders a record for it.
INTERCHANGE: Mapping[str, Callable[[HandedRecord], Written]] = {
    ".sarif": _sarif,
    ".cdx.json": _bill,
    ".registry.json": _entry,
}


def interchange_of(path: Path) -> str:
    """Return the end of a file's name that chooses a format, or nothing."""
    return next((end for end in INTERCHANGE if path.name.endswith(end) and path.name != end), "")


def hand_over(record: Path, run: Mapping[str, Any], file: Path, *, source: Path | None = None) -> None:
    """Write a record, whole or not at all, in the format that the end of the file's name chooses; draws nothing.

    Parameters
    ----------
    record, file : Path
        ``audit.jsonl`` of a run or of a certificate, or its folder; and what is written, readable to its owner alone if
        the record is about private data and for the curator.
    run : mapping
        What ``run.json`` beside it says.
    source : Path, optional
        The configuration of a certificate as the repository has it: results of SARIF point to it, else to the record.

    Raises
    ------
    UserError
        If the record is damaged, is not one that the format is for, or a library is not installed.
    """
    path = record_file(record)
    of = record_of(path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    written = INTERCHANGE[interchange_of(file)](HandedRecord(path, of, digest, str(run.get("date", "")), source))
    write_atomic(file, written.data, mode=PRIVATE if written.private else 0o666)

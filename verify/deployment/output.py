"""The folder of a certificate: every file written whole or not at all, the attestation last."""

from __future__ import annotations

import json
import os
import platform
import shlex
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reports.document import pdf_bytes, render_markdown
from reports.files import write_atomic
from reports.junit import JUnitCase, junit_xml
from reports.row import Audience

from ..errors import UserError
from ..publish import drawn_figures
from ..rows import Row
from ..versions import library_versions
from .asked import Asked, asked_of, exit_code, waived
from .attestation import as_json, descriptor, predicate, result_of, sha256, statement
from .certificate import Certificate, record_rows, record_text
from .config import Loaded
from .config_mechanisms import ImportSection
from .layout import document
from .mechanism_source import MechanismSource
from .published import publishable
from .releases import folder_of

LAST = "attestation.json"
PRIVATE = 0o600
STATUS = {"PASSED": "passed", "FAILED": "failed", "WARNED": "skipped"}
NOTHING_MORE = Asked()


def today() -> str:
    """Return the date as the PDFs print it (``SOURCE_DATE_EPOCH`` is honoured)."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    moment = datetime.fromtimestamp(int(epoch), UTC) if epoch and epoch.isdigit() else datetime.now(UTC)
    return moment.date().isoformat()


def write_audience(
    certificate: Certificate,
    loaded: Loaded,
    audience: Audience,
    folder: Path,
    *,
    date: str,
    jobs: int,
    about: dict[str, Any] | None = None,
    asked: Asked = NOTHING_MORE,
) -> list[Row]:
    """Write everything an audience gets into ``folder`` and return the rows of the record.

    A folder without ``attestation.json`` is incomplete.
    """
    folder.mkdir(parents=True, exist_ok=True)
    mode = PRIVATE if audience is Audience.CURATOR and certificate.deployment.private else 0o666
    (folder / LAST).unlink(missing_ok=True)
    rows = record_rows(certificate, audience, loaded)
    found = certificate.standings(audience)
    if waived(found, asked):
        rows[0]["undecided_allowed"] = True
    if asked.proved:
        rows[0] |= {"required": "proved", "exit_code": exit_code(found, asked)}
    record = record_text(rows).encode()
    pages = document(rows, digest=sha256(record), date=date, record=record)
    files: dict[str, bytes] = {
        "audit.jsonl": record,
        "audit.pdf": pdf_bytes(pages, figures=drawn_figures(pages, jobs)),
        "audit.md": render_markdown(pages).encode(),
        "junit.xml": junit_xml("pdp-verify certify", junit_cases(rows)),
        "run.json": as_json({"schema_version": 1, "date": date} | (about or {})),
    }
    for report in certificate.deployment.reports:
        name = "report-independent.json" if report.gradient is None else "report-dependent.json"
        files[name] = publishable(report, loaded.config.data, certificate.deployment.domain)
    if audience is Audience.CURATOR:
        files["configuration.toml"] = loaded.text.encode()
    subjects, configuration = _bound(certificate, loaded, audience, files)
    body = predicate(rows, configuration)
    files["predicate.json"] = as_json(body)
    for name, data in files.items():
        write_atomic(folder / name, data, mode=mode)
    write_atomic(folder / LAST, as_json(statement(subjects, body)), mode=mode)
    return rows


def _bound(
    certificate: Certificate, loaded: Loaded, audience: Audience, files: dict[str, bytes]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the subjects and the test's configuration: for release the release record alone."""
    record = descriptor("audit.jsonl", sha256(files["audit.jsonl"]))
    if audience is Audience.RELEASE:
        return [record], []
    subjects = [descriptor(loaded.path.name, loaded.digest)]
    release, mechanism = loaded.config.release, loaded.config.mechanism
    if release is not None:
        name = Path(release.file).name if release.file else "output.json"
        subjects.append(descriptor(name, sha256_of_release(loaded)))
    if isinstance(mechanism, ImportSection):
        source = MechanismSource(mechanism.origin, str(loaded.folder), mechanism.parameters)
        subjects.append(descriptor(mechanism.origin.partition(":")[0], source.digest()))
        for view in certificate.deployment.notes.get("views", ()):
            named = descriptor(view.source.origin.partition(":")[0], view.source.digest())
            subjects += [] if named in subjects else [named]
        word = certificate.deployment.notes.get("vouched")
        if word is not None and word.kind == "file":
            subjects.append(descriptor(word.proof, word.digest))
    rest = [descriptor(name, sha256(data)) for name, data in files.items() if name not in ("audit.jsonl", "run.json")]
    return subjects, [record, *rest]


def sha256_of_release(loaded: Loaded) -> str:
    """Return the digest of the deployed output's file."""
    release = loaded.config.release
    assert release is not None
    path = loaded.folder / release.file if release.file else folder_of(loaded) / "output.json"
    return sha256(path.read_bytes())


def junit_cases(rows: Sequence[Row]) -> list[JUnitCase]:
    """Return one test case a claim, with the checks' outcomes in its message."""
    checks = [row for row in rows if row["kind"] == "check"]
    cases = []
    for row in rows:
        if row["kind"] == "claim":
            mine = [f"{c['check']}: {c['outcome'].lower()}" for c in checks if c["claim"] == row["claim"]]
            verdict = row["words"].replace(row["verdict"], row["verdict"].lower())
            message = "\n".join([f"{verdict}: {row['sentence']} ({row['reason']})", *mine])
            status = STATUS[result_of(row, asked_of(rows[0]))]
            cases.append(JUnitCase(row["claim"], f"certify.{row['type']}", status, message))
    return cases


def run_about(started: datetime, seconds: float, arguments: Sequence[str], jobs: int, exit_code: int) -> dict[str, Any]:
    """Return what ``run.json`` says to the curator about the run itself."""
    return {
        "started": started.isoformat(timespec="seconds"),
        "seconds": round(seconds, 3),
        "command": shlex.join(["pdp-verify", *arguments]),
        "jobs": jobs,
        "host": platform.node(),
        "system": platform.platform(),
        "versions": library_versions(),
        "exit_code": exit_code,
    }


def render_again(record: Path, run: Mapping[str, Any], file: Path, *, jobs: int) -> None:
    """Write the PDF of a certificate's record once more: the bytes that ``certify`` wrote. Nothing is drawn.

    Raises
    ------
    UserError
        If the record is not whole.
    """
    data = record.read_bytes()
    try:
        rows = read_rows(record)
        pages = document(rows, digest=sha256(data), date=str(run.get("date", "")), record=data)
        private = bool(rows[0]["contains_private"])
    except (ValueError, KeyError, TypeError, AttributeError) as stop:
        raise UserError(f"record must be a whole record of a certificate, got record={record}") from stop
    write_atomic(file, pdf_bytes(pages, figures=drawn_figures(pages, jobs)), mode=PRIVATE if private else 0o666)


def read_rows(path: Path) -> list[Row]:
    """Return the rows of a record of ours, or raise ValueError in one line."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    if not rows or rows[0].get("record") != "certificate":
        raise ValueError("audit.jsonl must be the record of a certificate")
    if rows[0].get("schema_version") != 1:
        raise ValueError(f"schema_version must be 1, got schema_version={rows[0].get('schema_version')}")
    return rows

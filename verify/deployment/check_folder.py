"""Whether the record, PDF, configuration and attestation of a folder belong together (signatures are not checked)."""

from __future__ import annotations

import json
import re
import zlib
from pathlib import Path
from typing import Any

from reports.document import render_markdown

from ..record import record_of
from .attestation import PREDICATE, STATEMENT, predicate, sha256
from .layout import document
from .output import LAST, junit_cases, read_rows

CONFIGURATION = "configuration.toml"


def check_folder(folder: Path) -> list[str]:
    """Return what does not fit, in words; nothing when everything does."""
    needed = ["audit.jsonl", "audit.pdf", "audit.md", "junit.xml", "predicate.json", "run.json", LAST]
    needed += [CONFIGURATION] if is_curators(folder) else []
    missing = [name for name in needed if not (folder / name).is_file()]
    if missing:
        incomplete = " (the folder is incomplete)" if LAST in missing else ""
        return [f"{name} is missing{incomplete if name == LAST else ''}" for name in missing]
    read: dict[str, Any] = {}
    wrong = []
    for name in ("audit.jsonl", LAST, "predicate.json", "run.json"):
        try:
            read[name] = read_rows(folder / name) if name == "audit.jsonl" else _object(folder / name)
        except (json.JSONDecodeError, UnicodeDecodeError, AttributeError, OSError):
            wrong.append(f"{name} is not readable")
        except ValueError as stop:
            wrong.append(f"{name} is not readable ({stop})")
    if wrong:
        return wrong
    rows, attested, body = read["audit.jsonl"], read[LAST], read["predicate.json"]
    try:
        wrong = _statement(attested, body, rows)
        wrong += _digests(folder, attested)
    except (LookupError, TypeError, AttributeError, ValueError):
        return [f"{LAST} does not say what audit.jsonl says"]
    record = (folder / "audit.jsonl").read_bytes()
    if record not in embedded_files((folder / "audit.pdf").read_bytes()):
        wrong.append("audit.pdf does not hold this audit.jsonl")
    try:
        pages = document(rows, digest=sha256(record), date=str(read["run.json"].get("date", "")), record=record)
    except (LookupError, TypeError, AttributeError, ValueError):
        return [*wrong, "audit.jsonl is not a whole record"]
    if render_markdown(pages).encode() != (folder / "audit.md").read_bytes():
        wrong.append("audit.md is not made from this audit.jsonl")
    from reports.junit import junit_xml

    if junit_xml("pdp-verify certify", junit_cases(rows)) != (folder / "junit.xml").read_bytes():
        wrong.append("junit.xml is not made from this audit.jsonl")
    return wrong


def is_certificate(folder: Path) -> bool:
    """Return whether a folder holds a certificate, damaged or unfinished ones among them."""
    record = folder / "audit.jsonl"
    attested = any((folder / name).is_file() for name in (LAST, "predicate.json"))
    return attested or (record.is_file() and record_of(record) == "certificate")


def is_curators(folder: Path) -> bool:
    """Return whether a folder is a curator's, by its record or else by its name."""
    try:
        return bool(read_rows(folder / "audit.jsonl")[0].get("audience") == "curator")
    except (ValueError, AttributeError, OSError):
        return folder.resolve().name == "curator"


def compared(folder: Path) -> str:
    """Return in words what is compared in a folder."""
    configuration = " configuration," if is_curators(folder) else ""
    return f"record, PDF, summary, JUnit,{configuration} predicate and attestation"


def _object(path: Path) -> dict[str, Any]:
    """Return the JSON object of a file, or raise ValueError."""
    found = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(found, dict):
        raise ValueError("not a JSON object")
    return found


def _statement(attested: Any, body: Any, rows: list[dict[str, Any]]) -> list[str]:
    wrong = []
    if (
        not isinstance(attested, dict)
        or attested.get("_type") != STATEMENT
        or attested.get("predicateType") != PREDICATE
    ):
        return [f"{LAST} is not an in-toto statement of a test result"]
    if attested.get("predicate") != body:
        wrong.append(f"predicate.json is not the predicate of {LAST}")
    expected = predicate(rows, body.get("configuration", []))
    if body != expected:
        wrong.append(f"{LAST} does not say what audit.jsonl says")
    return wrong


def _digests(folder: Path, attested: Any) -> list[str]:
    """Return the attested files of the folder whose digest is another; the record itself must be attested."""
    wrong = []
    listed = [*attested.get("subject", []), *attested.get("predicate", {}).get("configuration", [])]
    digests = {str(each.get("name")): each.get("digest", {}).get("sha256") for each in listed}
    if "audit.jsonl" not in digests:
        wrong.append(f"{LAST} does not name audit.jsonl")
    for name, digest in digests.items():
        path = folder / Path(name).name
        if path.is_file() and sha256(path.read_bytes()) != digest:
            wrong.append(f"{name} is not the file that was attested")
    configuration = folder / CONFIGURATION
    if configuration.is_file() and sha256(configuration.read_bytes()) not in digests.values():
        wrong.append("configuration.toml is not the configuration that was attested")
    return wrong


def embedded_files(pdf: bytes) -> list[bytes]:
    """Return the content of every stream of a PDF that is stored plainly or deflated (attached files among them)."""
    found = []
    for match in re.finditer(rb"stream\r?\n", pdf):
        end = pdf.find(b"endstream", match.end())
        data = pdf[match.end() : end]
        found.append(data.rstrip(b"\r\n"))
        try:
            found.append(zlib.decompressobj().decompress(data))
        except zlib.error:
            continue
    return found

"""Whether the record, PDF, configuration and attestation of a folder belong together (signatures are not checked)."""

from __future__ import annotations

import json
import re
import zlib
from pathlib import Path
from typing import Any

from reports.document import render_markdown

from .attestation import PREDICATE, STATEMENT, predicate, sha256
from .layout import document
from .output import LAST, junit_cases, read_rows


def check_folder(folder: Path) -> list[str]:
    """Return what does not fit, in words; nothing when everything does."""
    needed = ("audit.jsonl", "audit.pdf", "audit.md", "junit.xml", "predicate.json", "run.json", LAST)
    missing = [name for name in needed if not (folder / name).is_file()]
    if missing:
        incomplete = " (the folder is incomplete)" if LAST in missing else ""
        return [f"{name} is missing{incomplete if name == LAST else ''}" for name in missing]
    try:
        rows = read_rows(folder / "audit.jsonl")
        attested = json.loads((folder / LAST).read_text(encoding="utf-8"))
        body = json.loads((folder / "predicate.json").read_text(encoding="utf-8"))
        date = json.loads((folder / "run.json").read_text(encoding="utf-8"))["date"]
    except (ValueError, KeyError, TypeError) as stop:
        return [f"a file is not readable: {stop}"]
    wrong = _statement(attested, body, rows)
    wrong += _digests(folder, attested)
    record = (folder / "audit.jsonl").read_bytes()
    if record not in embedded_files((folder / "audit.pdf").read_bytes()):
        wrong.append("audit.pdf does not hold this audit.jsonl")
    pages = document(rows, digest=sha256(record), date=date, record=record)
    if render_markdown(pages) != (folder / "audit.md").read_text(encoding="utf-8"):
        wrong.append("audit.md is not made from this audit.jsonl")
    from reports.junit import junit_xml

    if junit_xml("pdp-verify certify", junit_cases(rows)) != (folder / "junit.xml").read_bytes():
        wrong.append("junit.xml is not made from this audit.jsonl")
    return wrong


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
    expected = predicate(rows, body.get("configuration", []), undecided_allowed=bool(rows[0].get("undecided_allowed")))
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
    configuration = folder / "configuration.toml"
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

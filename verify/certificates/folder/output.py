"""The folder of a certificate: every file written whole or not at all, the attestation last."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reports.files import make_folder, write_atomic
from reports.formats import rendered, write_document
from reports.junit import JUnitCase, junit_xml
from reports.row import Audience

from ...diffs.record_difference import difference
from ...engine.figures import drawn_figures
from ...engine.record import checked_rows, other_version
from ...kernel.rows import Row, encode
from ...messages.faults import as_written
from ...messages.texts import source_date
from ...messages.verdict_words import verdict_said
from ..asked import NOTHING_ASKED, Asked, Previous, asked_of, exit_code, waived
from ..certificate import Certificate, record_rows, record_text
from ..certificate_pages import document
from ..config.config import Configuration, Loaded
from ..config.config_mechanisms import CommandSection, DoorSection, ImportSection, OwnSection
from ..config.mechanism_source import source_of
from ..config.own_code import OwnCode, Vouched, is_link
from ..counterexample_toml import counterexample_toml
from ..release.published import publishable
from ..release.release_state import Entry
from ..release.releases import folder_of
from .attestation import as_json, descriptor, predicate, rendered_with, result_of, sha256, statement, subjects
from .certificate_files import (
    CHAIN,
    CONFIGURATION,
    COUNTEREXAMPLE,
    HTML,
    KNOWN,
    LAST,
    PREDICATE_FILE,
    RECORD,
    RUN,
    attested_names,
    is_left_over,
    is_signature,
    kind_of,
    refuting,
    report_name,
)

PRIVATE = 0o600
STATUS = {"PASSED": "passed", "FAILED": "failed", "WARNED": "skipped"}
#: Changes that a record keeps; how many more there were is said.
KEPT = 12


def today() -> str:
    """Return the date as the PDFs print it (``SOURCE_DATE_EPOCH`` is honoured)."""
    return (source_date() or datetime.now(UTC)).date().isoformat()


def audience_record(
    certificate: Certificate, loaded: Loaded, audience: Audience, asked: Asked
) -> tuple[list[Row], bytes]:
    """Return the rows of an audience's record, with what was asked of them, and its bytes."""
    rows = record_rows(certificate, audience, loaded)
    verdicts = certificate.standings(audience)
    if waived(verdicts, asked):
        rows[0]["undecided_allowed"] = True
    if asked.proved:
        rows[0] |= {"required": "proved", "exit_code": exit_code(verdicts, asked)}
    rows[0] |= _since(asked.previous, audience, parse_rows(record_text(rows).encode()))
    return rows, record_text(rows).encode()


def _since(previous: Previous, audience: Audience, rows: Sequence[Row]) -> Row:
    """Return what the header says of the changes up to these rows: nothing where nothing was compared."""
    if audience not in previous.rows:
        return {}
    found = difference(previous.rows[audience], rows)
    first = sorted(found.changes, key=lambda change: change.what != "verdict")  # stable: the worse come first
    shown = [
        {"turn": each.turn.name, "words": f"{f'{each.what} {each.where}'.strip()}: {each.said()}"} for each in first
    ]
    return {
        "previous": {
            "record": previous.digests[audience],
            "words": previous.rows[audience][0]["words"],
            "headline": found.headline(),
            "worse": found.worse,
            "changes": shown[:KEPT],
            "more": max(0, len(shown) - KEPT),
            "notes": list(found.notes),
        }
    }


@dataclass(frozen=True)
class Contents:
    """Everything that an audience gets, made and not written yet; the attestation comes last."""

    audience: Audience
    rows: list[Row]
    files: Mapping[str, bytes]
    mode: int


def contents(
    certificate: Certificate,
    loaded: Loaded,
    audience: Audience,
    *,
    date: str,
    jobs: int,
    about: dict[str, Any] | None = None,
    asked: Asked = NOTHING_ASKED,
) -> Contents:
    """Make everything that an audience gets."""
    deployment = certificate.deployment
    rows, record = audience_record(certificate, loaded, audience, asked)
    pages = document(rows, digest=sha256(record), date=date, record=record)
    figures = drawn_figures(pages, jobs)
    files: dict[str, bytes] = {
        RECORD: record,
        "audit.pdf": rendered(pages, ".pdf", figures=figures),
        HTML: rendered(pages, ".html", figures=figures),
        "audit.md": rendered(pages, ".md"),
        "junit.xml": junit_xml("pdp-verify certify", junit_cases(rows)),
        RUN: as_json({"schema_version": 1, "date": date} | (about or {})),
    }
    for report in deployment.reports:
        files[report_name(vars(report))] = publishable(report, loaded.config.data, deployment.domain)
    if audience is Audience.CURATOR:
        files[CONFIGURATION] = loaded.text.encode()
        files[CHAIN] = chain_bytes(deployment.releases.chain if deployment.releases is not None else ())
        refuted = refuting(rows)
        if refuted is not None:
            files[COUNTEREXAMPLE] = counterexample_toml(refuted, rows[0], loaded).encode()
    own = [descriptor(name, sha256(files[name])) for name in attested_names(rows)]
    spoken_of = _subjects_of(certificate, loaded, audience)
    body = predicate(rows, [*own, *spoken_of], rendered_with())
    files[PREDICATE_FILE] = as_json(body)
    files[LAST] = as_json(statement(subjects(own, spoken_of, audience), body))
    return Contents(audience, rows, files, PRIVATE if audience is Audience.CURATOR and deployment.private else 0o666)


def chain_bytes(entries: Sequence[Entry]) -> bytes:
    """Return a copy of the chain of draws as strict JSON."""
    return as_json([encode(entry) for entry in entries])


def write_all(parts: Sequence[Contents], folder: Path, *, spared: Container[Audience] = ()) -> None:
    """Write the folders of a certificate, the curator's first; before that, what was there is taken away.

    A folder without ``attestation.json`` is incomplete. No attestation of before stands beside files of now, but for
    the folders that are ``spared``.
    """
    kept = {part.audience: part.files for part in parts}
    for audience in (Audience.RELEASE, Audience.CURATOR):
        if audience not in spared:
            discard(folder / audience.value, keep=kept.get(audience, {}))
    for part in parts:
        inside = make_folder(folder / part.audience.value, private=part.audience is Audience.CURATOR)
        for name, data in part.files.items():
            write_atomic(inside / name, data, mode=part.mode)


def discard(folder: Path, *, keep: Container[str]) -> None:
    """Take the attestation away, and with it its signatures and what a run left that ``keep`` does not hold."""
    if kind_of(folder) != "folder":
        return
    (folder / LAST).unlink(missing_ok=True)
    for path in folder.iterdir():
        ours = path.name in KNOWN or is_signature(path.name) or is_left_over(path.name)
        if ours and path.name not in keep:
            path.unlink()
    with contextlib.suppress(OSError):
        folder.rmdir()


def _subjects_of(certificate: Certificate, loaded: Loaded, audience: Audience) -> list[dict[str, Any]]:
    """Return what the verdicts speak about, by digest: for release the artefact alone."""
    deployment = certificate.deployment
    if audience is Audience.RELEASE:
        return _named_artefact(deployment.artefact)
    sources = [view.source for view in deployment.views]
    output = "" if deployment.releases is None else deployment.releases.digest
    return inputs(loaded, output, sources, deployment.vouched, deployment.artefact)


def inputs(
    loaded: Loaded,
    output: str,
    views: Sequence[OwnCode],
    word: Vouched | None,
    artefact: Mapping[str, str] | None,
) -> list[dict[str, Any]]:
    """Return what goes into a certificate beside the records: configuration, output, mechanism, proof and artefact.

    ``output`` is the digest of the released file, empty where none was drawn.
    """
    descriptors = [descriptor(loaded.path.name, loaded.digest)]
    release = loaded.config.release
    if release is not None and output:
        name = Path(release.file).name if release.file else "output.json"
        descriptors.append(descriptor(name, output))
    own = source_of(loaded)
    for source in (*([] if own is None else [own]), *views):
        named = [descriptor(name, digest) for name, digest in source.digests().items()]
        descriptors += [each for each in named if each not in descriptors]
    if word is not None and word.kind == "file":
        descriptors.append(descriptor(word.proof, word.digest))
    return descriptors + _named_artefact(artefact)


def input_names(config: Configuration, listed: Sequence[str], *, released: bool) -> list[str]:
    """Return the names under which ``inputs`` lists what a configuration speaks about, after its own name.

    Which words of a command were files is known from the names that are ``listed``; whether there is an output, from
    the record.
    """
    release, mechanism = config.release, config.mechanism
    names = [] if release is None or not released else [Path(release.file).name if release.file else "output.json"]
    own: list[str] = []
    if isinstance(mechanism, CommandSection):
        inside = listed[len(names) + 1 : None if config.artefact is None else -1]
        own += [word for word in mechanism.command if word in inside]
    if isinstance(mechanism, DoorSection):
        own.append(mechanism.label)
    if isinstance(mechanism, OwnSection):
        origins = [mechanism.origin] if isinstance(mechanism, ImportSection) else []
        names += dict.fromkeys([*own, *(origin.partition(":")[0] for origin in (*origins, *mechanism.views))])
    if isinstance(mechanism, ImportSection):
        word = mechanism.vouched_by
        names += [] if word is None or is_link(word.proof) else [word.proof.strip()]
    return names + ([] if config.artefact is None else [Path(config.artefact.file).name])


def _named_artefact(artefact: Mapping[str, str] | None) -> list[dict[str, Any]]:
    """Return the descriptor of the artefact, if there is one."""
    return [] if artefact is None else [descriptor(artefact["name"], artefact["sha256"])]


def junit_cases(rows: Sequence[Row]) -> list[JUnitCase]:
    """Return one test case a claim, with the checks' outcomes in its message."""
    checks = [row for row in rows if row["kind"] == "check"]
    cases = []
    for row in rows:
        if row["kind"] == "claim":
            own = [f"{c['check']}: {c['outcome'].lower()}" for c in checks if c["claim"] == row["claim"]]
            verdict = row["words"].replace(row["verdict"], row["verdict"].lower())
            message = "\n".join([f"{verdict}: {row['sentence']} ({verdict_said(row).removesuffix('.')})", *own])
            status = STATUS[result_of(row, asked_of(rows[0]))]
            cases.append(JUnitCase(row["claim"], f"certify.{row['type']}", status, message))
    return cases


def inside_about(loaded: Loaded, asked: Mapping[str, bool]) -> dict[str, Any]:
    """Return what ``run.json`` says to the curator besides the run: what was asked, and where the inputs are."""
    return {"asked": dict(asked), "configuration": str(loaded.path.resolve()), "releases": str(folder_of(loaded))}


def render_again(record: Path, run: Mapping[str, Any], file: Path, *, jobs: int) -> None:
    """Write the pages of a certificate's record once more: the bytes that ``certify`` wrote. Nothing is drawn.

    Raises UserError if the record is not whole.
    """
    data = record.read_bytes()
    with as_written(record):
        rows = checked_rows(record, "certificate")
        pages = document(rows, digest=sha256(data), date=str(run.get("date", "")), record=data)
        private = bool(rows[0]["contains_private"])
    write_document(pages, file, figures=drawn_figures(pages, jobs), mode=PRIVATE if private else 0o666)


def parse_rows(record: bytes) -> list[Row]:
    """Return the rows of a record of ours, or raise ValueError in one line."""
    rows = [json.loads(line) for line in record.decode().removesuffix("\n").split("\n")]
    if not all(isinstance(row, dict) for row in rows):
        raise ValueError("audit.jsonl must hold JSON objects")
    if rows[0].get("record") != "certificate":
        raise ValueError("audit.jsonl must be the record of a certificate")
    words = other_version(rows[0], "certificate")
    if words:
        raise ValueError(words)
    return rows

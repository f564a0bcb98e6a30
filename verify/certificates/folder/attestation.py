"""An in-toto Statement with the test-result predicate, unsigned: existing tools sign it; and what it names."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from audits.verdict import Ground
from reports.row import Audience

from ...kernel.rows import Row
from ...messages.errors import UserError
from ..asked import Asked, asked_of, standings, unmet, waived
from ..config.config import Loaded


def artefact_of(loaded: Loaded) -> dict[str, str] | None:
    """Return name and SHA-256 of the artefact that a configuration names, or None.

    Raises UserError if it is no file that can be read.
    """
    section = loaded.config.artefact
    if section is None:
        return None
    digest = digest_of(loaded.folder / section.file, "artefact.file", section.file)
    return {"name": Path(section.file).name, "sha256": digest}


def digest_of(path: Path, key: str, shown: str) -> str:
    """Return the SHA-256 of a file of any size; ``key`` and ``shown`` are how an error names it."""
    why = "no file"
    try:
        if path.is_file():
            with path.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError) as stop:
        why = getattr(stop, "strerror", None) or "no file name"
    raise UserError(f"{key} must be a file that can be read, got {key}={shown} ({why})")


RENDERERS = ("matplotlib", "typst")
SOURCES = (".py", ".typ", ".css", ".js", ".woff")


@cache
def rendered_with() -> dict[str, str]:
    """Return the versions of what sets pages and figures, and the digest of our own sources that do."""
    versions = {name: metadata.version(name) for name in RENDERERS}
    return versions | {"reports": _reports_digest()}


def _reports_digest() -> str:
    folder = Path(str(import_module("reports").__file__)).parent
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in SOURCES:
            digest.update(f"{path.relative_to(folder).as_posix()}\0".encode())
            digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()


STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://in-toto.io/attestation/test-result/v0.1"
RESULTS = {"PASS": "PASSED", "FAIL": "FAILED", "UNDECIDED": "WARNED"}


def sha256(data: bytes) -> str:
    """Return the SHA-256 of some bytes."""
    return hashlib.sha256(data).hexdigest()


def descriptor(name: str, digest: str) -> dict[str, Any]:
    """Return an in-toto resource descriptor."""
    return {"name": name, "digest": {"sha256": digest}}


def predicate(rows: list[Row], configuration: list[dict[str, Any]], rendered: Mapping[str, str]) -> dict[str, Any]:
    """Return the test-result predicate of a record: one test a claim.

    Its configuration names the files of the folder and what the verdicts speak about, each by its digest; ``rendered``
    says by which versions the pages were set.

    A PASS on somebody's word is a warned test where a proof was required. The annotations say of every claim what its
    verdict rests on: the ground, who vouches and the digest of the proof, and the smallest leak that would have been
    seen.
    """
    header, claims = rows[0], [row for row in rows if row["kind"] == "claim"]
    asked, verdicts = asked_of(header), standings(rows)
    results = {row["claim"]: result_of(row, asked) for row in claims}
    named = {result: [name for name, one in results.items() if one == result] for result in RESULTS.values()}
    result = RESULTS[header["verdict"]]
    annotations: dict[str, Any] = {"verdicts": [_rests_on(row) for row in claims]}
    if waived(verdicts, asked):
        annotations["undecidedAllowed"] = True
    if asked.proved:
        annotations["required"] = "proved"
    annotations["renderedWith"] = dict(rendered)
    return {
        "result": "WARNED" if result == "PASSED" and unmet(verdicts, asked) else result,
        "configuration": configuration,
        "passedTests": named["PASSED"],
        "warnedTests": named["WARNED"],
        "failedTests": named["FAILED"],
        "annotations": annotations,
    }


def result_of(claim: Row, asked: Asked) -> str:
    """Return the result of the test that a claim is."""
    if asked.proved and claim["ground"] == Ground.ATTESTED.value:
        return "WARNED"
    return RESULTS[claim["verdict"]]


def _rests_on(claim: Row) -> dict[str, Any]:
    annotation: dict[str, Any] = {"claim": claim["claim"], "verdict": claim["words"], "ground": claim["ground"]}
    if claim["vouched"] is not None:
        annotation["vouchedBy"] = claim["vouched"]
    if claim["examination"] is not None and claim["examination"].get("visible") is not None:
        annotation["visibleLeak"] = claim["examination"]["visible"]
    return annotation


def subjects(own: list[dict[str, Any]], spoken_of: list[dict[str, Any]], audience: Audience) -> list[dict[str, Any]]:
    """Return the subjects of a folder's statement: the release record is one, the curator's is evidence on others."""
    return [own[0], *spoken_of] if audience is Audience.RELEASE else spoken_of


def statement(subjects: list[dict[str, Any]], body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the statement that binds a predicate to its subjects."""
    return {"_type": STATEMENT, "subject": subjects, "predicateType": PREDICATE, "predicate": dict(body)}


def as_json(value: Mapping[str, Any] | list[Any]) -> bytes:
    """Return strict JSON bytes, the same for the same value."""
    return (json.dumps(value, indent=2, allow_nan=False) + "\n").encode()

"""An in-toto Statement with the test-result predicate, unsigned: existing tools sign ``predicate.json`` or the whole."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from ..rows import Row

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://in-toto.io/attestation/test-result/v0.1"
RESULTS = {"PASS": "PASSED", "FAIL": "FAILED", "UNDECIDED": "WARNED"}


def sha256(data: bytes) -> str:
    """Return the SHA-256 of some bytes."""
    return hashlib.sha256(data).hexdigest()


def descriptor(name: str, digest: str) -> dict[str, Any]:
    """Return an in-toto resource descriptor."""
    return {"name": name, "digest": {"sha256": digest}}


def predicate(
    rows: list[Row], configuration: list[dict[str, Any]], *, undecided_allowed: bool = False
) -> dict[str, Any]:
    """Return the test-result predicate of a record: one test a claim."""
    header, claims = rows[0], [row for row in rows if row["kind"] == "claim"]
    named = {verdict: [row["claim"] for row in claims if row["verdict"] == verdict] for verdict in RESULTS}
    result: dict[str, Any] = {
        "result": RESULTS[header["verdict"]],
        "configuration": configuration,
        "passedTests": named["PASS"],
        "warnedTests": named["UNDECIDED"],
        "failedTests": named["FAIL"],
    }
    if undecided_allowed:
        result["annotations"] = {"undecidedAllowed": True}
    return result


def statement(subjects: list[dict[str, Any]], body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the statement that binds a predicate to its subjects."""
    return {"_type": STATEMENT, "subject": subjects, "predicateType": PREDICATE, "predicate": dict(body)}


def as_json(value: Mapping[str, Any]) -> bytes:
    """Return strict JSON bytes, the same for the same value."""
    return (json.dumps(value, indent=2, allow_nan=False) + "\n").encode()

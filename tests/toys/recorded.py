"""Rows of a finished certificate, and copies of them with another verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Rows = list[dict[str, Any]]
VERDICTS: dict[str, dict[str, str]] = {
    "PASS": {"verdict": "PASS", "ground": "proved", "words": "PASS (proved)"},
    "FAIL": {"verdict": "FAIL", "ground": "", "words": "FAIL", "reason": "worst pair"},
    "UNDECIDED": {"verdict": "UNDECIDED", "ground": "not tested", "words": "UNDECIDED (not tested)"},
    "VOUCHED": {"verdict": "PASS", "ground": "attested", "words": "PASS (attested)"},
}


def read_rows(folder: Path) -> Rows:
    return [json.loads(line) for line in (folder / "audit.jsonl").read_text(encoding="utf-8").splitlines()]


def ruled(rows: Rows, verdict: str, **header: Any) -> Rows:
    """Return the rows with this verdict on every claim."""
    given = VERDICTS[verdict]
    above = {"verdict": given["verdict"], "words": given["words"], **header}
    return [row | (above if row["kind"] == "header" else given if row["kind"] == "claim" else {}) for row in rows]

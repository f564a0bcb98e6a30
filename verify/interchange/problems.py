"""What in a record somebody must look at: refuted and open claims, verdicts on statements that nobody expected."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..certificates.asked import asked_of
from ..certificates.claims.types import BY_TYPE
from ..certificates.config.config import parse
from ..certificates.folder.attestation import result_of
from ..engine.record import Record
from ..engine.rows import Row
from ..messages.errors import UserError
from ..messages.texts import read_text
from ..messages.verdict_words import verdict_said
from .sarif_log import SarifProblem

LEVELS = {"FAILED": "error", "WARNED": "warning"}
OF_CLAIMS = (
    "The evidence is in the certificate (audit.pdf, audit.html) and in its record (audit.jsonl), both in one folder, "
    "which pdp-verify check examines."
)
OF_STATEMENTS = "pdp-verify show {id} --record RECORD shows the statement, and what was decided of it."
_HEAD = re.compile(r"\s*\[\[\s*claims\s*\]\]")


@dataclass(frozen=True)
class ClaimPlaces:
    """Where claims are written: a file, and the lines of those that were found in it."""

    file: str
    lines: Mapping[str, int]

    def line(self, claim: str) -> int:
        """Return the line of a claim, or the first where it was not found."""
        return self.lines.get(claim, 1)


def places_in_record(name: str, rows: Sequence[Row]) -> ClaimPlaces:
    """Return where each claim stands in the record itself."""
    return ClaimPlaces(name, {row["claim"]: n for n, row in enumerate(rows, start=1) if row["kind"] == "claim"})


def places_in_configuration(path: Path, header: Row) -> ClaimPlaces:
    """Return where each claim stands in the configuration.

    For release on private data no line is given: it would say how many claims stand above that are not shown.

    Raises
    ------
    UserError
        If the path is not relative to the repository's root, the file is no configuration, or, where the record says
        which it was, another one.
    """
    if path.is_absolute() or ".." in path.parts:
        raise UserError(f"source must be a path relative to the repository's root, got source={path}")
    text = read_text(path, "source")
    digest = header.get("configuration_digest")
    if digest is not None and hashlib.sha256(text.encode()).hexdigest() != digest:
        raise UserError(f"source must be the configuration that the record was made of, got source={path}")
    names = [str(claim.name) for claim in parse(text).claims]
    return ClaimPlaces(path.as_posix(), {} if digest is None else claim_lines(text, names))


def claim_lines(text: str, names: Sequence[str]) -> dict[str, int]:
    """Return the line of each claim's table; nothing where the tables are not one a claim."""
    heads = [number for number, line in enumerate(text.split("\n"), start=1) if _HEAD.match(line)]
    return dict(zip(names, heads, strict=True)) if len(heads) == len(names) else {}


def certificate_problems(rows: Sequence[Row], places: ClaimPlaces) -> list[SarifProblem]:
    """Return the claims that are refuted, open, or not proved where a proof was asked for."""
    asked = asked_of(rows[0])
    problems = []
    for row in rows:
        level = LEVELS.get(result_of(row, asked)) if row["kind"] == "claim" else None
        if level is None:
            continue
        advice = f" {row['advice']}" if row["advice"] else ""
        name, kind = row["claim"], row["type"]
        title = (BY_TYPE[kind].__doc__ or kind).partition("\n")[0]
        about = f"{title} What a PASS promises: {BY_TYPE[kind].promise}"
        message = f"{name}: {row['words']} ({verdict_said(row).removesuffix('.')}). Claimed: {row['sentence']}.{advice}"
        place = places.file, places.line(name)
        problems.append(SarifProblem(kind, title, about, OF_CLAIMS, level, message, f"claim {name}", *place))
    return problems


def run_problems(record: Record) -> list[SarifProblem]:
    """Return the statements whose verdict is not the expected one, whose check broke, or that are open.

    A statement that is refuted as the ledger expects is none: the errata tell it. What has a parent (a line of a
    proof, which never decides it) is one where its own verdict is not the expected one, or is open.
    """
    statements = {row["id"]: row for row in record.statements}
    broken = {row["id"] for row in (*record.cases, *record.figures) if row["error"] is not None}
    problems = []
    for row in record.verdicts:
        child = row["parent"] is not None
        ask = not child or row["unexpected"] or row["still_open"]
        found = _of_verdict(row, row["id"] in broken) if ask else None
        if found is not None:
            of = statements[row["parent"] if child else row["id"]]
            level, message = found
            id_, about = row["id"], f"{of['title']} ({of['locator']})"
            words = OF_STATEMENTS.format(id=id_)
            problems.append(
                SarifProblem(id_, of["title"], about, words, level, f"{id_}: {message}", id_, of["file"], 1)
            )
    return problems


def _of_verdict(row: Row, broken: bool) -> tuple[str, str] | None:
    """Return level and words of a verdict, or None where there is nothing to look at."""
    rulings = [row[standing] for standing in ("printed", "corrected") if row[standing] is not None]
    if broken:
        return "error", "; ".join(("a check stopped with an error", *row["unexpected"], *row["still_open"]))
    if row["unexpected"]:
        return "error", "; ".join((*row["unexpected"], *row["still_open"]))
    if row["still_open"]:
        return "warning", "; ".join(row["still_open"])
    reasons = [ruling["reason"] for ruling in rulings if ruling["verdict"] == "UNDECIDED"]
    how = f"decided with {', '.join(row['data'])}" if row.get("data") else "as expected"
    if row.get("data") and row["printed"]["verdict"] == "REFUTED":
        return "note", f"REFUTED, {how}"
    return ("note", f"UNDECIDED, {how} ({', '.join(dict.fromkeys(reasons))})") if reasons else None

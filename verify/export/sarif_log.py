"""SARIF 2.1.0, as code scanning reads it: a result for everything that is refuted or open, none for what holds."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ..certificates.asked import asked_of
from ..certificates.claims.types import BY_TYPE
from ..certificates.config.config import parse
from ..certificates.folder.attestation import result_of
from ..engine.record import Record
from ..kernel.rows import Row
from ..messages.errors import UserError
from ..messages.texts import read_text
from ..messages.verdict_words import verdict_said

if TYPE_CHECKING:
    from sarif_pydantic import Result


SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
#: The fingerprint's key ends in the version of how it is made; GitHub knows a result by its own key alone, which would
#: be made of the line's text without us, so that a claim whose numbers change were another one.
FINGERPRINT, OF_GITHUB = "pdpVerify/v1", "primaryLocationLineHash"
#: Most letters of a rule's description that GitHub takes.
LONGEST = 1024


@dataclass(frozen=True)
class SarifProblem:
    """Something that somebody must look at.

    Attributes
    ----------
    rule, title : str
        What was examined: a type of claim, or a statement.
    about, help : str
        What the rule says, and where the evidence is; GitHub requires both.
    level : str
        ``error``, ``warning`` or ``note``.
    message : str
        The verdict in one line.
    key : str
        What names the problem for as long as it is the same one, whatever its numbers are.
    file : str
        Where it is written, with ``/`` and relative to the root of the repository.
    line : int
        From 1.
    """

    rule: str
    title: str
    about: str
    help: str
    level: str
    message: str
    key: str
    file: str
    line: int


def sarif_log(
    problems: Sequence[SarifProblem],
    *,
    version: str,
    complete: bool,
    about: Mapping[str, Any],
    artefact: Mapping[str, str] | None = None,
) -> bytes:
    """Return a SARIF log of one run as UTF-8: no clock, no host, so that equal problems give equal bytes.

    Parameters
    ----------
    problems : sequence of SarifProblem
        In the order in which they are to be listed.
    version, complete : str, bool
        Of this suite; whether everything was decided that was to be.
    about : mapping
        Further properties of the run: no result is no verdict, so that they say it.
    artefact : mapping, optional
        ``name`` and ``sha256`` of what the results speak about.

    Raises
    ------
    UserError
        If the library that writes it is not installed.
    """
    try:
        from sarif_pydantic import (
            Artifact,
            ArtifactLocation,
            Invocation,
            Message,
            ReportingDescriptor,
            Run,
            Sarif,
            Tool,
        )
        from sarif_pydantic import ToolDriver as Driver
    except ImportError as stop:
        raise UserError("a .sarif file needs the extra interchange: pip install 'pdp-verify[interchange]'") from stop
    ruled = {problem.rule: problem for problem in problems}
    places = {rule: place for place, rule in enumerate(ruled)}
    rules = [
        ReportingDescriptor(
            id=rule,
            short_description=Message(text=problem.title[:LONGEST]),
            full_description=Message(text=problem.about[:LONGEST]),
            help=Message(text=problem.help),
        )
        for rule, problem in ruled.items()
    ]
    target = None
    if artefact is not None:
        location, hashes = ArtifactLocation(uri=quote(artefact["name"])), {"sha-256": artefact["sha256"]}
        said = Message(text="named by the configuration; the file itself was not examined")
        target = [Artifact(location=location, hashes=hashes, description=said)]
    run = Run(
        tool=Tool(driver=Driver(name="pdp-verify", version=version, rules=rules)),
        invocations=[Invocation(execution_successful=complete)],
        artifacts=target,
        results=[_result(problem, places[problem.rule]) for problem in problems],
        properties=dict(about),
    )
    log = Sarif.model_validate({"$schema": SCHEMA, "runs": [run]})
    text: str = log.model_dump_json(by_alias=True, exclude_none=True, indent=2)
    return f"{text}\n".encode()


def _result(problem: SarifProblem, place: int) -> Result:
    from sarif_pydantic import ArtifactLocation, Level, Location, Message, PhysicalLocation, Region, Result

    region = Region(start_line=problem.line, start_column=1, end_line=problem.line, end_column=2)
    where = PhysicalLocation(artifact_location=ArtifactLocation(uri=quote(problem.file)), region=region)
    key = hashlib.sha256(problem.key.encode()).hexdigest()
    return Result(
        rule_id=problem.rule,
        rule_index=place,
        level=Level(problem.level),
        message=Message(text=problem.message),
        locations=[Location(physical_location=where)],
        partial_fingerprints={OF_GITHUB: f"{key[:16]}:1", FINGERPRINT: key},
    )


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
    """Return where each claim stands in the configuration, a path relative to the repository's root.

    For release on private data no line is given: it would say how many claims stand above that are not shown. Raises
    ``UserError`` where the file is no configuration, or not the one that the record says.
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

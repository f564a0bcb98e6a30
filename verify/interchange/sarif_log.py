"""SARIF 2.1.0, as code scanning reads it: a result for everything that is refuted or open, none for what holds."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ..messages.errors import UserError

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
    """Return a SARIF log of one run.

    Parameters
    ----------
    problems : sequence of SarifProblem
        In the order in which they are to be listed.
    version : str
        Of this suite.
    complete : bool
        Whether everything was decided that was to be.
    about : mapping
        Further properties of the run: no result is no verdict, so that they say it.
    artefact : mapping, optional
        ``name`` and ``sha256`` of what the results speak about.

    Returns
    -------
    bytes
        UTF-8; no clock, no host, so that equal problems give equal bytes.

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

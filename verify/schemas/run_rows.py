"""The rows of a run's ``audit.jsonl``: header, statements, cases, figures, verdicts; and its ``run.json``."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from .row_parts import (
    Count,
    Digest,
    Drawn,
    ErrorPart,
    HeaderPart,
    LookPart,
    Number,
    Probability,
    ReasonName,
    Values,
    VerdictName,
    row_part,
    whole,
)


@row_part
class CopyPart(TypedDict):
    """A copy of a paper that statements were read from, and how it was made."""

    digest: Digest
    made: str


@row_part
class PaperPart(TypedDict):
    """A paper as the pages name it: its reference in a line, its identifier, and the copies that were read."""

    reference: str
    title: str
    year: int
    doi: str
    copies: dict[str, CopyPart]


@row_part
class RunHeader(HeaderPart):
    """Everything that the rows depend on."""

    schema_version: Annotated[Literal[2], whole]
    complete: bool
    failure_prob: Annotated[float, Field(gt=0, lt=1)]
    failure_prob_per_id: Probability
    slots: Annotated[int, Field(ge=1)]
    statements: list[str]
    papers: dict[str, PaperPart]
    data: dict[str, Digest]


@row_part
class FormulaPart(TypedDict):
    """A formula, as Typst and as plain text."""

    typst: str
    text: str


@row_part
class ProvenancePart(TypedDict):
    """Where a display was read, and what our copy is worth there."""

    copy: str
    digest: Digest
    line: Annotated[int, Field(ge=1)]
    worth: Literal["CONFIRMED", "SINGLE", "DAMAGED"]
    evidence: str


@row_part
class DisplayPart(TypedDict):
    """One display of a statement in its versions."""

    id: str
    title: str
    reading: str
    printed: FormulaPart | None
    corrected: FormulaPart | None
    what_went_wrong: str
    derivation: str
    proof: bool
    provenance: ProvenancePart | None


@row_part
class StatementRow(TypedDict):
    """A statement's formulas and words."""

    kind: Literal["statement"]
    id: str
    paper: str
    of: str
    title: str
    locator: str
    domain: str
    summary: str
    definition: str
    file: str
    reference: str
    parts: Annotated[list[DisplayPart], Field(min_length=1)]


@row_part
class CaseRow(LookPart):
    """One case, decided."""

    kind: Literal["case"]
    id: str
    part: str
    case: str
    standing: Literal["PRINTED", "CORRECTED", "MUTANT"]
    role: Literal["REGIME", "EDGE", "COUNTEREXAMPLE", "ADVERSARIAL"]
    regime: str
    mutant: str
    severity: float | None
    params: Values
    n_draws: Count
    failure_prob: Probability
    confirmation: LookPart | None
    error: ErrorPart | None


@row_part
class StatementFigureRow(TypedDict):
    """A figure of a statement."""

    kind: Literal["figure"]
    id: str
    number: Count
    figure: Drawn | None
    error: ErrorPart | None


@row_part
class RulingPart(TypedDict):
    """What the cases of one version decide together."""

    verdict: VerdictName
    reason: ReasonName
    outcomes: dict[str, Annotated[int, Field(ge=1)]]
    worst_case: str
    worst_margin: Number


@row_part
class ReadingPart(TypedDict):
    """What was decided about one reading of a text."""

    printed: RulingPart
    corrected: RulingPart | None


@row_part
class MildestPart(TypedDict):
    """The least wrong misstatement that was refuted."""

    case: str
    severity: float


@row_part
class MutantsPart(TypedDict):
    """What became of the misstatements."""

    total: Count
    caught: Count
    held: list[str]
    undecided: list[str]
    smallest: MildestPart | None


@row_part
class ExpectedPart(TypedDict):
    """What was expected of an id."""

    printed: VerdictName
    corrected: VerdictName | None
    readings: dict[str, VerdictName]


@row_part
class VerdictRow(TypedDict):
    """What was decided about an id, beside what was expected."""

    kind: Literal["verdict"]
    id: str
    parent: str | None
    printed: RulingPart
    corrected: RulingPart | None
    readings: dict[str, ReadingPart]
    mutants: MutantsPart
    consequence: Literal["", "PRIVACY", "COVERAGE", "RESULT", "PROOF", "MISPRINT"]
    root: str
    expected: ExpectedPart | None
    data: NotRequired[list[str]]
    unexpected: list[str]
    still_open: list[str]


Moment = Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\+00:00$")]
Seconds = Annotated[float, Field(ge=0)]


@row_part
class RunAbout(TypedDict):
    """The object of a run's ``run.json``, or of a calibration's."""

    schema_version: Annotated[Literal[1], whole]
    started: Moment
    finished: Moment
    seconds: Seconds
    seconds_of: NotRequired[dict[str, Seconds]]
    command: str
    jobs: Annotated[int, Field(ge=1)]
    host: str
    system: str
    versions: dict[str, str]
    reused_rows: NotRequired[Count]
    reused_tasks: NotRequired[Count]
    worker_deaths: NotRequired[Count]
    exit_code: Annotated[Literal[0, 1, 4, 130], whole]

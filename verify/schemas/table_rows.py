"""The rows of ``comparison.jsonl``, of ``calibration.jsonl``, and of the table that a sweep exports."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from .row_parts import Count, Digest, ErrorPart, HeaderPart, LookPart, Number, Probability, Share, row_part, whole

OriginName = Literal["records", "public", "synthetic"]
NeighboursName = Literal["add-remove", "replace"]
Epsilon = Annotated[float, Field(gt=0)]


@row_part
class PromisePart(TypedDict):
    """One promise that every mechanism was set up for."""

    epsilon: Epsilon
    delta: Probability
    neighbours: NeighboursName


@row_part
class ComparisonHeader(TypedDict):
    """Everything that the rows depend on.

    ``data`` is the digest of the records that were cross-validated, ``origin`` what they are; ``steps`` is what was
    done to them, ``data_dependent`` what of that was read off the data.
    """

    kind: Literal["header"]
    record: Literal["comparison"]
    schema_version: Annotated[Literal[1], whole]
    complete: bool
    cells: Count
    cells_done: Count
    name: str
    origin: OriginName
    public: bool
    recipe: str
    data: Digest
    n_records: Count
    n_public: Count
    dim: Count
    x_bound: Number
    y_bound: Number
    steps: list[str]
    data_dependent: list[str]
    loss: Literal["squared", "logistic"]
    promises: list[PromisePart]
    methods: list[str]
    as_run: bool
    folds: Count
    draws: Count
    seed: Count
    versions: dict[str, str]
    platform: str
    sources: Digest


@row_part
class ChoiceRow(TypedDict):
    """One mechanism, calibrated one way for one promise; ``reason`` says why a number is missing."""

    kind: Literal["choice"]
    data: str
    origin: OriginName
    loss: Literal["squared", "logistic"]
    method: str
    way: Literal["", "published", "exact", "as run"]
    neighbours: Literal["", "add-remove", "replace"]
    epsilon: Epsilon | None
    delta: Probability | None
    rule: str
    standing: Literal["", "proved", "broken", "not proved"]
    error: Number | None
    error_low: Number | None
    error_high: Number | None
    metric: str
    folds: Count
    draws: Count
    record_epsilon_median: Number | None
    record_epsilon_95: Number | None
    record_epsilon_largest: Number | None
    record_epsilon_kind: Literal["", "exact law", "proved bound", "the promise"]
    reason: str


Interval = Annotated[list[Share], Field(min_length=2, max_length=2)]


@row_part
class CalibrationHeader(HeaderPart):
    """Everything that the rows depend on; ``crashed`` names what killed its worker process every time."""

    schema_version: Annotated[Literal[1], whole]
    record: Literal["calibration"]
    complete: bool
    tasks: Count
    tasks_done: Count
    crashed: NotRequired[list[str]]


@row_part
class ExactRow(TypedDict):
    """Coverage of an interval, summed over all counts."""

    kind: Literal["exact"]
    auditor: str
    level: Share
    n: Count
    p: Share
    low: Share
    high: Share
    compatible: bool


@row_part
class RateRow(TypedDict):
    """How often an auditor missed."""

    kind: Literal["rate", "control", "prediction"]
    auditor: str
    law: str
    level: Share
    n_draws: Count
    repeats: Count
    low: Count
    high: Count
    any: Count
    interval: Interval
    smallest_rate_refused: float
    compatible: bool


@row_part
class GradePart(TypedDict):
    """How often a mutant of one strength was refuted."""

    strength: float | None
    repeats: Count
    refuted: Count
    interval: Interval
    lower: Share


@row_part
class MutantRow(TypedDict):
    """A mechanism that is broken on purpose, and how often that was seen."""

    kind: Literal["mutant"]
    auditor: str
    name: str
    unit: str
    graded: bool
    stated: float | None
    n_draws: Count
    failure_prob: Share
    grades: Annotated[list[GradePart], Field(min_length=1)]
    smallest_found: float | None
    found: bool | None


@row_part
class SweepHeader(TypedDict):
    """Everything that the rows depend on; ``data`` is the digest of a user's own."""

    kind: Literal["sweep"]
    schema_version: Annotated[Literal[2], whole]
    name: str
    complete: bool
    cells: Count
    axes: dict[str, list[float | str]]
    seed: Count
    n_draws: Count
    failure_prob_per_cell: Probability
    failure_prob: Annotated[float, Field(ge=0)]
    data: Digest | None
    imported: dict[str, dict[str, Any]]
    imported_draws: Count | None
    versions: dict[str, str]
    platform: str
    sources: Digest


@row_part
class CellRow(LookPart):
    """One cell, decided; ``ground`` is what a claim that holds rests on."""

    kind: Literal["cell"]
    cell: dict[str, float | str]
    n_draws: Count
    failure_prob: Probability
    confirmation: LookPart | None
    error: ErrorPart | None
    ground: Literal["proved", "attested", "vouched", ""]

"""The rows of ``calibration.jsonl``: header, exact coverage, rates of false alarms, mutants."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from .row_parts import Count, HeaderPart, Share, row_part, whole

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

"""Parts of rows that several records have: numbers, estimates, one look at a claim, figures, what a header says."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import BeforeValidator, ConfigDict, Field, with_config
from pydantic_core import PydanticKnownError
from typing_extensions import TypedDict

#: Every part of a row: no other keys, no number for a text, nothing that JSON lacks.
row_part = with_config(ConfigDict(extra="forbid", strict=True, allow_inf_nan=False))


def _check_whole(value: object) -> object:
    if type(value) is not int:
        raise PydanticKnownError("int_type")
    return value


#: Beside the literal numbers that a value may be: ``true`` is none, though it equals 1.
whole = BeforeValidator(_check_whole)

#: A number, or one of the three that JSON lacks.
Number = float | Literal["inf", "-inf", "nan"]
Count = Annotated[int, Field(ge=0)]
#: Of an event that must not be certain.
Probability = Annotated[float, Field(ge=0, lt=1)]
Share = Annotated[float, Field(ge=0, le=1)]
Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Values = dict[str, float | str | bool | None]
Objects = list[dict[str, Any]]
Profile = Literal["quick", "standard", "full"]
OutcomeName = Literal["HOLDS", "FAILS", "UNDECIDED", "OUT_OF_DOMAIN"]
ReasonName = Literal[
    "NONE",
    "BUDGET",
    "NO_FINITE_TEST",
    "DATA_MISSING",
    "MISSTATED",
    "NOT_TESTED",
    "DEPENDENT",
    "DRAWS_ALONE",
    "UNATTESTED",
    "READING",
    "INCONSISTENT",
    "UNCONFIRMED",
    "ERROR",
    "POWER",
    "INTERRUPTED",
]
VerdictName = Literal["SUPPORTED", "REFUTED", "UNDECIDED", "TEXT_UNCLEAR", "DEFINITION"]


@row_part
class EstimatePart(TypedDict):
    """A number with its interval; of a private check, others are not told the draws."""

    value: Number
    low: Number
    high: Number
    failure_prob: Probability
    n_draws: NotRequired[Count]
    method: str


@row_part
class ClaimPart(TypedDict):
    """What is claimed about one number."""

    quantity: str
    published: Number
    low: Number
    high: Number
    in_domain: bool
    relation: Literal["ADD", "REMOVE", "REPLACE"] | None
    observer: Literal["TRANSCRIPT", "OUTPUT"]
    conditioned_on: str
    strict_note: str
    measure: Literal["DELTA", "COVERAGE", "FAILURE", "BOUND", "GROWTH", "IDENTITY", "NUMBER"]


@row_part
class SeenPart(TypedDict):
    """What was seen, whatever the claim."""

    outcome: OutcomeName
    reason: ReasonName
    detail: str
    margin: Number
    exact: EstimatePart | None
    sampled: EstimatePart | None
    detects: Number | None
    found: Values
    notes: Values


@row_part
class LookPart(SeenPart):
    """One look at a claim."""

    claim: ClaimPart | None


@row_part
class ErrorPart(TypedDict):
    """The exception that stopped a check."""

    type: str
    message: str


@row_part
class SeriesPart(TypedDict):
    """One curve, cloud or staircase of a figure."""

    kind: Literal["Series"]
    label: str
    x: list[Number]
    y: list[Number]
    low: list[Number]
    high: list[Number]
    style: Literal["line", "points", "steps", "band", "bars"]


@row_part
class MarkPart(TypedDict):
    """A line across a figure."""

    kind: Literal["Mark"]
    axis: Literal["x", "y"]
    value: float
    label: str


FigureName = Annotated[str, Field(pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")]
FullText = Annotated[str, Field(min_length=1)]
Scale = Literal["linear", "log"]


@row_part
class PlotPart(TypedDict):
    """A figure with two axes."""

    kind: Literal["Figure"]
    name: FigureName
    title: str
    caption: str
    alt: FullText
    x_label: str
    y_label: str
    series: list[SeriesPart]
    marks: list[MarkPart]
    x_scale: Scale
    y_scale: Scale


@row_part
class HeatMapPart(TypedDict):
    """A figure of coloured cells."""

    kind: Literal["HeatMap"]
    name: FigureName
    title: str
    caption: str
    alt: FullText
    x_label: str
    y_label: str
    x_ticks: list[str]
    y_ticks: list[str]
    values: list[list[Number]]
    value_label: str
    scale: Scale


Drawn = Annotated[PlotPart | HeatMapPart, Field(discriminator="kind")]


@row_part
class HeaderPart(TypedDict):
    """What every header says: by what the record was made."""

    kind: Literal["header"]
    profile: Profile
    seed: Count
    versions: dict[str, str]
    platform: str
    sources: Digest

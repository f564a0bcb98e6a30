"""The rows of a certificate's ``audit.jsonl``: header, what was released, claims, their checks and figures."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import AfterValidator, ConfigDict, Field, with_config
from typing_extensions import TypedDict

from .row_parts import ClaimPart, Count, Drawn, HeaderPart, Number, Objects, Probability, SeenPart, row_part, whole


def _types() -> list[str]:
    """Return the types of claim that there are; they are loaded when a claim is read."""
    from ..certificates.claims.types import BY_TYPE

    return list(BY_TYPE)


def _check_type(word: str) -> str:
    if word not in _types():
        raise ValueError("must be a type of claim")
    return word


def _add_types(schema: dict[str, Any]) -> None:
    schema["enum"] = _types()


Word = Literal["PASS", "FAIL", "UNDECIDED"]
ClaimType = Annotated[str, AfterValidator(_check_type), Field(json_schema_extra=_add_types)]
#: Empty where there is no file of the user's.
MaybeDigest = Annotated[str, Field(pattern="^([0-9a-f]{64})?$")]


@with_config(ConfigDict(extra="allow", strict=True))
class ConfigurationPart(TypedDict):
    """The configuration, as far as an audience may read it."""

    data: dict[str, Any]
    mechanism: dict[str, Any]
    claims: Objects
    pairs: NotRequired[Objects]
    budget: dict[str, Any]


@row_part
class DataPart(TypedDict):
    """What is said of the data; their digest and number only inside, or where they are public."""

    name: str
    public: bool
    dim: Annotated[int, Field(ge=1)]
    n_min: Count
    x_bound: Number
    y_bound: Number
    steps: list[str]
    data_dependent: list[str]
    n_records: NotRequired[Count]
    digest: NotRequired[MaybeDigest]


@row_part
class ArtefactPart(TypedDict):
    """The file that is shipped."""

    name: str
    sha256: MaybeDigest


@row_part
class TurnPart(TypedDict):
    """One change since the previous certificate, and which way it goes."""

    turn: Literal["WORSE", "CHANGED", "BETTER"]
    words: str


@row_part
class PreviousPart(TypedDict):
    """The record that this one was compared with, its verdict, and what changed since."""

    record: MaybeDigest
    words: str
    headline: str
    worse: bool
    changes: list[TurnPart]
    more: Count
    notes: list[str]


@row_part
class CertificateHeader(HeaderPart):
    """The overall verdict, and everything that it depends on."""

    schema_version: Annotated[Literal[2], whole]
    record: Literal["certificate"]
    audience: Literal["curator", "release"]
    contains_private: bool
    verdict: Word
    words: str
    exit_code: Annotated[Literal[0, 1, 3], whole]
    undecided_allowed: NotRequired[bool]
    required: NotRequired[Literal["proved"]]
    mechanism: str
    mechanism_digest: MaybeDigest
    imported: bool
    configuration: ConfigurationPart
    data: DataPart
    artefact: NotRequired[ArtefactPart]
    failure_prob: Probability
    not_shown: list[str]
    paper: Literal["a4", "us-letter"]
    configuration_digest: NotRequired[MaybeDigest]
    previous: NotRequired[PreviousPart]


@row_part
class ReleaseRow(TypedDict):
    """What was released privately and is accounted for."""

    kind: Literal["release"]
    name: str
    cost: str
    numbers: NotRequired[list[Any]]
    report: NotRequired[dict[str, Any]]


@row_part
class ChangePart(TypedDict):
    """A parameter, what it is, and the value nearest to it at which the claim is proved."""

    name: str
    now: Number
    value: Number


@row_part
class RemedyPart(TypedDict):
    """Changes that bring a claim to a PASS, all together."""

    where: Literal["mechanism", "claim"]
    changes: Annotated[list[ChangePart], Field(min_length=1)]


@row_part
class OddsPart(TypedDict):
    """What a claim means to somebody who guesses: a factor on the odds, but for ``delta``, and how good a guess is."""

    about: str
    factor: Number | None
    delta: Number
    guess: Number


@row_part
class ViolationPart(TypedDict):
    """A refuted claim in numbers: the true epsilon at ``delta`` is at least ``epsilon``."""

    claimed: str
    epsilon: Number
    delta: Number
    failure_prob: Number
    pair: str
    cause: str
    event: NotRequired[str]
    hits: NotRequired[str]


@row_part
class CounterexamplePart(TypedDict):
    """The two data sets that refute a claim: the records of the smaller one, and what the other has more or instead."""

    relation: Literal["ADD", "REMOVE", "REPLACE"]
    place: Count
    copies: Annotated[int, Field(ge=1)]
    X: list[list[Number]]
    y: list[Number]
    target_x: Annotated[list[Number], Field(min_length=1)]
    target_y: Number
    private: bool


@row_part
class ClaimRow(TypedDict):
    """A claim and its verdict."""

    kind: Literal["claim"]
    claim: str
    type: ClaimType
    sentence: str
    verdict: Word
    ground: str
    words: str
    reason: str
    check: NotRequired[str]
    says: NotRequired[str]
    violation: NotRequired[ViolationPart | None]
    counterexample: NotRequired[CounterexamplePart]
    vouched: dict[str, str] | None
    examination: dict[str, Any] | None
    scope: str
    conditions: list[str]
    advice: str
    remedy: NotRequired[list[RemedyPart]]
    odds: NotRequired[OddsPart | None]
    private: bool


@row_part
class CheckRow(SeenPart):
    """One check of a claim; what it is about is its own claim about a number."""

    kind: Literal["check"]
    claim: str
    check: str
    power: Literal["DECIDES", "REFUTES", "STATES", "AGREES", "REPORTS"]
    words: str
    private: bool
    about: ClaimPart | None


@row_part
class ClaimFigureRow(TypedDict):
    """A figure of a claim, or of all of them together."""

    kind: Literal["figure"]
    claim: str
    figure: Drawn


@row_part
class LeafPart(TypedDict):
    """A part of the failure probability that was not split further: where it stands, and what it was spent on."""

    place: Annotated[list[str], Field(min_length=1)]
    alpha: Probability
    decided: str
    spent: bool


@row_part
class BudgetRow(TypedDict):
    """What the failure probability was split into."""

    kind: Literal["budget"]
    failure_prob: Probability
    leaves: list[LeafPart]

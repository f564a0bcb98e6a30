"""The rows of ``comparison.jsonl``: what every row depends on, then a row for each mechanism, calibration and promise.

No seconds: what a clock measured stands in the table and in ``run.json`` alone.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from .row_parts import Count, Digest, Number, Probability, row_part, whole

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

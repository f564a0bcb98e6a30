"""The rows of the table that a sweep exports as JSON lines: what every row depends on, then a row a cell."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from .row_parts import Count, Digest, ErrorPart, LookPart, Probability, row_part, whole


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
    ground: Literal["proved", "vouched", ""]

"""A pair of data sets that the user names."""

from __future__ import annotations

from pydantic import Field, model_validator

from ..claims.types.claim_section import Name
from .config_section import ConfigSection


class PairSection(ConfigSection):
    """A pair of neighbouring data sets of prepared records that the examination also draws from."""

    name: Name
    X: list[list[float]] = Field(description="Prepared features of the records, one list a record; may be empty.")
    y: list[float] = Field(description="Their prepared responses.")
    target_x: list[float] = Field(
        description="Prepared features of the record that is added, or put in the place of another."
    )
    target_y: float
    replaced: int | None = Field(
        None, ge=0, description="Record that the target takes the place of, for claims of relation replace."
    )

    @model_validator(mode="after")
    def _shapes(self) -> PairSection:
        n, dim = len(self.X), len(self.target_x)
        if len(self.y) != n:
            raise ValueError(f"pairs.y|a list of one number for each record of X ({n})|{len(self.y)}")
        if dim == 0 or any(len(row) != dim for row in self.X):
            raise ValueError("pairs.X|lists as long as target_x|another length")
        if self.replaced is not None and self.replaced >= n:
            raise ValueError(f"pairs.replaced|below the number of records ({n})|{self.replaced}")
        return self

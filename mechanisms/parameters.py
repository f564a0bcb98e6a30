"""The parameters of a mechanism as a configuration states them: a pydantic model beside each mechanism.

From these models follow the TOML that is understood, the JSON Schema and the draft of a configuration.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Annotated, ClassVar, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

from .base import Mechanism
from .data.dataset import Dataset

#: Sizes that float64 is trusted with: their squares, products and quotients neither vanish nor overflow.
REACH = (1e-12, 1e12)


def _in_reach(value: float) -> float:
    """Return a size that float64 is trusted with, or 0; refuse another."""
    if value and not REACH[0] <= value <= REACH[1]:
        raise PydanticCustomError("reach", "between {low:g} and {high:g}", {"low": REACH[0], "high": REACH[1]})
    return value


Positive = Annotated[float, Field(gt=0, allow_inf_nan=False), AfterValidator(_in_reach)]
NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False), AfterValidator(_in_reach)]
Delta = Annotated[float, Field(ge=1e-100, le=1 - 1e-9)]
Count = Annotated[int, Field(ge=1, le=1_000_000)]
MOST_RECORDS = 10**12
#: Ways to more privacy: parameters that rise (1) or fall (-1) together, by one factor.
Ways = tuple[Mapping[str, int], ...]


class Parameters(BaseModel):
    """What a configuration says about a mechanism; unknown keys are refused.

    Attributes
    ----------
    reportable : bool
        Whether the publishable reports (RW21, section 4) are about this mechanism.
    protection : Ways
        Ways to more privacy, the first choice first.
    name : str
        The word in the configuration, a ``Literal`` in each model.
    """

    model_config = ConfigDict(extra="forbid")
    reportable: ClassVar[bool] = False
    protection: ClassVar[Ways] = ()

    name: str

    @classmethod
    def word(cls) -> str:
        """Return the word in the configuration."""
        return str(get_args(cls.model_fields["name"].annotation)[0])

    @abstractmethod
    def build(self, dim: int) -> Mechanism:
        """Return the mechanism for records of ``dim`` features."""

    def check(self, dataset: Dataset, *, everywhere: bool) -> bool:
        """Refuse data on which, and numbers with which, the mechanism is not defined.

        With ``everywhere`` it must be defined on every data set of so many records in the public domain, else on these
        alone. The answer is whether it must be defined where there is no record, too. ``DataError`` if responses do not
        fit, ``ValueError("parameter must be <rule>, got parameter=value")``.
        """
        return True

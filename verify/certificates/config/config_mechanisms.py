"""The mechanisms a configuration may name: ours, with the parameters each states, and one of the user's own."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationInfo, field_validator

from mechanisms.catalogue import parameters

ORIGIN = r"^[^:]+:[A-Za-z_]\w*$"


class ConfigSection(BaseModel):
    """A table of the configuration: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class VouchedSection(ConfigSection):
    """Who vouches for what an imported mechanism states about its own law, and the proof."""

    who: str = Field(description="A person or an institution.")
    proof: str = Field(description="A file relative to the configuration, a DOI or a URL.")

    @field_validator("who", "proof")
    @classmethod
    def _given(cls, value: str, info: ValidationInfo) -> str:
        if not value.strip():
            raise ValueError(f"mechanism.vouched_by.{info.field_name}|text that is not empty|{value!r}")
        return value


class ImportSection(ConfigSection):
    """A mechanism of the user's own: ``import = "file.py:factory"`` or ``"package.module:factory"``."""

    origin: str = Field(alias="import", pattern=ORIGIN)
    parameters: dict[str, Any] = Field({}, description="Passed to the factory by name.")
    views: list[Annotated[str, Field(pattern=ORIGIN)]] = Field(
        [], description="Functions of one output, given as import is: further columns that the black box looks at."
    )
    vouched_by: VouchedSection | None = Field(None, description="On whose word a PASS rests.")


#: The word in a configuration -> its model.
BY_TAG: dict[str, type[BaseModel]] = {**parameters(), "import": ImportSection}


def mechanism_tag(value: Any) -> str | None:
    """Return which kind of mechanism a table describes."""
    if isinstance(value, dict):
        return "import" if "import" in value else value.get("name")
    return next((tag for tag, section in BY_TAG.items() if type(value) is section), None)


if TYPE_CHECKING:
    from mechanisms.parameters import Parameters

    MechanismSection = Parameters | ImportSection
else:
    MechanismSection = Annotated[
        reduce(or_, (Annotated[section, Tag(tag)] for tag, section in BY_TAG.items())), Discriminator(mechanism_tag)
    ]

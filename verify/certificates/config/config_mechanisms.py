"""The mechanisms a configuration may name: ours, with the parameters each states, and those of the user's own."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, Discriminator, Field, Tag, ValidationInfo, field_validator

from mechanisms.catalogue import parameters

from .config_doors import CommandSection, UrlSection
from .config_section import ORIGIN, ConfigSection, OwnSection


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


class ImportSection(OwnSection):
    """A mechanism of the user's own: ``import = "file.py:factory"`` or ``"package.module:factory"``."""

    origin: str = Field(alias="import", pattern=ORIGIN)
    parameters: dict[str, Any] = Field({}, description="Passed to the factory by name.")
    vouched_by: VouchedSection | None = Field(None, description="On whose word a PASS rests.")


#: The key that a mechanism of the user's own is given by -> its model.
OWN: dict[str, type[OwnSection]] = {"import": ImportSection, "command": CommandSection, "url": UrlSection}
#: The word in a configuration -> its model.
BY_TAG: dict[str, type[BaseModel]] = {**parameters(), **OWN}


def mechanism_tag(value: Any) -> str | None:
    """Return which kind of mechanism a table describes."""
    if isinstance(value, dict):
        return next((tag for tag in OWN if tag in value), value.get("name"))
    return next((tag for tag, section in BY_TAG.items() if type(value) is section), None)


if TYPE_CHECKING:
    from mechanisms.parameters import Parameters

    MechanismSection = Parameters | ImportSection | CommandSection | UrlSection
else:
    MechanismSection = Annotated[
        reduce(or_, (Annotated[section, Tag(tag)] for tag, section in BY_TAG.items())), Discriminator(mechanism_tag)
    ]

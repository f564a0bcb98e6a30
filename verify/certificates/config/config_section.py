"""What every table of a configuration is, and what every mechanism of the user's own may have."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

#: Where a function is: ``file.py:function`` or ``package.module:function``.
ORIGIN = r"^[^:]+:[A-Za-z_]\w*$"


class ConfigSection(BaseModel):
    """A table of the configuration: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class OwnSection(ConfigSection):
    """A mechanism of the user's own: its outputs are examined, and nothing that it says of itself is believed."""

    views: list[Annotated[str, Field(pattern=ORIGIN)]] = Field(
        [],
        description="Functions of one output, file.py:function or package.module:function: further columns that the "
        "black box looks at.",
    )

"""The mechanisms that a configuration may name: ours, those of the user's own, and what answers lines of JSON.

What may be said of a command or a url in public is part of it: no folder of anybody's, and nothing of a url behind its
path.
"""

from __future__ import annotations

import shlex
from functools import reduce
from operator import or_
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationInfo, field_validator

from audits.external.wire import checked_url, shown_url
from mechanisms.catalogue import parameters

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


#: Characters of a word of a command that its short name shows.
WORD = 40
AN_EXAMPLE = '["Rscript", "release.R"]'


class DoorSection(OwnSection):
    """A mechanism that answers lines of JSON."""

    timeout: float = Field(60.0, gt=0, le=1e6, allow_inf_nan=False, description="Seconds that a request may take.")
    timeouts: Literal["stop", "output"] = Field(
        "stop", description='Of a request that took longer: the audit ends, or (with "output") it is an output.'
    )
    batch: int = Field(100, ge=1, le=1_000_000, description="Most draws that one request asks for.")
    data: Literal["json", "csv"] = Field("json", description="X and y in the request itself, or the name of a CSV.")
    reproducible: bool = Field(True, description="Whether it gets a seed; false: it has randomness of its own.")
    version: str = Field("", description="What runs there, in one line; published.")

    @field_validator("version")
    @classmethod
    def _one_line(cls, value: str) -> str:
        if not value.isprintable():
            raise ValueError(f"mechanism.version|one line of text|{value!r}")
        return value.strip()


class CommandSection(DoorSection):
    """A command that stays open: ``command = ["Rscript", "release.R"]``; it runs in the configuration's folder."""

    command: list[str] = Field(description="The program and its arguments, one word each.")
    concurrency: int = Field(1, ge=1, le=256, description="How many processes of it are open at once.")

    @field_validator("command", mode="before")
    @classmethod
    def _words(cls, value: Any) -> Any:
        if not isinstance(value, list):
            raise ValueError(f"mechanism.command|a list of words, as {AN_EXAMPLE} is|{value}")
        if not value:
            raise ValueError("mechanism.command|a list of at least one word, the program|[]")
        for place, word in enumerate(value):
            if not isinstance(word, str):
                raise ValueError(f"mechanism.command[{place}]|text|{word}")
            if not word.strip() or "\0" in word:
                raise ValueError(
                    f"mechanism.command[{place}]|text that is not empty, without a null character|{word!r}"
                )
        return value

    @property
    def label(self) -> str:
        """What it is called, in one short line without anybody's folders."""
        words = (word if len(word) <= WORD else f"{word[: WORD - 1]}…" for word in self.public["command"])
        return printable(" ".join(shlex.quote(word) if " " in word else word for word in words))

    @property
    def public(self) -> dict[str, Any]:
        """What a record says of it: the words, of a path its last part alone."""
        return {"command": [_without_folders(word) for word in self.command]}


class UrlSection(DoorSection):
    """A service: ``url = "http://127.0.0.1:8080/release"``, which gets the records by POST."""

    url: str = Field(description="http or https; what stands behind ? is sent and never shown.")
    concurrency: int = Field(4, ge=1, le=256, description="How many requests are open at once.")

    @field_validator("url", mode="before")
    @classmethod
    def _a_url(cls, value: Any) -> Any:
        rule, got = wrong_url(value)
        if rule:
            raise ValueError(f"mechanism.url|{rule}|{got}")
        return value

    @property
    def label(self) -> str:
        """What it is called: scheme, host and path."""
        return shown_url(self.url)

    @property
    def public(self) -> dict[str, Any]:
        """What a record says of it: nothing behind the path, which may hold a token."""
        return {"url": self.label}


def wrong_url(url: object) -> tuple[str, str]:
    """Return the rule that a url breaks, and as much of it as may be shown; both empty where it is one."""
    if not isinstance(url, str):
        return "text", "another value (not shown)"
    try:
        checked_url(url)
    except ValueError as stop:
        rule, _, got = str(stop).removeprefix("url must be ").partition(", got ")
        return rule, got.removeprefix("url=")
    return "", ""


def printable(text: str) -> str:
    """Return a text on one line, with a question mark for whatever a terminal would obey."""
    return "".join(c if c.isprintable() else "?" for c in " ".join(text.split()))


def _without_folders(word: str) -> str:
    """Return a word of a command without the folders of a path in it, which name people and places."""
    key, equals, value = word.partition("=") if word.startswith("-") else ("", "", word)
    return f"{key}{equals}{PurePath(value).name or value}" if "/" in value else word


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

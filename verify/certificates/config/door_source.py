"""The mechanism behind a command or a url that a configuration names: what it is made of, and what asks it.

It stands where ``MechanismSource`` stands for a module. Its examinations run in one process, whatever ``jobs`` is:
``concurrency`` says how many requests are open at once.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audits.doors.wire import command_digest, file_digests, service_identity

from ...messages.errors import UserError
from .config_doors import CommandSection, UrlSection

if TYPE_CHECKING:
    from audits.doors.wire import AnswerCache

#: What a section passes to its door by the same name.
PASSED = ("concurrency", "timeout", "timeouts", "batch", "data", "reproducible", "version")


@dataclass(frozen=True)
class DoorSource:
    """Where the answers of a mechanism come from; picklable.

    Attributes
    ----------
    section : CommandSection or UrlSection
    folder : str
        In which a command runs, and from which its arguments are looked for.
    """

    section: CommandSection | UrlSection
    folder: str

    @property
    def origin(self) -> str:
        """What it is called: the words of the command, or the url without what may be a token."""
        return self.section.label

    @property
    def parameters(self) -> dict[str, Any]:
        """What the door is made with beside its command or url."""
        passed = {name: getattr(self.section, name) for name in PASSED}
        if isinstance(self.section, CommandSection):
            return {"command": tuple(self.section.command), "folder": self.folder, **passed}
        return {"url": self.section.url, **passed}

    def files(self) -> dict[str, str]:
        """Return the SHA-256 of every word of the command that is a file, by the word; none of a url."""
        return file_digests(self.section.command, self.folder) if isinstance(self.section, CommandSection) else {}

    def digest(self) -> str:
        """Return the SHA-256 of what is asked: a command with the files among its words, or a url; with its version."""
        return door_digest(self.section, self.files())

    def digests(self) -> dict[str, str]:
        """Return by name what is attested: the files among the words of a command, and the door itself."""
        files = self.files()
        return {**files, self.origin: door_digest(self.section, files)}

    def attribute(self) -> Any:
        """Return the class that ``parameters`` make a door of."""
        from audits.doors.open_door import CommandMechanism, ServiceMechanism

        return CommandMechanism if isinstance(self.section, CommandSection) else ServiceMechanism

    def make(self, answers: AnswerCache | None = None) -> Any:
        """Return the door, which has not been opened yet; ``answers`` are those that were given before.

        Raises
        ------
        UserError
            If there is no such program.
        """
        if isinstance(self.section, CommandSection):
            _require_program(self.section.command[0], Path(self.folder))
        return self.attribute()(**self.parameters, answers=answers)


def door_digest(section: CommandSection | UrlSection, files: Mapping[str, str]) -> str:
    """Return the SHA-256 that stands for a door; ``files`` has the digest of each word of a command that is a file."""
    if isinstance(section, CommandSection):
        return command_digest(section.command, files, section.version)
    return service_identity(section.url, section.version)


def _require_program(program: str, folder: Path) -> None:
    """Refuse a program that nobody could start, as the operating system would look for it from that folder."""
    there = folder / program if os.sep in program else shutil.which(program)
    if there is None or not (Path(there).is_file() and os.access(there, os.X_OK)):
        raise UserError(f"mechanism.command must begin with a program that can be run, got mechanism.command={program}")

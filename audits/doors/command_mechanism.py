"""A mechanism behind a command that stays open: requests on its standard input, answers on its standard output."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from pathlib import Path

from .channels import Channels
from .door_identity import command_identity
from .open_door import DoorMechanism, OpenDoor, check_terms
from .processes import Process
from .request_texts import RequestTexts
from .wire import AnswerCache

#: Seconds before a command that ended before it read a request is started again.
PAUSES = (0.05, 0.25, 1.25)


@dataclass(frozen=True, eq=False)
class CommandMechanism(DoorMechanism):
    """A mechanism in any language: a command that reads requests and writes answers, a line each, until its input ends.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments; no shell reads them.
    folder : path, optional
        Where it runs; by default where this process does.
    concurrency : int
        Most processes of it at once.
    timeout : float
        Seconds that one request may take.
    timeouts : {"stop", "output"}
        Whether a request that takes longer ends the audit as not examined, or is an output.
    batch : int
        Most draws of one request.
    reproducible : bool
        Whether requests have a seed.
    data : {"json", "csv"}
        Whether a request holds the records themselves or the path of a file with them.
    answers : AnswerCache, optional
        Where answers are kept.
    version : str
        What runs there, in the user's words; answers of another version are others.
    """

    command: Sequence[str]
    _: KW_ONLY
    folder: str | Path | None = None
    concurrency: int = 1
    timeout: float = 60.0
    timeouts: str = "stop"
    batch: int = 100
    reproducible: bool = True
    data: str = "json"
    answers: AnswerCache | None = None
    version: str = ""

    def __post_init__(self) -> None:
        words = self.command
        if isinstance(words, str) or not words or not all(isinstance(word, str) and "\0" not in word for word in words):
            raise ValueError(f"command must be a program and its arguments, each a text, got command={words!r}")
        if not words[0]:
            raise ValueError("command must begin with a program, got an empty text")
        check_terms(self)
        object.__setattr__(self, "command", tuple(words))
        object.__setattr__(self, "_door", self._open())

    def _open(self) -> OpenDoor:
        return OpenDoor(
            Channels(partial(Process, self.command, self.folder), self.concurrency, PAUSES),
            partial(command_identity, self.command, self.folder, self.version),
            RequestTexts(in_files=self.data == "csv"),
            self.batch,
            self.timeout,
            self.timeouts,
            self.reproducible,
            self.answers,
            "; a command must flush each answer",
        )

    @property
    def name(self) -> str:
        """Short name for reports."""
        return shlex.join(self.command)

    def fresh(self) -> CommandMechanism:
        """Return the same mechanism, whose next request goes to a newly started process."""
        made = object.__new__(type(self))
        vars(made).update(vars(self) | {"_once": threading.Lock()})
        return made

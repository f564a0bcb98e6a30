"""Mechanisms behind a command that stays open, or a service: requests of at most a batch, answers that are kept."""

from __future__ import annotations

import hashlib
import math
import shlex
import threading
import weakref
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Self

import numpy as np

from ..harness.calls import CallEnded, NoAnswer, ProcessExited
from .channels import Channels, DoorClosed, Unanswered
from .connections import BUSY, Connection, Process
from .wire import (
    SEEDS,
    AnswerCache,
    RecordsText,
    RequestTexts,
    checked_url,
    command_identity,
    read_answer,
    service_identity,
    shown_url,
)

#: What helps a request for several draws that takes too long, besides more time.
FEWER = ", or fewer draws a request: mechanism.batch"


@dataclass(eq=False)
class OpenDoor:
    """A door in use, shared by all copies of a mechanism."""

    channels: Channels  #: what carries the requests
    identity: Callable[[], str]  #: returns the digest of what stands behind the door
    texts: RequestTexts
    #: as of the mechanism
    batch: int
    timeout: float
    timeouts: str
    reproducible: bool
    answers: AnswerCache | None
    hint: str = ""  #: what else may be the matter where nothing comes back
    failed: str = field(default="", init=False)

    @cached_property
    def _identity(self) -> str:
        try:
            return self.identity()
        except OSError as stop:  # raised as it is, it would pass for the mechanism's own
            raise NoAnswer(f"the command's files cannot be read ({stop.strerror})") from None

    def _records(self, dataset: Any) -> RecordsText:
        try:
            return self.texts.of(dataset)
        except OSError as stop:  # a full disk
            raise NoAnswer(f"the records cannot be written for the mechanism ({stop.strerror})") from None

    def draw(self, dataset: Any, n_draws: int, rng: np.random.Generator, *, fresh: bool) -> list[Any]:
        """Return outputs; each request takes one number from ``rng``, whether it is sent or not."""
        records, public = self._records(dataset), bool(getattr(dataset, "public", False))
        outputs: list[Any] = []
        while len(outputs) < n_draws:
            n = min(self.batch, n_draws - len(outputs))
            lines = self._answer(records, n, int(rng.integers(SEEDS)), fresh and not outputs)
            outputs += read_answer(lines, n, public=public)
        return outputs

    def _answer(self, records: RecordsText, n_draws: int, seed: int, fresh: bool) -> list[bytes]:
        """Return the lines that answer one request, those that were kept if there are any."""
        if self.failed:
            raise NoAnswer(self.failed)
        request = records.request(n_draws, seed if self.reproducible else None)
        if self.answers is None:
            return self._asked(request, n_draws, fresh)
        key = occurrences_of(self.answers).key(f"{self._identity} {records.digest} {n_draws} {seed}")
        kept = self.answers.get(key)
        if kept is not None:
            return recalled(kept)
        try:
            lines = self._asked(request, n_draws, fresh)
        except CallEnded as stop:
            self.answers.put(key, [ENDED + stop.kind])
            raise
        if len(lines) == n_draws:
            self.answers.put(key, [line.decode("utf-8", "surrogateescape") for line in lines])
        return lines

    def _asked(self, request: bytes, n_draws: int, fresh: bool) -> list[bytes]:
        try:
            return self.channels.exchange(request, n_draws, self.timeout, fresh=fresh)
        except DoorClosed:
            raise
        except NoAnswer as stop:
            self.failed = str(stop)
            raise
        except Unanswered as stop:
            words = self._ended(stop, n_draws)
        self.failed = words
        raise NoAnswer(words)

    def _ended(self, stop: Unanswered, n_draws: int) -> str:
        """Raise ``CallEnded`` where no answer is an output; otherwise return why the audit ends."""
        if stop.kind and self.timeouts == "output":
            raise CallEnded(stop.kind) from None
        if stop.kind != "timeout":
            return stop.words
        draws, fewer = ("1 draw", "") if n_draws == 1 else (f"{n_draws} draws", FEWER)
        return f"a request for {draws} got {stop.words} in {self.timeout:g} s (mechanism.timeout{fewer}{self.hint})"

    def close(self) -> None:
        """End channels and files; a later draw starts anew."""
        self.channels.close()
        self.texts.close()
        self.failed = ""


#: Begins what is kept of a call that ended without outputs; no line of an answer begins so.
ENDED = "\n"


def recalled(kept: list[str]) -> list[bytes]:
    """Return the lines that were kept, or raise what was kept of a call that ended without them."""
    if kept and kept[0].startswith(ENDED):
        kind = kept[0].removeprefix(ENDED)
        raise ProcessExited(kind) if kind.startswith(("exit ", "signal ")) else CallEnded(kind)
    return [line.encode("utf-8", "surrogateescape") for line in kept]


class Occurrences:
    """Which occurrence of a request this is, for one object that keeps answers."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()
        self._lock = threading.Lock()

    def key(self, request: str) -> str:
        """Return a key for a request's next occurrence."""
        digest = hashlib.sha256(request.encode()).hexdigest()
        with self._lock:
            number = self._seen[digest]
            self._seen[digest] += 1
        return digest if not number else hashlib.sha256(f"{digest} {number}".encode()).hexdigest()


_OCCURRENCES: dict[int, Occurrences] = {}
_LOCK = threading.Lock()


def occurrences_of(answers: AnswerCache) -> Occurrences:
    """Return the one count that all doors with this very object share."""
    with _LOCK:
        found = _OCCURRENCES.get(id(answers))
        if found is None:
            found = _OCCURRENCES[id(answers)] = Occurrences()
            weakref.finalize(answers, _OCCURRENCES.pop, id(answers), None)
    return found


class DoorMechanism(ABC):
    """What a command and a service have in common: one door for all copies of a mechanism.

    Copies, deep ones too, are the mechanism itself; a pickle holds what it was made of and opens a door of its own.
    """

    _door: OpenDoor
    _once: threading.Lock | None = None

    @abstractmethod
    def _open(self) -> OpenDoor:
        """Return a door of its own."""

    def draw(self, dataset: Any, n_draws: int, *, rng: np.random.Generator) -> list[Any]:
        """Return independent outputs, one for each draw; may be called from several threads.

        ``dataset``: with ``X`` and ``y``. ``n_draws``: more than ``batch`` are asked for in several requests, one after
        the other. ``rng``: gives each request's seed. Raises ``CallEnded`` if a request ended without outputs, which is
        an output: ``exit 3``, ``closed``, ``HTTP 500``. Raises ``WrongRows`` if an answer has more or fewer lines than
        draws. Raises ``NoAnswer`` if nobody answers: the audit ends.
        """
        fresh = self._once is not None and self._once.acquire(blocking=False)
        return self._door.draw(dataset, n_draws, rng, fresh=fresh)

    def close(self) -> None:
        """End what is open; requests under way end with ``NoAnswer``, and a later draw starts anew."""
        self._door.close()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_door", "_once")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        vars(self)["_door"] = self._open()


def _check_terms(mechanism: Any) -> None:
    """Raise ``ValueError`` for a field of a door that has no meaning."""
    for name in ("concurrency", "batch"):
        value = getattr(mechanism, name)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"{name} must be a whole number of at least 1, got {name}={value!r}")
    timeout = mechanism.timeout
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout < math.inf:
        raise ValueError(f"timeout must be a positive number of seconds, got timeout={timeout!r}")
    for name, allowed in (("timeouts", ("stop", "output")), ("data", ("json", "csv"))):
        value = getattr(mechanism, name)
        if value not in allowed:
            raise ValueError(f"{name} must be {allowed[0]} or {allowed[1]}, got {name}={value!r}")


#: Seconds before each further attempt for a request that did not reach the mechanism.
PAUSES = (0.05, 0.25, 1.25)


@dataclass(frozen=True, eq=False)
class ServiceMechanism(DoorMechanism):
    """A mechanism that a service at a url answers for; redirects are not followed.

    Parameters
    ----------
    url : str, of http or https, without user and password
    concurrency : int, most requests that are open at once
    timeout, batch, reproducible, data, answers, version
        As of ``CommandMechanism``.
    timeouts : {"stop", "output"}
        Whether a request that takes longer ends the audit as not examined, or is an output. With "output" so are the
        statuses 429, 502, 503 and 504, after which a request is sent again otherwise.
    """

    url: str = field(repr=False)
    _: KW_ONLY
    concurrency: int = 4
    timeout: float = 60.0
    timeouts: str = "stop"
    batch: int = 100
    reproducible: bool = True
    data: str = "json"
    answers: AnswerCache | None = None
    version: str = ""

    def __post_init__(self) -> None:
        checked_url(self.url)
        _check_terms(self)
        object.__setattr__(self, "_door", self._open())

    def _open(self) -> OpenDoor:
        retried = () if self.timeouts == "output" else BUSY
        return OpenDoor(
            Channels(partial(Connection, checked_url(self.url), retried), self.concurrency, PAUSES),
            partial(service_identity, self.url, self.version),
            RequestTexts(in_files=self.data == "csv"),
            self.batch,
            self.timeout,
            self.timeouts,
            self.reproducible,
            self.answers,
        )

    @property
    def name(self) -> str:
        """Short name for reports: scheme, host and path, without the query."""
        return shown_url(self.url)

    def fresh(self) -> ServiceMechanism:
        """Return itself: a service is not started anew."""
        return self


@dataclass(frozen=True, eq=False)
class CommandMechanism(DoorMechanism):
    """A mechanism in any language: a command that reads requests and writes answers, a line each, until its input ends.

    Parameters
    ----------
    command : sequence of str, the program and its arguments; no shell reads them
    folder : path, optional, where it runs; by default where this process does
    concurrency : int, most processes of it at once
    timeout : float, seconds that one request may take
    timeouts : {"stop", "output"}
        Whether a request that takes longer ends the audit as not examined, or is an output.
    batch : int, most draws of one request
    reproducible : bool, whether requests have a seed
    data : {"json", "csv"}
        Whether a request holds the records themselves or the path of a file with them.
    answers : AnswerCache, optional, where answers are kept
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
        _check_terms(self)
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

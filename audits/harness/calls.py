"""Guarded calls of a mechanism, calls that may be open together, and how a call can end without outputs.

A call gets a copy of the data and reseeded global generators; its exceptions are outputs. After a deadline nothing more
is begun: what was decided by then stays, and the rest is open. Stopping early never raises the probability of a false
verdict, since every pair, and every look at it, has a share of the failure probability fixed before anything is drawn.
"""

from __future__ import annotations

import copy
import random
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Thread
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np


class OutOfTime(BaseException):
    """The moment has come in the middle of a pair. No ``Exception``: it must not pass for the mechanism's own."""


class NoAnswer(OutOfTime):
    """Nothing is known of what the mechanism would have answered, so the audit ends; its text names the remedy."""


class CallEnded(Exception):
    """The mechanism ended a call without outputs, and that is an output of the call.

    ``kind``: what was seen, without a word of the mechanism's own: ``timeout``, ``closed``, ``HTTP 500``, ``exit 3``.
    """

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class ProcessExited(CallEnded):
    """The mechanism's process ended while a request was open: ``exit 3``, ``signal 11``."""


def exit_code(stop: SystemExit) -> int:
    """Return the code with which a process ends that raises this."""
    return stop.code & 255 if isinstance(stop.code, int) else int(stop.code is not None)


#: Data sets up to this many bytes are copied for every call; larger ones again only after they were written to.
SMALL_DATA = 1 << 16


class Handed:
    """Writable copies of one data set, and whether a mechanism wrote to one of them."""

    def __init__(self, dataset: Any) -> None:
        self._original = dataset
        self.public = bool(getattr(dataset, "public", False))
        self._copy: Any = None
        self._small = sum(getattr(array, "nbytes", 0) for array in arrays_of(dataset).values()) <= SMALL_DATA

    def give(self) -> Any:
        """Return a copy that a call may keep and write to."""
        if self._copy is None or self._small:
            self._copy = _copied(self._original)
        return self._copy

    def take_back(self) -> bool:
        """Return whether the copy handed out last was written to; such a copy is not handed out again."""
        before, after = arrays_of(self._original), arrays_of(self._copy)
        written = any(not unchanged(array, after.get(name)) for name, array in before.items())
        if written:
            self._copy = None
        return written


def arrays_of(dataset: Any) -> dict[str, Any]:
    """Return the arrays of a data set by name, of those that a mechanism may write to."""
    parts = {name: getattr(dataset, name, None) for name in ("X", "y")}
    return {name: array for name, array in parts.items() if isinstance(array, np.ndarray)}


def _copied(dataset: Any) -> Any:
    arrays = arrays_of(dataset)
    if not arrays:
        return copy.deepcopy(dataset)
    made = copy.copy(dataset)
    for name, array in arrays.items():
        object.__setattr__(made, name, array.copy())
    return made


def unchanged(first: Any, second: Any) -> bool:
    """Return whether an array is another one, value by value."""
    if not isinstance(second, np.ndarray) or first.shape != second.shape or first.dtype != second.dtype:
        return False
    if first.nbytes <= SMALL_DATA and not first.dtype.hasobject and first.tobytes() == second.tobytes():
        return True  # the usual case, ten times as fast
    if first.dtype.kind in "fc":
        return bool(np.array_equal(first, second, equal_nan=True))
    return bool(np.array_equal(first, second))


def generator(seed: int) -> np.random.Generator:
    """Return the generator of one call."""
    return np.random.Generator(np.random.PCG64DXSM(seed))


def reseed_globals(seed: int) -> None:
    """Put the global generators of ``random``, ``numpy.random`` and torch, if loaded, to a state of our own."""
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "manual_seed"):
        torch.manual_seed(seed)


def global_state() -> tuple[Any, ...]:
    """Return the state of the global generators, comparable."""
    name, words, *rest = np.random.get_state()  # noqa: NPY002
    torch = sys.modules.get("torch")
    more = bytes(torch.get_rng_state().numpy()) if torch is not None and hasattr(torch, "get_rng_state") else b""
    return random.getstate(), name, np.asarray(words).tobytes(), *rest, more


@contextmanager
def guarded() -> Iterator[None]:
    """Put the global generators back afterwards; a warning is no output and is not shown."""
    python_state, old = random.getstate(), np.random.get_state()  # noqa: NPY002
    torch = sys.modules.get("torch")
    torch_state = torch.get_rng_state() if torch is not None and hasattr(torch, "get_rng_state") else None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        random.setstate(python_state)
        np.random.set_state(old)  # noqa: NPY002
        if torch is not None and torch_state is not None:
            torch.set_rng_state(torch_state)


@dataclass(frozen=True)
class Deadline:
    """A moment on a clock."""

    at: float  #: seconds on ``clock`` (which all processes of a machine share)
    clock: Callable[[], float] = time.monotonic

    @classmethod
    def after(cls, seconds: float | None, clock: Callable[[], float] = time.monotonic) -> Deadline | None:
        """Return the moment so many seconds from now; None for none."""
        return None if seconds is None else cls(clock() + seconds, clock)

    def reached(self, seconds: float = 0.0) -> bool:
        """Return whether what takes so many seconds would end after the moment."""
        return self.clock() + seconds >= self.at


@runtime_checkable
class OpenCalls(Protocol):
    """A mechanism outside of this process (a command, a service), which keeps nothing of the data that it is handed."""

    @property
    def concurrency(self) -> int:
        """Most calls that may be open at once."""
        ...

    @property
    def batch(self) -> int:
        """Most draws of one call."""
        ...

    @property
    def reproducible(self) -> bool:
        """Whether it promises the same outputs for the same ``rng``."""
        ...

    def fresh(self) -> OpenCalls:
        """Return it as it begins: the next call is the first one of a process, where it has processes to start."""
        ...

    def draw(self, dataset: Any, n_draws: int, *, rng: np.random.Generator) -> Any:
        """Return ``n_draws`` outputs; called from several threads."""
        ...


def open_calls(mechanism: Any) -> OpenCalls | None:
    """Return the mechanism where its calls may be open together; None where they are made one after the other."""
    return mechanism if isinstance(mechanism, OpenCalls) else None


class OpenCall(NamedTuple):
    """One call to be made: of which data set, how many draws, whether of a fresh process, with which seed."""

    dataset: Any
    n_draws: int
    fresh: bool
    seed: int


class Crew:
    """Threads that make calls, each the next one; they hold nobody up whose call is still open when they are let go."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._calls: SimpleQueue[tuple[int, Callable[[], Any]] | None] = SimpleQueue()
        self._ended: SimpleQueue[tuple[int, Any]] = SimpleQueue()
        for _ in range(size):
            Thread(target=self._work, daemon=True, name="open call").start()

    def begin(self, place: int, call: Callable[[], Any]) -> None:
        """Make a call in a thread that has none."""
        self._calls.put((place, call))

    def ended(self, timeout: float) -> tuple[int, Any]:
        """Return the place of a call that has ended, and what it returned or raised.

        Raises ``queue.Empty`` if none ends within ``timeout`` seconds.
        """
        return self._ended.get(timeout=timeout)

    def let_go(self) -> None:
        """End the threads, each when its call has."""
        for _ in range(self._size):
            self._calls.put(None)

    def _work(self) -> None:
        while (item := self._calls.get()) is not None:
            place, call = item
            try:
                self._ended.put((place, call()))
            except BaseException as stop:  # the main thread decides what it is
                self._ended.put((place, stop))

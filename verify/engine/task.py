"""One piece of work: named by its content, done by a pure function, wherever that runs; and several sent together."""

from __future__ import annotations

import hashlib
import json
import pickle
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar

from ..messages.faults import OWN, of_own_code
from .versions import difference, identity
from .worker import hold_blas

T = TypeVar("T")
R = TypeVar("R")
#: Tasks of one process are done one after the other, whatever the threads of a worker: the precision of ball
#: arithmetic and the number of BLAS threads belong to the process.
_ONE_AT_A_TIME = threading.Lock()


@dataclass(frozen=True)
class Task(Generic[T]):
    """One piece of work.

    Attributes
    ----------
    key : str
        Names it: a hash of everything that decides its result, or its place in a list. No two tasks share one.
    content
        What the function that does it is given; picklable.
    seconds : float
        About how long it takes; the longest begin first.
    """

    key: str
    content: T
    seconds: float = 0.0


@dataclass(frozen=True)
class Done(Generic[T, R]):
    """A task, its result, and the seconds it took."""

    task: Task[T]
    result: R
    seconds: float


@dataclass(frozen=True)
class Died(Generic[T]):
    """A task whose worker process died every time, alone too."""

    task: Task[T]


@dataclass(frozen=True)
class Refused:
    """Nothing was done: this worker's sources, platform or versions differ from the submitter's."""

    identity: Mapping[str, Any]


class TaskError(RuntimeError):
    """What stopped a task and cannot travel as it is: its type and its message."""

    @classmethod
    def of(cls, stop: BaseException) -> TaskError:
        """Return an exception in words."""
        try:
            return cls(type(stop).__name__, str(stop))
        except Exception:
            return cls(type(stop).__name__, "")

    def __str__(self) -> str:
        return ": ".join(filter(None, self.args))


@dataclass(frozen=True)
class Failed:
    """The exception with which a task stopped."""

    stop: BaseException


@dataclass(frozen=True)
class Batch(Generic[T, R]):
    """Contents of tasks and the function that does them; ``identity`` where workers must be as we are."""

    function: Callable[[T], R]
    contents: tuple[T, ...]
    identity: Mapping[str, Any] | None = None

    def perform(self) -> tuple[tuple[R, float], ...] | Failed:
        """Return the result of every task with the seconds it took, or what stopped the first one that stopped."""
        results = []
        for content in self.contents:
            start = time.perf_counter()
            try:
                result = self.function(content)
            except BaseException as stop:
                return Failed(stop)
            results.append((result, time.perf_counter() - start))
        return tuple(results)


def run_batch(batch: Batch[T, R]) -> tuple[tuple[R, float], ...] | Failed | Refused:
    """Do the tasks of a batch in a worker of the same sources, platform and versions, with one BLAS thread."""
    with _ONE_AT_A_TIME:
        if batch.identity is not None:
            if difference(batch.identity, identity()):
                return Refused(identity())
            _pin_threads()
        results = batch.perform()
    return Failed(_picklable(results.stop)) if isinstance(results, Failed) else results


@cache
def _pin_threads() -> Any:
    """Hold every loaded BLAS of this worker process at one thread, for good."""
    return hold_blas()


def _picklable(stop: BaseException) -> BaseException:
    """Return an exception that survives the way to another process, with its traceback as a note.

    Nobody but the user interrupts the command: what is no ``Exception`` (but an exit) is told in words.
    """
    trace = "".join(traceback.format_exception(stop))
    try:
        pickle.loads(pickle.dumps(stop))
        told_as_it_is = isinstance(stop, Exception | SystemExit)
    except Exception:
        told_as_it_is = False
    own = of_own_code(stop)
    stop = stop if told_as_it_is else TaskError.of(stop)
    vars(stop)[OWN] = own
    stop.add_note(f"in a worker process:\n{trace}")
    return stop


def content_hash(content: Mapping[str, Any]) -> str:
    """Return the hash of anything that can be written as JSON, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()

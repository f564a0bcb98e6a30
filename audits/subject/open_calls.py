"""Calls that may be open together: what a mechanism says of itself, and the threads that make its calls."""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np


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

        Raises
        ------
        queue.Empty
            If none ends within ``timeout`` seconds.
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

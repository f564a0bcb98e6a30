"""Whoever waits for a long computation may be told how far it is; nothing that is computed depends on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[float], None]

_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)


def tick(done: float) -> None:
    """Tell whoever listens that so much more is done: draws, or records, or parts of either."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(done)


@contextmanager
def listening(listener: Listener | None) -> Iterator[None]:
    """Be told of every tick meanwhile; None stops them."""
    before = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(before)

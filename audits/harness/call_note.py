"""A byte that outlives its process: it says whether a command died inside a call of a mechanism.

A command that may be done again says so. If it then dies inside a call, its parent does it again, once, with every
call in a process of its own (``call_apart``), where the death of a process is an output of the call. Nothing large is
imported here.
"""

from __future__ import annotations

import mmap
import os
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager

#: Environment variable of a command that is done again; its value is the process that died.
AGAIN = "PDP_VERIFY_CALLS_APART"
#: Signals that a mechanism is sent, and does not earn by itself.
SENT = frozenset({signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGXCPU, signal.SIGALRM})
NEVER, READY, CALLING = 0, 1, 2

_note: mmap.mmap | None = None


def open_note() -> None:
    """Let this process and those that it forks from now on share one note, which says that nothing is done again."""
    global _note
    _note = mmap.mmap(-1, 1)


def may_be_done_again(*, unless: bool = False) -> None:
    """Say that the work of this process may be done again; with bounded memory it may not, since that ends calls."""
    if _note is not None and not unless and resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY:
        _note[0] = READY


@contextmanager
def calling() -> Iterator[None]:
    """Note that a mechanism is called for as long as the block runs."""
    if _note is None or _note[0] == NEVER:
        yield
        return
    _note[0] = CALLING
    try:
        yield
    finally:
        _note[0] = READY


def died_calling(code: int) -> bool:
    """Return whether a process that ended with a code (minus a signal) did so in a call, and is to be done again."""
    return _note is not None and _note[0] == CALLING and AGAIN not in os.environ and -code not in SENT


def end_as_calling() -> None:
    """End this process as a call would that dies, where its work is then done again; return where it is not."""
    if _note is not None and _note[0] != NEVER and AGAIN not in os.environ:
        _note[0] = CALLING
        os._exit(1)


def process_before() -> int | None:
    """Return which process died, where its work is done again in this one."""
    before = os.environ.get(AGAIN, "")
    return int(before) if before.isdecimal() else None

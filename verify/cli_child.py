"""A command in a child process: its parent decides nothing but the exit code, so that no library can forge one.

The child says its code on a pipe when its work has ended. A child that ended in another way (a library that calls
``exit``, a signal, too little memory) has said nothing, and that is 2 in one line. Nothing large is imported here.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from types import FrameType
from typing import NoReturn

from audits.harness import call_note

from .messages.errors import one_line

#: Seconds that a command has to end after SIGTERM, and to leave after its work.
GRACE = 10
#: Seconds within which signals are one: a terminal and ``timeout`` tell every process of a group.
TOGETHER = 0.5
STOPPING = (signal.SIGINT, signal.SIGTERM)


def in_child(work: Callable[[], int]) -> NoReturn:
    """Do ``work`` in a child process, and exit with the code that it returned there."""
    _open_standard_streams()
    if not hasattr(os, "fork"):
        signal.signal(signal.SIGTERM, _stopped)
        sys.exit(work())
    say = become_child(lambda: "a command")
    try:
        code = work()
    except BaseException:  # not even why could be said
        os._exit(2)
    say(code)
    signal.signal(signal.SIGTERM, _not_ours)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(GRACE)  # whatever a library does at its end
    sys.exit(code)


def become_child(what: Callable[[], str]) -> Callable[[int], object]:
    """Go on in a child process, and return the function by which it says its exit code; the parent waits and exits.

    SIGINT and SIGTERM are passed on as SIGTERM, which is a ``KeyboardInterrupt`` there; its own SIGINT is none: a BLAS
    that finds no memory sends itself one. A second signal, or a SIGTERM that is not obeyed within ``GRACE`` seconds,
    kills the child. A parent that is killed takes it along (on Linux). A child that died in a call of a mechanism is
    followed by another one, which makes its calls apart. ``what``: what has ended where no code was said.
    """
    call_note.open_note()
    reading, writing = os.pipe()
    before, parent, word = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING), os.getpid(), os.urandom(16)
    try:
        child = os.fork()
    except OSError as stop:
        os.write(2, one_line(f"a process must be able to start, got none ({stop.strerror})").encode())
        os._exit(2)
    if child:
        os.close(writing)
        code = _code_of(child, reading, before, word, what)
        if code is not None:
            os._exit(code)
        os.close(reading)
        os.environ[call_note.AGAIN] = str(child)
        return become_child(what)
    os.close(reading)
    _end_with(parent, writing)
    signal.signal(signal.SIGINT, _not_ours)
    signal.signal(signal.SIGTERM, _stopped)
    sys.unraisablehook = _lost
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return lambda code: os.write(writing, word + str(code).encode())


def _open_standard_streams() -> None:
    """Let a standard stream that was closed by whoever started us be the null device: nothing there is no error."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.dup2(opened := os.open(os.devnull, os.O_RDWR), number)
            os.set_inheritable(number, True)
            if opened != number:
                os.close(opened)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "w" if number else "r"))


def _not_ours(_: int, __: FrameType | None) -> None:
    """Do nothing; unlike a signal that is ignored, this is not inherited by programs that are started."""


def _stopped(_: int, frame: FrameType | None) -> None:
    """Stop the work: what was done is kept, and no further signal disturbs that.

    What is raised while an object is destroyed, or in a function that a native library calls, is lost: there it is
    tried again a moment later.
    """
    signal.signal(signal.SIGTERM, _not_ours)
    while frame is not None:
        if frame.f_code.co_name == "__del__":
            return _stop_in(1e-3)
        frame = frame.f_back
    raise KeyboardInterrupt


def _stop_in(seconds: float) -> None:
    signal.signal(signal.SIGALRM, _stopped)
    signal.setitimer(signal.ITIMER_REAL, seconds)


def _lost(what: sys.UnraisableHookArgs) -> None:
    """Take up again a stop that was raised where nothing can be raised; tell of anything else as ever."""
    if what.exc_type is KeyboardInterrupt:
        _stop_in(2e-5)  # at once, before the library calls again
    else:
        sys.__unraisablehook__(what)


def _end_with(parent: int, writing: int) -> None:
    """Let the kernel kill this process when its parent, the only reader of the pipe, has gone."""
    import fcntl

    if hasattr(fcntl, "F_SETSIG"):
        fcntl.fcntl(writing, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(writing, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(writing, fcntl.F_SETFL, fcntl.fcntl(writing, fcntl.F_GETFL) | os.O_ASYNC)
    if os.getppid() != parent:
        os._exit(2)


def _code_of(child: int, reading: int, before: Iterable[int], word: bytes, what: Callable[[], str]) -> int | None:
    """Wait for the end of a child, and return the code that it said after the word that only it knows, or 2.

    None if its work is to be done again.
    """
    first: list[float] = []
    late: list[str] = []

    def pass_on(number: int, _: FrameType | None) -> None:
        now = time.monotonic()
        if number == signal.SIGALRM or (first and now - first[0] > TOGETHER):
            late.append(f"one that was killed {now - first[0]:.0f} s after it was told to stop")
            number = signal.SIGKILL
        elif number == signal.SIGTERM:
            signal.alarm(GRACE)
        first.append(now)
        os.kill(child, signal.SIGTERM if number == signal.SIGINT else number)

    signal.signal(signal.SIGALRM, pass_on)
    for number in STOPPING:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as whoever started us wants it
            signal.signal(number, pass_on)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    _, status = os.waitpid(child, 0)
    signal.pthread_sigmask(signal.SIG_BLOCK, (*STOPPING, signal.SIGALRM))
    os.set_blocking(reading, False)  # a process that it left behind may hold the other end
    with suppress(BlockingIOError, ValueError):
        _, known, code = os.read(reading, 1 << 16).partition(word)
        if known:
            return int(code)
    ended = os.waitstatus_to_exitcode(status)
    if not first and call_note.died_calling(ended):
        return None
    how = [*late, f"{signal.Signals(-ended).name} in the middle" if ended < 0 else f"exit {ended} in the middle"][0]
    hint = "too little memory, or a library that ends programs; what was decided is kept"
    with suppress(OSError):
        os.write(2, one_line(f"{what()} must come to its own end, got {how} ({hint})").encode())
    return 2

"""Calls of a mechanism in a forked process: where that dies of one, its end is an output of the call.

The process holds a copy of the object, which remembers its calls as the object itself would. After a death the next
call is made in another one, on the object as it was in the beginning, as a command is started again.
"""

from __future__ import annotations

import ctypes
import faulthandler
import os
import pickle
import random
import resource
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any, NoReturn

import numpy as np

from .call_note import SENT, process_before
from .calls import NoAnswer, ProcessExited, arrays_of, exit_code, unchanged

#: Libraries whose own threads no fork survives.
UNFORKABLE = ("torch", "jax", "tensorflow")
#: Seconds between two looks at whether a process that says nothing is alive.
WATCH = 0.1
#: What ``prctl`` is asked for: the signal that comes when the parent has gone.
PDEATHSIG = 1


def forkable() -> bool:
    """Return whether this process may be forked with all that it holds: on Linux, with no thread that is at work."""
    idle = all(thread is threading.current_thread() or thread.daemon for thread in threading.enumerate())
    return sys.platform == "linux" and idle and not any(name in sys.modules for name in UNFORKABLE)


def apart(mechanism: Any) -> Any:
    """Return a mechanism whose calls are made apart where a command is done again; the mechanism itself elsewhere."""
    return CallsApart(mechanism) if process_before() is not None and forkable() else mechanism


class CallsApart:
    """An object whose ``draw`` is called in a process that is forked from this one at the first call."""

    def __init__(self, mechanism: Any) -> None:
        self._mechanism, self._child, self._owner = mechanism, 0, os.getpid()
        self._pipe: Connection | None = None

    def draw(self, dataset: Any, n_draws: int, *, rng: np.random.Generator) -> Any:
        """Return what the mechanism returns, and leave data and generators as it left them.

        Raises ``ProcessExited`` if its process ends, ``NoAnswer`` if that was not its own doing.
        """
        pipe = self._pipe or self._start()
        try:
            pipe.send_bytes(pickle.dumps((dataset, n_draws, rng, random.getstate(), np.random.get_state())))  # noqa: NPY002
            while not pipe.poll(WATCH):  # a child that it leaves behind may hold the pipe open
                if os.waitid(os.P_PID, self._child, os.WEXITED | os.WNOHANG | os.WNOWAIT) and not pipe.poll():
                    raise EOFError
            raised, value, *left = pickle.loads(pipe.recv_bytes())
        except (EOFError, OSError):
            raise self._ended() from None
        rng.bit_generator.state, python_state, old, written = left
        _set_globals(python_state, old)
        for name, array in written.items():
            object.__setattr__(dataset, name, array)
        if raised:
            kind, text = value  # its class may not be known here
            raise type(kind, (Exception,), {})(text)
        return value

    def _start(self) -> Connection:
        ours, theirs = Pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of its threads none is at work
            self._child = os.fork()
        if not self._child:
            ours.close()
            _serve(theirs, self._mechanism)
        theirs.close()
        self._pipe = ours
        return ours

    def _ended(self) -> ProcessExited | NoAnswer:
        assert self._pipe is not None
        self._pipe.close()
        self._pipe = None
        code = os.waitstatus_to_exitcode(os.waitpid(self._child, 0)[1])
        if -code in SENT:
            return NoAnswer(f"nothing is known of a call whose process got signal {-code}")
        return ProcessExited(f"exit {code}" if code >= 0 else f"signal {-code}")

    def __del__(self) -> None:
        if self._pipe is not None and self._owner == os.getpid():
            self._pipe.close()
            os.kill(self._child, signal.SIGKILL)
            os.waitpid(self._child, 0)


def _serve(pipe: Connection, mechanism: Any) -> NoReturn:
    """Answer calls until the parent has gone; what fails here without the mechanism ends as if it came from outside."""
    try:
        faulthandler.disable()
        ctypes.CDLL(None).prctl(PDEATHSIG, signal.SIGKILL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nothing, number)
        while True:
            pipe.send_bytes(_answer(mechanism, *pickle.loads(pipe.recv_bytes())))
    except SystemExit as stop:
        os._exit(exit_code(stop))
    except BaseException:
        os.kill(os.getpid(), signal.SIGKILL)
    os._exit(1)


def _answer(mechanism: Any, dataset: Any, n_draws: int, rng: np.random.Generator, python_state: Any, old: Any) -> bytes:
    _set_globals(python_state, old)
    before = {name: array.copy() for name, array in arrays_of(dataset).items()}
    try:
        value = mechanism.draw(dataset, n_draws, rng=rng)
        raised, value = False, list(value) if isinstance(value, Iterator) else value
    except Exception as stop:
        raised, value = True, (type(stop).__name__, str(stop))
    after = arrays_of(dataset)
    written = {name: after.get(name) for name in before if not unchanged(before[name], after.get(name))}
    left = rng.bit_generator.state, random.getstate(), np.random.get_state(), written  # noqa: NPY002
    return pickle.dumps((raised, value, *left))


def _set_globals(python_state: Any, old: Any) -> None:
    random.setstate(python_state)
    np.random.set_state(old)  # noqa: NPY002

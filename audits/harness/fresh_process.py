"""Processes of their own for a mechanism: what it remembers of one data set does not reach the other.

A server imports what every process needs and none of the mechanism's code; each process that is asked for is forked
from it in some 10 ms, begins in an empty folder, makes its mechanism for itself and answers questions over a pipe.
"""

from __future__ import annotations

import atexit
import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from multiprocessing.connection import Connection
from typing import Any, NoReturn

import numpy as np

from mechanisms.data.dataset import FloatArray

from .calls import Deadline
from .guarded_subject import Subject, always_refused
from .output_leaves import Refusal
from .outputs import Layout

#: Seconds that an answer may take where there is no deadline, and beyond the deadline where there is one.
PATIENCE, GRACE = 600.0, 5.0
#: What is known of a process that has gone.
ENDED = "it ended without an answer"
#: Threads of native libraries would be lost in a fork.
ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
#: What a server is started with; the path of this process is its path.
PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from audits.harness.fresh_process import _serve_alone; _serve_alone(int(sys.argv[2]))"
)


class NoProcess(Exception):
    """Nothing is known of what a mechanism would do in a process of its own; its text says why."""


#: What a forked process may hold: an object, and the views of its outputs.
Held = tuple[Any, Sequence[Callable[[Any], Any]]]


@dataclass(frozen=True)
class Apart:
    """A mechanism as it is drawn from in a process of its own."""

    make: Callable[[], Any] | None  #: gives pristine mechanisms; None for copies of the object that the process holds
    views: Sequence[Callable[[Any], Any]]  #: as of ``Subject``
    deadline: Deadline | None  #: as of ``Subject``
    layout: Layout  #: by which outputs become rows
    one_by_one: bool = False  #: whether every draw is a call of its own
    held: Any = None  #: the object; None where there is ``make``

    @cached_property
    def mechanism(self) -> Any:
        """The mechanism of this process."""
        return self.held if self.make is None else self.make()

    @cached_property
    def subject(self) -> Subject:
        """The mechanism under examination in this process."""
        return Subject(self.mechanism, self.make, self.views, self.deadline)

    def without_views(self) -> Apart:
        """Return what a process is sent that holds the views itself."""
        return replace(self, make=None, views=(), layout=replace(self.layout, views=()))

    def holding(self, held: Held) -> Apart:
        """Return it with the object and the views that a process holds."""
        return replace(self, views=held[1], layout=replace(self.layout, views=tuple(held[1])), held=held[0])

    def began(self) -> None:
        """See that the mechanism is there."""
        assert self.subject is not None

    def draw(self, dataset: Any, n_draws: int, rng: np.random.Generator) -> tuple[FloatArray, Refusal | None]:
        """Return independent rows of a data set, as ``EncodedSubject.draw`` does, and what refused all of them."""
        parts = self.subject.sample(dataset, n_draws, rng, one_by_one=self.one_by_one, width=self.layout.width)
        rows = np.concatenate([self.layout.encode(part) for part in parts])
        return rows[rng.permutation(len(rows))], always_refused(parts)

    def log_density(self, outputs: FloatArray, dataset: Any) -> Any:
        """Return the stated log density of some rows."""
        return self.mechanism.log_density(outputs, dataset)


class FreshProcess:
    """A process of its own; a context that ends it.

    Raises ``NoProcess`` if it cannot be given its mechanism.
    """

    def __init__(self, server: ProcessServer, apart: Apart) -> None:
        self._server, self._deadline = server, apart.deadline
        self._pipe = server.fork()
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        try:
            self._send((_path(), self._folder.name))
            self._send(apart.without_views() if server.holds else apart)
            self._ask("began")
        except BaseException:
            self.close()
            raise

    def draw(self, dataset: Any, n_draws: int, rng: np.random.Generator) -> tuple[FloatArray, Refusal | None]:
        """Return rows of a data set that are drawn there, and what refused all of them."""
        drawn: tuple[FloatArray, Refusal | None] = self._ask("draw", dataset, n_draws, rng)
        return drawn

    def log_density(self, outputs: FloatArray, dataset: Any) -> Any:
        """Return the log density that is stated there."""
        return self._ask("log_density", outputs, dataset)

    def close(self) -> None:
        """Let it end."""
        self._pipe.close()
        self._folder.cleanup()

    def __enter__(self) -> FreshProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _send(self, what: Any) -> None:
        try:
            sent = pickle.dumps(what)
        except Exception as stop:  # what cannot be pickled raises whatever it likes
            raise NoProcess(f"what it needs cannot be sent there ({type(stop).__name__})") from None
        try:
            self._pipe.send_bytes(sent)
        except OSError:
            raise NoProcess(ENDED) from None

    def _ask(self, name: str, *arguments: Any) -> Any:
        self._send((name, arguments))
        clock = self._deadline
        left = PATIENCE if clock is None else min(PATIENCE, max(0.0, clock.at - clock.clock()) + GRACE)
        try:
            if not self._pipe.poll(left):
                self._server.close()
                raise NoProcess("it gave no answer in time")
            raised, value = pickle.loads(self._pipe.recv_bytes())
        except (EOFError, OSError):
            raise NoProcess(ENDED) from None
        if raised:
            raise NoProcess(f"it raised {value} there")
        return value


class ProcessServer:
    """A process from which others are forked; it ends with us.

    ``held``: what its processes hold, since it is forked from this one; None for one that is started anew, with
    nothing.
    """

    def __init__(self, held: Held | None = None) -> None:
        self._control, theirs = socket.socketpair()
        self._started: subprocess.Popen[bytes] | None = None
        self._forked = 0
        with theirs:
            if held is None:
                self._started = _start(theirs.fileno())
                return
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # of its threads none is at work
                self._forked = os.fork()
            if not self._forked:
                self._control.close()
                _serve_forked(theirs, held)

    @property
    def holds(self) -> bool:
        """Whether its processes hold the object that they are asked about."""
        return self._started is None

    def fork(self) -> Connection:
        """Return the pipe to a new process."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                socket.send_fds(self._control, [b"+"], [theirs.fileno()])
            except OSError as stop:
                ours.close()
                raise NoProcess("it cannot be started") from stop
        return Connection(ours.detach())

    def close(self) -> None:
        """End it and all processes that it forked."""
        if self._control.fileno() < 0:
            return
        self._control.close()
        if self._started is not None:
            with suppress(subprocess.TimeoutExpired):
                self._started.wait(0.2)  # it ends by itself
        pid = self._forked or (0 if self._started is None else self._started.pid)
        with suppress(OSError):
            os.killpg(pid, signal.SIGKILL)
        if self._started is not None:
            self._started.kill()  # where it has no group of its own yet
            self._started.wait()
        else:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)

    @property
    def open(self) -> bool:
        """Whether it takes requests."""
        return self._control.fileno() >= 0 and (self._started is None or self._started.poll() is None)

    def __enter__(self) -> ProcessServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Callable[[], None], tuple[()]]:
        return _nothing, ()  # another process has no part in it


def _nothing() -> None:
    return None


_OWN: dict[int, ProcessServer] = {}


def own_server() -> ProcessServer:
    """Return the server of this process, which is started when it is asked for first.

    Raises ``NoProcess`` where processes cannot be forked.
    """
    if not hasattr(os, "fork") or not hasattr(socket, "send_fds") or not sys.executable:
        raise NoProcess("processes cannot be forked here")
    found = _OWN.get(os.getpid())
    if found is None or not found.open:
        if found is None:
            atexit.register(close_own_server)
        else:
            found.close()
        _OWN[os.getpid()] = found = ProcessServer()
    return found


def close_own_server() -> None:
    """End the server of this process; the next that asks starts another."""
    found = _OWN.pop(os.getpid(), None)
    if found is not None:
        found.close()


def _path() -> list[str]:
    return [os.path.abspath(place) for place in sys.path]


def _start(control: int) -> subprocess.Popen[bytes]:
    nothing = subprocess.DEVNULL
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, json.dumps(_path()), str(control)],
        stdin=nothing,
        stdout=nothing,
        stderr=nothing,
        pass_fds=[control],
        start_new_session=True,
        env=os.environ | ONE_THREAD,
    )


def _serve_alone(control: int) -> NoReturn:
    """Be the server that is started anew: fork a process for each pipe that comes, until its parent has gone."""
    from mechanisms import GaussianProfile, NeighbouringPair  # noqa: F401 (what a mechanism probably imports)

    _serve(socket.socket(fileno=control), None)


def _serve_forked(control: socket.socket, held: Held) -> NoReturn:
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nothing, number)
        sys.stdin, sys.stdout, sys.stderr = (os.fdopen(number, mode) for number, mode in ((0, "r"), (1, "w"), (2, "w")))
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, signal.SIG_DFL)
        _serve(control, held)
    finally:
        os._exit(1)


def _serve(control: socket.socket, held: Held | None) -> NoReturn:
    while True:
        message, pipes, _, _ = socket.recv_fds(control, 1, 1)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:  # those that have gone; their processor time is ours then
                pass
        if not message:
            os.killpg(0, signal.SIGKILL)
        if not os.fork():
            try:
                control.close()
                with suppress(EOFError, OSError):
                    _answer(Connection(pipes[0]), held)
            finally:
                os._exit(0)
        os.close(pipes[0])


def _answer(pipe: Connection, held: Held | None) -> None:
    path, folder = pickle.loads(pipe.recv_bytes())
    sys.path[:] = path
    os.chdir(folder)
    os.environ["TMPDIR"] = tempfile.tempdir = folder
    sent = pipe.recv_bytes()
    apart: Apart | None = None
    while True:
        question = pipe.recv_bytes()
        try:
            if apart is None:
                apart = pickle.loads(sent)
                apart = apart if held is None else apart.holding(held)
            name, arguments = pickle.loads(question)
            reply = pickle.dumps((False, getattr(apart, name)(*arguments)))
        except BaseException as stop:  # whatever the mechanism's own code raises
            reply = pickle.dumps((True, type(stop).__name__))
        pipe.send_bytes(reply)

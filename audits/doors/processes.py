"""One process that answers requests: no full pipe stops it, none outlives us, and what else it does is seen."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from ..subject.no_answer import CallEnded, NoAnswer, ProcessExited
from ..subject.returned import WrongRows
from .channels import BLANK, AnswerLines, IdleEnd, TooLong, out_of_time

#: Seconds that a process has to end by itself once its input ends, and to say how it ended once its output does.
GRACE, DYING = 0.5, 5.0
#: Most seconds without a look at whether the door was closed, and most bytes that are read at once.
SLICE, CHUNK_BYTES = 0.25, 1 << 18


class Process:
    """A command that runs, in a process group of its own: an interrupt from the keyboard is ours alone.

    Parameters
    ----------
    command : sequence of str
    folder : path or None
        Where it runs.

    Raises
    ------
    NoAnswer
        If it cannot be started.
    """

    def __init__(self, command: Sequence[str], folder: str | Path | None) -> None:
        try:
            self._child = subprocess.Popen(
                list(command), cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, process_group=0
            )
        except OSError as stop:
            raise NoAnswer(f"the command cannot be started: {stop.strerror} ({stop.filename or command[0]})") from None
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._in, self._out = self._child.stdin, self._child.stdout
        self._to, self._from = self._in.fileno(), self._out.fileno()
        for pipe in (self._to, self._from):
            os.set_blocking(pipe, False)
        self._interrupted = False
        self._deaf = False

    def ask(self, request: bytes, n_draws: int, until: float) -> list[bytes]:
        """Return the lines that answer a request; request and answer go on together, so that no full pipe stops both.

        Raises
        ------
        WrongRows
            If there are more lines than draws, or lines that nobody had asked for.
        ProcessExited, CallEnded
            If the process ends, closes its output or writes without end.
        IdleEnd
            If it had ended before it read anything of the request.
        Unanswered
            If the moment comes first.
        """
        self._look_for_stale_lines()
        answer, sent, left = AnswerLines(n_draws), 0, memoryview(request)
        poll = select.poll()
        poll.register(self._to, select.POLLOUT)
        poll.register(self._from, select.POLLIN)
        try:
            while left or len(answer.whole) < n_draws:
                for pipe, _ in self._ready(poll, until, answer, n_draws):
                    if pipe == self._from:
                        self._read(answer, sent)
                        continue
                    written = self._write(left)
                    sent, left = sent + max(0, written), left[written:] if written >= 0 else left[:0]
                    if not left:
                        poll.unregister(self._to)
        except TooLong:
            raise CallEnded("too long") from None
        answer.nothing_more()
        return answer.whole

    def _ready(self, poll: select.poll, until: float, answer: AnswerLines, n_draws: int) -> list[tuple[int, int]]:
        """Return what can be read or written now; nothing after a while."""
        seconds = until - time.monotonic()
        if seconds <= 0:
            raise out_of_time(answer, n_draws)
        if self._interrupted:
            raise IdleEnd("interrupted")
        return poll.poll(1000 * min(seconds, SLICE) + 1)

    def _write(self, left: memoryview) -> int:
        """Return how many bytes the process took; -1 if it takes no more."""
        try:
            return os.write(self._to, left)
        except BlockingIOError:
            return 0
        except BrokenPipeError:
            self._deaf = True
            return -1

    def _read(self, answer: AnswerLines, sent: int) -> None:
        try:
            raw = os.read(self._from, CHUNK_BYTES)
        except BlockingIOError:
            return
        if raw:
            answer.add(raw)
            return
        kind = self._how_it_ended()
        if sent <= self._unread():
            raise IdleEnd(f"the command ended ({kind}) before it read a request")
        raise CallEnded(kind) if kind == "closed" else ProcessExited(kind)

    def _look_for_stale_lines(self) -> None:
        """Raise ``WrongRows`` for what was written after the last answer, ``IdleEnd`` where the process has ended."""
        if self._deaf:
            raise IdleEnd("the command closed its input")
        try:
            raw = os.read(self._from, CHUNK_BYTES).strip(BLANK)
        except BlockingIOError:
            return
        if raw:
            raise WrongRows("an answer must have a line for each draw, got more after it")

    def _unread(self) -> int:
        """Return how many bytes of its input were not read, where the system tells; otherwise 0."""
        try:
            (unread,) = struct.unpack("i", fcntl.ioctl(self._to, termios.FIONREAD, b"\0" * 4))
        except OSError:
            return 0
        return int(unread)

    def _how_it_ended(self) -> str:
        """Return ``exit 3`` or ``signal 11``; ``closed`` if it closed its output and goes on."""
        try:
            code = self._child.wait(DYING)
        except subprocess.TimeoutExpired:
            return "closed"
        return f"exit {code}" if code >= 0 else f"signal {-code}"

    def hang_up(self) -> None:
        """Close its pipes: it sees the end of its input."""
        for pipe in (self._in, self._out):
            with suppress(OSError):
                pipe.close()

    def end(self, *, gently: bool) -> None:
        """Close its pipes and end it, and what it has started; gently: after a moment in which it may end by itself."""
        self.hang_up()
        if gently:
            with suppress(subprocess.TimeoutExpired):
                self._child.wait(GRACE)
        self._kill()
        self._child.wait()

    def interrupt(self) -> None:
        """Kill it, so that who waits for its answer waits no longer."""
        self._interrupted = True
        self._kill()

    def _kill(self) -> None:
        """Kill every process of its group, which may outlive the one that was started, and that one if it left it."""
        with suppress(OSError):  # there is none any more
            os.killpg(self._child.pid, signal.SIGKILL)
        with suppress(OSError):
            self._child.kill()

    def forget(self) -> None:
        """Close its pipes and let it run: it is the parent's."""
        self._interrupted = True
        self.hang_up()
        self._child.returncode = 0  # nobody waits for it here

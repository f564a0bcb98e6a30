"""One process, or one connection to a service, that answers requests: no full pipe stops it, whatever drips."""

from __future__ import annotations

import fcntl
import http.client
import io
import os
import select
import signal
import socket
import struct
import subprocess
import termios
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal
from urllib.parse import SplitResult, quote

from ..harness.calls import CallEnded, NoAnswer, ProcessExited
from ..harness.returned import WrongRows
from .channels import BLANK, AnswerLines, IdleEnd, TooLong, Unanswered, out_of_time

#: The status of an answer, and those after which a request may be sent again.
OK = 200
BUSY = (429, 502, 503, 504)
#: Most seconds that a service may ask us to wait, and most bytes read at once.
MOST_PAUSE, CHUNK_BYTES = 30.0, 1 << 18
HEADERS = {"Content-Type": "application/json", "User-Agent": "pdp-verify"}
#: What may stand in a path or a query besides letters and digits.
SAFE = "/%:@!$&'()*+,;=~-._?"


class Connection:
    """A connection that is opened by its first request and stays open while the service allows it.

    ``url``: of http or https. ``retried``: statuses after which the request is sent again.
    """

    def __init__(self, url: SplitResult, retried: tuple[int, ...] = BUSY) -> None:
        secure = url.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        self._http = kind(url.hostname or "", url.port or (443 if secure else 80))
        self._target = quote(url.path or "/", safe=SAFE) + (f"?{quote(url.query, safe=SAFE)}" if url.query else "")
        self._timed: TimedSocket | None = None
        self._retried = retried

    def ask(self, request: bytes, n_draws: int, until: float) -> list[bytes]:
        """Return the lines that the service answers.

        Raises ``WrongRows`` if there are more lines than draws. Raises ``CallEnded`` if the status says that the
        request failed (the body of such an answer does not count), or the connection was closed after anything was
        sent. Raises ``IdleEnd`` if the service had closed the connection since the last answer, before anything was
        sent. Raises ``Unanswered`` if it does not accept or says that it is busy; or if the moment comes first.
        """
        answer = AnswerLines(n_draws)
        self._connect(until)
        try:
            with suppress(BrokenPipeError, ConnectionResetError):  # it may have answered before it read everything
                self._http.request("POST", self._target, request, HEADERS)
            response = self._http.getresponse()
            self._body(response, answer)
        except (OSError, http.client.HTTPException) as stop:
            raise _lost(stop, until, answer, n_draws) from None
        except TooLong:
            raise CallEnded("too long") from None
        if response.will_close:
            self.hang_up()
        self._judge(response)
        answer.finish()
        return answer.whole

    def _connect(self, until: float) -> None:
        if self._timed is not None:
            if not self._timed.quiet():
                raise IdleEnd("the service closed the connection")
            self._timed.until = until
            return
        self._http.timeout = max(0.001, until - time.monotonic())
        try:
            self._http.connect()
        except (OSError, UnicodeError) as stop:  # names that are not found and certificates that do not hold included
            words = getattr(stop, "strerror", None) or str(stop) or type(stop).__name__
            raise Unanswered(f"the service does not accept connections ({words})") from None
        self._timed = TimedSocket(self._http.sock, until)
        self._http.sock = self._timed

    def _body(self, response: http.client.HTTPResponse, answer: AnswerLines) -> None:
        """Read the whole body, into lines where it is an answer."""
        good = response.status == OK
        while raw := response.read(CHUNK_BYTES):
            if good:
                answer.add(raw)
        if response.length:  # the connection ended before what was announced
            raise http.client.IncompleteRead(b"")

    def _judge(self, response: http.client.HTTPResponse) -> None:
        if response.status == OK:
            return
        kind = f"HTTP {response.status}"
        if response.status in self._retried:
            raise Unanswered(f"the service answered {kind} every time", pause=_asked_pause(response))
        raise CallEnded(kind)

    def hang_up(self) -> None:
        """Close the connection."""
        with suppress(OSError):
            self._http.close()
        self._timed = None

    def end(self, *, gently: bool) -> None:
        """Close the connection."""
        self.hang_up()

    def interrupt(self) -> None:
        """Shut the connection down, so that who waits for its answer waits no longer."""
        timed = self._timed
        if timed is not None:
            timed.shut_down()

    def forget(self) -> None:
        """Close this process's side of it; the parent's stays open."""
        self.hang_up()


def _asked_pause(response: http.client.HTTPResponse) -> float:
    """Return the seconds that a service asks to wait, as far as we are willing to."""
    asked = response.headers.get("Retry-After", "").strip()
    return min(float(asked), MOST_PAUSE) if asked.isdecimal() else 0.0


def _lost(stop: Exception, until: float, answer: AnswerLines, n_draws: int) -> Unanswered | CallEnded:
    """Return what a broken exchange is: out of time, or a connection closed without a whole answer, an output."""
    if isinstance(stop, TimeoutError) and time.monotonic() >= until - 0.01:
        return out_of_time(answer, n_draws)
    return CallEnded("closed")


class TimedSocket:
    """A socket all of whose waits together end at one moment; what ``http.client`` needs of a socket, and no more.

    ``until``: on the monotonic clock.
    """

    def __init__(self, inner: socket.socket, until: float) -> None:
        self._inner, self.until = inner, until

    def _limit(self) -> None:
        left = self.until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._inner.settimeout(left)

    def sendall(self, raw: Any) -> None:
        """Send all of it."""
        self._limit()
        self._inner.sendall(raw)

    def makefile(self, mode: Literal["rb"]) -> io.BufferedReader:
        """Return a reader whose every read looks at the clock."""
        return io.BufferedReader(_TimedReader(self, self._inner.makefile(mode, buffering=0)), CHUNK_BYTES)

    def close(self) -> None:
        """Close the socket."""
        self._inner.close()

    def shut_down(self) -> None:
        """End both directions, from any thread."""
        with suppress(OSError):
            self._inner.shutdown(socket.SHUT_RDWR)

    def quiet(self) -> bool:
        """Return whether nothing came since the last answer, neither bytes nor the end."""
        poll = select.poll()
        poll.register(self._inner, select.POLLIN)
        return not poll.poll(0)


class _TimedReader(io.RawIOBase):
    def __init__(self, timed: TimedSocket, inner: Any) -> None:
        self._timed, self._inner = timed, inner

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._timed._limit()
        read: int | None = self._inner.readinto(buffer)
        return read

    def close(self) -> None:
        if not self.closed:
            self._inner.close()
        super().close()


#: Seconds that a process has to end by itself once its input ends, and to say how it ended once its output does.
GRACE, DYING = 0.5, 5.0
#: Most seconds without a look at whether the door was closed.
SLICE = 0.25


class Process:
    """A command that runs, in a process group of its own: an interrupt from the keyboard is ours alone.

    ``folder``: where it runs. Raises ``NoAnswer`` if it cannot be started.
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

        Raises ``WrongRows`` if there are more lines than draws, or lines that nobody had asked for. Raises
        ``ProcessExited, CallEnded`` if the process ends, closes its output or writes without end. Raises ``IdleEnd`` if
        it had ended before it read anything of the request. Raises ``Unanswered`` if the moment comes first.
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

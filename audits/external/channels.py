"""What carries requests: channels (processes, connections), at most so many at once, and what comes back by them."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Protocol

from ..harness.calls import NoAnswer
from ..harness.returned import WrongRows

#: Most bytes of one answer.
MOST_BYTES = 1 << 28
#: White space of JSON.
BLANK = b" \t\r\n"


class IdleEnd(Exception):
    """A channel had ended before anything of the request was read; where it was used before, another one is opened."""

    def __init__(self, words: str) -> None:
        super().__init__(words)
        self.words = words


class Unanswered(Exception):
    """A request did not reach the mechanism, or its time was up.

    ``words``: what happened, for the one line that says so. ``kind``: what it is where it is taken for an output;
    nothing where it never is. ``again``: whether the same bytes are sent again. ``pause``: fewest seconds that the
    other side asks to wait.
    """

    def __init__(self, words: str, kind: str = "", *, again: bool = True, pause: float = 0.0) -> None:
        super().__init__(words)
        self.words, self.kind, self.again, self.pause = words, kind, again, pause


class DoorClosed(NoAnswer):
    """The door was closed while a request was open."""


class TooLong(Exception):
    """An answer has more bytes than any is read."""


class AnswerLines:
    """The lines of one answer as its bytes arrive; blank lines are no lines.

    ``most``: lines that were asked for.
    """

    def __init__(self, most: int) -> None:
        self.whole: list[bytes] = []
        self._most, self._size = most, 0
        self._part: list[bytes] = []

    def add(self, raw: bytes) -> None:
        """Take some more bytes.

        Raises ``TooLong`` if there are too many bytes to keep. Raises ``WrongRows`` if there are more lines than were
        asked for.
        """
        self._size += len(raw)
        if self._size > MOST_BYTES:
            raise TooLong
        first, *more = raw.split(b"\n")
        self._part.append(first)
        if more:
            self._keep([b"".join(self._part), *more[:-1]])
            self._part = [more[-1]]

    def _keep(self, lines: list[bytes]) -> None:
        self.whole += [stripped for line in lines if (stripped := line.strip(BLANK))]
        if len(self.whole) > self._most:
            raise WrongRows(f"an answer must have a line for each draw, got more than {self._most} lines")

    def finish(self) -> None:
        """Take what follows the last line's end for a line as well."""
        self._keep([b"".join(self._part)])
        self._part = []

    def nothing_more(self) -> None:
        """Raise ``WrongRows`` if something follows the last line's end."""
        if b"".join(self._part).strip(BLANK):
            raise WrongRows("an answer must have a line for each draw, got more")


def out_of_time(answer: AnswerLines, n_draws: int) -> Unanswered:
    """Return what a request is whose time is up."""
    came = len(answer.whole)
    return Unanswered(f"{came} of {n_draws} lines" if came else "no answer", "timeout", again=False)


class Channel(Protocol):
    """One way to the mechanism, used by one thread at a time."""

    def ask(self, request: bytes, n_draws: int, until: float) -> list[bytes]:
        """Return the lines that answer a request before a moment on the monotonic clock."""
        ...

    def hang_up(self) -> None:
        """Tell the other side that nothing more will be asked."""
        ...

    def end(self, *, gently: bool) -> None:
        """End it, by the thread that uses it or after."""
        ...

    def interrupt(self) -> None:
        """Let the thread that waits for its answer wait no longer; from any thread."""
        ...

    def forget(self) -> None:
        """Let go of it in a forked process, where it is another's."""
        ...


class Channels:
    """Channels of one mechanism: at most ``concurrency`` exist at once, and each is used by one thread at a time.

    ``start``: returns a new channel. ``pauses``: seconds before each further attempt for a request that did not reach
    the mechanism.
    """

    def __init__(self, start: Callable[[], Channel], concurrency: int, pauses: Sequence[float]) -> None:
        self._start, self._concurrency, self._pauses = start, concurrency, tuple(pauses)
        self._state = _State(concurrency)
        _STATES.add(self._state)
        weakref.finalize(self, _State.close, self._state)

    def close(self) -> None:
        """End all channels; requests that are open end with ``DoorClosed``, later ones open new ones."""
        self._state.close()

    def exchange(self, request: bytes, n_draws: int, seconds: float, *, fresh: bool = False) -> list[bytes]:
        """Return the lines that answer a request, of as many attempts as it takes.

        ``request``: one line of JSON. ``n_draws``: lines to wait for. ``seconds``: time of one attempt. ``fresh``: send
        it through a newly opened channel. Raises ``CallEnded`` or ``WrongRows`` where the
        mechanism did that instead, the last attempt's ``Unanswered``, ``DoorClosed`` if it was closed meanwhile.
        """
        state = self._state
        closing = state.closing
        with state.places:
            for pause in (*self._pauses, None):
                try:
                    return self._once(closing, request, n_draws, seconds, fresh)
                except Unanswered as stop:
                    if pause is None or not stop.again:
                        raise
                    if closing.wait(max(pause, stop.pause)):
                        raise DoorClosed("the door was closed") from None
        raise AssertionError  # the last attempt returned or raised

    def _once(self, closing: threading.Event, request: bytes, n_draws: int, seconds: float, fresh: bool) -> list[bytes]:
        """Return the answer of one attempt; channels that had ended while they were idle do not count."""
        while True:
            channel, used = self._take(closing, fresh)
            try:
                answer = channel.ask(request, n_draws, time.monotonic() + seconds)
            except BaseException as stop:
                self._state.drop(channel)
                if closing.is_set():
                    raise DoorClosed("the door was closed") from None
                if not isinstance(stop, IdleEnd):
                    raise
                if not used:
                    raise Unanswered(stop.words) from None
                continue
            self._state.give(channel, closing)
            return answer

    def _take(self, closing: threading.Event, fresh: bool) -> tuple[Channel, bool]:
        """Return a channel for this thread alone, and whether it was used before."""
        state = self._state
        with state.lock:
            if closing.is_set():
                raise DoorClosed("the door was closed")
            idle = state.idle.pop() if state.idle else None
            if idle is not None and not fresh:
                state.open.add(idle)
                return idle, True
        if idle is not None:
            idle.end(gently=True)
        channel = self._start()
        with state.lock:
            late = closing.is_set()
            if not late:
                state.open.add(channel)
        if late:
            channel.end(gently=False)
            raise DoorClosed("the door was closed")
        return channel, False


class _State:
    """The channels that are idle and those that are open."""

    def __init__(self, concurrency: int) -> None:
        self.concurrency = concurrency
        self.idle: list[Channel] = []
        self.open: set[Channel] = set()
        self._renew()

    def _renew(self) -> None:
        self.lock = threading.RLock()  # a search for garbage may close the door in the middle of a request
        self.places = threading.BoundedSemaphore(self.concurrency)
        self.closing = threading.Event()

    def give(self, channel: Channel, closing: threading.Event) -> None:
        with self.lock:
            self.open.discard(channel)
            if not closing.is_set():
                self.idle.append(channel)
                return
        channel.end(gently=False)

    def drop(self, channel: Channel) -> None:
        with self.lock:
            self.open.discard(channel)
        channel.end(gently=False)

    def close(self) -> None:
        with self.lock:
            self.closing.set()
            self.closing = threading.Event()
            idle, self.idle = self.idle, []
            for channel in self.open:
                channel.interrupt()
        for channel in idle:
            channel.hang_up()
        for channel in idle:
            channel.end(gently=True)

    def forget(self) -> None:
        """Let go of all channels: this is a forked process, and they are its parent's."""
        for channel in (*self.idle, *self.open):
            channel.forget()
        self.idle, self.open = [], set()
        self._renew()


_STATES: weakref.WeakSet[_State] = weakref.WeakSet()


def _forget_all() -> None:
    for state in list(_STATES):
        state.forget()


os.register_at_fork(after_in_child=_forget_all)

"""One command, called in this process as the entry point calls it: what it printed, its code, what else was noticed."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import resource
import signal
import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from toys.sweeps import Here

from verify.cli import invoke

#: Seconds of processor time that a command may take, and bytes of memory that it may ask for beyond what there is.
CPU_LIMIT, MEMORY_LIMIT = 60, 6 * 2**30
#: Seconds by the clock, even on a busy machine: beyond, a command waits for what never comes.
WAITING = 600
#: Warnings that Python does not show to a user.
QUIET = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
ENVIRONMENT = {"SOURCE_DATE_EPOCH": "1700000000", "NO_COLOR": "1"}


@dataclass(frozen=True)
class Ran:
    """One command that was called; the code is None where no exit code was returned."""

    arguments: tuple[str, ...]
    code: int | None
    out: str
    err: str
    seconds: float
    noticed: tuple[str, ...]


class TooLong(BaseException):
    """More processor time than any case should take; not an Exception, so that nobody catches it."""


def call(arguments: tuple[str, ...], folder: Path, scratch: Path, *, rendered: bool) -> Ran:
    """Call a command in a folder; ``scratch`` takes the place of the system's temporary folder.

    ``rendered``: whether figures and pages are really drawn, and a sweep has a process of its own.
    """
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace", write_through=True)
    noticed: list[str] = []
    start, code = time.perf_counter(), None
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.chdir(folder))
        stack.enter_context(mock.patch.object(tempfile, "tempdir", str(scratch)))
        stack.enter_context(mock.patch.dict(os.environ, ENVIRONMENT))
        seen = stack.enter_context(warnings.catch_warnings(record=True))
        warnings.simplefilter("default")
        for kind in QUIET:
            warnings.simplefilter("ignore", kind)
        if not rendered:
            stack.enter_context(unrendered())
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(err))
        try:
            with limits():
                code = invoke(list(arguments))
        except TooLong:
            noticed.append(f"more than {CPU_LIMIT} s of processor time, or {WAITING} s by the clock")
        except BaseException as stop:
            noticed.append(f"escaped: {type(stop).__name__}: {stop}")
    noticed += [f"warning: {each.category.__name__}: {each.message} ({each.filename})" for each in seen]
    return Ran(arguments, code, _text(out), _text(err), time.perf_counter() - start, tuple(noticed))


def _text(stream: io.TextIOWrapper) -> str:
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode(errors="replace")


@contextlib.contextmanager
def limits() -> Iterator[None]:
    """Bound processor time, time and memory of what runs inside."""

    def late(*_: Any) -> None:
        raise TooLong

    before = [(number, signal.signal(number, late)) for number in (signal.SIGPROF, signal.SIGALRM)]
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY_LIMIT, hard))
    signal.setitimer(signal.ITIMER_PROF, CPU_LIMIT)
    signal.setitimer(signal.ITIMER_REAL, WAITING)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before:
            signal.signal(number, handler)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@contextlib.contextmanager
def unrendered() -> Iterator[None]:
    """Leave out matplotlib and Typst: a PDF is then the digest of its document, and the attached record.

    A sweep decides its cells in this process.
    """

    def stand_in(folder: Path, _: Any) -> bytes:
        parts = [hashlib.sha256((folder / "document.json").read_bytes()).hexdigest().encode()]
        parts += [path.read_bytes() for path in folder.glob("attachment.bin")]
        return b"%PDF-1.7\n" + b"".join(b"stream\n" + part + b"\nendstream\n" for part in parts)

    with (
        mock.patch("reports.document._compile", stand_in),
        mock.patch("reports.document.figure_svg", return_value=b"<svg/>"),
        mock.patch("verify.engine.figures.figure_svg", return_value=b"<svg/>"),
        mock.patch("verify.cli_work.default_jobs", return_value=1),
        mock.patch("verify.engine.executors.Processes", Here),
    ):
        yield

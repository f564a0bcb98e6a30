"""Whose fault it is, what the system refused, what a damaged record raises; and no word where none may be said."""

from __future__ import annotations

import errno
import os
import resource
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import Defect, UserError

#: Errors of the system that say: no room.
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
FULL_WORDS = ("disk is full", "No space left", "quota exceeded", "File too large")
#: Code that quotes no record in what it says of a file; any other code may.
OURS = {"verify", "mechanisms", "audits", "reports", "click", "rich", "filelock"} | sys.stdlib_module_names
#: Modules of the user's, loaded because a configuration names them; whoever loads one adds it.
OWN_CODE: set[str] = set()
#: Where an exception that comes from another process says that the user's own code raised it.
OWN = "own_code"
#: What is told in words of ours, whoever raised it.
TOLD = (UserError, KeyboardInterrupt, SystemExit, BrokenPipeError, RecursionError)
LITTLE = "memory must suffice, got too little"
#: What the system says when it has no memory for a library that is loaded.
UNMAPPED = ("failed to map", "cannot map", "cannot allocate", "Cannot allocate", "additional memory")
#: Bytes: where this process came nearer to its limit, whatever stopped it may be want of memory.
NEAR = 1 << 28


@contextmanager
def withheld(wanted: bool) -> Iterator[None]:
    """Let what stops the block say its type alone: its message may quote records that are not public."""
    try:
        yield
    except TOLD:
        raise
    except BaseException as stop:
        cause = stop.__cause__ if isinstance(stop, Defect) else stop
        if not wanted or cause is None or (of_the_system(cause) is not None and _ours(cause)):
            raise
        told = of_own_code(stop) or (LITTLE if _memory(cause) else None)
        if told is not None:
            raise UserError(f"{told} ({keep_traceback(stop)})") from None
        kind = cause.args[0] if type(cause).__name__ == "TaskError" else type(cause).__name__
        why = f"{kind}: its message is withheld, it may quote data that are not public ({keep_traceback(stop)})"
        raise Defect(why) from None


def _ours(stop: BaseException) -> bool:
    """Return whether an exception came through code of ours alone, in this process."""
    frames = [frame.f_globals.get("__name__", "") for frame, _ in traceback.walk_tb(stop.__traceback__)]
    return not hasattr(stop, "__notes__") and all(name.partition(".")[0] in OURS for name in frames)


def of_own_code(stop: BaseException) -> str | None:
    """Return that the user's own code raised this, in one line with its type alone, or nothing when it did not.

    Its code did where the last frame, beside those of libraries that it may have called, is of a module of
    ``OWN_CODE``; of what a real Ctrl-C raises there, the last frame is the handler's.
    """
    if isinstance(stop, UserError):
        return None
    if own := vars(stop).get(OWN):
        return str(own)
    for frame, _ in reversed(list(traceback.walk_tb(stop.__traceback__))):
        name = frame.f_globals.get("__name__", "")
        if name.partition(".")[0] in OURS - sys.stdlib_module_names:
            return None
        if any(name == own or name.startswith(f"{own}.") for own in OWN_CODE):
            return f"the code of a configuration must end with a result or an Exception, got {type(stop).__name__}"
    return None


def _memory(stop: BaseException) -> bool:
    """Return whether an exception says that there was no memory."""
    return isinstance(stop, MemoryError) or (
        isinstance(stop, ImportError | OSError) and any(words in str(stop) for words in UNMAPPED)
    )


def short_of_memory() -> bool:
    """Return whether this process came near to its limit (``ulimit -v``): what it could not do then is no defect."""
    try:
        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        most = int(status.partition("VmPeak:")[2].split()[0]) << 10
    except (OSError, ValueError, IndexError, MemoryError):
        return False
    return limit != resource.RLIM_INFINITY and most + NEAR > limit


def of_the_system(stop: BaseException) -> str | None:
    """Return what the machine refused, in one line, or nothing when the machine is not to blame."""
    if _memory(stop):
        return f"{LITTLE} ({stop})" if str(stop) else LITTLE
    if isinstance(stop, RecursionError):
        return "the input must be nested less deeply, got more levels than can be read"
    if isinstance(stop, OSError):
        return _of_a_file(stop)
    if type(stop).__name__ == "SolverError":  # of the mechanisms, which are not imported for a look at its class
        return f"the mechanism's numbers must be within reach of float64: {stop}"
    if type(stop).__module__ == "sqlite3":  # not imported for a look at its class
        return _of_a_store(str(stop))
    return None


def _of_a_file(stop: OSError) -> str:
    why = stop.strerror or str(stop) or type(stop).__name__
    place = "standard output or a temporary file" if stop.filename is None else str(stop.filename)
    if stop.errno in FULL:
        return f"the disk must have room, got none for {place} ({why})"
    return f"files and folders must stay readable and writable, got {place} ({why})"


def _of_a_store(why: str) -> str:
    rule = "free" if "locked" in why else "undamaged and writable"
    if any(words in why for words in FULL_WORDS):
        return f"the disk must have room, got none for the store of rows ({why})"
    return f"the store of rows must be {rule}, got another ({why})"


def keep_traceback(stop: BaseException) -> str:
    """Write where something stopped to a temporary file, and return its place, or words where none is left."""
    text = "".join(traceback.format_exception(stop))
    try:
        handle, name = tempfile.mkstemp(prefix="pdp-verify-", suffix=".traceback.txt")
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError:
        return "details could not be kept"
    return f"details in {name}"


#: What a reader raises that meets something else than was written. Good records pay nothing for it.
DAMAGE = (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RuntimeError, AssertionError, Warning)


@contextmanager
def as_written(path: Path) -> Iterator[None]:
    """Take what is raised while a record is shown for what it is: damage that no line shows alone."""
    try:
        yield
    except DAMAGE as stop:
        raise UserError(
            f"record must be as pdp-verify wrote it, got record={path} ({type(stop).__name__}, {keep_traceback(stop)})"
        ) from stop


VARIABLE = "PYTHONWARNINGS"
_silent = False


def tell(line: str) -> None:
    """Print a line about the work, not about what it found, on standard error, unless nothing may be said."""
    if not _silent:
        print(line, file=sys.stderr, flush=True)


@contextmanager
def silenced(wanted: bool) -> Iterator[None]:
    """Tell nothing while the block runs; ignore every warning, here and in its processes, whatever ``-W`` says."""
    if not wanted:
        yield
        return
    global _silent
    before, options = os.environ.get(VARIABLE), list(sys.warnoptions)
    os.environ[VARIABLE] = "ignore"
    sys.warnoptions[:] = ["ignore"]  # what a spawned process is started with
    was_silent, _silent = _silent, True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        _silent = was_silent
        sys.warnoptions[:] = options
        os.environ.pop(VARIABLE)
        if before is not None:
            os.environ[VARIABLE] = before

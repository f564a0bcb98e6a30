"""A folder that one process at a time may use; a lock falls with its process, however that ends."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from reports.files import write_atomic

from ..messages.errors import UserError

if TYPE_CHECKING:
    from filelock import BaseFileLock

#: The file that is locked. It stays: who deletes a lock file lets two processes hold two files of one name.
LOCK = ".lock"
#: Says who holds the folder; only looked at when the lock is taken.
HOLDER = ".holder.json"
OWN = frozenset({LOCK, HOLDER})
POLL_SECONDS = 0.1
#: Seconds that a command's child has to end after its parent was killed.
MOMENT = 0.5


@contextlib.contextmanager
def held(folder: Path, what: str, *, wait: float) -> Iterator[None]:
    """Hold a folder (it must exist; ``.lock`` and ``.holder.json`` are kept in it) for as long as the block runs.

    ``what`` is held, in the words of a message. Another holder is waited for ``wait`` seconds, which is said on
    standard error. Raises ``UserError`` if another process holds it, or it cannot be locked.
    """
    with _locked(folder, what, wait):
        with contextlib.suppress(OSError):  # a courtesy to others: what needs room on the disk says so itself
            _sign(folder)
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                (folder / HOLDER).unlink(missing_ok=True)


@contextlib.contextmanager
def _locked(folder: Path, what: str, wait: float) -> Iterator[None]:
    """Lock the file by the system's own locks and nothing else: they need no file to be removed after a kill."""
    from filelock import FileLock

    lock = FileLock(folder / LOCK, mode=0o600, thread_local=False, fallback_to_soft=False, preserve_lock_file=True)
    try:
        if not _try(lock, MOMENT):
            if wait > 0:
                print(f"waiting for {_holder(folder)}, which holds {what}", file=sys.stderr, flush=True)
            if wait <= 0 or not _try(lock, wait):
                raise UserError(f"{what} must not be in use by another run, got {_holder(folder)}")
    except OSError as stop:
        why = stop.strerror or type(stop).__name__
        raise UserError(f"{what} must be in a folder that can be locked, got {folder / LOCK} ({why})") from stop
    try:
        yield
    finally:
        lock.release()


def _try(lock: BaseFileLock, seconds: float) -> bool:
    """Whether the lock could be had within some seconds."""
    from filelock import Timeout

    try:
        lock.acquire(timeout=seconds, poll_interval=POLL_SECONDS)
    except Timeout:
        return False
    return True


def _sign(folder: Path) -> None:
    for left in (folder / HOLDER, *folder.glob(f".{HOLDER}.*.tmp")):  # of a killed process
        left.unlink(missing_ok=True)
    started = datetime.now(UTC).isoformat(timespec="seconds")
    write_atomic(folder / HOLDER, json.dumps({"pid": os.getpid(), "started": started}).encode(), mode=0o600)


def holder_pid(folder: Path) -> int | None:
    """Return the process that holds the folder, or held it when it died; None where that cannot be read."""
    try:
        return int(json.loads((folder / HOLDER).read_bytes())["pid"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _holder(folder: Path) -> str:
    """Return who holds the folder, as far as can be read."""
    try:
        holder = json.loads((folder / HOLDER).read_bytes())
        return f"process {int(holder['pid'])} (started {datetime.fromisoformat(holder['started']).isoformat()})"
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return "another process"

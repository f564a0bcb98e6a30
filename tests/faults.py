"""A fault at every file operation of some work, one after the other, each in a forked process of its own.

Operations are seen by an audit hook (files opened for writing, folders made, names changed or removed, rights, locks)
and by wrappers where Python says nothing (fsync, writes). A write that fails or is killed has written half of its data.
The processes fork, so what forks them runs nothing else: call this from a script, not inside pytest.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FAIL, KILL = "fail", "kill"
#: Audit events of operations that change something, and where in their arguments the path is.
EVENTS = {
    "open": 0, "os.mkdir": 0, "os.rename": 1, "os.remove": 0, "os.rmdir": 0, "os.chmod": 0, "os.truncate": 0,
    "os.link": 1, "os.symlink": 1, "fcntl.flock": 0,
}  # fmt: skip
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


@dataclass(frozen=True)
class Ended:
    """How the work ended: its exit code (None when it was killed), its operations and notes, and what it printed."""

    code: int | None
    lines: list[str] = field(default_factory=list)
    printed: str = ""

    @property
    def operations(self) -> list[str]:
        """The file operations, without the notes."""
        return [line for line in self.lines if not line.startswith("note ")]

    def noted(self, what: str) -> int:
        """Return how often the work noted something."""
        return self.lines.count(f"note {what}")


class Faults:
    """Counts the operations below ``root`` in this process and spoils one of them."""

    def __init__(self, root: Path, at: int | None, kind: str, pipe: int) -> None:
        self.root, self.at, self.kind, self.pipe = os.fspath(root), at, kind, pipe
        self.count = 0
        self.busy = False

    def note(self, what: str) -> None:
        os.write(self.pipe, f"note {what}\n".encode())

    def install(self) -> None:
        fdopen = os.fdopen

        def counted_sync(descriptor: int) -> None:
            if self.below(descriptor):
                self.step("fsync")  # counted and not done: a kill is no power cut

        def counted_fdopen(*given: Any, **more: Any) -> Any:
            file = fdopen(*given, **more)
            return Written(file, self) if self.below(given[0]) and file.writable() else file

        os.fsync, os.fdopen = counted_sync, counted_fdopen
        sys.addaudithook(self.hook)

    def hook(self, event: str, args: tuple[Any, ...]) -> None:
        place = EVENTS.get(event)
        if place is None or self.busy or (event == "open" and not (args[2] or 0) & WRITES):
            return
        if event in ("os.remove", "os.rmdir") and args[1] != -1:
            return  # below an open folder, as temporary folders are emptied: none of ours
        self.busy = True
        try:
            inside = self.below(args[place])
        finally:
            self.busy = False
        if inside:
            self.step(event, fails=event != "fcntl.flock")

    def below(self, path: Any) -> bool:
        if isinstance(path, int):
            try:
                path = os.readlink(f"/proc/self/fd/{path}")
            except OSError:
                return False
        return os.path.abspath(os.fsdecode(path)).startswith(self.root + os.sep)

    def step(self, name: str, half: Callable[[], None] = lambda: None, *, fails: bool = True) -> None:
        """Count one operation; the chosen one fails, or kills this process, after half of it."""
        self.count += 1
        os.write(self.pipe, f"{name}\n".encode())
        if self.count != self.at:
            return
        if self.kind == KILL:
            half()
            os.kill(os.getpid(), signal.SIGKILL)
        if fails:
            half()
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self.root)


class Written:
    """A file whose writes are counted."""

    def __init__(self, file: Any, faults: Faults) -> None:
        self.file, self.faults = file, faults

    def write(self, data: bytes) -> int:
        def half() -> None:
            self.file.write(data[: len(data) // 2])
            self.file.flush()

        self.faults.step("write", half)
        return int(self.file.write(data))

    def __enter__(self) -> Written:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


def ended(work: Callable[[Faults], int], folder: Path, at: int | None = None, kind: str = FAIL) -> Ended:
    """Do the work in ``folder``, in a process of its own, its operation number ``at`` (from 1) spoilt."""
    reads, writes = os.pipe()
    printed = folder.with_name(f"{folder.name}.printed")
    child = os.fork()
    if child == 0:
        code = 99
        try:
            os.close(reads)
            os.chdir(folder)
            out = os.open(printed, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(out, 1)
            os.dup2(out, 2)
            faults = Faults(folder, at, kind, writes)
            faults.install()
            code = work(faults)
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)
    os.close(writes)
    with os.fdopen(reads) as pipe:
        lines = pipe.read().splitlines()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return Ended(None if status < 0 else status, lines, printed.read_text(encoding="utf-8", errors="replace"))


def every(
    work: Callable[[Faults], int], lay_out: Callable[[str], Path], kinds: tuple[str, ...] = (FAIL, KILL)
) -> Iterator[tuple[str, Path, Ended]]:
    """Yield name, folder and end of the work with each of its operations spoilt, in a folder laid out for each."""
    folder = lay_out("whole")
    whole = ended(work, folder)
    yield f"whole ({len(whole.operations)} operations)", folder, whole
    for kind in kinds:
        for at, operation in enumerate(whole.operations, start=1):
            folder = lay_out(f"{kind}-{at}")
            yield f"{kind} at {at} ({operation})", folder, ended(work, folder, at, kind)

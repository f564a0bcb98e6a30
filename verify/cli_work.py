"""What the commands that work for long share: seed, processes, the folder of their output, and how to go on."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from reports.files import require_replaceable

from .cli_typed import typed
from .messages.errors import UserError

if TYPE_CHECKING:
    from .engine.executors import Executor

DEFAULT_SEED = 20210527
#: Where output goes when no folder is named.
DEFAULT_FOLDER = Path("pdp-verify-out")


def default_jobs() -> int:
    """Return the number of processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_scheduler(jobs: int | None, scheduler: str | None, *, private: bool = False) -> None:
    """Refuse a scheduler that cannot be used, before anything is made."""
    if scheduler is None:
        return
    if jobs is not None:
        raise UserError("--jobs must be left to the cluster's workers with --scheduler, got both")
    from .engine.cluster import check_address

    check_address(scheduler, private=private)


def executor_of(
    jobs: int | None, scheduler: str | None, say: Callable[[str], None], *, private: bool = False, apart: bool = False
) -> Executor:
    """Return what does the tasks of a command: a Dask ``scheduler``, or this machine.

    ``apart``: even one job is a process of its own, whose death this one survives.
    """
    if scheduler is not None:
        from .engine.cluster import DaskCluster

        return DaskCluster(scheduler, private=private, say=say)
    from .engine import executors

    n_jobs = jobs or default_jobs()
    return executors.Processes(n_jobs) if apart else executors.local(n_jobs)


def prepare_folder(
    out: Path | None, *, resume: bool, leaves: Sequence[str] = (), parent: Path = DEFAULT_FOLDER
) -> Path:
    """Return a folder that exists and can be written, before any work is done; the command will leave files there.

    Without ``out`` it is the next numbered one under ``parent``.

    Raises ``UserError`` if it cannot be written, holds a run already and ``resume`` was not asked for, or has something
    else than a file under a name that the command ``leaves``.
    """
    try:
        if out is None:
            if resume:
                raise UserError("--resume must come with --out, got no --out")
            return fresh_folder(parent)
        if out.exists() and not out.is_dir():
            raise UserError(f"out must be a folder, got out={out}")
        if out.exists() and any(out.iterdir()) and not resume:
            raise UserError(
                f"out must be new or empty, got out={out}; --resume continues there and replaces its record"
            )
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
        for name in leaves:
            require_replaceable(out / name)
    except OSError as stop:
        raise UserError(
            f"out must be a folder that can be written, got out={stop.filename} ({stop.strerror})"
        ) from stop
    return out


def fresh_folder(parent: Path = DEFAULT_FOLDER) -> Path:
    """Create and return the next numbered folder under ``parent``."""
    parent.mkdir(parents=True, exist_ok=True)
    number = max((int(path.name) for path in parent.iterdir() if path.name.isdecimal()), default=0) + 1
    while True:
        folder = parent / str(number)
        try:
            folder.mkdir()
            return folder
        except FileExistsError:
            number += 1


def resume_command(folder: Path) -> str:
    """Return the command that goes on with what was interrupted."""
    words = [word for word in typed() if word != "--resume"]
    if not any(word == "--out" or word.startswith("--out=") for word in words):
        words += ["--out", str(folder)]
    return shlex.join(["pdp-verify", *words, "--resume"])

"""A process that does tasks: one BLAS thread, no Ctrl-C; and the settings that decide every row of a run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

PROFILES = ("quick", "standard", "full")
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
#: Bytes of address space that a command must have left when it begins, and when its BLAS takes its buffers: a BLAS that
#: finds none asks for ever, or ends the program.
ROOM, BLAS_ROOM = 400 << 20, 64 << 20
#: Rows of a product that is large enough for the buffers.
BUFFERED = 128


@dataclass(frozen=True)
class RunSettings:
    """What decides every row of a run: the root seed, the profile and the total failure probability."""

    seed: int
    profile: str
    failure_prob: float


def quiet_worker() -> None:
    """Prepare a worker process: one BLAS thread from the start; Ctrl-C is for the parent to handle."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ |= dict.fromkeys(THREADS, "1")


_asked: list[str] = []


def start_one_thread() -> None:
    """Let BLAS be loaded without threads of its own, which need memory; what we start later may have them."""
    if THREADS[0] not in os.environ:
        os.environ[THREADS[0]] = "1"
        _asked.append(THREADS[0])


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold every loaded BLAS at one thread (sums change in the last bits otherwise)."""
    with hold_blas():
        yield


def hold_blas() -> Any:
    """Set every loaded BLAS to one thread, for good or, as a context, until it is left."""
    from threadpoolctl import threadpool_limits

    from reports.files import require_room

    linalg = import_module("scipy.linalg")  # a BLAS that is loaded later would not be held
    held = threadpool_limits(1)
    while _asked:
        os.environ.pop(_asked.pop(), None)
    require_room(BLAS_ROOM)
    square = import_module("numpy").eye(BUFFERED)
    linalg.cholesky(square @ square)  # the buffers are taken now, while there is room, and kept
    return held

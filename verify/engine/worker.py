"""A process that does tasks: one BLAS thread, no Ctrl-C; and the settings that decide every row of a run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

PROFILES = ("quick", "standard", "full")


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
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold every loaded BLAS at one thread (sums change in the last bits otherwise)."""
    with hold_blas():
        yield


def hold_blas() -> Any:
    """Set every loaded BLAS to one thread, for good or, as a context, until it is left."""
    from threadpoolctl import threadpool_limits

    import_module("scipy.linalg")  # a BLAS that is loaded later would not be held
    return threadpool_limits(1)

"""Work spread over processes: results as they finish; one process and many give the same results."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from .errors import Defect
from .worker import quiet_worker

T = TypeVar("T")
R = TypeVar("R")


def spread(function: Callable[[T], R], tasks: Sequence[T], jobs: int) -> Generator[tuple[T, R], None, None]:
    """Yield ``(task, function(task))`` as each is done, in ``jobs`` processes (in this one when ``jobs`` is 1).

    ``function`` must be pure and picklable. Leaving the iterator early (Ctrl-C) stops the workers at once.

    Raises
    ------
    Defect
        If a worker process dies.
    """
    if jobs == 1 or len(tasks) < 2:
        for task in tasks:
            yield task, function(task)
        return
    workers = ProcessPoolExecutor(
        min(jobs, len(tasks)), mp_context=multiprocessing.get_context("spawn"), initializer=quiet_worker
    )
    finished = False
    try:
        futures: dict[Future[R], T] = {workers.submit(function, task): task for task in tasks}
        for future in as_completed(futures):
            yield futures[future], future.result()
        finished = True
    except BrokenProcessPool as stop:
        raise Defect("a worker process died; continue with --resume") from stop
    finally:
        if not finished:
            for process in list((workers._processes or {}).values()):
                process.terminate()
        workers.shutdown(wait=True, cancel_futures=True)

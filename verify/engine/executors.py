"""Where tasks are done: in this process or in processes of this machine (a cluster is in ``cluster``)."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, Self

from ..messages.errors import UserError
from .task import Batch, Failed, TaskError, run_batch
from .worker import quiet_worker

#: Batches handed in per slot, so that no worker waits for the next one.
AHEAD = 3
#: Seconds between two looks at whether a worker process that says nothing is alive.
WATCH = 1.0


class Executor(ABC):
    """Takes batches and gives futures of their results; a context that ends whatever is still under way.

    Attributes
    ----------
    slots : int
        How many batches are done at the same time.
    room : int
        How many may be handed in.
    """

    slots: int
    room: int

    @abstractmethod
    def submit(self, batch: Batch[Any, Any]) -> Future[Any]:
        """Hand in a batch; its future gives what ``task.run_batch`` returns."""

    def lost(self, stop: BaseException) -> bool:
        """Return whether the exception of a future means that its worker died."""
        return isinstance(stop, WorkerDied)

    def refuse(self) -> None:
        """Be told that a batch reached a worker that differs from us; raises when none is left that does not."""
        raise UserError("sources must not change meanwhile, got another digest in a worker; run the command again")

    def stalled(self) -> bool:
        """Be told that nothing has come back for a long while; return whether all that is under way is lost."""
        return False  # what is slow is slow

    def __enter__(self) -> Self:
        return self

    @abstractmethod
    def __exit__(self, *_: object) -> None:
        """End what is still under way; of what is done, nothing is lost."""


class InProcess(Executor):
    """Does a batch at the moment it is handed in."""

    slots = room = 1

    def submit(self, batch: Batch[Any, Any]) -> Future[Any]:
        """Do a batch."""
        future: Future[Any] = Future()
        future.set_result(batch.perform())
        return future

    def __exit__(self, *_: object) -> None:
        """There is nothing to end."""


class WorkerDied(Exception):
    """A worker process ended in the middle of a batch."""


@dataclass(eq=False)
class _Worker:
    process: BaseProcess
    pipe: Connection


class Processes(Executor):
    """Processes of this machine, one a slot, each served by a thread of ours over a pipe of its own.

    So it is known what a process was doing when it died, and nothing else is lost with it; the next batch of its
    thread starts another one.
    """

    def __init__(self, slots: int) -> None:
        self.slots, self.room = slots, AHEAD * slots
        self._threads = ThreadPoolExecutor(slots, initializer=_spare_from_ctrl_c)
        self._own = threading.local()
        self._workers: list[_Worker] = []
        self._lock, self._closed = threading.Lock(), False

    def submit(self, batch: Batch[Any, Any]) -> Future[Any]:
        """Hand in a batch; a process starts with the first one of its slot."""
        return self._threads.submit(self._serve, batch)

    def _serve(self, batch: Batch[Any, Any]) -> Any:
        worker: _Worker = getattr(self._own, "worker", None) or self._start()
        sent = pickle.dumps(batch)
        try:
            worker.pipe.send_bytes(sent)
            while not worker.pipe.poll(WATCH):  # a child that it leaves behind may hold the pipe open
                if not self._alive(worker) and not worker.pipe.poll():
                    raise EOFError
            came = worker.pipe.recv_bytes()
        except (EOFError, OSError) as stop:
            raise WorkerDied(f"a worker process died (exit code {self._lose(worker)})") from stop
        try:
            return pickle.loads(came)
        except Exception as stop:  # what was found cannot be read here
            return Failed(TaskError.of(stop))

    def _alive(self, worker: _Worker) -> bool:
        with self._lock:  # two threads that ask the system about one process at once may both be told nothing
            return worker.process.is_alive()

    def _lose(self, worker: _Worker) -> int | None:
        """Let go of a worker that died, and return its exit code."""
        self._own.worker = None
        with self._lock:
            self._workers.remove(worker)
            return _end(worker)

    def _start(self) -> _Worker:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        with self._lock, theirs:  # without our copy of its end, its death closes the pipe
            if self._closed:
                raise WorkerDied("the work was given up")
            process = context.Process(target=_work, args=(theirs,))
            process.start()
            worker = _Worker(process, ours)
            self._workers.append(worker)
        self._own.worker = worker
        return worker

    def __exit__(self, *_: object) -> None:
        """End the processes at once; of what is done, nothing is lost."""
        with self._lock:
            self._closed = True
            for worker in self._workers:
                worker.process.kill()
        self._threads.shutdown(wait=True, cancel_futures=True)
        for worker in self._workers:
            _end(worker)


def local(jobs: int) -> Executor:
    """Return what does tasks on this machine: this process for one job, else processes of their own."""
    return InProcess() if jobs == 1 else Processes(jobs)


def _end(worker: _Worker) -> int | None:
    """End a worker, close all that we hold of it, and return its exit code."""
    worker.process.kill()
    worker.process.join()
    code = worker.process.exitcode
    worker.process.close()
    worker.pipe.close()
    return code


def _spare_from_ctrl_c() -> None:
    """Let processes that this thread starts not see Ctrl-C, from their first moment on."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def _work(pipe: Connection) -> None:
    """Do batches until the pipe closes; there is no life without the parent."""
    quiet_worker()
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.join,), daemon=True).start()
    try:
        while True:
            pipe.send_bytes(_answer(pipe.recv_bytes()))
    except BaseException:  # the parent has gone, or a task has broken more than itself: no word of it is printed
        os._exit(1)


def _answer(sent: bytes) -> bytes:
    """Return what is sent back for a batch; that it cannot be read, or what was found not be sent, is a failure."""
    try:
        return pickle.dumps(run_batch(pickle.loads(sent)))
    except Exception as stop:
        return pickle.dumps(Failed(TaskError.of(stop)))


def _end_with(gone: Callable[[], object]) -> None:
    gone()
    os._exit(1)

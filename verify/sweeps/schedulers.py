"""Where batches are decided: this process, a pool of local processes, or a Dask cluster; one interface for all."""

from __future__ import annotations

import importlib
import ipaddress
import multiprocessing
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import urlsplit

from ..errors import Defect, UserError
from .batch import Batch, Decided, Refused, decide_batch, difference, identity, prepare_process

Result = tuple[Decided, ...] | Refused


class Scheduler(Protocol):
    """Takes batches and gives futures of what was decided."""

    @property
    def slots(self) -> int:
        """Number of batches that are decided at the same time."""
        ...

    def submit(self, batch: Batch) -> Future[Result]:
        """Hand in a batch."""
        ...

    def lost(self, stop: BaseException) -> bool:
        """Return whether an exception means that a worker died, after making the scheduler usable again."""
        ...

    def refuse(self) -> None:
        """Be told that a batch reached a worker that differs from us; raises when none is left that does not."""
        ...

    def stalled(self) -> bool:
        """Be told that nothing has come back for a long while; return whether all that is under way is lost."""
        ...

    def close(self, *, finished: bool) -> None:
        """Give everything back; what is still under way is abandoned."""
        ...


@dataclass
class LocalPool:
    """Processes of this machine, through ``ProcessPoolExecutor``; a pool that broke is replaced by a fresh one."""

    slots: int
    _executor: ProcessPoolExecutor | None = field(default=None, init=False)

    def submit(self, batch: Batch) -> Future[Result]:
        """Hand in a batch; the processes start with the first one."""
        if self._executor is None:
            context = multiprocessing.get_context("spawn")
            self._executor = ProcessPoolExecutor(self.slots, mp_context=context, initializer=prepare_process)
        try:
            return self._executor.submit(decide_batch, batch)
        except BrokenProcessPool as stop:
            failed: Future[Result] = Future()
            failed.set_exception(stop)
            return failed

    def lost(self, stop: BaseException) -> bool:
        """Return whether a process of the pool died."""
        if not isinstance(stop, BrokenProcessPool):
            return False
        self.close(finished=False)
        return True

    def refuse(self) -> None:
        """Our own processes differ only when the sources change under a running sweep."""
        raise UserError("sources must not change during a sweep, got another digest in a worker; run the command again")

    def stalled(self) -> bool:
        """A local process that is slow is slow."""
        return False

    def close(self, *, finished: bool) -> None:
        """End the processes: at once, unless everything is done."""
        executor, self._executor = self._executor, None
        if executor is None:
            return
        if not finished:
            for process in list((executor._processes or {}).values()):
                process.terminate()
        executor.shutdown(wait=True, cancel_futures=True)


def check_address(address: str, *, private: bool) -> None:
    """Refuse an address that is none of a scheduler, or over which private data may not travel.

    Raises
    ------
    UserError
        Private data go over ``tls://`` only, except on this machine's loopback.
    """
    try:
        parts = urlsplit(address)
        known = parts.scheme in ("tcp", "tls") and bool(parts.hostname) and parts.port is not None
    except ValueError:
        known = False
    if not known:
        raise UserError(f"scheduler must be tcp://HOST:PORT or tls://HOST:PORT, got scheduler={address}")
    if private and parts.scheme == "tcp" and not _loopback(str(parts.hostname)):
        raise UserError(f"scheduler must be tls:// for data that are not public, got scheduler={address}")


def _loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False  # a name that the network resolves may be anywhere


class DaskCluster:
    """The workers of a Dask scheduler, through the executor of a ``Client``; those that differ from us are left out.

    Certificates of ``tls://`` come from Dask's own configuration (``distributed.comm.tls``).
    """

    def __init__(self, address: str, *, private: bool, say: Callable[[str], None]) -> None:
        check_address(address, private=private)
        try:
            distributed: Any = importlib.import_module("distributed")
        except ImportError as stop:
            raise UserError("--scheduler must come with the extra dask: pip install 'pdp-verify[dask]'") from stop
        self._say, self._private = say, private
        self._refused: set[str] = set()
        try:
            self._client: Any = distributed.Client(address, timeout=10, set_as_default=False)
        except Exception as stop:  # of many kinds: no route, no scheduler, no certificate
            why = " ".join(str(stop).split()) or type(stop).__name__
            raise UserError(f"scheduler must be running and reachable, got scheduler={address} ({why[:200]})") from stop
        try:
            self._executor: Executor = self._choose()
        except BaseException:
            self.close(finished=False)
            raise

    def _choose(self) -> Executor:
        """Return an executor over the workers that are as we are, waiting up to half a minute for the first one."""
        deadline = time.monotonic() + 30
        while not (found := self._client.run(identity)):
            if time.monotonic() > deadline:
                raise UserError("scheduler must have a worker within 30 s, got none")
            time.sleep(0.2)
        for address, theirs in sorted(found.items()):
            why = difference(identity(), theirs)
            if not why and self._private and _unsafe(address):
                why = "private data would reach it over plain tcp"
            if why and address not in self._refused:
                self._refused.add(address)
                self._say(f"worker {address} refused: {why}")
        self._good = set(found) - self._refused
        if not self._good:
            raise UserError(f"workers must have the sources and the platform of this process, got none of {len(found)}")
        self.slots = len(self._good)
        self._restricted = self._private or bool(self._refused)
        only = {"workers": sorted(self._good), "allow_other_workers": False} if self._restricted else {}
        chosen: Executor = self._client.get_executor(pure=False, **only)
        return chosen

    def submit(self, batch: Batch) -> Future[Result]:
        """Hand in a batch; a batch whose worker dies is given to another one by the scheduler."""
        try:
            future: Future[Result] = self._executor.submit(decide_batch, batch)
            return future
        except Exception as stop:
            raise Defect(f"the scheduler is gone ({type(stop).__name__}); run the command again to continue") from stop

    def lost(self, stop: BaseException) -> bool:
        """Return whether the workers of a batch died, one after the other."""
        return type(stop).__name__ == "KilledWorker"

    def refuse(self) -> None:
        """Look again at who is there."""
        self._executor = self._choose()

    def stalled(self) -> bool:
        """Batches that only workers of a list may decide are lost when all of those have gone."""
        if not self._restricted:
            return False
        before = self._good
        self._executor = self._choose()
        return not before & self._good

    def close(self, *, finished: bool) -> None:
        """Leave the cluster as it is, without the batches still under way."""
        if hasattr(self, "_executor"):
            self._executor.shutdown(wait=finished)  # without waiting, what is under way is cancelled
        self._client.close()


def _unsafe(address: str) -> bool:
    parts = urlsplit(address)
    return parts.scheme != "tls" and not _loopback(str(parts.hostname))

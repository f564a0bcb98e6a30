"""Tasks done by the workers of a Dask cluster; private data travel over TLS alone."""

from __future__ import annotations

import importlib
import ipaddress
import time
from collections.abc import Callable
from concurrent.futures import Executor as Futures
from concurrent.futures import Future
from typing import Any
from urllib.parse import urlsplit

from ..messages.errors import Defect, UserError
from .executors import AHEAD, Executor
from .task import Batch, run_batch
from .versions import difference, identity


def check_address(address: str, *, private: bool) -> None:
    """Refuse an address that is none of a scheduler, or over which private data may not travel.

    Raises ``UserError``: private data go over ``tls://`` only, except on this machine's loopback.
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


class DaskCluster(Executor):
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
            self._executor: Futures = self._choose()
        except BaseException:
            self.__exit__()
            raise

    def _choose(self) -> Futures:
        """Return an executor over the workers that are as we are, waiting up to half a minute for the first one."""
        deadline = time.monotonic() + 30
        while not (workers := self._client.run(identity)):
            if time.monotonic() > deadline:
                raise UserError("scheduler must have a worker within 30 s, got none")
            time.sleep(0.2)
        for address, theirs in sorted(workers.items()):
            why = difference(identity(), theirs)
            if not why and self._private and _unsafe(address):
                why = "private data would reach it over plain tcp"
            if why and address not in self._refused:
                self._refused.add(address)
                self._say(f"worker {address} refused: {why}")
        self._good = set(workers) - self._refused
        if not self._good:
            rule = "have the sources and the platform of this process"
            raise UserError(f"workers must {rule}, got none of {len(workers)}")
        self.slots = len(self._good)
        self.room = AHEAD * self.slots
        self._restricted = self._private or bool(self._refused)
        only = {"workers": sorted(self._good), "allow_other_workers": False} if self._restricted else {}
        chosen: Futures = self._client.get_executor(pure=False, **only)
        return chosen

    def submit(self, batch: Batch[Any, Any]) -> Future[Any]:
        """Hand in a batch; a batch whose worker dies is given to another one by the scheduler."""
        try:
            future: Future[Any] = self._executor.submit(run_batch, batch)
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

    def __exit__(self, *_: object) -> None:
        """Leave the cluster as it is, without the batches still under way."""
        if hasattr(self, "_executor"):
            self._executor.shutdown(wait=False)  # what is under way is cancelled
        self._client.close()


def _unsafe(address: str) -> bool:
    parts = urlsplit(address)
    return parts.scheme != "tls" and not _loopback(str(parts.hostname))

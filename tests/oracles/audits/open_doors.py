"""Mechanisms in this process whose calls may be open together, with a log of the calls: no socket, no process."""

from __future__ import annotations

import threading
import time
from itertools import chain
from typing import Any

import numpy as np

from audits.harness.calls import CallEnded
from audits.harness.output_leaves import Refusal


class Log:
    """What was asked of a door and of its fresh ones: data sets, draws and threads in the order of the calls."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.calls: list[tuple[Any, int]] = []
        self.open = self.most_open = self.started = self.closed = 0


class OpenDoor:
    """``body(self, dataset, n_draws, rng)`` behind a door; ``self.calls`` counts the calls of one process."""

    name = "of a test"

    def __init__(self, body, *, concurrency=4, batch=100, reproducible=True, pause=0.0, log=None) -> None:
        self.body, self.pause, self.calls = body, pause, 0
        self.concurrency, self.batch, self.reproducible = concurrency, batch, reproducible
        self.log = Log() if log is None else log

    def fresh(self):
        self.log.started += 1
        return OpenDoor(
            self.body,
            concurrency=self.concurrency,
            batch=self.batch,
            reproducible=self.reproducible,
            pause=self.pause,
            log=self.log,
        )

    def close(self):
        self.log.closed += 1

    def draw(self, dataset, n_draws, *, rng):
        with self.log.lock:
            self.calls += 1
            self.log.calls.append((dataset, n_draws))
            self.log.open += 1
            self.log.most_open = max(self.log.most_open, self.log.open)
        try:
            if self.pause:
                time.sleep(self.pause * np.random.default_rng().random())
            return self.body(self, dataset, n_draws, rng)
        finally:
            with self.log.lock:
                self.log.open -= 1


def laplace(scale):
    """The sum of the responses with Laplace noise, as a list of floats, as a door gives it."""
    return lambda self, dataset, n, rng: (float(np.sum(dataset.y)) + rng.laplace(0.0, scale, n)).tolist()


def ends(kind, when, body):
    """A body whose calls end with ``kind`` where ``when(self, dataset, n, rng)`` says so."""

    def ended(self, dataset, n, rng):
        if when(self, dataset, n, rng):
            raise CallEnded(kind)
        return body(self, dataset, n, rng)

    return ended


def one_after_the_other(door, wanted):
    """What ``OpenSubject.ask`` returns, literally: each call in turn, in this thread, as it is given.

    A call for several draws that raises is made again draw by draw, with seeds from its own.
    """
    parts = []
    for call in wanted:
        asked = door.fresh() if call.fresh else door
        try:
            parts.append(list(asked.draw(call.dataset, call.n_draws, rng=_generator(call.seed))))
        except Exception as stop:
            seeds = _generator(call.seed).integers(2**63, size=call.n_draws).tolist()
            again = [call._replace(n_draws=1, fresh=False, seed=seed) for seed in seeds]
            single = call.n_draws == 1
            parts.append([Refusal(stop.kind)] if single else list(chain(*one_after_the_other(door, again))))
    return parts


def _generator(seed):
    return np.random.Generator(np.random.PCG64DXSM(seed))

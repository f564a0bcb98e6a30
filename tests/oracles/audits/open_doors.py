"""Mechanisms in this process whose calls may be open together, with a log of the calls: no socket, no process."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np

from audits.subject.no_answer import CallEnded


class Log:
    """What was asked of a door and of its fresh ones: data sets, draws and threads in the order of the calls."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.calls: list[tuple[Any, int]] = []
        self.open = self.most_open = self.started = self.closed = 0


class OpenDoor:
    """``body(self, dataset, n_draws, rng)`` as a mechanism behind a door; ``self.calls`` counts those of one process."""

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

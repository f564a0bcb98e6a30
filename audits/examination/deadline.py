"""A moment after which nothing more is begun. What was decided by then stays, and the rest is open.

Stopping early never raises the probability of a false verdict: every pair of data sets, and every look at it, has a
share of the failure probability of its own, fixed before anything is drawn. A sum over fewer of them is smaller,
however the clock chose which. (A test cut off half way would be another matter: it is thrown away whole.)
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from ..subject.no_answer import OutOfTime as OutOfTime


@dataclass(frozen=True)
class Deadline:
    """A moment on a clock.

    Attributes
    ----------
    at : float
        Seconds on ``clock`` (which all processes of a machine share).
    clock : callable
    """

    at: float
    clock: Callable[[], float] = time.monotonic

    @classmethod
    def after(cls, seconds: float | None, clock: Callable[[], float] = time.monotonic) -> Deadline | None:
        """Return the moment so many seconds from now; None for none."""
        return None if seconds is None else cls(clock() + seconds, clock)

    def reached(self, seconds: float = 0.0) -> bool:
        """Return whether what takes so many seconds would end after the moment."""
        return self.clock() + seconds >= self.at

"""What is repeated: a series of true claims, and how often each end of the intervals misses the truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from audits import Estimate, StreamKey

#: Nominal levels at which every auditor is tried.
LEVELS = (0.5, 0.1, 0.05)

#: Repetitions of one task. Part of the definition of the streams, so that workers change nothing.
BLOCK = 50

#: ``misses(n_repeats, level, key)``: for each repetition, whether the lower end lay above the truth, and the upper
#: end below it (somewhere, where an audit has several intervals); shape ``(n_repeats, 2)``.
Misses = Callable[[int, float, StreamKey], NDArray[np.bool_]]


@dataclass(frozen=True)
class AuditSeries:
    """Repetitions of one auditor on one law, where what it estimates is known exactly.

    Attributes
    ----------
    n_draws : int
        Of one repetition.
    halves : bool
        Whether each end may miss with half of the level only (otherwise with all of it).
    control : bool
        A deliberately invalid auditor: its rate must *not* be compatible with its level.
    predicted : bool
        The rate must be equal to the level, which was computed beforehand, and not only at most.
    times : int
        The repetitions of a profile are multiplied by it (where they are rows of an array and cost nothing).
    seconds : float
        What one repetition costs, roughly; it decides the order of the work and nothing else.
    """

    auditor: str
    law: str
    n_draws: int
    misses: Misses
    halves: bool = True
    control: bool = False
    predicted: bool = False
    levels: tuple[float, ...] = LEVELS
    times: int = 1
    seconds: float = 0.0

    @property
    def name(self) -> str:
        """Unique name of the series and of its random stream."""
        return f"{self.auditor}: {self.law}"

    @property
    def kind(self) -> str:
        """Kind of its rows."""
        return "control" if self.control else "prediction" if self.predicted else "rate"


def one_by_one(audit: Callable[[float, StreamKey], tuple[bool, bool]]) -> Misses:
    """Return the misses of an audit that is a run of its own, each repetition on its own stream."""

    def misses(n_repeats: int, level: float, key: StreamKey) -> NDArray[np.bool_]:
        return np.array([audit(level, key.child(str(i))) for i in range(n_repeats)], dtype=np.bool_).reshape(-1, 2)

    return misses


def missed(estimate: Estimate, truth: float, *, rounding: float = 1e-12) -> tuple[bool, bool]:
    """Return whether the lower end lies above the truth, and whether the upper end lies below it."""
    return estimate.low > truth + rounding, estimate.high < truth - rounding


def any_missed(misses: list[tuple[bool, bool]]) -> tuple[bool, bool]:
    """Return whether some lower end, and some upper end, of several intervals missed."""
    return any(low for low, _ in misses), any(high for _, high in misses)

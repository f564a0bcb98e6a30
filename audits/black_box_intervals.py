"""The interval of a score's values on which a bet would have grown most, in one pass (Kadane's algorithm)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class Interval:
    """Values from ``low`` to ``high``, both included; either end may be infinite."""

    low: float
    high: float

    def holds(self, scores: FloatArray) -> BoolArray:
        """Return whether each score lies in the interval, same shape."""
        return np.asarray((scores >= self.low) & (scores <= self.high))

    def __str__(self) -> str:
        """Return the interval in words."""
        if self.low == self.high:
            return f"equal to {self.low:.6g}"
        if math.isinf(self.low):
            return "anywhere" if math.isinf(self.high) else f"at most {self.high:.6g}"
        return f"at least {self.low:.6g}" if math.isinf(self.high) else f"in [{self.low:.6g}, {self.high:.6g}]"


@dataclass(frozen=True)
class Counted:
    """Distinct values of a score, ascending, and how often each occurs in two samples; shape ``(n_values,)`` each."""

    values: FloatArray
    first: FloatArray
    second: FloatArray

    @classmethod
    def of(cls, first: FloatArray, second: FloatArray) -> Counted:
        """Return the counts of two samples of scores (no NaN), shapes ``(n,)`` and ``(m,)``."""
        values, place = np.unique(np.concatenate([first, second]), return_inverse=True)
        counts = (np.bincount(part, minlength=len(values)) for part in (place[: len(first)], place[len(first) :]))
        in_first, in_second = (np.asarray(count, dtype=np.float64) for count in counts)
        return cls(values, in_first, in_second)

    def best(self, gain_first: float, gain_second: float) -> Interval:
        """Return the interval with the largest ``gain_first * hits in first + gain_second * hits in second``.

        Ends lie half-way to the next value outside, or are infinite where there is none.
        """
        total = np.r_[0.0, np.cumsum(gain_first * self.first + gain_second * self.second)]
        gains = total[1:] - np.minimum.accumulate(total[:-1])
        end = int(np.argmax(gains))
        start = int(np.argmin(total[: end + 1]))
        return Interval(self._low(start), self._high(end))

    def _low(self, start: int) -> float:
        if start == 0:
            return -math.inf
        below, at = self.values[start - 1], self.values[start]
        middle = 0.5 * below + 0.5 * at
        return float(middle if below < middle <= at else at)  # no middle beside an infinity or within one rounding

    def _high(self, end: int) -> float:
        if end == len(self.values) - 1:
            return math.inf
        at, above = self.values[end], self.values[end + 1]
        middle = 0.5 * at + 0.5 * above
        return float(middle if at <= middle < above else at)

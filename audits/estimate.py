"""What an audit is given (a budget) and what it returns (an estimate with an interval)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from .results import Result
from .streams import StreamKey


@dataclass(frozen=True)
class Budget:
    """What one audit may spend. Everything an audit returns is a pure function of it.

    Parameters
    ----------
    n_draws : int
        Number of mechanism draws, at least 1 (never a time).
    failure_prob : float
        Probability with which the whole returned interval may miss the truth, in (0, 1).
    key : StreamKey
        Root seed and the names (statement, case, purpose) that make this audit's random stream its own.
    """

    n_draws: int
    failure_prob: float
    key: StreamKey

    def __post_init__(self) -> None:
        if isinstance(self.n_draws, bool) or int(self.n_draws) != self.n_draws or self.n_draws < 1:
            raise ValueError(f"n_draws must be a whole number of at least 1, got n_draws={self.n_draws}")
        if not 0 < self.failure_prob < 1:
            raise ValueError(f"failure_prob must be in (0, 1), got failure_prob={self.failure_prob}")

    def part(self, name: str, *, share: float = 1.0, n_draws: int | None = None) -> Budget:
        """Return the budget of a named part: its own stream and ``share`` (in (0, 1]) of the failure probability."""
        if not 0 < share <= 1:
            raise ValueError(f"share must be in (0, 1], got share={share}")
        return Budget(self.n_draws if n_draws is None else n_draws, self.failure_prob * share, self.key.child(name))


@dataclass(frozen=True)
class Estimate(Result):
    """A number with an interval that contains the truth except with probability ``failure_prob``.

    Attributes
    ----------
    value : float
        Point estimate; inside the interval.
    low, high : float
        The interval (either end may be infinite). A lower bound alone has ``high`` = the largest possible value.
    failure_prob : float
        0 for an exact computation, whose interval is a proved numerical error bound.
    n_draws : int
        Mechanism evaluations spent; 0 for an exact computation.
    method : str
        How it was made, in words ("Clopper-Pearson", "ball arithmetic, 128 bits", …).
    """

    value: float
    low: float
    high: float
    failure_prob: float
    n_draws: int
    method: str

    def __post_init__(self) -> None:
        if math.isnan(self.low) or math.isnan(self.high) or not self.low <= self.high:
            raise ValueError(f"interval must satisfy low <= high, got low={self.low}, high={self.high}")
        if not self.low <= self.value <= self.high:
            raise ValueError(f"value must lie in [{self.low}, {self.high}], got value={self.value}")
        if not 0 <= self.failure_prob < 1:
            raise ValueError(f"failure_prob must be in [0, 1), got failure_prob={self.failure_prob}")

    @property
    def exact(self) -> bool:
        """Whether the interval is a proved numerical enclosure rather than a confidence interval."""
        return self.failure_prob == 0.0

    @classmethod
    def proved(cls, low: float, high: float, method: str) -> Estimate:
        """Return an exact estimate from a proved enclosure."""
        middle = low if low == high else min(max(0.5 * (low + high), low), high)
        return cls(middle, low, high, 0.0, 0, method)

    def brief(self) -> str:
        """Return the value with its interval."""
        return f"{self.value:.6g} [{self.low:.6g}, {self.high:.6g}]"

    def entries(self) -> dict[str, Any]:
        """Return what is shown, by name."""
        return {
            "value": self.value,
            "interval": f"[{self.low:.6g}, {self.high:.6g}]",
            "failure_prob": self.failure_prob,
            "n_draws": self.n_draws,
            "method": self.method,
        }

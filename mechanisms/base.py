"""The protocols that every mechanism, privacy profile and auditor agrees on."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol, runtime_checkable

import numpy as np

from .data.dataset import Dataset, FloatArray
from .data.neighbours import NeighbouringPair


class Direction(Enum):
    """Which of the two data sets the output is drawn from."""

    FORWARD = "drawn from D, compared with D'"
    BACKWARD = "drawn from D', compared with D"

    @property
    def opposite(self) -> Direction:
        return Direction.BACKWARD if self is Direction.FORWARD else Direction.FORWARD


BOTH = (Direction.FORWARD, Direction.BACKWARD)


@dataclass(frozen=True)
class Bracket:
    """A proved enclosure ``low <= value <= high`` of a real number (ball arithmetic, rounded outwards)."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise ValueError(f"low must be at most high, got low={self.low}, high={self.high}")

    @property
    def mid(self) -> float:
        return 0.5 * (self.low + self.high)


@runtime_checkable
class PrivacyProfile(Protocol):
    """The exact law of the privacy loss between two output distributions, in both directions.

    All logarithms are natural. ``epsilon`` may be any real number.
    """

    def delta_at(self, epsilon: float, direction: Direction) -> float:
        """Return the hockey-stick divergence ``E[(1 - exp(epsilon - L))_+]``."""

    def log_delta_at(self, epsilon: float, direction: Direction) -> float:
        """Return its logarithm, accurate far below the smallest float."""

    def epsilon_at(self, delta: float, direction: Direction) -> float:
        """Return the smallest ``epsilon >= 0`` whose divergence is at most ``delta`` (infinite if there is none)."""

    def tail_at(self, epsilon: float, direction: Direction) -> float:
        """Return ``P(L > epsilon)``, the stronger quantity that is reported beside delta."""

    def delta_bracket(self, epsilon: float, direction: Direction) -> Bracket:
        """Return a proved enclosure of ``delta_at`` (ball arithmetic)."""

    def tail_bracket(self, epsilon: float, direction: Direction) -> Bracket:
        """Return a proved enclosure of ``tail_at`` (ball arithmetic)."""


@runtime_checkable
class Mechanism(Protocol):
    """Anything that can be drawn from; frozen, picklable, validated when it is built."""

    @property
    def name(self) -> str:
        """Short name for reports."""

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return independent outputs, shape ``(n_draws, k)``."""


@runtime_checkable
class WhiteBox(Mechanism, Protocol):
    """A mechanism whose output density is known."""

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        """Return the log density of each output, shape ``(n_draws,)``, w.r.t. one measure for all data sets."""

    def privacy_loss(self, outputs: FloatArray, pair: NeighbouringPair) -> FloatArray:
        """Return ``log p_D(o) - log p_D'(o)`` for each output, shape ``(n_draws,)``."""


@runtime_checkable
class ExactLaw(WhiteBox, Protocol):
    """A mechanism whose privacy loss has a known law, between two proved ends: a claim may be refuted by the lower one.

    A law that only dominates is none: ``DominatingProfile``.
    """

    def profile(self, pair: NeighbouringPair) -> PrivacyProfile:
        """Return the exact law of the loss between the two members of ``pair``."""


def check_positive(name: str, value: float) -> float:
    """Return ``value`` as a float if it is finite and positive."""
    number = float(value)
    if not (np.isfinite(number) and number > 0) or isinstance(value, bool):
        raise ValueError(f"{name} must be finite and positive, got {name}={value}")
    return number


def check_nonnegative(name: str, value: float) -> float:
    """Return ``value`` as a float if it is finite and at least zero."""
    number = float(value)
    if not (np.isfinite(number) and number >= 0) or isinstance(value, bool):
        raise ValueError(f"{name} must be finite and at least 0, got {name}={value}")
    return number


def check_delta(delta: float, name: str = "delta") -> float:
    """Return ``delta`` as a float if it lies in [0, 1]."""
    number = float(delta)
    if not 0 <= number <= 1 or isinstance(delta, bool):
        raise ValueError(f"{name} must be in [0, 1], got {name}={delta}")
    return number


def check_draws(n_draws: int) -> int:
    """Return ``n_draws`` as an int if it is a whole number of at least 1."""
    if isinstance(n_draws, bool) or int(n_draws) != n_draws or n_draws < 1:
        raise ValueError(f"n_draws must be a whole number of at least 1, got n_draws={n_draws}")
    return int(n_draws)

"""Profiles whose brackets are proved from the data on, so that a comparison with them rests on no rounding at all.

``mechanism.profile(pair)`` first rounds what it takes from the data (a leverage, a distance) to float64; its brackets
enclose the divergence for these rounded numbers, off by about 1e-12 relatively from the divergence for the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable

from ..base import Bracket, Direction, ExactLaw, PrivacyProfile
from ..data.neighbours import NeighbouringPair
from ..numerics.balls import Ball
from ..reference import is_reference
from .profile_tools import epsilon_bracket

#: Entries of ``X`` beyond which the ball arithmetic would take many seconds and much memory.
MOST_ENTRIES: Final = 1_000_000


@runtime_checkable
class FromData(Protocol):
    """A mechanism that does its linear algebra in ball arithmetic too, when asked for a bracket."""

    def proves(self, pair: NeighbouringPair) -> bool:
        """Return whether it can for this pair."""

    def delta_bracket(self, pair: NeighbouringPair, epsilon: float, direction: Direction) -> Bracket:
        """Return an enclosure of ``delta(epsilon)`` that is proved from the data on."""

    def tail_bracket(self, pair: NeighbouringPair, epsilon: float, direction: Direction) -> Bracket:
        """Return an enclosure of ``P(L > epsilon)`` that is proved from the data on."""


@runtime_checkable
class FromDistance(FromData, Protocol):
    """One whose law is that of two normal laws of one covariance, at a distance that it encloses from the data on."""

    def distance_ball(self, pair: NeighbouringPair) -> Ball:
        """Return the distance of both members in standard deviations, at the flint context's precision."""


@dataclass(frozen=True, eq=False)
class DataProfile:
    """The numbers of ``inner`` with brackets that ``mechanism`` proves from the data of ``pair``."""

    mechanism: FromData
    pair: NeighbouringPair
    inner: PrivacyProfile

    def delta_at(self, epsilon: float, direction: Direction) -> float:
        """Return the hockey-stick divergence at ``epsilon``."""
        return self.inner.delta_at(epsilon, direction)

    def log_delta_at(self, epsilon: float, direction: Direction) -> float:
        """Return its logarithm."""
        return self.inner.log_delta_at(epsilon, direction)

    def epsilon_at(self, delta: float, direction: Direction) -> float:
        """Return the smallest ``epsilon >= 0`` with ``delta(epsilon) <= delta``."""
        return self.inner.epsilon_at(delta, direction)

    def tail_at(self, epsilon: float, direction: Direction) -> float:
        """Return ``P(L > epsilon)``."""
        return self.inner.tail_at(epsilon, direction)

    def delta_bracket(self, epsilon: float, direction: Direction) -> Bracket:
        """Return an enclosure of the divergence, proved from the data on."""
        return self.mechanism.delta_bracket(self.pair, epsilon, direction)

    def tail_bracket(self, epsilon: float, direction: Direction) -> Bracket:
        """Return an enclosure of the tail, proved from the data on."""
        return self.mechanism.tail_bracket(self.pair, epsilon, direction)

    def epsilon_bracket(self, delta: float, direction: Direction) -> Bracket:
        """Return an enclosure, proved from the data on, of the smallest ``epsilon >= 0`` at ``delta``."""
        return epsilon_bracket(lambda e: self.delta_bracket(e, direction), delta, self.epsilon_at(delta, direction))


def proved_profile(mechanism: ExactLaw, pair: NeighbouringPair) -> PrivacyProfile:
    """Return the exact law of the loss with brackets proved from the data on, where the mechanism can do that.

    One-posterior sampling (ADD, REMOVE), sufficient statistics, normal noise around a ridge estimate, and compositions
    of these, up to ``MOST_ENTRIES`` entries of ``X``; otherwise ``mechanism.profile(pair)`` as it is.
    """
    profile = mechanism.profile(pair)
    if pair.dataset.X.size > MOST_ENTRIES or not (isinstance(mechanism, FromData) and is_reference(mechanism)):
        return profile
    return DataProfile(mechanism, pair, profile) if mechanism.proves(pair) else profile

"""What every exact privacy profile shares: both signs of epsilon, safe roots, proved brackets, swapped pairs.

``mechanism.profile(pair)`` first rounds what it takes from the data (a leverage, a distance) to float64; its brackets
enclose the divergence for these rounded numbers. Those of ``proved_profile`` are proved from the data on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable

import numpy as np
import scipy
from flint import arb

from ..base import Bracket, Direction, ExactLaw, PrivacyProfile
from ..data.dataset import FloatArray
from ..data.neighbours import NeighbouringPair
from ..numerics.balls import Ball
from ..reference import is_reference


def from_nonnegative(epsilon: FloatArray, log_delta_opposite: FloatArray) -> FloatArray:
    """Return log delta at ``epsilon`` of either sign from log delta at ``|epsilon|``.

    For negative ``epsilon`` the second argument belongs to the opposite direction:
    ``delta(e) = 1 - e^e + e^e delta_opposite(-e)``, a sum of positive terms.
    """
    below = np.minimum(epsilon, 0.0)
    with np.errstate(divide="ignore"):
        dual = np.logaddexp(np.log(-np.expm1(below)), below + log_delta_opposite)
    return np.asarray(np.where(epsilon < 0, dual, log_delta_opposite))


def smallest_epsilon(log_delta: Callable[[float], float], delta: float, upper: float) -> float:
    """Return the smallest ``epsilon`` in ``[0, upper]`` with ``log_delta(epsilon) <= log(delta)``, rounded upwards.

    ``log_delta`` is non-increasing, ``delta`` in (0, 1]; at ``upper``, finite, it is at most ``log(delta)`` up to
    rounding.
    """
    target = math.log(delta)
    if log_delta(0.0) <= target:
        return 0.0
    while log_delta(upper) > target:
        upper = 2 * upper + math.ulp(1.0)
    # -inf is clipped: brentq needs finite values, and only their signs far from the root
    root = float(
        scipy.optimize.brentq(
            lambda e: max(log_delta(e), -1e300) - target, 0.0, upper, xtol=1e-300, rtol=1e-15, maxiter=500
        )
    )
    step = math.ulp(root)
    while log_delta(root) > target:  # to the safe side
        root, step = min(root + step, upper), 2 * step
    return root


def epsilon_bracket(
    delta_bracket: Callable[[float], Bracket], delta: float, epsilon: float, *, widest: float = 1e-3
) -> Bracket:
    """Return a proved enclosure of the smallest ``epsilon >= 0`` with divergence at most ``delta``.

    ``delta_bracket`` encloses the divergence, which is non-increasing; ``epsilon`` is a numerical solution, around
    which signs are proved up to a relative half-width of ``widest`` (``ArithmeticError`` beyond); infinity is returned
    as it is.
    """
    if math.isinf(epsilon):
        return Bracket(epsilon, epsilon)
    room = 1e-14
    while room <= widest:
        slack = room * (epsilon or 1.0)
        low, high = max(epsilon - slack, 0.0), epsilon + slack
        low_proved = low == 0.0 or delta_bracket(low).low > delta  # strictly: delta may be flat where it is 0
        if low_proved and delta_bracket(high).high <= delta:
            return Bracket(low, high)
        room *= 10
    raise ArithmeticError(f"epsilon must solve delta(epsilon) = {delta}, got epsilon={epsilon}")


@dataclass(frozen=True)
class SwappedProfile:
    """The profile of a pair whose members changed places: the two directions are exchanged."""

    inner: PrivacyProfile

    def delta_at(self, epsilon: float, direction: Direction) -> float:
        return self.inner.delta_at(epsilon, direction.opposite)

    def log_delta_at(self, epsilon: float, direction: Direction) -> float:
        return self.inner.log_delta_at(epsilon, direction.opposite)

    def epsilon_at(self, delta: float, direction: Direction) -> float:
        return self.inner.epsilon_at(delta, direction.opposite)

    def tail_at(self, epsilon: float, direction: Direction) -> float:
        return self.inner.tail_at(epsilon, direction.opposite)

    def delta_bracket(self, epsilon: float, direction: Direction) -> Bracket:
        return self.inner.delta_bracket(epsilon, direction.opposite)

    def tail_bracket(self, epsilon: float, direction: Direction) -> Bracket:
        return self.inner.tail_bracket(epsilon, direction.opposite)

    def epsilon_bracket(self, delta: float, direction: Direction) -> Bracket:
        return epsilon_bracket(lambda e: self.delta_bracket(e, direction), delta, self.epsilon_at(delta, direction))


@dataclass(frozen=True)
class DominatingProfile:
    """The upper ends of a law that dominates: it has no bracket, and is no ``PrivacyProfile``.

    Parameters
    ----------
    law : PrivacyProfile
        The exact law of something from which the output follows.

    Examples
    --------
    >>> from mechanisms import Direction, GaussianProfile
    >>> bound = DominatingProfile(GaussianProfile(1.0))
    >>> round(bound.delta_at(1.0, Direction.FORWARD), 6)
    0.126937
    """

    law: PrivacyProfile

    def delta_at(self, epsilon: float, direction: Direction) -> float:
        return self.law.delta_bracket(epsilon, direction).high

    def epsilon_at(self, delta: float, direction: Direction) -> float:
        guess = self.law.epsilon_at(delta, direction)
        return epsilon_bracket(lambda epsilon: self.law.delta_bracket(epsilon, direction), delta, guess).high


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
        return self.inner.delta_at(epsilon, direction)

    def log_delta_at(self, epsilon: float, direction: Direction) -> float:
        return self.inner.log_delta_at(epsilon, direction)

    def epsilon_at(self, delta: float, direction: Direction) -> float:
        return self.inner.epsilon_at(delta, direction)

    def tail_at(self, epsilon: float, direction: Direction) -> float:
        return self.inner.tail_at(epsilon, direction)

    def delta_bracket(self, epsilon: float, direction: Direction) -> Bracket:
        return self.mechanism.delta_bracket(self.pair, epsilon, direction)

    def tail_bracket(self, epsilon: float, direction: Direction) -> Bracket:
        return self.mechanism.tail_bracket(self.pair, epsilon, direction)

    def epsilon_bracket(self, delta: float, direction: Direction) -> Bracket:
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


def tails(profile: PrivacyProfile, epsilon: Ball, direction: Direction) -> tuple[Ball, Ball]:
    """Return ``P(L > epsilon)`` and ``Q(L > epsilon)`` of a profile for a finite ``epsilon``.

    In the forward direction ``P`` is the law of the first member's output and ``Q`` that of the second, backward the
    other way round; ``L = log(P/Q)``, so that ``delta(epsilon) = P tail - e^epsilon Q tail``, and an outcome that is
    impossible under ``Q`` counts in every P tail and in no Q tail. A profile's own ``tails`` are balls at the precision
    of the flint context, asked for again at more bits where they are too wide; others have their brackets, only as
    narrow as float64 allows, and ``epsilon`` is then a number that it holds exactly.
    """
    own: Callable[[Ball, Direction], tuple[Ball, Ball]] | None = getattr(profile, "tails", None)
    if own is not None:
        return own(epsilon, direction)
    tail = _ball(profile.tail_bracket(float(epsilon), direction))
    return tail, (tail - _ball(profile.delta_bracket(float(epsilon), direction))) * (-epsilon).exp()


def has_tails(profile: PrivacyProfile) -> bool:
    """Return whether a profile gives its tails at any precision."""
    return hasattr(profile, "tails")


def is_symmetric(profile: PrivacyProfile) -> bool:
    """Return whether a profile says that its two directions are one law."""
    return bool(getattr(profile, "symmetric", False))


def _ball(bracket: Bracket) -> Ball:
    low, high = arb(bracket.low), arb(bracket.high)
    return low.union(high)


def larger(brackets: Iterable[Bracket]) -> Bracket:
    """Return the enclosure of the largest of some numbers."""
    each = list(brackets)
    return Bracket(max(one.low for one in each), max(one.high for one in each))

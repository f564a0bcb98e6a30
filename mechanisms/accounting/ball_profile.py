"""What the accountant asks of a profile: both tails of the loss as balls, at any precision."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from flint import arb

from ..base import Bracket, Direction, PrivacyProfile
from ..numerics.balls import Ball


class BallProfile(Protocol):
    """A privacy profile whose tails are enclosed at the precision of the flint context, as narrow as that allows.

    A class attribute ``symmetric = True`` says that both directions have one law, which is then composed once.
    """

    def tails(self, epsilon: Ball, direction: Direction) -> tuple[Ball, Ball]:
        """Return ``P(L > epsilon)`` and ``Q(L > epsilon)`` for a finite ``epsilon``.

        In the forward direction ``P`` is the law of the first member's output and ``Q`` that of the second, backward
        the other way round; ``L = log(P/Q)``. Hence ``delta(epsilon) = P tail - e^epsilon Q tail``, and an outcome
        that is impossible under ``Q`` counts in every P tail and in no Q tail. Balls that are too wide (or not
        finite) are asked for again at more bits.
        """


def tails(profile: PrivacyProfile, epsilon: Ball, direction: Direction) -> tuple[Ball, Ball]:
    """Return both tails of any profile: its own, or from its brackets, then only as narrow as float64 allows.

    ``epsilon`` is a number that float64 holds exactly where the profile has brackets alone.
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

"""A law that another does not exceed: upper ends alone, so that no claim can be refuted by it."""

from __future__ import annotations

from dataclasses import dataclass

from ..base import Direction, PrivacyProfile
from .profile_tools import epsilon_bracket


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
        """Return a proved upper bound on the divergence."""
        return self.law.delta_bracket(epsilon, direction).high

    def epsilon_at(self, delta: float, direction: Direction) -> float:
        """Return a proved upper bound on the smallest ``epsilon >= 0`` with ``delta(epsilon) <= delta``."""
        guess = self.law.epsilon_at(delta, direction)
        return epsilon_bracket(lambda epsilon: self.law.delta_bracket(epsilon, direction), delta, guess).high

"""What a claim of privacy means to somebody who guesses: odds, and how often the best guess is right."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.special import ndtr

from ...engine.rows import Row, encode

#: Beyond it a factor is no number of use; exp stays finite.
LARGEST_EPSILON = 700.0


@dataclass(frozen=True)
class Odds:
    """What a claim promises against a guess whether a record is there, by whoever knows everything else.

    Attributes
    ----------
    about : str
        What is guessed, in words.
    factor : float or None
        The release is, but for a probability of at most ``delta``, one that changes nobody's odds by more; None where
        the claim bounds no factor.
    delta : float
    guess : float
        With even odds before, the best guess after is right with at most this probability.
    """

    about: str
    factor: float | None
    delta: float
    guess: float

    @property
    def row(self) -> Row:
        """The same for the record."""
        plain: Row = encode({"about": self.about, "factor": self.factor, "delta": self.delta, "guess": self.guess})
        return plain


def odds_at(epsilon: float, delta: float, about: str) -> Odds:
    """Return what ``(epsilon, delta)`` means: the best guess is right with ``(e^epsilon + delta)/(1 + e^epsilon)``.

    Examples
    --------
    >>> odds_at(0.0, 0.0, "whether it is there").guess
    0.5
    """
    factor = math.exp(min(epsilon, LARGEST_EPSILON))
    return Odds(about, factor, delta, 1 - (1 - delta) / (1 + factor))


def odds_of_curve(largest_distance: float, about: str) -> Odds:
    """Return the same for a claim that bounds the total variation distance alone."""
    return Odds(about, None, 0.0, 0.5 + 0.5 * min(1.0, largest_distance))


def distance_of_gaussian(mu: float) -> float:
    """Return the total variation distance of two normal laws ``mu`` apart."""
    return float(2 * ndtr(0.5 * mu) - 1)


def distance_of_divergence(kullback_leibler: float) -> float:
    """Return the largest total variation distance at a Kullback-Leibler divergence, by Pinsker's inequality."""
    return math.sqrt(0.5 * kullback_leibler)

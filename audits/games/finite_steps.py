"""One step of an adaptive interaction on a finite set of answers: its two laws, exactly, and what it costs.

Filters in rational arithmetic are here too: what admits a step in a game that is decided exactly, sound and unsound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from scipy.special import ndtri

from mechanisms.accounting.subsampled_gaussian import check_order
from mechanisms.laws.finite_laws import Law, check_law, product, smallest_delta
from mechanisms.laws.finite_laws import hockey_stick as divergence_of

if TYPE_CHECKING:
    from mechanisms.filters.privacy_filters import Filter


@dataclass(frozen=True)
class FiniteStep:
    """A mechanism with finitely many answers, on two neighbouring data sets.

    Attributes
    ----------
    name : str
    answers : tuple of str, what may be answered, in words
    first, second : law
        Probabilities of the answers from ``D`` and from ``D'``; non-negative rationals that sum to 1.

    Raises
    ------
    ValueError
        If the laws are none, or not over the same answers.
    """

    name: str
    answers: tuple[str, ...]
    first: Law
    second: Law

    def __post_init__(self) -> None:
        object.__setattr__(self, "first", check_law(self.first))
        object.__setattr__(self, "second", check_law(self.second))
        sizes = len(self.answers), len(self.first), len(self.second)
        if len(set(sizes)) != 1:
            raise ValueError(f"answers must have one probability in each law, got sizes={sizes}")

    @property
    def swapped(self) -> FiniteStep:
        """The same step with the two data sets exchanged."""
        return FiniteStep(self.name, self.answers, self.second, self.first)

    def moment(self, order: int) -> Fraction | None:
        """Return ``exp((order - 1) D_order)``, the larger of both directions; None where it is infinite.

        Parameters
        ----------
        order : int, whole, at least 2: only then is the moment rational
        """
        ways = (_moment(self.first, self.second, order), _moment(self.second, self.first, order))
        return None if None in ways else max(way for way in ways if way is not None)

    def forward_moment(self, order: int) -> Fraction | None:
        """Return ``E[(P/Q)^(order - 1)]`` under the law from ``D`` alone; None where it is infinite."""
        return _moment(self.first, self.second, order)

    @property
    def factor(self) -> Fraction | None:
        """``exp(epsilon)`` of pure differential privacy, both directions; None where it is infinite."""
        largest = Fraction(1)
        for p, q in zip(self.first, self.second, strict=True):
            if (p == 0) != (q == 0):
                return None
            if p:
                largest = max(largest, p / q, q / p)
        return largest

    @property
    def gaussian_mu(self) -> float:
        """The smallest ``mu`` at which it is ``mu``-Gaussian differentially private, rounded up; infinite if none.

        The trade-off curve of a finite law is a polygon, and that of two normal laws is convex: it lies below the
        polygon where it does so at the corners.
        """
        if self.factor is None:
            return math.inf
        pairs = sorted(
            ((p, q) for p, q in zip(self.first, self.second, strict=True) if p), key=lambda pair: pair[1] / pair[0]
        )
        alpha, beta, largest = Fraction(0), Fraction(1), 0.0
        for p, q in pairs[:-1]:  # the corners between (0, 1) and (1, 0): reject D' at the answers so far
            alpha, beta = alpha + q, beta - p
            largest = max(largest, -float(ndtri(float(alpha))) - float(ndtri(float(beta))))
        return largest * (1 + 1e-12)

    def delta_at(self, factor: Fraction) -> Fraction:
        """Return the smallest delta at ``epsilon = log(factor)``, both directions."""
        return max(divergence_of(self.first, self.second, factor), divergence_of(self.second, self.first, factor))


def _moment(p: Law, q: Law, order: int) -> Fraction | None:
    order = check_order(order)
    pairs = [(a, b) for a, b in zip(p, q, strict=True) if a]
    if any(b == 0 for _, b in pairs):
        return None
    return sum((a**order / b ** (order - 1) for a, b in pairs), Fraction(0))


def randomised_response(ratio: Fraction | int, name: str = "") -> FiniteStep:
    """Return the step that says ``in`` or ``out``, rightly with ``ratio`` times the probability of wrongly.

    Parameters
    ----------
    ratio : Fraction or int, ``exp(epsilon)``, at least 1
    name : str, optional, what a strategy calls it

    Returns
    -------
    FiniteStep
    """
    ratio = Fraction(ratio)
    if ratio < 1:
        raise ValueError(f"ratio must be at least 1, got ratio={ratio}")
    right = ratio / (1 + ratio)
    return FiniteStep(name or f"RR({ratio})", ("in", "out"), (right, 1 - right), (1 - right, right))


def reveal(chance: Fraction | int) -> FiniteStep:
    """Return the step that tells which data set it is with probability ``chance``, and nothing otherwise.

    Parameters
    ----------
    chance : Fraction or int, in [0, 1]

    Returns
    -------
    FiniteStep
    """
    chance = Fraction(chance)
    if not 0 <= chance <= 1:
        raise ValueError(f"chance must be in [0, 1], got chance={chance}")
    silent, none = 1 - chance, Fraction(0)
    return FiniteStep(f"Reveal({chance})", ("in", "nothing", "out"), (chance, silent, none), (none, silent, chance))


def binary(first: Fraction, second: Fraction) -> FiniteStep:
    """Return the step that says ``yes`` with these probabilities from ``D`` and from ``D'``."""
    return FiniteStep(f"Yes({first} or {second})", ("yes", "no"), (first, 1 - first), (second, 1 - second))


def together(steps: Sequence[FiniteStep]) -> tuple[Law, Law]:
    """Return the two joint laws of independent steps that are chosen beforehand."""
    first: Law = (Fraction(1),)
    second: Law = (Fraction(1),)
    for step in steps:
        first, second = product(first, step.first), product(second, step.second)
    return first, second


@dataclass(frozen=True)
class MomentFilter:
    """The Renyi filter of Feldman and Zrnic (2021) in rationals: moments are multiplied instead of costs added.

    Its costs are ``step.moment(order)``, ``exp((order - 1) D)`` of a step, and its budget is
    ``exp((order - 1) budget)``.

    Parameters
    ----------
    budget : Fraction, at least 1
    """

    budget: Fraction

    def __post_init__(self) -> None:
        if not self.budget >= 1:
            raise ValueError(f"budget must be at least 1, got budget={self.budget}")

    def start(self) -> Fraction:
        """Return what is spent before the first step."""
        return Fraction(1)

    def spend(self, spent: Fraction | None, cost: Fraction | None) -> Fraction | None:
        """Return what is spent after a step of this cost; None is without bound."""
        return None if spent is None or cost is None else spent * cost

    def admits(self, spent: Fraction | None) -> bool:
        """Return whether so much may be spent."""
        return spent is not None and spent <= self.budget


def promised_delta(order: int, moment: Fraction, factor: Fraction) -> Fraction:
    """Return the delta at ``log(factor)`` that follows from a moment ``exp((order - 1) D_order)``, exactly.

    ``max over x of (1 - factor/x) x^(1 - order)`` times the moment: the conversion of Canonne, Kamath and Steinke
    (2020), here for a divergence that bounds both directions.
    """
    share = Fraction(order - 1, order)
    return moment * share ** (order - 1) / (order * factor ** (order - 1))


@dataclass(frozen=True)
class NaturalFilter:
    """The natural (epsilon, delta) filter: a step is admitted while the composition of the steps taken keeps the claim.

    Unsound: each run's own composition keeps it, the interaction does not (``adaptive_games``; arXiv 2602.15815).

    Parameters
    ----------
    factor : Fraction, ``exp(epsilon)``
    delta : Fraction
    """

    factor: Fraction
    delta: Fraction

    def start(self) -> tuple[FiniteStep, ...]:
        """Return no step."""
        return ()

    def spend(self, spent: tuple[FiniteStep, ...], cost: FiniteStep) -> tuple[FiniteStep, ...]:
        """Return the steps taken, in an order that says nothing of when."""
        return tuple(sorted((*spent, cost), key=lambda step: step.name))

    def admits(self, spent: tuple[FiniteStep, ...]) -> bool:
        """Return whether these steps, as if chosen beforehand, keep the claim."""
        return smallest_delta(*together(spent), self.factor) <= self.delta


@dataclass(frozen=True)
class OrderLedger:
    """Counts moments at several orders and admits everything: an odometer, honest where there is one order alone.

    Its costs are ``ledger.costs(step)``.
    """

    orders: tuple[int, ...]  #: whole, at least 2
    failure_prob: Fraction

    def costs(self, step: FiniteStep) -> tuple[Fraction | None, ...]:
        """Return the moments of a step drawn from the first data set."""
        return tuple(step.forward_moment(order) for order in self.orders)

    def start(self) -> tuple[Fraction | None, ...]:
        """Return what is spent before the first step."""
        return tuple(Fraction(1) for _ in self.orders)

    def spend(
        self, spent: tuple[Fraction | None, ...], cost: tuple[Fraction | None, ...]
    ) -> tuple[Fraction | None, ...]:
        """Return the products; None is without bound."""
        return tuple(None if s is None or c is None else s * c for s, c in zip(spent, cost, strict=True))

    def admits(self, spent: object) -> bool:
        """Return True."""
        return True

    def exceeds(self, factor: Fraction, spent: tuple[Fraction | None, ...]) -> bool:
        """Return whether a loss ``log(factor)`` exceeds what the best order reports of the run.

        ``loss > sum of costs + log(1/failure_prob)/(order - 1)``, without logarithms.
        """
        return any(
            moment is not None and factor ** (order - 1) * self.failure_prob > moment
            for order, moment in zip(self.orders, spent, strict=True)
        )


@dataclass(frozen=True)
class NoFilter:
    """Admits everything."""

    def start(self) -> None:
        """Return nothing."""

    def spend(self, spent: object, cost: object) -> None:
        """Return nothing."""

    def admits(self, spent: object) -> bool:
        """Return True."""
        return True


if TYPE_CHECKING:
    _filters: tuple[Filter, ...] = (MomentFilter(Fraction(1)), NaturalFilter(Fraction(1), Fraction(0)), NoFilter())

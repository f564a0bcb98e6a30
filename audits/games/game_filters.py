"""Filters in rational arithmetic: what admits a step in a game that is decided exactly, sound and unsound."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from mechanisms.laws.finite_laws import smallest_delta

from .finite_steps import FiniteStep, together

if TYPE_CHECKING:
    from mechanisms.filters.privacy_filters import Filter


@dataclass(frozen=True)
class MomentFilter:
    """The Renyi filter of Feldman and Zrnic (2021) in rationals: moments are multiplied instead of costs added.

    Its costs are ``step.moment(order)``, ``exp((order - 1) D)`` of a step, and its budget is
    ``exp((order - 1) budget)``.

    Parameters
    ----------
    budget : Fraction
        At least 1.
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
    factor : Fraction
        ``exp(epsilon)``.
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

    Parameters
    ----------
    orders : tuple of int
        Whole, at least 2.
    failure_prob : Fraction
    """

    orders: tuple[int, ...]
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

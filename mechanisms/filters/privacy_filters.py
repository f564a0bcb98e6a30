"""Privacy filters: what a record may still spend while an analyst looks, and what then holds for the whole.

A filter says beforehand which number each step costs, and admits a step only while all costs *including that step's*
stay within a budget. Costs and steps may depend on everything that was released; budget, order and the number of steps
may not. Proofs: docs/derivations/filters.md.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ..accounting.subsampled_gaussian import check_order, renyi_to_delta, renyi_to_epsilon
from ..base import Direction, check_nonnegative, check_positive
from ..capabilities import Bound
from ..data.dataset import FloatArray
from ..laws.gaussian_calibration import check_open_delta
from ..laws.gaussian_profile import GaussianProfile


@runtime_checkable
class Filter(Protocol):
    """Who decides whether a record takes part in a step; ``spend`` and ``admits`` are functions without a memory.

    A step is admitted where ``admits(spend(spent, cost))``, and then ``spend(spent, cost)`` is what is spent.
    """

    def start(self) -> Any:
        """Return what is spent before the first step."""

    def spend(self, spent: Any, cost: Any) -> Any:
        """Return what is spent after a step of this cost."""

    def admits(self, spent: Any) -> Any:
        """Return whether so much may be spent."""


#: What a float64 sum of two non-negative numbers is multiplied with so that it is at least their sum.
UPWARDS = 1 + 2.0**-51


def _added(spent: Any, cost: Any) -> Any:
    """Return the sum, rounded upwards; a cost below 0 would give a budget back, and is refused without its number."""
    if np.any(np.less(cost, 0)):
        raise ValueError("cost must be at least 0, got a negative one")
    return (spent + cost) * UPWARDS


class _Budgeted(ABC):
    """What both filters share: costs are added, and their sum stays within a limit."""

    @property
    @abstractmethod
    def limit(self) -> float:
        """The largest sum of costs."""

    def start(self) -> float:
        return 0.0

    def spend(self, spent: Any, cost: Any) -> Any:
        return _added(spent, cost)

    def admits(self, spent: Any) -> Any:
        return spent <= self.limit


@dataclass(frozen=True)
class RenyiFilter(_Budgeted):
    """Each record's Renyi divergences at one order add up to at most ``budget`` (Feldman and Zrnic 2021).

    All that is seen then has a Renyi divergence of at most ``budget`` at that order, with the record and without it,
    both directions: ``(order, budget)``-Renyi differential privacy.

    Parameters
    ----------
    order : int
        Whole, at least 2; fixed before anything is seen.
    budget : float
        In nats, positive.

    Examples
    --------
    >>> round(RenyiFilter(8, 1.0).epsilon_at(1e-5), 4)
    2.2141
    """

    order: int
    budget: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", check_order(self.order))
        object.__setattr__(self, "budget", check_positive("budget", self.budget))

    @property
    def limit(self) -> float:
        return self.budget

    def epsilon_at(self, delta: float) -> float:
        """Return an epsilon at which the whole is ``(epsilon, delta)``-DP (Canonne, Kamath and Steinke 2020).

        Parameters
        ----------
        delta : float
            In (0, 1).
        """
        return renyi_to_epsilon(self.order, self.budget, check_open_delta(delta))

    def delta_at(self, epsilon: float) -> float:
        """Return the delta that goes with ``epsilon``, at most 1, by the same theorem."""
        return renyi_to_delta(self.order, self.budget, epsilon)


@dataclass(frozen=True)
class GaussianFilter(_Budgeted):
    """Each record's squared Gaussian parameters add up to at most ``mu`` squared.

    All that is seen is then ``mu``-Gaussian differentially private (Koskela, Tobaben and Honkela 2023;
    Smith and Thakurta 2022). Costs are squares of ``mu`` of a step, in standard deviations of its noise.

    Parameters
    ----------
    mu : float
        Positive.

    Examples
    --------
    >>> round(GaussianFilter(0.5).epsilon_at(1e-5), 4)
    1.9931
    """

    mu: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", check_positive("mu", self.mu))

    @property
    def limit(self) -> float:
        """The square of ``mu``, rounded downwards."""
        return math.nextafter(self.mu * self.mu, 0.0)

    @property
    def profile(self) -> GaussianProfile:
        """The law that no pair of data sets exceeds."""
        return GaussianProfile(self.mu)

    def epsilon_at(self, delta: float) -> float:
        """Return the epsilon at which the whole is ``(epsilon, delta)``-DP; ``delta`` in (0, 1)."""
        return self.profile.epsilon_at(check_open_delta(delta), Direction.FORWARD)

    def delta_at(self, epsilon: float) -> float:
        return self.profile.delta_at(epsilon, Direction.FORWARD)


def check_filter(privacy_filter: object) -> None:
    """Refuse what is neither a Renyi filter nor a Gaussian one."""
    if not isinstance(privacy_filter, RenyiFilter | GaussianFilter):
        raise ValueError(f"filter must be a RenyiFilter or a GaussianFilter, got {type(privacy_filter).__name__}")


def gaussian_cost(privacy_filter: RenyiFilter | GaussianFilter, mu: FloatArray) -> FloatArray:
    """Return what steps cost whose two laws are normal and ``mu`` standard deviations apart, rounded upwards.

    Parameters
    ----------
    mu : array
        At least 0, of any shape.
    """
    square = np.square(mu)
    per_square = 0.5 * privacy_filter.order if isinstance(privacy_filter, RenyiFilter) else 1.0
    return np.asarray(per_square * (1 + 1e-15) * square)


def most_spent(bound: Bound, order: float) -> float:
    """Return the Renyi divergence of an order, in nats, that a proved bound allows; infinite where it says nothing."""
    known = [math.inf] if bound.mu is None else [0.5 * order * bound.mu**2 * (1 + 1e-15)]
    if bound.renyi is not None:
        known.append(bound.renyi(order))
    return min(known)


@dataclass(frozen=True, repr=False)
class LossStatement:
    """What an odometer says of one run and one record: a statement about the loss, not differential privacy.

    The realised costs depend on the record, so the number is the curator's or the person's, and the probability is over
    the run: another run states another number. It is no epsilon of any (epsilon, delta), and has no such field.

    Attributes
    ----------
    loss_bound : float
        In nats. Of runs drawn with the record, at most a share of ``failure_prob`` ever has a loss above its own bound.
    """

    loss_bound: float
    failure_prob: float
    order: int

    def __repr__(self) -> str:
        """Return what it is, without its number."""
        return f"LossStatement(failure_prob={self.failure_prob}, order={self.order}, private)"


@dataclass(frozen=True)
class RenyiOdometer:
    """Counts realised Renyi costs at one order without ever refusing a step.

    At all stopping times at once, ``P(loss > sum of costs + log(1/failure_prob)/(order - 1)) <= failure_prob``: Ville's
    inequality for the supermartingale ``exp((order - 1)(loss - sum of costs))``. With the order chosen after the run it
    is false (the games refute it by a factor of 1.71).

    Parameters
    ----------
    order : int
        Whole, at least 2; fixed before anything is seen.

    Examples
    --------
    >>> round(RenyiOdometer(5).statement(0.3, 1e-4).loss_bound, 4)
    2.6026
    """

    order: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", check_order(self.order))

    def start(self) -> float:
        return 0.0

    def spend(self, spent: Any, cost: Any) -> Any:
        return _added(spent, cost)

    def admits(self, spent: Any) -> Any:
        """Return True: an odometer stops nobody."""
        return np.ones_like(spent, dtype=bool) if isinstance(spent, np.ndarray) else True

    def statement(self, spent: float, failure_prob: float) -> LossStatement:
        """Return what holds of the loss at any moment when so much is spent; ``failure_prob`` in (0, 1)."""
        spent = check_nonnegative("spent", spent)
        share = check_open_delta(failure_prob, "failure_prob")
        return LossStatement(spent - math.log(share) / (self.order - 1), share, self.order)

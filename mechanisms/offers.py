"""How mechanisms are set up for a target (epsilon, delta), as published and with the least noise proved.

A module that holds a mechanism may have ``offers()``, a sequence of ``Offer``: set up from public numbers alone, so
that it promises (epsilon, delta)-DP over a public domain; and ``recipes()``, a mapping of names on the mechanism axis
of a sweep to ``Recipe``: set up so that it is (epsilon, delta)-private between the two data sets of a cell.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Literal, get_args

from .base import Mechanism, check_positive
from .capabilities import Domain, worst_case_of, worst_pair_of
from .data.neighbours import NeighbouringPair
from .laws.gaussian_calibration import check_open_delta
from .laws.gaussian_profile import gaussian_delta
from .objective.losses import BY_NAME, BoundedLoss

Neighbours = Literal["add-remove", "replace"]
Way = Literal["published", "exact"]


@dataclass(frozen=True)
class Promise:
    """(epsilon, delta)-DP for one record added or removed, or for one replaced.

    Parameters
    ----------
    epsilon : float
        Positive, natural log.
    delta : float
        In (0, 1).
    neighbours : {"add-remove", "replace"}
    """

    epsilon: float
    delta: float
    neighbours: Neighbours = "add-remove"

    def __post_init__(self) -> None:
        check_positive("epsilon", self.epsilon)
        check_open_delta(self.delta)
        if self.neighbours not in ("add-remove", "replace"):
            raise ValueError(f"neighbours must be add-remove or replace, got neighbours={self.neighbours}")

    @property
    def for_one(self) -> Promise:
        """The promise for one record added or removed that implies this one: itself, or half of a replacement.

        A replacement is one record removed and one added: (e, d)-DP for each gives (2 e, (1 + exp(e)) d)-DP.
        """
        if self.neighbours == "add-remove":
            return self
        half = 0.5 * self.epsilon
        return Promise(half, self.delta / (1 + math.exp(half)))


class PromiseStanding(Enum):
    """What is known of a calibration: its promise is proved, broken, or neither."""

    PROVED = "proved"
    BROKEN = "broken"
    OPEN = "not proved"


@dataclass(frozen=True)
class Offered:
    """A mechanism set up for a target; with a reason where its rule claims nothing there, and then mostly None."""

    mechanism: Mechanism | None
    reason: str = ""


@dataclass(frozen=True)
class Offer:
    """How one mechanism is set up for a promise.

    Attributes
    ----------
    method : str
        What a reader calls the mechanism; its calibrations share it.
    way : {"published", "exact"}
        As the paper prints it, or the least noise that this project proves.
    build : callable
        ``build(loss, domain, promise)``; it sees public numbers alone.
    losses : tuple of str
        The losses it is defined for.
    rule : str
        Where the calibration is printed or derived.
    """

    method: str
    way: Way
    build: Callable[[str, Domain, Promise], Offered]
    losses: tuple[str, ...]
    rule: str


#: What a calibration that needs the number of records offers without one.
NO_SIZE = Offered(None, "it needs a public bound on the number of records")


def standing(mechanism: Mechanism, domain: Domain, promise: Promise) -> PromiseStanding:
    """Return what this project knows of a promise about a mechanism over a public domain.

    PROVED: ``proved``. BROKEN: a pair of neighbouring data sets that can be built exceeds it.
    """
    if proved(mechanism, domain, promise):
        return PromiseStanding.PROVED
    worst = worst_pair_of(mechanism, domain, promise.epsilon, promise.delta)
    # a removed record and one of features 0 are replacements of each other only where the mechanism ignores the latter:
    # a pair of one record more is no counterexample to a promise about replacements
    if promise.neighbours == "add-remove" and worst is not None and worst.delta.low > promise.delta:
        return PromiseStanding.BROKEN
    return PromiseStanding.OPEN


def proved(mechanism: object, domain: Domain, promise: Promise) -> bool:
    """Return whether the proved bound on delta is at most the promised one.

    For one record replaced: the bound for that, or twice the distance of normal laws, or ``Promise.for_one``.
    """
    bound = worst_case_of(mechanism, domain)
    if bound is None:
        return False
    one = promise.for_one
    if bound.delta_at(one.epsilon, one.delta) <= one.delta:
        return True
    if promise.neighbours == "add-remove":
        return False
    if bound.replaced is not None and bound.replaced(promise.epsilon, promise.delta) <= promise.delta:
        return True
    return bound.mu is not None and gaussian_delta(2 * bound.mu, promise.epsilon) <= promise.delta


def least(kept: Callable[[float], bool], start: float) -> float | None:
    """Return the least positive number at which a promise is kept, a millionth larger at most; None if none is.

    Once a number is kept all larger ones are; the search begins at ``start``, positive.
    """
    low, high = start, start
    for _ in range(200):
        if kept(high):
            break
        low, high = high, 2 * high
    else:
        return None
    while low == high or kept(low):
        low, high = low / 2, low
        if low < start * 1e-60:
            return high
    while high > low * (1 + 5e-7):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if kept(middle) else (middle, high)
    return high


def with_least_noise(
    build: Callable[[float], Mechanism], domain: Domain, promise: Promise, start: float = 1.0
) -> Offered:
    """Return the mechanism at the least level of noise for which the promise is proved.

    ``build`` takes the level, of which a higher one is at least as private; the search begins at ``start``, positive.
    """
    level = least(lambda level: proved(build(level), domain, promise), start)
    return (
        Offered(None, "no amount of noise is proved to keep this promise") if level is None else Offered(build(level))
    )


def offers(loss: str) -> Iterator[Offer]:
    """Yield every offer for a loss, in the order of the folders."""
    from .catalogue import FOLDERS, modules

    for module in modules(*FOLDERS):
        yield from (offer for offer in getattr(module, "offers", tuple)() if loss in offer.losses)


#: Ridge of the recipes whose rule does not choose one.
LAM = 1.0

LOSSES = {name: BY_NAME[name] for name in sorted(get_args(BoundedLoss))}
SQUARED = "squared"
LINEAR = (SQUARED,)
#: Losses whose response is a label, -1 or +1.
LABELS = ("logistic", "smoothed-hinge")


Build = Callable[[str, NeighbouringPair, float, float], Offered]


@dataclass(frozen=True)
class Recipe:
    """One name on the mechanism axis.

    Attributes
    ----------
    build : callable
        ``build(loss, pair, epsilon, delta)``; the sizes and public bounds are those of ``pair.first``.
    losses : tuple of str
        The losses it is defined for.
    exact : bool
        Whether the law of the loss is known, so that nothing is drawn.
    rule : str
        Where the rule is printed or derived.
    """

    build: Build
    losses: tuple[str, ...]
    exact: bool
    rule: str

"""Definitions of privacy on finite spaces, in rational arithmetic (RW21, Definitions 1 to 3, table of supplement A).

A law is a tuple of probabilities (Fractions) over the outcomes ``0, 1, …``. Every ``e^epsilon`` is a rational number,
the ``ratio``, so that each definition is decided exactly, by enumeration of all events where it speaks of events.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations

from .finite_laws import Law

#: A data set of a finite world: who is in it.
Individuals = frozenset[str]
#: A rational number, or infinity.
Ratio = Fraction | float


def events(n_outcomes: int) -> Iterator[tuple[int, ...]]:
    """Yield every event (subset of the outcomes), the empty one first."""
    return chain.from_iterable(combinations(range(n_outcomes), size) for size in range(n_outcomes + 1))


def probability(law: Law, event: tuple[int, ...]) -> Fraction:
    """Return the probability of an event."""
    return sum((law[outcome] for outcome in event), Fraction(0))


def quotient(top: Fraction, bottom: Fraction) -> Ratio:
    """Return ``top / bottom``: 0/0 is 0 (nothing is claimed there), x/0 is infinite."""
    if bottom:
        return top / bottom
    return math.inf if top > 0 else Fraction(0)


def max_ratio(p: Law, q: Law) -> Ratio:
    """Return ``exp(D_inf(P || Q))``: the largest ``P(S)/Q(S)`` over all events (RW21, supplement A)."""
    return max(quotient(probability(p, event), probability(q, event)) for event in events(len(p)))


def approximate_max_ratio(p: Law, q: Law, delta: Fraction) -> Ratio:
    """Return ``exp(D_inf^delta(P || Q))``: the largest ``(P(S) - delta)/Q(S)`` over events with ``P(S) >= delta``.

    As printed in RW21's supplement A; 0 where no event has the probability ``delta``.
    """
    pairs = ((probability(p, event), probability(q, event)) for event in events(len(p)))
    return max((quotient(a - delta, b) for a, b in pairs if a >= delta), default=Fraction(0))


def renyi_divergence(p: Law, q: Law, order: float) -> float:
    """Return ``log E_Q[(p/q)^order] / (order - 1)``, natural log, for ``order > 1`` (RW21, supplement A)."""
    if not order > 1:
        raise ValueError(f"order must exceed 1, got order={order}")
    if any(a > 0 and b == 0 for a, b in zip(p, q, strict=True)):
        return math.inf
    terms = (float(b) * float(a / b) ** order for a, b in zip(p, q, strict=True) if b)
    return math.log(math.fsum(terms)) / (order - 1.0)


@dataclass(frozen=True)
class FiniteMechanism:
    """A mechanism on a finite world: the law of its output for every data set.

    Parameters
    ----------
    laws : mapping
        From data sets (sets of individuals) to laws over the same outcomes.

    Every member implements one row of RW21's table; ratios stand for ``e^epsilon``.
    """

    laws: Mapping[Individuals, Law]

    def __post_init__(self) -> None:
        for law in self.laws.values():
            if sum(law) != 1 or min(law) < 0:
                raise ValueError(f"law must be non-negative and sum to 1, got sum={sum(law)}")

    def neighbours(self, dataset: Individuals) -> Iterator[tuple[str, Individuals]]:
        """Yield every individual ``z`` with the data set ``D_{+-z}``, where the world has it."""
        everyone = frozenset().union(*self.laws)
        for z in sorted(everyone):
            if dataset ^ {z} in self.laws:
                yield z, dataset ^ {z}

    def is_dp(self, ratio: Fraction, delta: Fraction) -> bool:
        """Return whether ``P(S) <= ratio P'(S) + delta`` for all data sets, neighbours and events (Definition 1)."""
        return all(self.is_pdp(dataset, z, ratio, delta) for dataset in self.laws for z, _ in self.neighbours(dataset))

    def is_pdp(self, dataset: Individuals, z: str, ratio: Fraction, delta: Fraction) -> bool:
        """Return whether that holds in both directions for one data set and one individual (Definition 2)."""
        p, q = self.laws[dataset], self.laws[dataset ^ {z}]
        sets = tuple(events(len(p)))
        return all(probability(a, s) <= ratio * probability(b, s) + delta for a, b in ((p, q), (q, p)) for s in sets)

    def ex_post(self, outcome: int, dataset: Individuals, z: str) -> Ratio:
        """Return ``exp |log p(o)/p'(o)|``, the ex-post per-instance loss at one outcome (Definition 3)."""
        a, b = self.laws[dataset][outcome], self.laws[dataset ^ {z}][outcome]
        return max(quotient(a, b), quotient(b, a), Fraction(1))

    def pure(self) -> Ratio:
        """Return the smallest ratio of pure DP."""
        return max(max_ratio(p, q) for p, q in self._pairs())

    def approximate(self, delta: Fraction) -> Ratio:
        """Return the smallest ratio of approximate DP."""
        return max(approximate_max_ratio(p, q, delta) for p, q in self._pairs())

    def renyi(self, order: float) -> float:
        """Return the smallest epsilon of Renyi DP."""
        return max(renyi_divergence(p, q, order) for p, q in self._pairs())

    def data_dependent(self, dataset: Individuals, order: float) -> float:
        """Return the data-dependent epsilon of one data set."""
        p = self.laws[dataset]
        return max(renyi_divergence(p, self.laws[other], order) for _, other in self.neighbours(dataset))

    def personalised(self, z: str, delta: Fraction) -> Ratio:
        """Return the personalised ratio of one individual, over all data sets."""
        return max(self.per_instance(d, z, delta) for d in self.laws if d ^ {z} in self.laws)

    def per_instance(self, dataset: Individuals, z: str, delta: Fraction) -> Ratio:
        """Return the per-instance ratio: the worse direction."""
        p, q = self.laws[dataset], self.laws[dataset ^ {z}]
        return max(approximate_max_ratio(p, q, delta), approximate_max_ratio(q, p, delta))

    def _pairs(self) -> Iterator[tuple[Law, Law]]:
        return ((self.laws[d], self.laws[other]) for d in self.laws for _, other in self.neighbours(d))

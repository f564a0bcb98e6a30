"""What each record of the data loses: its epsilon at the promised delta, by its exact law or by what is proved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechanisms import Dataset
from mechanisms.capabilities import Bound, Domain, RecordBound, worst_case_of
from mechanisms.data.dataset import FloatArray, row_norms
from mechanisms.offers import Promise, PromiseStanding, least
from mechanisms.records.record_laws import dominating_laws
from mechanisms.reference import is_reference

from ..certificates.claims.record_losses import record_epsilons

#: Lengths of features at which a bound is asked for; a record has that of the next longer one.
LENGTHS = 24


@dataclass(frozen=True)
class Price:
    """Median, 95 % and largest epsilon of the records, and what they rest on; None where nothing is known."""

    median: float | None = None
    high: float | None = None
    largest: float | None = None
    kind: str = ""

    @classmethod
    def of(cls, epsilons: Sequence[float] | FloatArray, kind: str) -> Price:
        """Return order statistics: each is the epsilon of a record, the upper one where two are equally near."""
        table = np.sort(np.asarray(epsilons, dtype=np.float64))
        median, high, largest = (float(table[math.ceil(share * (len(table) - 1))]) for share in (0.5, 0.95, 1.0))
        return cls(median, high, largest, kind)


def price(mechanism: object, dataset: Dataset, domain: Domain, promise: Promise, standing: PromiseStanding) -> Price:
    """Return what every record loses, one record added or removed, at the delta of a promise.

    By the exact law of each record's loss; else by a law that dominates it, by what is proved of records of its length,
    or of all records; else by the promise itself, unless that is broken, or about a record replaced.
    """
    exact = record_epsilons(mechanism, dataset, promise.delta)
    if exact is not None:
        return Price.of(exact, "exact law")
    laws = dominating_laws(mechanism, dataset)
    if laws is not None:
        return Price.of(laws.worse_epsilon_at(promise.delta), "proved bound")
    proved = _by_length(mechanism, dataset, domain, promise)
    if proved is None:
        bound = worst_case_of(mechanism, domain)
        epsilon = None if bound is None else _epsilon(bound, promise)
        proved = None if epsilon is None else np.array([epsilon])
    if proved is not None:
        return Price.of(proved, "proved bound")
    if standing is PromiseStanding.BROKEN or promise.neighbours == "replace":
        return Price()
    return Price.of([promise.epsilon], "the promise")


def _by_length(mechanism: object, dataset: Dataset, domain: Domain, promise: Promise) -> FloatArray | None:
    """Return a proved epsilon of every record from the length of its features, or None where some has none."""
    if not (isinstance(mechanism, RecordBound) and is_reference(mechanism) and domain.bounded):
        return None
    norms = row_norms(dataset.X)
    longest = float(norms.max(initial=0.0))
    if longest == 0:
        return None
    shortest = max(float(norms.min()), longest * 1e-3)
    lengths = np.geomspace(shortest, longest, LENGTHS) if shortest < longest * (1 - 1e-9) else np.array([longest])
    lengths[-1] = longest
    places = np.minimum(np.searchsorted(lengths, norms), len(lengths) - 1)
    found = {}
    for place in np.unique(places):
        bound = mechanism.record_bound(domain, float(lengths[place]))
        epsilon = None if bound is None else _epsilon(bound, promise)
        if epsilon is None:
            return None
        found[int(place)] = epsilon
    return np.array([found[int(place)] for place in places])


def _epsilon(bound: Bound, promise: Promise) -> float | None:
    """Return the least epsilon that a bound keeps at the promised delta, a millionth larger at most; None if none."""
    delta = promise.delta
    return least(lambda epsilon: bound.delta_at(epsilon, delta) <= delta, promise.epsilon)

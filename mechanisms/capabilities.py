"""What a mechanism may know about itself: one protocol each, the same for ours and for anybody's.

A caller asks for the capability and whether it may be believed, ``isinstance(mechanism, WorstCase) and
is_reference(mechanism)``, and never for the class. Where a mechanism knows something under conditions only, its method
returns None outside them. The density and the law of the loss have theirs
in ``mechanisms.base``; proofs from the data on in ``mechanisms.laws.profile_tools``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

import numpy as np

from .base import BOTH, Bracket, Direction, WhiteBox
from .data.dataset import Dataset, FloatArray
from .data.neighbours import NeighbouringPair
from .laws.gaussian_profile import ROUNDING, GaussianProfile
from .reference import is_reference

if TYPE_CHECKING:
    from .envelopes.tail_envelopes import Envelope
    from .records.record_laws import BatchedLaws
    from .releases.report_terms import ReportScales


@dataclass(frozen=True)
class Domain:
    """The public domain that a claim is about: every data set of such records, of at most ``n_public`` of them."""

    dim: int
    x_bound: float
    y_bound: float
    n_public: int | None = None

    @property
    def bounded(self) -> bool:
        """Whether records are bounded at all."""
        return math.isfinite(self.x_bound) and math.isfinite(self.y_bound)


@dataclass(frozen=True)
class Bound:
    """A proved upper bound on delta(epsilon) over all neighbouring data sets (one record added or removed).

    Attributes
    ----------
    statement : str
        The statement it rests on, and in which form.
    sentence : str
        The reason in words.
    delta_at : callable
        ``(epsilon, delta) -> bound``; ``delta`` is the claimed one, for bounds that are stated at a given delta.
    conditions : tuple of str
        What the bound is conditional on beyond the public domain.
    mu : float or None
        Set where the bound is that of mu-Gaussian differential privacy, at every epsilon.
    needs : callable or None
        ``(epsilon, delta) -> numbers``: what the statement asks of the mechanism's parameters, for the record.
    replaced : callable or None
        As ``delta_at``, for one record replaced, where that is proved without going through two neighbours.
    renyi : callable or None
        Of an order above 1: a bound on the Renyi divergence, in both directions, for one record added or removed.
    within : callable or None
        ``(epsilon, delta) -> bool``: whether ``delta_at`` is at most ``delta``, where that is told sooner.
    parts : tuple of Bound
        Where several statements are known: their bounds, of which this one is the smallest everywhere.
    """

    statement: str
    sentence: str
    delta_at: Callable[[float, float], float]
    conditions: tuple[str, ...] = ()
    mu: float | None = None
    needs: Callable[[float, float], Mapping[str, float | str]] | None = None
    replaced: Callable[[float, float], float] | None = None
    renyi: Callable[[float], float] | None = None
    within: Callable[[float, float], bool] | None = None
    parts: tuple[Bound, ...] = ()

    def least(self, value: Callable[[Bound], float]) -> Bound:
        """Return the bound whose statement gives the smallest ``value``: one of the parts, or itself without any."""
        return min(self.parts, key=value, default=self)


def stated_bound(epsilon: float, delta: float, statement: str, sentence: str) -> Bound:
    """Return the bound of a mechanism that is built for one (epsilon, delta)."""

    def delta_at(at: float, _: float) -> float:
        if at >= epsilon:
            return delta
        # what is left of randomised response (docs/derivations/compare.md, section 10); beyond -epsilon of one answer
        more = max(-math.expm1(at - epsilon) / (1 + math.exp(-epsilon)), -math.expm1(at))
        return min(1.0, (delta + (1 - delta) * more) * (1 + 1e-14))

    return Bound(statement, sentence, delta_at)


class Curve(Protocol):
    """The divergence as a function of epsilon: exact, or what it does not exceed, as whoever returns it says."""

    def delta_at(self, epsilon: float, direction: Direction) -> float:
        """Return delta at ``epsilon``."""


@dataclass(frozen=True, eq=False)
class WorstPair:
    """A pair of data sets in the public domain, and a proved enclosure of its delta at the claimed epsilon.

    Attributes
    ----------
    pair : NeighbouringPair
        In the dimension of the domain.
    direction : Direction
        The worse one.
    words : str
        How the pair is built.
    numbers : mapping
        Its numbers.
    law : Curve
        Its exact divergence at every epsilon.
    partial : bool
        Whether the law is about a part of the transcript only, so that a simulation is another number.
    below : bool
        Whether the law is a bound from below, not the exact divergence.
    """

    pair: NeighbouringPair
    direction: Direction
    delta: Bracket
    words: str
    numbers: Mapping[str, float | str]
    law: Curve
    partial: bool = False
    below: bool = False

    def curve(self, epsilons: FloatArray) -> list[float]:
        """Return delta at each epsilon, worse direction (float64; for figures)."""
        return [max(self.law.delta_at(float(e), d) for d in BOTH) for e in epsilons]


def one_record_pair(domain: Domain, length: float, y: float) -> NeighbouringPair:
    """Return no record, and one with features of norm ``length`` on the first axis."""
    X, x = np.empty((0, domain.dim)), np.eye(domain.dim)[0] * length
    none = Dataset(X, np.empty(0), domain.x_bound, domain.y_bound, name="no record", public=True)
    return NeighbouringPair.add(none, x, y)


def gaussian_worst_pair(domain: Domain, mu: float, epsilon: float, words: str, *, partial: bool = False) -> WorstPair:
    """Return no record against the longest on the first axis, where normal laws ``mu`` apart are the worst case."""
    profile = GaussianProfile(mu, mu * ROUNDING)
    numbers = {"x_norm": domain.x_bound, "y": domain.y_bound, "n_records": 0, "mu": mu}
    pair = one_record_pair(domain, domain.x_bound, domain.y_bound)
    return WorstPair(pair, Direction.FORWARD, profile.delta_bracket(epsilon), words, numbers, profile, partial)


@runtime_checkable
class WorstProfile(Protocol):
    """It states a curve that no pair of data sets in the public domain exceeds: users' mechanisms, and ours.

    It bounds from above: a claim that it exceeds is not refuted by it.
    """

    def worst_profile(self, x_bound: float, y_bound: float) -> Curve:
        """Return the curve that no record added or removed within the bounds exceeds."""


@runtime_checkable
class WorstCase(Protocol):
    """Something is proved about it over all data sets."""

    def worst_case(self, domain: Domain) -> Bound | None:
        """Return what is proved over a bounded domain, or None where nothing is."""


@runtime_checkable
class ReportedWorstCase(Protocol):
    """Something is proved about it together with Gaussian releases made after it."""

    def worst_case(self, domain: Domain, mu_report: float = 0.0) -> Bound | None:
        """Return what is proved about its output and releases that are ``mu_report``-Gaussian private together."""


@runtime_checkable
class RecordBound(Protocol):
    """What is proved about it depends on how long one record's features are."""

    def record_bound(self, domain: Domain, length: float) -> Bound | None:
        """Return the bound for records whose features are no longer than ``length``."""


@runtime_checkable
class RecordsBound(Protocol):
    """Something is proved about the records of one data set, whatever the others are."""

    def records_bound(self, dataset: Dataset) -> Bound:
        """Return a bound for leaving any record of a data set out."""


@runtime_checkable
class WorstPairs(Protocol):
    """Its worst pair of data sets can be built, with its exact divergence."""

    def worst_pair(self, domain: Domain, epsilon: float, delta: float) -> WorstPair | None:
        """Return the worst pair of the searched family in a bounded domain."""


@runtime_checkable
class WorstTarget(Protocol):
    """Something is proved about every record that may be added to one data set."""

    def worst_target(self, dataset: Dataset, domain: Domain) -> Bound | None:
        """Return the bound over all targets in a bounded domain; its ``statement`` says what it rests on."""


@runtime_checkable
class CoversRecords(Protocol):
    """What holds for everyone who may be added to a data set holds for its records too."""

    covers_records: ClassVar[bool]


@runtime_checkable
class BatchedRecords(Protocol):
    """The exact laws of all records of a data set follow from one pass over it."""

    def record_laws(self, dataset: Dataset) -> BatchedLaws | None:
        """Return the laws of leaving each record out."""


@runtime_checkable
class DominatingRecords(Protocol):
    """Laws that no record's loss exceeds, one for each record of a data set, follow from one pass over it."""

    def dominating_laws(self, dataset: Dataset) -> BatchedLaws:
        """Return laws that dominate those of leaving each record out; proved, not exact."""


@runtime_checkable
class EnclosedRecords(Protocol):
    """Rounding of its linear algebra is bounded: two exact laws enclose that of every record."""

    def record_law_ends(self, dataset: Dataset) -> tuple[BatchedLaws, BatchedLaws] | None:
        """Return laws of leaving each record out whose divergences are at most, and at least, the true ones."""


@runtime_checkable
class BatchedLosses(Protocol):
    """The losses of many records at the same outputs follow from one factor a draw."""

    def record_losses(self, outputs: FloatArray, dataset: Dataset, records: range) -> FloatArray:
        """Return ``log p_D(o) - log p_{D-z}(o)``, shape ``(n_draws, len(records))``."""


@runtime_checkable
class ExPostLosses(Protocol):
    """The losses of all records at one output follow from one pass."""

    def ex_post_losses(self, output: FloatArray, dataset: Dataset) -> FloatArray | None:
        """Return ``log p_D(o) - log p_{D-z}(o)`` of every record, shape ``(n_records,)``."""


@runtime_checkable
class RareEvents(Protocol):
    """An event of known probability holds the tail of its loss."""

    def envelope(self, pair: NeighbouringPair, direction: Direction, epsilon: float) -> Envelope | None:
        """Return an event that contains ``{L > epsilon}``, or None where none is proved for this pair."""


@runtime_checkable
class NoiseMap(WhiteBox, Protocol):
    """Its output is a known function of as many standard normal numbers as there are features."""

    def noise_map(self, dataset: Dataset) -> Callable[[FloatArray], FloatArray]:
        """Return the map from standard normal noise, shape ``(n, dim)``, to outputs."""


@runtime_checkable
class Reportable(Protocol):
    """The publishable reports on one's own loss (RW21, section 4) are about it."""

    def report_scales(self, rho: float, sigma2: float | None, sigma3: float | None) -> ReportScales:
        """Return the public parameters of a report with these noise scales (None: no further release)."""


@runtime_checkable
class Coefficients(Protocol):
    """Regression coefficients follow from its transcript, which is more than these."""

    def coefficients(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        """Return the coefficients of each transcript, shape ``(n_draws, dim)``."""


def coefficients_of(mechanism: object, outputs: FloatArray, dataset: Dataset) -> FloatArray:
    """Return the regression coefficients of each transcript: its last ``dim`` numbers, unless it knows better."""
    if isinstance(mechanism, Coefficients) and is_reference(mechanism):
        return mechanism.coefficients(outputs, dataset)
    return np.asarray(outputs[:, -dataset.dim :])


def worst_case_of(mechanism: object, domain: Domain, mu_report: float = 0.0) -> Bound | None:
    """Return what is proved about a mechanism, and a report made after it, over the domain; None where nothing is."""
    if not (domain.bounded and is_reference(mechanism)):
        return None
    if mu_report:
        return mechanism.worst_case(domain, mu_report) if isinstance(mechanism, ReportedWorstCase) else None
    return mechanism.worst_case(domain) if isinstance(mechanism, WorstCase) else None


def worst_pair_of(mechanism: object, domain: Domain, epsilon: float, delta: float) -> WorstPair | None:
    """Return the worst pair of the searched family, or None for a mechanism whose divergence is not known exactly."""
    if not (domain.bounded and isinstance(mechanism, WorstPairs) and is_reference(mechanism)):
        return None
    return mechanism.worst_pair(domain, epsilon, delta)

"""What every record of a data set means to a mechanism, all at once: exact laws of their losses, or losses at draws.

Record ``i`` stands for the pair ``NeighbouringPair.remove(dataset, i)``: FORWARD is drawn from the data as they are,
BACKWARD with the record left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..base import Direction, ExactLaw, PrivacyProfile, WhiteBox
from ..capabilities import BatchedLosses, BatchedRecords, DominatingRecords, EnclosedRecords
from ..data.dataset import Dataset, FloatArray
from ..data.neighbours import NeighbouringPair
from ..laws.gaussian_profile import gaussian_log_delta
from ..laws.quadratic_profile import quadratic_log_delta
from ..numerics.batched_epsilon import gaussian_epsilon, ops_epsilon
from ..reference import is_reference
from .many_records import gaussian_epsilons, ops_epsilons

#: Records handled together where all of them are asked for.
BLOCK = 1 << 16


class RecordLaws(Protocol):
    """The exact law of every record's loss."""

    def delta_at(self, epsilon: float, direction: Direction) -> FloatArray:
        """Return every record's divergence at ``epsilon`` (natural log, any real number), shape ``(n_records,)``."""

    def epsilon_at(self, delta: float, direction: Direction) -> FloatArray:
        """Return every record's smallest ``epsilon >= 0`` at ``delta``, shape ``(n_records,)``."""


class BatchedLaws(RecordLaws, Protocol):
    """The same in one vectorised pass."""

    def worse_epsilon_at(self, delta: float) -> FloatArray:
        """Return every record's smallest ``epsilon >= 0`` at ``delta`` that serves both directions.

        Of more than ``BLOCK`` records the largest is exact, and those below are interpolated between exact values.
        """


@dataclass(frozen=True, eq=False, repr=False)
class GaussianRecordLaws:
    """Two normal laws of one covariance for every record, ``mu`` standard deviations apart (infinite: told apart)."""

    mu: FloatArray

    def delta_at(self, epsilon: float, direction: Direction) -> FloatArray:
        """Return every record's divergence; the same in both directions."""
        lost = np.isinf(self.mu)
        return np.where(lost, 1.0, np.exp(gaussian_log_delta(epsilon, np.where(lost, 0.0, self.mu))))

    def epsilon_at(self, delta: float, direction: Direction) -> FloatArray:
        """Return every record's smallest epsilon; the same in both directions."""
        lost = np.isinf(self.mu) & (delta < 1)
        return np.where(lost, math.inf, gaussian_epsilon(np.where(np.isinf(self.mu), 0.0, self.mu), delta))

    def worse_epsilon_at(self, delta: float) -> FloatArray:
        """Return every record's smallest epsilon; the same in both directions."""
        lost = np.isinf(self.mu)
        if self.mu.size <= BLOCK or not 0 < delta < 1 or lost.all():
            return self.epsilon_at(delta, Direction.FORWARD)
        epsilons = gaussian_epsilons(np.where(lost, 0.0, self.mu), delta, BLOCK)
        return np.where(lost, math.inf, epsilons) if lost.any() else epsilons


@dataclass(frozen=True, eq=False, repr=False)
class QuadraticRecordLaws:
    """One-posterior sampling: out-of-sample leverage (infinite: told apart) and scaled residual of every record."""

    leverage: FloatArray
    scaled_residual: FloatArray

    def delta_at(self, epsilon: float, direction: Direction) -> FloatArray:
        """Return every record's divergence."""
        lost = np.isinf(self.leverage)
        mu, a = np.where(lost, 0.0, self.leverage), np.where(lost, 0.0, self.scaled_residual)
        # the profile's FORWARD is drawn without the record
        return np.where(lost, 1.0, np.exp(quadratic_log_delta(epsilon, mu, a, direction.opposite)))

    def epsilon_at(self, delta: float, direction: Direction) -> FloatArray:
        """Return every record's smallest epsilon."""
        return ops_epsilon(self.leverage, self.scaled_residual, delta, direction.opposite)

    def worse_epsilon_at(self, delta: float) -> FloatArray:
        """Return the larger of every record's two epsilons."""
        if self.leverage.size > BLOCK and 0 < delta < 1:
            return ops_epsilons(self.leverage, self.scaled_residual, delta, BLOCK)
        return np.maximum(self.epsilon_at(delta, Direction.FORWARD), self.epsilon_at(delta, Direction.BACKWARD))


@dataclass(frozen=True, eq=False, repr=False)
class OneByOneLaws:
    """The exact profile of every record, asked one at a time."""

    profiles: tuple[PrivacyProfile, ...]

    def delta_at(self, epsilon: float, direction: Direction) -> FloatArray:
        """Return every record's divergence."""
        return np.array([profile.delta_at(epsilon, direction) for profile in self.profiles])

    def epsilon_at(self, delta: float, direction: Direction) -> FloatArray:
        """Return every record's smallest epsilon."""
        return np.array([profile.epsilon_at(delta, direction) for profile in self.profiles])

    @property
    def ends(self) -> tuple[OneByOneLaws, OneByOneLaws]:
        """The laws below and above those of the records, where their profiles know how far theirs may be off."""
        both = [getattr(profile, "ends", (profile, profile)) for profile in self.profiles]
        return OneByOneLaws(tuple(low for low, _ in both)), OneByOneLaws(tuple(high for _, high in both))


def batched_laws(mechanism: object, dataset: Dataset) -> BatchedLaws | None:
    """Return the exact laws of all records from one pass over the data, or None for a mechanism without such a pass."""
    if not (isinstance(mechanism, BatchedRecords) and is_reference(mechanism)):
        return None
    return mechanism.record_laws(dataset)


def dominating_laws(mechanism: object, dataset: Dataset) -> BatchedLaws | None:
    """Return laws that no record's loss exceeds, where the exact ones are not known, or None."""
    if not (isinstance(mechanism, DominatingRecords) and is_reference(mechanism)):
        return None
    return mechanism.dominating_laws(dataset)


def record_laws(mechanism: object, dataset: Dataset) -> RecordLaws | None:
    """Return the exact laws of all records, one by one where there is no batched form; None where no law is known."""
    batched = batched_laws(mechanism, dataset)
    if batched is not None or not isinstance(mechanism, ExactLaw):
        return batched
    pairs = (NeighbouringPair.remove(dataset, i) for i in range(dataset.n_records))
    return OneByOneLaws(tuple(mechanism.profile(pair) for pair in pairs))


def enclosing_laws(mechanism: object, dataset: Dataset, laws: RecordLaws) -> tuple[RecordLaws, RecordLaws]:
    """Return laws whose divergences lie below and above those of every record; ``laws`` twice where none are bounded.

    Raises
    ------
    ValueError
        If the data are so ill-conditioned that nothing can be said.
    """
    if isinstance(laws, OneByOneLaws):
        return laws.ends
    if not (isinstance(mechanism, EnclosedRecords) and is_reference(mechanism)):
        return laws, laws
    return mechanism.record_law_ends(dataset) or (laws, laws)


def record_losses(mechanism: WhiteBox, outputs: FloatArray, dataset: Dataset, records: range) -> FloatArray:
    """Return ``log p_D(o) - log p_{D-z}(o)`` of some records at the same outputs, shape ``(n_draws, len(records))``.

    Equal to ``privacy_loss(outputs, NeighbouringPair.remove(dataset, i))`` for each ``i``, in memory of that size.
    """
    if isinstance(mechanism, BatchedLosses) and is_reference(mechanism):
        return mechanism.record_losses(outputs, dataset, records)
    pairs = (NeighbouringPair.remove(dataset, i) for i in records)
    return np.stack([np.asarray(mechanism.privacy_loss(outputs, pair), dtype=np.float64) for pair in pairs], axis=1)

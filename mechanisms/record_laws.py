"""What every record of a data set means to a mechanism, all at once: exact laws of their losses, or losses at draws.

Record ``i`` stands for the pair ``NeighbouringPair.remove(dataset, i)``: FORWARD is drawn from the data as they are,
BACKWARD with the record left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .base import Direction, ExactLaw, PrivacyProfile, WhiteBox
from .batched_epsilon import gaussian_epsilon, ops_epsilon
from .data import Dataset, FloatArray
from .gaussian_output import GaussianOutput
from .gaussian_profile import gaussian_log_delta
from .leverage import record_quantities
from .many_records import gaussian_epsilons, ops_epsilons
from .neighbours import NeighbouringPair
from .objective_loss_terms import HIGH_LEVERAGE
from .objective_perturbation import ObjectivePerturbation
from .perturbed_objective import slices
from .posterior_sampling import PosteriorSampling
from .quadratic_profile import quadratic_log_delta
from .ridge import RidgeMap, ridge_fit
from .sufficient_statistics import SufficientStatistics

#: Floats in the largest temporary array of a pass over draws and records.
TILE_FLOATS = 2_000_000
#: Records handled together where all of them are asked for.
BLOCK = 1 << 16


class RecordLaws(Protocol):
    """The exact law of every record's loss."""

    def delta_at(self, epsilon: float, direction: Direction) -> FloatArray:
        """Return every record's divergence at ``epsilon`` (natural log, any real number), shape ``(n_records,)``."""
        ...

    def epsilon_at(self, delta: float, direction: Direction) -> FloatArray:
        """Return every record's smallest ``epsilon >= 0`` at ``delta``, shape ``(n_records,)``."""
        ...


class BatchedLaws(RecordLaws, Protocol):
    """The same in one vectorised pass."""

    def worse_epsilon_at(self, delta: float) -> FloatArray:
        """Return every record's smallest ``epsilon >= 0`` at ``delta`` that serves both directions.

        Of more than :data:`BLOCK` records the largest is exact, and those below are interpolated between exact values.
        """
        ...


@dataclass(frozen=True, eq=False)
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
        found = gaussian_epsilons(np.where(lost, 0.0, self.mu), delta, BLOCK)
        return np.where(lost, math.inf, found) if lost.any() else found


@dataclass(frozen=True, eq=False)
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


@dataclass(frozen=True, eq=False)
class OneByOneLaws:
    """The exact profile of every record, asked one at a time."""

    profiles: tuple[PrivacyProfile, ...]

    def delta_at(self, epsilon: float, direction: Direction) -> FloatArray:
        """Return every record's divergence."""
        return np.array([profile.delta_at(epsilon, direction) for profile in self.profiles])

    def epsilon_at(self, delta: float, direction: Direction) -> FloatArray:
        """Return every record's smallest epsilon."""
        return np.array([profile.epsilon_at(delta, direction) for profile in self.profiles])


def batched_laws(mechanism: object, dataset: Dataset) -> BatchedLaws | None:
    """Return the exact laws of all records from one pass over the data, or None for a mechanism without such a pass.

    One-posterior sampling, sufficient statistics, and normal noise around a ridge estimate.
    """
    match mechanism:
        case PosteriorSampling():
            records = record_quantities(dataset, mechanism.lam)
            return QuadraticRecordLaws(records.leverage_out, math.sqrt(mechanism.gamma) * records.residual_out)
        case SufficientStatistics():
            return GaussianRecordLaws(_sufficient_mu(mechanism, dataset))
        case GaussianOutput() if isinstance(mechanism.estimator, RidgeMap):
            lam, factor = mechanism.estimator.lam, mechanism.factor
            parts = [np.linalg.norm(shifts @ factor, axis=1) for _, shifts in ridge_shifts(lam, dataset)]
            distance = np.concatenate([np.empty(0), *parts])
            return GaussianRecordLaws(math.sqrt(mechanism.gamma) * np.where(np.isnan(distance), math.inf, distance))
    return None


def record_laws(mechanism: object, dataset: Dataset) -> RecordLaws | None:
    """Return the exact laws of all records, one by one where there is no batched form; None where no law is known."""
    batched = batched_laws(mechanism, dataset)
    if batched is not None or not isinstance(mechanism, ExactLaw):
        return batched
    pairs = (NeighbouringPair.remove(dataset, i) for i in range(dataset.n_records))
    return OneByOneLaws(tuple(mechanism.profile(pair) for pair in pairs))


def _sufficient_mu(mechanism: SufficientStatistics, dataset: Dataset) -> FloatArray:
    X, y = dataset.X, dataset.y
    square = np.einsum("ij,ij->i", X, X)
    packed = 0.5 * (square**2 + np.einsum("ij,ij,ij,ij->i", X, X, X, X))  # sum over i <= j of x_i^2 x_j^2
    return np.asarray(np.sqrt(packed / mechanism.sigma_gram**2 + square * y**2 / mechanism.sigma_moment**2))


def ridge_shifts(lam: float, dataset: Dataset) -> Iterator[tuple[slice, FloatArray]]:
    """Yield what leaving each record out adds to the ridge estimate, some records at a time, shape ``(m, dim)``."""
    fit, records = ridge_fit(dataset, lam), record_quantities(dataset, lam)
    residuals = records.residual_out
    for part in slices(dataset.n_records, BLOCK):
        with np.errstate(invalid="ignore"):
            yield part, -fit.solve(dataset.X[part]) * residuals[part, None]


def record_losses(mechanism: WhiteBox, outputs: FloatArray, dataset: Dataset, records: range) -> FloatArray:
    """Return ``log p_D(o) - log p_{D-z}(o)`` of some records at the same outputs, shape ``(n_draws, len(records))``.

    Equal to ``privacy_loss(outputs, NeighbouringPair.remove(dataset, i))`` for each ``i``, in memory of that size.
    """
    if isinstance(mechanism, ObjectivePerturbation):
        return _objective_losses(mechanism, outputs, dataset, records)
    columns = [_one_record(mechanism, outputs, dataset, i) for i in records]
    return np.stack(columns, axis=1)


def _one_record(mechanism: WhiteBox, outputs: FloatArray, dataset: Dataset, index: int) -> FloatArray:
    return np.asarray(mechanism.privacy_loss(outputs, NeighbouringPair.remove(dataset, index)), dtype=np.float64)


def _objective_losses(
    mechanism: ObjectivePerturbation, outputs: FloatArray, dataset: Dataset, records: range
) -> FloatArray:
    """All records from one factor a draw (RW21, Corollary 7, lower sign); one by one where ``1 - f'' mu`` cancels."""
    objective, sigma = mechanism.objective(dataset), mechanism.sigma
    X, y = dataset.X[records], dataset.y[records]
    length = np.einsum("ij,ij->i", X, X)
    losses, high = np.empty((len(outputs), len(records))), np.zeros(len(records), dtype=bool)
    step = max(1, min(objective.points_per_hessian, TILE_FLOATS // (dataset.dim * max(len(records), 1))))
    for points in slices(len(outputs), step):
        theta = outputs[points]
        predictor = theta @ X.T
        first, second = objective.loss.first(predictor, y), objective.loss.second(predictor, y)
        white = np.linalg.solve(np.linalg.cholesky(objective.hessian(theta)), X.T)
        share = second * np.einsum("kij,kij->kj", white, white)
        high |= (share > HIGH_LEVERAGE).any(axis=0)
        along = objective.gradient(theta) @ X.T
        quadratic = np.square(first) * length / (2.0 * sigma**2)
        losses[points] = -np.log1p(-np.minimum(share, HIGH_LEVERAGE)) + quadratic - first * along / sigma**2
    for column in np.flatnonzero(high):
        losses[:, column] = _one_record(mechanism, outputs, dataset, records[int(column)])
    return losses

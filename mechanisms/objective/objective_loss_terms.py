"""The ex-post loss of objective perturbation term by term (RW21, Theorem 6 and Corollary 7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from ..data.dataset import Dataset, FloatArray, row_norms
from ..data.neighbours import NeighbouringPair, Relation
from ..numerics.ticks import tick
from .perturbed_objective import PerturbedObjective, slices
from .perturbed_solver import SolverError

if TYPE_CHECKING:
    from .objective_perturbation import ObjectivePerturbation

#: Above this ``f'' mu`` a record's leverage is recomputed without it, as 1 - f'' mu would cancel.
HIGH_LEVERAGE = 0.9
#: Records whose leverages are solved for together, so that they stay in the cache.
BLOCK = 1024
#: Floats in the largest temporary array of a pass over draws and records.
TILE_FLOATS = 2_000_000


@dataclass(frozen=True, eq=False, repr=False)
class LossTerms:
    """The three signed terms of a loss, natural log, each of shape ``(n_draws,)``; their sum is the loss.

    Attributes
    ----------
    log_det_term
        ``-log(1 +- f'' mu(x))``, in general ``-log prod_j (1 -+ mu_j)``.
    quadratic_term
        ``||grad l||^2 / (2 sigma^2)``.
    gradient_term
        ``+- grad J(theta; D)^T grad l / sigma^2``.
    """

    log_det_term: FloatArray
    quadratic_term: FloatArray
    gradient_term: FloatArray

    @property
    def total(self) -> FloatArray:
        """The loss ``log p_D - log p_D'``."""
        return np.asarray(self.log_det_term + self.quadratic_term + self.gradient_term)

    def negated(self) -> LossTerms:
        """Return the terms seen from the other data set of the pair.

        With ``D' = D +- z``, ``grad J(D')^T g = grad J(D)^T g +- ||g||^2``: the quadratic term keeps its sign and the
        gradient term takes up the difference.
        """
        return LossTerms(-self.log_det_term, self.quadratic_term, -(self.gradient_term + 2.0 * self.quadratic_term))


def shared_records(pair: NeighbouringPair) -> Dataset:
    """Return the records that both members of ``pair`` have."""
    if pair.relation is Relation.ADD:
        return pair.first
    if pair.relation is Relation.REMOVE:
        return pair.second
    assert pair.index is not None
    return pair.dataset.without_record(pair.index)


def target_terms(
    objective: PerturbedObjective, theta: FloatArray, targets: Sequence[tuple[FloatArray, float]], sigma: float
) -> list[LossTerms]:
    """Return the loss terms of adding each target to the objective's data set, at each row of ``theta``.

    Everything is computed from the smaller of the two data sets: ``1 - f'' mu`` of the larger one equals
    ``1/(1 + f'' mu)`` of the smaller (Sherman-Morrison), which does not cancel however high the leverage.
    ``SolverError`` if a loss is no number: slopes of the target beyond float64.
    """
    gradient = objective.gradient(theta)
    leverages = np.empty((len(targets), len(theta)))
    rows = np.stack([x for x, _ in targets], axis=1)
    for points in slices(len(theta), objective.points_per_hessian):
        factor = np.linalg.cholesky(objective.hessian(theta[points]))
        leverages[:, points] = np.square(np.linalg.solve(factor, rows)).sum(axis=1).T
        tick(len(factor))
    terms = []
    for (x, y), leverage in zip(targets, leverages, strict=True):
        predictor, response = theta @ x, np.asarray(y)
        with np.errstate(over="ignore", invalid="ignore"):
            first = objective.loss.first(predictor, response)
            second = objective.loss.second(predictor, response)
            signed = LossTerms(
                -np.log1p(second * leverage),  # RW21, C7: -log(1 + f'' mu)
                np.square(first) * (x @ x) / (2.0 * sigma**2),
                first * (gradient @ x) / sigma**2,
            )
            if np.isnan(signed.total).any():
                raise SolverError("the loss must be within reach of float64 at every output, got infinite slopes")
        terms.append(signed)
    return terms


def ex_post_losses(objective: PerturbedObjective, theta: FloatArray, sigma: float) -> FloatArray:
    """Return the loss of removing each record at the single point ``theta``, shape ``(n_records,)``.

    One Cholesky factor and one triangular solve serve all records (RW21, Corollary 7 with the lower sign). At most
    ``dim/HIGH_LEVERAGE`` records have ``f'' mu > HIGH_LEVERAGE``; for these ``f'' mu`` comes from the data without
    the record, where it does not cancel.
    """
    X, y = objective.dataset.X, objective.dataset.y
    predictor = X @ theta
    first, root = objective.loss.first(predictor, y), np.sqrt(objective.loss.second(predictor, y))
    ridge = objective.regulariser_hessian(theta[None])[0] + objective.lam * np.eye(objective.dim)
    curvature = ridge.copy()
    for records in slices(len(X), BLOCK):
        weighted = root[records, None] * X[records]
        curvature += weighted.T @ weighted
    factor = cholesky(curvature, lower=True)
    leverage = np.empty(len(X))
    for records in slices(len(X), BLOCK):
        weighted = root[records, None] * X[records]
        leverage[records] = (
            row_norms(solve_triangular(factor, weighted.T, lower=True, overwrite_b=True, check_finite=False).T) ** 2
        )
    high = np.flatnonzero(leverage > HIGH_LEVERAGE)
    log_det = -np.log1p(-np.where(leverage > HIGH_LEVERAGE, 0.0, leverage))
    for index in high:
        rest = np.delete(root[:, None] * X, index, axis=0)
        without = cholesky(rest.T @ rest + ridge, lower=True)
        log_det[index] = np.log1p(np.square(solve_triangular(without, root[index] * X[index], lower=True)).sum())
    gradient = X.T @ first + objective.penalty_gradient(theta[None])[0]
    quadratic = np.square(first * row_norms(X)) / (2.0 * sigma**2)
    return np.asarray(log_det + quadratic - first * (X @ gradient) / sigma**2)


def product_form_terms(
    hessian: FloatArray,
    loss_hessian: FloatArray,
    gradient: FloatArray,
    loss_gradient: FloatArray,
    *,
    sign: float,
    sigma: float,
) -> LossTerms:
    """Return the loss terms for a target whose Hessian has any rank, literally as RW21's Theorem 6 prints them.

    ``hessian`` and ``gradient`` are those of ``J(theta; D)``, the other two those of the target's loss, whose Hessian
    is symmetric positive semidefinite; ``sign`` is +1 when the target is added to ``D``, -1 when it is removed. The
    matrix that is updated is ``grad b = -grad^2 J``, so that every ``mu_j`` is at most 0. Arrays of shape ``(1,)``.
    """
    if sign not in (1.0, -1.0):
        raise ValueError(f"sign must be +1 or -1, got sign={sign}")
    eigenvalues, vectors = np.linalg.eigh(loss_hessian)
    matrix, log_product = -np.array(hessian), 0.0
    for value, u in zip(eigenvalues, vectors.T, strict=True):
        mu_j = value * (u @ np.linalg.solve(matrix, u))  # T6: lambda_j u_j^T (grad b -+ sum_{k<j} ...)^{-1} u_j
        log_product += float(np.log1p(-sign * mu_j))  # T6: log prod_j (1 -+ mu_j)
        matrix = matrix - sign * value * np.outer(u, u)
    return LossTerms(
        np.array([-log_product]),
        np.array([loss_gradient @ loss_gradient / (2.0 * sigma**2)]),
        np.array([sign * (gradient @ loss_gradient) / sigma**2]),
    )


def loss_of_records(
    mechanism: ObjectivePerturbation, outputs: FloatArray, dataset: Dataset, records: range
) -> FloatArray:
    """Return the losses of removing each of ``records``, shape ``(n_draws, len(records))``.

    All records from one factor a draw (RW21, Corollary 7, lower sign); one by one where ``1 - f'' mu``
    cancels.
    """
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
        pair = NeighbouringPair.remove(dataset, records[int(column)])
        losses[:, column] = mechanism.privacy_loss(outputs, pair)
    return losses

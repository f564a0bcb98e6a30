"""The regularised objective ``J(theta; D)`` with exact derivatives at many points at once, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from ..data.dataset import DataError, Dataset, FloatArray
from ..numerics.spectra import regular_factor
from .losses import CanonicalLoss, GlmLoss, SquaredLoss

#: Points and records handled together: a (records x points) tile fits the second-level cache.
POINTS, RECORDS = 128, 256
#: Floats in the largest temporary array of a Hessian pass.
HESSIAN_FLOATS = 2_000_000
#: Up to so many points a dimension, forming all outer products costs more than weighting the records for each point.
FEW_POINTS = 0.5


@runtime_checkable
class Regulariser(Protocol):
    """A convex, twice differentiable ``r(theta)`` with public coefficients, vectorised over the rows of ``theta``."""

    def value(self, theta: FloatArray) -> FloatArray:
        """Return ``r`` at each row, shape ``(n_points,)``."""

    def gradient(self, theta: FloatArray) -> FloatArray:
        """Return its gradient, shape ``(n_points, dim)``."""

    def hessian(self, theta: FloatArray) -> FloatArray:
        """Return its Hessian, shape ``(n_points, dim, dim)`` or ``(dim, dim)`` if constant."""


@dataclass(frozen=True, eq=False)
class QuadraticRegulariser:
    """``r(theta) = theta^T R theta / 2`` with ``R = matrix`` symmetric positive semidefinite, shape ``(dim, dim)``."""

    matrix: FloatArray

    def __post_init__(self) -> None:
        R = np.array(self.matrix, dtype=np.float64)
        if R.ndim != 2 or R.shape[0] != R.shape[1] or not np.isfinite(R).all() or not np.array_equal(R, R.T):
            raise ValueError(f"matrix must be square, finite and symmetric, got matrix.shape={R.shape}")
        smallest = float(np.linalg.eigvalsh(R)[0])
        if smallest < -1e-12 * max(1.0, float(np.abs(R).max())):
            raise ValueError(f"matrix must be positive semidefinite, got smallest eigenvalue={smallest}")
        R.setflags(write=False)
        object.__setattr__(self, "matrix", R)

    def value(self, theta: FloatArray) -> FloatArray:
        return np.asarray(0.5 * np.einsum("ki,ki->k", theta @ self.matrix, theta))

    def gradient(self, theta: FloatArray) -> FloatArray:
        return np.asarray(theta @ self.matrix)

    def hessian(self, theta: FloatArray) -> FloatArray:
        return self.matrix


def slices(total: int, size: int) -> Iterator[slice]:
    """Yield consecutive slices of at most ``size`` that cover ``range(total)``."""
    for start in range(0, total, size):
        yield slice(start, min(start + size, total))


def as_points(name: str, values: ArrayLike, dim: int) -> FloatArray:
    """Return ``values`` as a finite array of shape ``(n_points, dim)``; a single point may be given as ``(dim,)``."""
    points = np.atleast_2d(np.asarray(values, dtype=np.float64))
    if points.ndim != 2 or points.shape[1] != dim:
        raise ValueError(f"{name} must have shape (n, {dim}), got {name}.shape={np.shape(values)}")
    if not np.isfinite(points).all():
        raise ValueError(f"{name} must be finite, got a non-finite value")
    return np.ascontiguousarray(points)


@dataclass(frozen=True, eq=False)
class PerturbedObjective:
    """``J(theta; D) = sum_i f(x_i^T theta; y_i) + r(theta) + lam/2 ||theta||^2`` (RW21, eq. 1, without ``b^T theta``).

    Every method takes points ``theta`` of shape ``(n_points, dim)`` and sums over all records in float64.
    """

    dataset: Dataset
    loss: GlmLoss
    lam: float
    regulariser: Regulariser | None = None

    def __post_init__(self) -> None:
        self.loss.check_response(self.dataset.y)

    def require_curvature(self) -> None:
        """Refuse ``lam = 0`` when the Hessian can be singular."""
        if self.lam > 0:
            return
        curvature = self._gram + self.regulariser_hessian(np.zeros((1, self.dim)))[0]
        if regular_factor(curvature) is None:
            raise DataError("lam must be positive when X^T X (plus the regulariser's Hessian) is singular, got lam=0")

    @property
    def dim(self) -> int:
        return self.dataset.dim

    @cached_property
    def _moment(self) -> FloatArray:
        """``X^T y``, shape ``(dim,)``."""
        return np.asarray(self.dataset.X.T @ self.dataset.y)

    @cached_property
    def _gram(self) -> FloatArray:
        """``X^T X``, shape ``(dim, dim)``."""
        return np.asarray(self.dataset.X.T @ self.dataset.X)

    @cached_property
    def _packed(self) -> FloatArray | None:
        """All records' packed outer products, kept where they are few enough."""
        small = self.dataset.n_records * self.dim * (self.dim + 1) // 2 <= HESSIAN_FLOATS
        return packed_outer(self.dataset.X) if small else None

    def regulariser_hessian(self, theta: FloatArray) -> FloatArray:
        shape = (len(theta), self.dim, self.dim)
        return np.zeros(shape) if self.regulariser is None else np.broadcast_to(self.regulariser.hessian(theta), shape)

    def value(self, theta: FloatArray) -> FloatArray:
        X, y, total = self.dataset.X, self.dataset.y[:, None], np.empty(len(theta))
        for points in slices(len(theta), POINTS):
            part = 0.5 * self.lam * np.square(theta[points]).sum(axis=1)
            for records in slices(len(X), RECORDS):
                part += self.loss.value(X[records] @ theta[points].T, y[records]).sum(axis=0)
            total[points] = part
        return total if self.regulariser is None else total + self.regulariser.value(theta)

    def penalty_gradient(self, theta: FloatArray) -> FloatArray:
        linear = self.lam * theta
        return linear if self.regulariser is None else linear + self.regulariser.gradient(theta)

    def gradient(self, theta: FloatArray) -> FloatArray:
        """Return ``grad J``, shape ``(n_points, dim)``: matrix product, slope, matrix product, tile by tile."""
        total = self.penalty_gradient(theta)
        for points in slices(len(theta), POINTS):
            total[points] += self._data_gradient(theta[points])
        return total

    def _data_gradient(self, theta: FloatArray) -> FloatArray:
        if isinstance(self.loss, SquaredLoss):
            return np.asarray(self.loss.scale * (theta @ self._gram - self._moment))
        X, y, part = self.dataset.X, self.dataset.y[:, None], np.zeros((self.dim, len(theta)))
        if isinstance(self.loss, CanonicalLoss):
            scaled = np.ascontiguousarray(self.loss.rate * theta.T)
            for records in slices(len(X), RECORDS):
                tile = X[records] @ scaled
                self.loss.mean_inplace(tile)
                part += X[records].T @ tile
            return np.asarray(self.loss.scale * (part.T - self._moment))
        for records in slices(len(X), RECORDS):
            part += X[records].T @ self.loss.first(X[records] @ theta.T, y[records])
        return np.asarray(part.T)

    def hessian(self, theta: FloatArray) -> FloatArray:
        total = np.empty((len(theta), self.dim, self.dim))
        for points in slices(len(theta), self.points_per_hessian):
            total[points] = self._data_hessian(theta[points]) + self.regulariser_hessian(theta[points])
        total[:, np.arange(self.dim), np.arange(self.dim)] += self.lam
        return total

    @property
    def points_per_hessian(self) -> int:
        """Points whose Hessians are formed together."""
        return max(1, min(4 * POINTS, HESSIAN_FLOATS // self.dim**2))

    def _data_hessian(self, theta: FloatArray) -> FloatArray:
        """Return ``sum_i f''_i x_i x_i^T``: for many points by a product with the records' packed outer products."""
        if isinstance(self.loss, SquaredLoss):
            return np.broadcast_to(self.loss.scale * self._gram, (len(theta), self.dim, self.dim))
        X, y = self.dataset.X, self.dataset.y[:, None]
        if len(theta) <= FEW_POINTS * self.dim:
            full = np.zeros((len(theta), self.dim, self.dim))
            for records in slices(len(X), RECORDS):
                weights = self.loss.second(X[records] @ theta.T, y[records])
                full += (X[records].T * weights.T[:, None, :]) @ X[records]
            return full
        total = np.zeros((len(theta), self.dim * (self.dim + 1) // 2))
        for records in slices(len(X), max(1, min(RECORDS, HESSIAN_FLOATS // total.shape[1]))):
            weights = self.loss.second(X[records] @ theta.T, y[records])
            total += weights.T @ (packed_outer(X[records]) if self._packed is None else self._packed[records])
        return unpacked(total, self.dim)


def packed_outer(rows: FloatArray) -> FloatArray:
    """Return the upper triangle of ``x x^T`` for each row ``x``, row by row: shape ``(n_rows, dim (dim + 1)/2)``."""
    first, second = np.triu_indices(rows.shape[1])
    return np.asarray(np.take(rows, first, axis=1) * np.take(rows, second, axis=1))


def unpacked(packed: FloatArray, dim: int) -> FloatArray:
    """Return symmetric matrices, shape ``(n_points, dim, dim)``, from their upper triangles ``(n_points, packed)``."""
    rows, columns = np.triu_indices(dim)
    position = np.empty((dim, dim), dtype=np.intp)
    position[rows, columns] = position[columns, rows] = np.arange(len(rows))
    return np.asarray(np.take(packed, position, axis=1))

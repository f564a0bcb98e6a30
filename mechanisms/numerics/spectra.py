"""Linear algebra that mechanisms share: ridge at many regularisations, coloured noise, Cholesky factors, roundings."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.linalg.blas import dtrmm

from ..data.dataset import Dataset, FloatArray
from .transcripts import BoolArray, finite_rows

#: What a mechanism shows when it has no law to draw from (an improper posterior): every coordinate infinite.
NO_OUTPUT: Final = np.inf


@dataclass(frozen=True, repr=False)
class GramSpectrum:
    """Eigenvalues and eigenvectors of ``X^T X``, and ``X^T y`` in that basis.

    Build it with ``of``. Eigenvalues that rounding alone tells from zero are zero.

    Attributes
    ----------
    values : (dim,) array
        Ascending, at least 0.
    vectors : (dim, dim) array
        Eigenvectors in columns.
    moment : (dim,) array
        ``vectors.T @ X.T @ y``.
    """

    values: FloatArray
    vectors: FloatArray
    moment: FloatArray

    @classmethod
    def of(cls, dataset: Dataset) -> GramSpectrum:
        """Return the spectrum of a data set (any number of records, also 0)."""
        values, vectors = np.linalg.eigh(dataset.X.T @ dataset.X)
        rounding = 8 * dataset.dim * np.finfo(float).eps * max(float(values[-1]), 0.0)
        values = np.where(values > rounding, values, 0.0)
        values[: max(0, dataset.dim - dataset.n_records)] = 0.0
        return cls(values, vectors, vectors.T @ (dataset.X.T @ dataset.y))

    @property
    def smallest(self) -> float:
        """Smallest eigenvalue of ``X^T X``."""
        return float(self.values[0])

    def ridge(self, lam: FloatArray) -> FloatArray:
        """Return ``(X^T X + lam I)^{-1} X^T y`` for every entry of ``lam`` where it exists, shape ``(n_draws, dim)``.

        Rows where the matrix is not positive definite are ``NO_OUTPUT``.
        """
        shifted = self.values + lam[:, None]
        good = shifted[:, 0] > 0
        safe = np.where(good[:, None], shifted, 1.0)
        return np.where(good[:, None], (self.moment / safe) @ self.vectors.T, NO_OUTPUT)

    def proper(self, lam: FloatArray, gamma: FloatArray) -> BoolArray:
        """Return where ``exp(-gamma/2 (|y - X theta|^2 + lam |theta|^2))`` can be normalised, shape ``(n_draws,)``."""
        return np.asarray((self.values[0] + lam > 0) & (gamma > 0) & np.isfinite(gamma))

    def draw_posterior(self, lam: FloatArray, gamma: FloatArray, noise: FloatArray) -> FloatArray:
        """Return one posterior sample a row from standard normal ``noise (n_draws, dim)``.

        The law is ``N((X^T X + lam I)^{-1} X^T y, (X^T X + lam I)^{-1}/gamma)``; the symmetric square root is used,
        which does not depend on the signs of the eigenvectors. Improper rows are ``NO_OUTPUT``.
        """
        proper = self.proper(lam, gamma)
        precision = np.where(proper[:, None], (self.values + lam[:, None]) * gamma[:, None], 1.0)
        spread = ((noise @ self.vectors) / np.sqrt(precision)) @ self.vectors.T
        return np.where(proper[:, None], self.ridge(np.where(proper, lam, 1.0)) + spread, NO_OUTPUT)

    def posterior_log_density(self, theta: FloatArray, lam: FloatArray, gamma: FloatArray) -> FloatArray:
        """Return the log density of one posterior sample a row, shape ``(n_draws,)``.

        With respect to Lebesgue measure plus a unit mass on "no output": 0 for that output where the posterior is
        improper, ``-inf`` for a mismatch of the two.
        """
        proper, given = self.proper(lam, gamma), finite_rows(theta)
        shifted = np.where(proper[:, None], self.values + lam[:, None], 1.0)
        safe_gamma = np.where(proper, gamma, 1.0)
        rotated = np.where(given[:, None], theta, 0.0) @ self.vectors
        z = (rotated - self.moment / shifted) * np.sqrt(shifted * safe_gamma[:, None])
        logs = 0.5 * np.log(shifted * safe_gamma[:, None] / (2 * np.pi)).sum(axis=1) - 0.5 * np.einsum("ij,ij->i", z, z)
        return np.where(proper & given, logs, np.where(proper | given, -np.inf, 0.0))


def coloured(centre: FloatArray, factor: FloatArray, gamma: float, noise: FloatArray) -> FloatArray:
    """Return ``centre + F^{-T} z / sqrt(gamma)`` for each row ``z`` of ``noise``: ``N(centre, (gamma F F^T)^{-1})``.

    ``F = factor`` is the lower triangular Cholesky factor of a precision matrix; ``noise`` is standard normal, of shape
    ``(n, k)``, and overwritten.
    """
    scaled = factor * math.sqrt(gamma)
    diagonal = np.diag(scaled)
    if np.count_nonzero(scaled) == diagonal.size:
        moved = noise
        moved /= diagonal
    elif noise.shape[0] <= diagonal.size:
        moved = solve_triangular(scaled, noise.T, lower=True, trans="T", overwrite_b=True, check_finite=False).T
    else:
        # Many rows: invert the triangle once, then one triangular product, twice as fast as a solve a row. The forward
        # error obeys the same bound as the solve's (Higham, Accuracy and Stability, section 14.2).
        inverse = solve_triangular(scaled, np.eye(diagonal.size), lower=True, check_finite=False)
        moved = dtrmm(1.0, inverse, noise.T, lower=1, trans_a=1, overwrite_b=1).T
    moved += centre
    return np.asarray(moved)


#: Half a unit in the last place of 1.
UNIT: Final = 2.0**-53
#: Relative error granted to the functions of a loss (``exp``, ``hypot``, a few products); granted, not proved.
GRANTED: Final = 32 * UNIT


def roundings(operations: float) -> float:
    """Return the relative error of so many roundings in a row; below 1/2 of them to the inverse unit."""
    return operations * UNIT / (1 - operations * UNIT)


def derivative_room(
    X: FloatArray, y: FloatArray, theta: FloatArray, derivative: Callable[[FloatArray, FloatArray], FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Return ``derivative(x^T theta, y)`` of every record, and how far each may be from its true value.

    The derivative has one maximum or none and no minimum inside (a convex loss's first and second), so that over the
    range of a predictor it is furthest from its value at an end, or equal to it up to the square of the range.
    """
    predictor = X @ theta
    room = roundings(X.shape[1] + 2) * (np.abs(X) @ np.abs(theta)) + 8 * UNIT * (np.abs(predictor) + np.abs(y) + 1.0)
    value = derivative(predictor, y)
    ends = [np.abs(derivative(end, y) - value) for end in (predictor - room, predictor + room)]
    return value, np.maximum(*ends) + GRANTED * (np.abs(value) + np.abs(y))


def summed(terms: FloatArray) -> tuple[FloatArray, float]:
    """Return the sum over the first axis, and the relative error of its sum of sizes: in two levels of few terms."""
    size = math.isqrt(len(terms)) + 1
    parts = [terms[start : start + size].sum(axis=0) for start in range(0, len(terms), size)]
    return np.sum(parts, axis=0) if parts else np.zeros(terms.shape[1:]), roundings(2 * size + 4)


#: Times the size of the matrix: what rounding leaves of a pivot that is 0, relative to its diagonal entry.
_ROUNDING: Final = 4 * float(np.finfo(float).eps)


def regular_factor(matrix: FloatArray) -> FloatArray | None:
    """Return the lower Cholesky factor of a symmetric matrix, or None where it is singular to working precision.

    A pivot is what is left of a diagonal entry beside the columns before it, and it is compared with that entry: so
    units of the columns do not matter, as they do not to the factor. (Scaling by powers of 2 changes no bit of it.)
    """
    try:
        factor = np.asarray(cholesky(matrix, lower=True))
    except LinAlgError:
        return None
    left = np.diag(factor) ** 2 / np.diag(matrix)
    return factor if left.min() > _ROUNDING * len(matrix) else None

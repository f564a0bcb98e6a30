"""Ridge regression at many regularisations at once: one eigendecomposition of the Gram matrix serves every draw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

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

"""Least squares, SSP and AdaSSP as W18's experiments ran them: statistics with ``X^T X + I``, perturbed and solved."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..base import check_draws, check_positive
from ..data.dataset import Dataset, FloatArray
from ..laws.gaussian_calibration import check_open_delta
from ..laws.gaussian_profile import GaussianProfile
from ..numerics.transcripts import batches

#: The delta of every run, whatever the number of records.
CODE_DELTA = 1e-6


def shifted_statistics(dataset: Dataset) -> tuple[FloatArray, FloatArray]:
    """Return ``X^T X + I`` and ``X^T y``, from which every method of the code starts."""
    return dataset.X.T @ dataset.X + np.eye(dataset.dim), dataset.X.T @ dataset.y


@dataclass(frozen=True)
class AsRunLeastSquares:
    """The non-private line: ``(X^T X + I)^{-1} X^T y``, ridge regression and not least squares."""

    def coefficients(self, dataset: Dataset, n_draws: int, rng: np.random.Generator) -> FloatArray:
        """Return the same coefficients for every draw, shape ``(n_draws, dim)``; ``rng`` is not used."""
        return np.tile(np.linalg.solve(*shifted_statistics(dataset)), (check_draws(n_draws), 1))


@dataclass(frozen=True)
class AsRunPromise:
    """What every private method of the code is set up from, and checks.

    Parameters
    ----------
    epsilon : float
        Positive.
    delta : float
        In (0, 1); the code has 1e-6.
    """

    epsilon: float
    delta: float = CODE_DELTA

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_positive("epsilon", self.epsilon))
        object.__setattr__(self, "delta", check_open_delta(self.delta))


@dataclass(frozen=True)
class AsRunSSP(AsRunPromise):
    """SSP with half the noise of W18, appendix C.1, and a noise matrix that is not symmetric; unit bounds.

    All ``dim^2`` entries of ``X^T X + I`` and the entries of ``X^T y`` get independent normal noise of standard
    deviation ``scale``; the linear system is solved as it is.

    Parameters
    ----------
    epsilon : float
        Positive.
    delta : float
        In (0, 1); the code has 1e-6.
    """

    @property
    def scale(self) -> float:
        """Standard deviation of the noise, ``sqrt(log(4/delta))/epsilon`` (appendix C.1 has twice that)."""
        return math.sqrt(math.log(4 / self.delta)) / self.epsilon

    def worst_profile(self) -> GaussianProfile:
        """Return the exact profile of both noisy statistics at unit bounds: every record of length 1 attains it.

        A record moves the matrix by ``x x^T``, of Frobenius norm ``|x|^2``, and the moment by ``y x``.
        """
        return GaussianProfile(math.sqrt(2) / self.scale)

    def coefficients(self, dataset: Dataset, n_draws: int, rng: np.random.Generator) -> FloatArray:
        """Return independent coefficients, shape ``(n_draws, dim)``."""
        gram, moment = shifted_statistics(dataset)
        theta, dim = np.empty((check_draws(n_draws), dataset.dim)), dataset.dim
        for rows in batches(n_draws, dim**2):
            size = len(theta[rows])
            noisy = moment + self.scale * rng.standard_normal((size, dim))
            matrix = gram + self.scale * rng.standard_normal((size, dim, dim))
            theta[rows] = np.linalg.solve(matrix, noisy[..., None])[..., 0]
        return theta


@dataclass(frozen=True)
class AsRunAdaSSP(AsRunPromise):
    """AdaSSP with the noise matrix ``(Z + Z^T)/2``, whose entries off the diagonal have half the variance; unit bounds.

    Parameters
    ----------
    epsilon : float
        Positive.
    delta : float
        In (0, 1); the code has 1e-6.
    rho : float
        Failure probability in the damping; 0.05 in the code.
    """

    rho: float = 0.05

    @property
    def scale(self) -> float:
        """Standard deviation of the three releases, ``3 sqrt(log(6/delta))/epsilon``."""
        return 3 * math.sqrt(math.log(6 / self.delta)) / self.epsilon

    def worst_profile(self) -> GaussianProfile:
        """Return the profile of the three releases before the eigenvalue is cut, which no record exceeds.

        On and above the diagonal a record moves the noisy matrix by ``sum_i x_i^4 + sum_(i<j) x_i^2 x_j^2/(1/2)``, in
        units of the variance: ``|x|^4``, the same in every direction.
        """
        return GaussianProfile(math.sqrt(3) / self.scale)

    def coefficients(self, dataset: Dataset, n_draws: int, rng: np.random.Generator) -> FloatArray:
        """Return independent coefficients, shape ``(n_draws, dim)``."""
        gram, moment = shifted_statistics(dataset)
        theta, dim, scale = np.empty((check_draws(n_draws), dataset.dim)), dataset.dim, self.scale
        smallest = float(np.linalg.eigvalsh(gram)[0])
        least = scale * math.sqrt(dim * math.log(2 * dim**2 / self.rho))
        for rows in batches(n_draws, dim**2):
            size = len(theta[rows])
            released = smallest + scale * (rng.standard_normal(size) - math.sqrt(math.log(6 / self.delta)))
            lam = np.maximum(least - np.maximum(released, 0.0), 0.0)
            noisy = moment + scale * rng.standard_normal((size, dim))
            Z = rng.standard_normal((size, dim, dim))
            matrix = gram + 0.5 * scale * (Z + np.swapaxes(Z, 1, 2)) + lam[:, None, None] * np.eye(dim)
            theta[rows] = np.linalg.solve(matrix, noisy[..., None])[..., 0]
        return theta

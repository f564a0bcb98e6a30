"""Gaussian output perturbation: an estimate plus normal noise, of fixed or of data-dependent covariance (W19-E3.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from flint import arb, arb_mat
from scipy.linalg import LinAlgError, cholesky

from .balls import Ball, enclose
from .base import Bracket, Direction, check_draws, check_nonnegative, check_positive
from .coloured_noise import coloured
from .data import Dataset, FloatArray
from .gaussian_profile import GaussianProfile, gaussian_balls
from .mills import HALF_LOG_2PI
from .neighbours import NeighbouringPair, Relation
from .ridge import Estimator, RidgeMap, ridge_fit

#: The estimator used unless another is given: ridge regression with ``lam = 1`` (the setting of W19-FIG1).
UNIT_RIDGE: Final = RidgeMap(1.0)


@dataclass(frozen=True, eq=False)
class GaussianOutput:
    """Releases ``estimator(D) + N(0, A^{-1}/gamma)`` with a matrix ``A`` that does not depend on the data (W19-E3.2).

    Parameters
    ----------
    precision : (k, k) array
        ``A``, symmetric positive definite.
    gamma : float
        Finite and positive.
    estimator : Estimator
        The deterministic map: :class:`~mechanisms.ridge.RidgeMap` (by default with ``lam = 1``), or any function of
        a data set as a :class:`~mechanisms.ridge.PlainMap`.
    """

    precision: FloatArray
    gamma: float
    estimator: Estimator = UNIT_RIDGE
    factor: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        matrix = np.array(self.precision, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.isfinite(matrix).all():
            raise ValueError(f"precision must be a finite square matrix, got shape {matrix.shape}")
        if not np.array_equal(matrix, matrix.T):
            raise ValueError("precision must be symmetric")
        try:
            factor = np.asarray(cholesky(matrix, lower=True))
        except LinAlgError:
            raise ValueError("precision must be positive definite") from None
        matrix.setflags(write=False)
        object.__setattr__(self, "precision", matrix)
        object.__setattr__(self, "factor", factor)
        object.__setattr__(self, "gamma", check_positive("gamma", self.gamma))

    @classmethod
    def isotropic(cls, sigma: float, dim: int, estimator: Estimator = UNIT_RIDGE) -> GaussianOutput:
        """Return the mechanism that adds ``N(0, sigma^2 I)`` to an estimate in ``R^dim``."""
        return cls(np.eye(dim), check_positive("sigma", sigma) ** -2, estimator)

    @property
    def name(self) -> str:
        """Short name for reports."""
        return f"Gaussian output perturbation (gamma={self.gamma:g})"

    def _centre(self, dataset: Dataset) -> FloatArray:
        centre = self.estimator(dataset)
        if centre.shape != (self.precision.shape[0],):
            raise ValueError(
                f"precision must have the size of the estimate, got precision {self.precision.shape} "
                f"for an estimate of shape {centre.shape}"
            )
        return centre

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return independent outputs, shape ``(n_draws, k)``."""
        centre = self._centre(dataset)
        return coloured(centre, self.factor, self.gamma, rng.standard_normal((check_draws(n_draws), centre.size)))

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        """Return the log Lebesgue density of each output, shape ``(n_draws,)``."""
        centre = self._centre(dataset)
        quadratic = (((np.atleast_2d(outputs) - centre) @ self.factor) ** 2).sum(axis=1)
        constant = np.log(np.diag(self.factor)).sum() + centre.size * (0.5 * math.log(self.gamma) - HALF_LOG_2PI)
        return np.asarray(constant - 0.5 * self.gamma * quadratic)

    def sensitivity(self, pair: NeighbouringPair) -> float:
        """Return ``Delta_A = ||estimate(D') - estimate(D)||_A``, the per-instance sensitivity (W19-L2.4)."""
        return float(np.linalg.norm(self.estimator.shift(pair) @ self.factor))

    def privacy_loss(self, outputs: FloatArray, pair: NeighbouringPair) -> FloatArray:
        """Return ``log p_D - log p_D'`` of each output, shape ``(n_draws,)``."""
        shift = self.estimator.shift(pair) @ self.factor
        noise = (np.atleast_2d(outputs) - self._centre(pair.first)) @ self.factor
        return np.asarray(self.gamma * (0.5 * (shift @ shift) - noise @ shift))

    def profile(self, pair: NeighbouringPair) -> GaussianProfile:
        """Return the exact law of the loss; any relation. ``mu = sqrt(gamma) Delta_A`` (W19-L2.4, the exact form)."""
        return GaussianProfile(math.sqrt(self.gamma) * self.sensitivity(pair))

    def delta_bracket(self, pair: NeighbouringPair, epsilon: float, direction: Direction) -> Bracket:
        """Return an enclosure of ``delta(epsilon)`` that is proved from the data on; any relation.

        Unlike ``profile(pair).delta_bracket``, which starts from a sensitivity rounded to float64, the linear algebra
        is done in ball arithmetic too. Both directions agree.

        Raises
        ------
        TypeError
            If the estimator is not a ridge estimate.
        """
        return self._proved(pair, epsilon, 0)

    def tail_bracket(self, pair: NeighbouringPair, epsilon: float, direction: Direction) -> Bracket:
        """Return an enclosure of ``P(L > epsilon)`` that is proved from the data on; see :meth:`delta_bracket`."""
        return self._proved(pair, epsilon, 1)

    def _proved(self, pair: NeighbouringPair, epsilon: float, part: int) -> Bracket:
        estimator = self.estimator
        if not isinstance(estimator, RidgeMap):
            raise TypeError(f"estimator must be a RidgeMap for a proof from the data, got {type(estimator).__name__}")
        self._centre(pair.first)  # refuses a singular matrix or a wrong size in one line
        self._centre(pair.second)
        size = len(self.precision)

        def evaluate() -> Ball:
            shift = estimator.shift_balls(pair)
            square = (shift.transpose() * arb_mat(size, size, self.precision.ravel().tolist()) * shift)[0, 0]
            if not square >= 0:
                return arb("nan")
            return gaussian_balls(arb(epsilon), (arb(self.gamma) * square).sqrt())[part]

        return enclose(evaluate, low=0.0, high=1.0)


@dataclass(frozen=True)
class DemocraticOutput:
    """Releases ``theta_hat + N(0, H^{-2}/gamma)`` with ``H = X^T X + lam I``: W19-S4.A2, and the data move the noise.

    It is objective perturbation of the squared loss: the minimiser of
    ``||y - X theta||^2/2 + lam ||theta||^2/2 + b^T theta`` with ``b ~ N(0, I/gamma)``. The Fisher choice (W19-S4.A3) is
    :class:`~mechanisms.posterior_sampling.PosteriorSampling`.

    Parameters
    ----------
    gamma : float
        Finite and positive.
    lam : float
        Finite, at least 0.
    """

    gamma: float
    lam: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", check_positive("gamma", self.gamma))
        object.__setattr__(self, "lam", check_nonnegative("lam", self.lam))

    @property
    def name(self) -> str:
        """Short name for reports."""
        return f"democratic output perturbation (gamma={self.gamma:g}, lam={self.lam:g})"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return independent outputs, shape ``(n_draws, dim)``."""
        fit = ridge_fit(dataset, self.lam)
        noise = rng.standard_normal((check_draws(n_draws), dataset.dim))
        return np.asarray(fit.theta + fit.solve(noise) / math.sqrt(self.gamma))

    def _noise(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        # the linear term b = X^T y - H theta whose minimiser the output is
        fit = ridge_fit(dataset, self.lam)
        return np.asarray((fit.theta - np.atleast_2d(outputs)) @ fit.factor @ fit.factor.T)

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        """Return the log Lebesgue density of each output, shape ``(n_draws,)``."""
        noise = self._noise(outputs, dataset)
        constant = ridge_fit(dataset, self.lam).log_det + dataset.dim * (0.5 * math.log(self.gamma) - HALF_LOG_2PI)
        return np.asarray(constant - 0.5 * self.gamma * (noise**2).sum(axis=1))

    def privacy_loss(self, outputs: FloatArray, pair: NeighbouringPair) -> FloatArray:
        """Return ``log p_D - log p_D'`` of each output, shape ``(n_draws,)``.

        With the target ``(x, y)`` outside: ``-log(1 + mu) + gamma/2 (2 r b^T x + r^2 ||x||^2)``, where ``mu`` is the
        leverage, ``r = y - x^T theta`` and ``b = X^T y - H theta``; no difference of large numbers.
        """
        outputs = np.atleast_2d(outputs)
        if pair.relation is Relation.REPLACE:
            return np.asarray(self.log_density(outputs, pair.first) - self.log_density(outputs, pair.second))
        smaller = pair.first if pair.relation is Relation.ADD else pair.second
        residual = pair.y - outputs @ pair.x
        along = self._noise(outputs, smaller) @ pair.x
        gain = 0.5 * self.gamma * residual * (2 * along + residual * (pair.x @ pair.x))
        return np.asarray(pair.sign * (gain - math.log1p(ridge_fit(smaller, self.lam).leverage(pair.x))))

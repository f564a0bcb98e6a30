r"""The methods of W18's experiments as their code ran them: each starts from ``X^T X + I``, and differs from the paper.

ObjPert divides by epsilon once more and shows half of its solution. OPS and AdaOPS have noise of covariance
``(R R^T)^{-1}`` where ``H = R^T R``: ``theta + (R')\randn`` solves with the factor that gives ``(R^T)^{-1} z``, and
``R^{-1} z`` has the covariance ``H^{-1}``. The two agree where ``H`` is diagonal. All are at unit bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from ..base import check_draws, check_positive
from ..data.dataset import Dataset, FloatArray
from ..laws.gaussian_calibration import check_open_delta
from ..laws.gaussian_profile import GaussianProfile
from ..linear.adaops_wang2018 import best_total, positive_root
from ..numerics.transcripts import batches
from ..objective.ball_perturbation import BallObjectivePerturbation

#: The delta of every run, whatever the number of records.
CODE_DELTA = 1e-6


def _shifted_statistics(dataset: Dataset) -> tuple[FloatArray, FloatArray]:
    """Return ``X^T X + I`` and ``X^T y``, from which every method of the code starts."""
    return dataset.X.T @ dataset.X + np.eye(dataset.dim), dataset.X.T @ dataset.y


@dataclass(frozen=True)
class AsRunLeastSquares:
    """The non-private line: ``(X^T X + I)^{-1} X^T y``, ridge regression and not least squares."""

    def coefficients(self, dataset: Dataset, n_draws: int, rng: np.random.Generator) -> FloatArray:
        """Return the same coefficients for every draw, shape ``(n_draws, dim)``; ``rng`` is not used."""
        return np.tile(np.linalg.solve(*_shifted_statistics(dataset)), (check_draws(n_draws), 1))


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
        gram, moment = _shifted_statistics(dataset)
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
    epsilon, delta
        As in ``AsRunPromise``.
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
        gram, moment = _shifted_statistics(dataset)
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


@dataclass(frozen=True)
class AsRunObjPert(AsRunPromise):
    """Objective perturbation whose solver minimises ``|R theta - v/2|`` over the unit ball, ``H = R^T R``; unit bounds.

    That is half of the minimiser ``phi`` over the ball of radius 2, so that the gradient of a record's loss is bounded
    by ``|y| + |phi| <= 3`` there; the noise is made for a bound of 2.

    Parameters
    ----------
    epsilon, delta
        As in ``AsRunPromise``.
    lipschitz : float
        The bound of the gradient that the noise is made for; 2 in the code.
    """

    lipschitz: float = 2.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "lipschitz", check_positive("lipschitz", self.lipschitz))

    @property
    def doubled(self) -> BallObjectivePerturbation:
        """The mechanism of which half is shown: objective perturbation over the ball of radius 2."""
        root = math.sqrt(4 * math.log(2 / self.delta) + 2 * self.epsilon)
        return BallObjectivePerturbation(self.lipschitz * root / self.epsilon**2, 2 / self.epsilon**2, 2.0)

    def coefficients(self, dataset: Dataset, n_draws: int, rng: np.random.Generator) -> FloatArray:
        """Return independent coefficients, shape ``(n_draws, dim)``."""
        return 0.5 * self.doubled.draw(dataset, n_draws, rng=rng)


def _utility_constant(epsilon: float, delta: float, rho: float, dim: int) -> float:
    """Return ``C_1 = (d/2 + sqrt(d log(1/rho)) + log(1/rho)) log(2/delta)/epsilon^2`` (W18, eq. 18)."""
    tail = math.log(1 / rho)
    return (dim / 2 + math.sqrt(dim * tail) + tail) * math.log(2 / delta) / epsilon**2


def root_gamma(square: FloatArray, slope: FloatArray, room: FloatArray) -> FloatArray:
    """Return the positive root ``w`` of ``square w^2 + slope w - room = 0``: the square root of gamma."""
    return np.asarray(2 * room / (slope + np.sqrt(slope**2 + 4 * square * room)))


@dataclass(frozen=True)
class AsRunOPS(AsRunPromise):
    """OPS-Balanced of the code, at unit bounds; the number of records is taken from the data.

    Parameters
    ----------
    epsilon, delta
        As in ``AsRunPromise``.
    rho : float
        Failure probability in ``C_1``; 0.05 in the code.
    """

    rho: float = 0.05

    def constants(self, n_records: int, dim: int) -> tuple[float, float]:
        """Return ``(lam, gamma)``; the ridge of the code is ``lam + 1``."""
        epsilon, log = self.epsilon, math.log(2 / self.delta)
        c1 = _utility_constant(min(epsilon / 2, math.sqrt(epsilon / 2)), self.delta, self.rho, dim)
        lam = max((c1 * n_records / 2) ** (1 / 3), (1 + log) / epsilon)
        lipschitz = 1 + min(math.sqrt(n_records / (2 * lam)), n_records / lam)
        room = epsilon - (1 + log) / (2 * lam)
        root = root_gamma(*map(np.asarray, (lipschitz**2 / (lam + 1), lipschitz * math.sqrt(log / lam), room)))
        return lam, float(root) ** 2

    def coefficients(self, dataset: Dataset, n_draws: int, rng: np.random.Generator) -> FloatArray:
        """Return independent coefficients, shape ``(n_draws, dim)``."""
        lam, gamma = self.constants(dataset.n_records, dataset.dim)
        gram, moment = _shifted_statistics(dataset)
        hessian = gram + lam * np.eye(dataset.dim)
        factor = np.linalg.cholesky(hessian)
        noise = rng.standard_normal((check_draws(n_draws), dataset.dim))
        spread = solve_triangular(factor, noise.T, lower=True).T / math.sqrt(gamma)
        return np.asarray(np.linalg.solve(hessian, moment) + spread)


@dataclass(frozen=True)
class AsRunAdaOPS(AsRunPromise):
    """AdaOPS of the code, at unit bounds; the number of records is taken from the data.

    Its solver is taken to find the minimiser of (7), which is convex.

    Parameters
    ----------
    epsilon, delta
        As in ``AsRunPromise``.
    rho : float
        Failure probability in ``C_1``; 0.05 in the code.
    """

    rho: float = 0.05

    @property
    def log(self) -> float:
        """``log(6/delta)``."""
        return math.log(6 / self.delta)

    @property
    def spread(self) -> float:
        """Standard deviation of the released eigenvalue; its shift is ``sqrt(log(6/delta))`` times that."""
        return 4 * math.sqrt(self.log) / self.epsilon

    def total(self, dim: int) -> float:
        """Return the least sum of ridge and released eigenvalue."""
        bar = positive_root(self.log, self.epsilon / 4)
        best = best_total(1.0, _utility_constant(bar, self.delta / 3, self.rho, dim), 4 * self.log / self.epsilon)
        return max(best, 2 * (1 + self.log) / self.epsilon)

    def lipschitz_cap(self, n_records: int, total: FloatArray) -> FloatArray:
        """Return what the code cuts the Lipschitz constant at, ``1 + sqrt(2 sqrt(n)/total)``.

        It is no bound: a ridge solution may be ``sqrt(n)/(2 sqrt(total))`` long.
        """
        return np.asarray(1 + np.sqrt(2 * math.sqrt(n_records) / total))

    def root_gamma(self, lipschitz: FloatArray, total: FloatArray) -> FloatArray:
        """Return the square root of gamma for each draw; it falls as the Lipschitz constant grows."""
        room = self.epsilon / 2 - (1 + self.log) / (2 * total)
        return root_gamma(lipschitz**2 / (2 * (total + 1)), lipschitz * np.sqrt(self.log / total), room)

    def coefficients(self, dataset: Dataset, n_draws: int, rng: np.random.Generator) -> FloatArray:
        """Return independent coefficients, shape ``(n_draws, dim)``."""
        gram, moment = _shifted_statistics(dataset)
        theta, dim = np.empty((check_draws(n_draws), dataset.dim)), dataset.dim
        smallest, least = float(np.linalg.eigvalsh(gram)[0]), self.total(dim)
        for rows in batches(n_draws, dim**2):
            size = len(theta[rows])
            released = smallest + self.spread * (rng.standard_normal(size) - math.sqrt(self.log))
            released = np.maximum(released, 0.0)
            total = np.maximum(least, released)
            factor = np.linalg.cholesky(gram + (total - released)[:, None, None] * np.eye(dim))
            half = np.linalg.solve(factor, np.broadcast_to(moment[:, None], (size, dim, 1)))
            estimate = np.linalg.solve(np.swapaxes(factor, 1, 2), half)[..., 0]
            step = 4 * np.log1p(1 / total) / self.epsilon
            growth = step * (math.sqrt(self.log) * rng.standard_normal(size) + self.log)
            length = (1 + np.linalg.norm(estimate, axis=1)) * np.exp(growth)
            lipschitz = np.minimum(length, self.lipschitz_cap(dataset.n_records, total))
            noise = np.linalg.solve(factor, rng.standard_normal((size, dim))[..., None])[..., 0]
            theta[rows] = estimate + noise / self.root_gamma(lipschitz, total)[:, None]
        return theta

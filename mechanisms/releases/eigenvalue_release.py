"""Releasing the smallest eigenvalue of the Hessian at an already released parameter (RW21, Algorithm 3)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..base import check_nonnegative, check_positive
from ..catalogue import Example, example_pair
from ..data.dataset import Dataset, FloatArray, row_norms
from ..data.neighbours import NeighbouringPair
from ..laws.gaussian_profile import GaussianProfile
from ..numerics.spectra import derivative_room, roundings
from ..objective.losses import GlmLoss, LogisticLoss
from ..objective.perturbed_objective import Regulariser
from .gaussian_shift import as_theta, draw_shifted, log_density_shifted, shift_loss
from .hessian_release import hessian_at


@dataclass(frozen=True, eq=False)
class EigenvalueRelease:
    """Release ``lambda_min(H) + N(0, sigma4^2)`` (RW21, Algorithm 3), outputs of shape ``(n_draws, 1)``.

    Given ``theta`` the loss of a pair is exactly Gaussian with ``mu = |lambda_min(H) - lambda_min(H')| / sigma4``,
    which Weyl's inequality bounds by ``f'' ||x||^2 / sigma4`` (RW21, Theorem 11).

    Parameters
    ----------
    theta : (dim,) array
        The released parameter at which the Hessian is taken.
    lam : float
        Weight of the quadratic regulariser, at least 0.
    sigma4 : float
        Standard deviation of the noise, positive.
    regulariser : Regulariser, optional
        The public ``r`` of the objective.
    """

    theta: FloatArray
    loss: GlmLoss
    lam: float
    sigma4: float
    regulariser: Regulariser | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "theta", as_theta(self.theta))
        check_nonnegative("lam", self.lam)
        check_positive("sigma4", self.sigma4)

    @property
    def name(self) -> str:
        return f"smallest-eigenvalue release ({self.loss.name}, sigma4={self.sigma4:g})"

    @property
    def noise_scale(self) -> FloatArray:
        return np.array([float(self.sigma4)])

    def eigenvalue(self, dataset: Dataset) -> FloatArray:
        H = hessian_at(self.theta, self.loss, self.lam, self.regulariser, dataset)
        return np.asarray(np.linalg.eigvalsh(H)[:1], dtype=np.float64)

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        return draw_shifted(self.eigenvalue(dataset), self.noise_scale, n_draws, rng)

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        return log_density_shifted(outputs, self.eigenvalue(dataset), self.noise_scale)

    def privacy_loss(self, outputs: FloatArray, pair: NeighbouringPair) -> FloatArray:
        return shift_loss(outputs, self.eigenvalue(pair.first), self._shift(pair), self.noise_scale)

    def profile(self, pair: NeighbouringPair) -> GaussianProfile:
        """Return the exact law of the loss; what rounding may have moved the two eigenvalues by is room."""
        mu = abs(float(self._shift(pair)[0])) / self.sigma4
        moved = self._moved(pair.first) + self._moved(pair.second)
        return GaussianProfile(mu, moved / self.sigma4 * (1 + 1e-12) + roundings(4) * mu)

    def _moved(self, dataset: Dataset) -> float:
        """Return how far the computed eigenvalue may be from the true one: no further than the matrix (Weyl).

        In the Frobenius norm: every record's curvature and outer product, their sum, and the eigenvalue solver.
        """
        theta, dim = self.theta, dataset.dim
        curvature, room = derivative_room(dataset.X, dataset.y, theta, self.loss.second)
        square = row_norms(dataset.X) ** 2
        own = self.lam * math.sqrt(dim)
        if self.regulariser is not None:
            own += float(np.linalg.norm(self.regulariser.hessian(theta[None])))
        whole = float(square @ np.abs(curvature)) + own
        return (
            float(square @ room) * (1 + 1e-9)
            + (roundings(dataset.n_records + 16) + 10 * dim * roundings(dim + 1)) * whole
        )

    def worst_profile(self, x_bound: float, y_bound: float = 1.0) -> GaussianProfile:
        """Return a law that no added or removed record in the public domain exceeds (RW21, Theorem 11)."""
        return GaussianProfile(self.loss.beta * x_bound**2 / self.sigma4)

    def _shift(self, pair: NeighbouringPair) -> FloatArray:
        return np.asarray(self.eigenvalue(pair.second) - self.eigenvalue(pair.first))


def examples() -> dict[str, Example]:
    """Return the mechanism on a pair where its loss is of the order of 1."""
    theta = np.array([0.4, -0.3])
    return {"eigenvalue": Example(EigenvalueRelease(theta, LogisticLoss(), 1.0, 0.05), example_pair("labels"))}

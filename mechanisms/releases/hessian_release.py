"""Releasing the Hessian of the objective at a released parameter (RW21, Algorithm 6, and the classical mechanism).

Outputs are flattened upper triangles, row by row, shape ``(n_draws, dim (dim + 1) / 2)``; ``full_matrices`` undoes it.
Everything is conditional on ``theta``, the output of objective perturbation, which is public by then.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flint import arb

from ..base import check_nonnegative, check_positive
from ..catalogue import Example, example_pair
from ..data.dataset import Dataset, FloatArray
from ..data.neighbours import NeighbouringPair
from ..laws.gaussian_profile import GaussianProfile
from ..numerics.balls import Ball
from ..numerics.transcripts import check_outputs, pack_triangle, unpack_triangle
from ..objective.losses import ExactLoss, GlmLoss, LogisticLoss
from ..objective.perturbed_objective import PerturbedObjective, Regulariser
from .gaussian_shift import (
    as_theta,
    check_same_dim,
    draw_shifted,
    length_of,
    log_density_shifted,
    predictor_ball,
    shift_balls,
    shift_loss,
    shift_profile,
    sum_shift,
)


def hessian_at(
    theta: FloatArray, loss: GlmLoss, lam: float, regulariser: Regulariser | None, dataset: Dataset
) -> FloatArray:
    """Return ``H = sum_i f''(x_i^T theta; y_i) x_i x_i^T + grad^2 r(theta) + lam I``, shape ``(dim, dim)``."""
    check_same_dim(theta, dataset.dim)
    return np.asarray(PerturbedObjective(dataset, loss, lam, regulariser).hessian(theta[None])[0])


def record_hessian(theta: FloatArray, loss: GlmLoss, x: FloatArray, y: float) -> FloatArray:
    """Return one record's part ``H_x = f''(x^T theta; y) x x^T``, shape ``(dim, dim)``."""
    second = float(loss.second(np.asarray(x @ theta), np.asarray(y)))
    return np.asarray(second * np.outer(x, x))


@dataclass(frozen=True, eq=False)
class HessianRelease:
    """Release ``H + (Z + Z^T)/sqrt(2)`` with ``Z_ij`` i.i.d. ``N(0, sigma3^2)`` (RW21, Algorithm 6).

    Off-diagonal noise has variance ``sigma3^2``, diagonal noise ``2 sigma3^2``, so that the loss of a pair is exactly
    Gaussian with ``mu = ||H_x||_F / (sqrt(2) sigma3)`` (RW21, Theorem 17 and its proof).

    Parameters
    ----------
    theta : (dim,) array
        The released parameter at which the Hessian is taken.
    lam : float
        Weight of the quadratic regulariser, at least 0.
    sigma3 : float
        Standard deviation of the off-diagonal noise, positive.
    regulariser : Regulariser, optional
        The public ``r`` of the objective.
    diagonal_factor : float
        Standard deviation of the diagonal noise divided by ``sigma3``, in (0, sqrt(2)]; sqrt(2) is Algorithm 6,
        1 is ``analyze_gauss``.
    """

    theta: FloatArray
    loss: GlmLoss
    lam: float
    sigma3: float
    regulariser: Regulariser | None = None
    diagonal_factor: float = math.sqrt(2.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "theta", as_theta(self.theta))
        check_nonnegative("lam", self.lam)
        check_positive("sigma3", self.sigma3)
        if not 0 < self.diagonal_factor <= math.sqrt(2.0):
            raise ValueError(f"diagonal_factor must be in (0, sqrt(2)], got diagonal_factor={self.diagonal_factor}")

    @property
    def name(self) -> str:
        diagonal = "" if self.diagonal_factor == math.sqrt(2.0) else f", diagonal x {self.diagonal_factor:g}"
        return f"Hessian release ({self.loss.name}, sigma3={self.sigma3:g}{diagonal})"

    @property
    def noise_scale(self) -> FloatArray:
        """Standard deviation of each released entry: ``sigma3``, times ``diagonal_factor`` on the diagonal."""
        on_diagonal = np.eye(len(self.theta), dtype=bool)
        return pack_triangle(np.where(on_diagonal, self.diagonal_factor * self.sigma3, self.sigma3))

    def matrix(self, dataset: Dataset) -> FloatArray:
        return hessian_at(self.theta, self.loss, self.lam, self.regulariser, dataset)

    def full_matrices(self, outputs: FloatArray) -> FloatArray:
        """Return outputs as symmetric matrices, shape ``(n_draws, dim, dim)``."""
        dim = len(self.theta)
        return unpack_triangle(check_outputs(outputs, dim * (dim + 1) // 2), dim)

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        return draw_shifted(pack_triangle(self.matrix(dataset)), self.noise_scale, n_draws, rng)

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        """Return the log density of each output w.r.t. Lebesgue measure on upper triangles, shape ``(n_draws,)``."""
        return log_density_shifted(outputs, pack_triangle(self.matrix(dataset)), self.noise_scale)

    def privacy_loss(self, outputs: FloatArray, pair: NeighbouringPair) -> FloatArray:
        return shift_loss(outputs, pack_triangle(self.matrix(pair.first)), self._shift(pair), self.noise_scale)

    def profile(self, pair: NeighbouringPair) -> GaussianProfile:
        """Return the exact law: ``mu = f'' ||x||^2 / (sqrt(2) sigma3)`` for one record under Algorithm 6."""
        loss = self.loss if isinstance(self.loss, ExactLoss) else None
        proof = None if loss is None else lambda: length_of(shift_balls(pair, lambda x, y: self._balls(loss, x, y)))
        return shift_profile(self._shift(pair), self.noise_scale, proof)

    def worst_profile(self, x_bound: float, y_bound: float = 1.0) -> GaussianProfile:
        """Return the law that no added or removed record in the public domain exceeds (RW21, Theorem 17.3)."""
        return GaussianProfile(self.loss.beta * x_bound**2 / (self.diagonal_factor * self.sigma3))

    def _balls(self, loss: ExactLoss, x: FloatArray, y: float) -> list[Ball]:
        curvature = loss.slopes(arb(float(y))).second(predictor_ball(self.theta, x))
        row, sigma, factor = [arb(float(each)) for each in x], arb(self.sigma3), arb(self.diagonal_factor)
        return [
            curvature * row[i] * row[j] / (sigma * factor if i == j else sigma)
            for i in range(len(row))
            for j in range(i, len(row))
        ]

    def _shift(self, pair: NeighbouringPair) -> FloatArray:
        return sum_shift(pair, lambda x, y: pack_triangle(record_hessian(self.theta, self.loss, x, y)))


def analyze_gauss(
    theta: FloatArray, loss: GlmLoss, lam: float, sigma: float, regulariser: Regulariser | None = None
) -> HessianRelease:
    """Return the classical release: the upper triangle with i.i.d. ``N(0, sigma^2)`` noise (RW21, Theorem 17.4).

    Here ``mu = ||Upper(H_x)||_2 / sigma``, at most ``||H_x||_F / sigma``, with equality on a coordinate axis.
    """
    return HessianRelease(theta, loss, lam, sigma, regulariser, diagonal_factor=1.0)


def examples() -> dict[str, Example]:
    """Return the mechanism on a pair where its loss is of the order of 1."""
    theta, labels = np.array([0.4, -0.3]), example_pair("labels")
    return {
        "hessian": Example(HessianRelease(theta, LogisticLoss(), 1.0, 0.2), labels),
        "analyze-gauss": Example(analyze_gauss(theta, LogisticLoss(), 1.0, 0.2), labels),
    }

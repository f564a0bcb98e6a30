"""Releasing the gradient of the objective at an already released parameter (RW21, Algorithm 5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from flint import arb

from ..base import check_nonnegative, check_positive
from ..catalogue import Example, example_pair
from ..data.dataset import Dataset, FloatArray, as_row
from ..data.neighbours import NeighbouringPair
from ..laws.gaussian_profile import GaussianProfile
from ..numerics.balls import Ball
from ..numerics.transcripts import check_outputs
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


def _record_gradient(theta: FloatArray, loss: GlmLoss, x: FloatArray, y: float) -> FloatArray:
    """Return one record's part ``grad l = f'(x^T theta; y) x``, shape ``(dim,)``."""
    return np.asarray(float(loss.first(np.asarray(x @ theta), np.asarray(y))) * x)


@dataclass(frozen=True, eq=False)
class GradientRelease:
    """Release ``J^P = grad J(theta; D) + N(0, sigma2^2 I)`` (RW21, Algorithm 5).

    ``grad J = sum_i f'(x_i^T theta; y_i) x_i + grad r(theta) + lam theta``. The loss of a pair is exactly Gaussian with
    ``mu = ||grad l(theta; z)|| / sigma2``, given ``theta``.

    Parameters
    ----------
    theta : (dim,) array
        The released parameter at which the gradient is taken.
    lam : float
        Weight of the quadratic regulariser, at least 0.
    sigma2 : float
        Standard deviation of each coordinate's noise, positive.
    regulariser : Regulariser, optional
        The public ``r`` of the objective.

    Examples
    --------
    >>> pair, release = example_pair("labels"), GradientRelease(np.array([0.4, -0.3]), LogisticLoss(), 1.0, sigma2=0.6)
    >>> release.profile(pair).mu <= release.worst_profile(x_bound=1.0, y_bound=1.0).mu
    True
    """

    theta: FloatArray
    loss: GlmLoss
    lam: float
    sigma2: float
    regulariser: Regulariser | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "theta", as_theta(self.theta))
        check_nonnegative("lam", self.lam)
        check_positive("sigma2", self.sigma2)

    @property
    def name(self) -> str:
        return f"gradient release ({self.loss.name}, sigma2={self.sigma2:g})"

    @property
    def noise_scale(self) -> FloatArray:
        return np.full(len(self.theta), float(self.sigma2))

    def gradient(self, dataset: Dataset) -> FloatArray:
        check_same_dim(self.theta, dataset.dim)
        objective = PerturbedObjective(dataset, self.loss, self.lam, self.regulariser)
        return np.asarray(objective.gradient(self.theta[None])[0])

    def inner_products(self, outputs: FloatArray, x: FloatArray, y: float) -> FloatArray:
        """Return ``g^P(z) = (J^P)^T grad l(theta; z)`` of each output, shape ``(n_draws,)`` (RW21, Algorithm 5)."""
        row = as_row(x, len(self.theta))
        return np.asarray(check_outputs(outputs, len(row)) @ _record_gradient(self.theta, self.loss, row, y))

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        return draw_shifted(self.gradient(dataset), self.noise_scale, n_draws, rng)

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        return log_density_shifted(outputs, self.gradient(dataset), self.noise_scale)

    def privacy_loss(self, outputs: FloatArray, pair: NeighbouringPair) -> FloatArray:
        return shift_loss(outputs, self.gradient(pair.first), self._shift(pair), self.noise_scale)

    def profile(self, pair: NeighbouringPair) -> GaussianProfile:
        """Return the exact law: ``mu = |f'| ||x|| / sigma2`` for one added or removed record."""
        loss = self.loss if isinstance(self.loss, ExactLoss) else None
        proof = None if loss is None else lambda: length_of(shift_balls(pair, lambda x, y: self._balls(loss, x, y)))
        return shift_profile(self._shift(pair), self.noise_scale, proof)

    def worst_profile(self, x_bound: float, y_bound: float) -> GaussianProfile:
        """Return the law that no added or removed record in the public domain exceeds: ``mu = xi / sigma2``."""
        return GaussianProfile(self.loss.xi(y_bound, x_bound) / self.sigma2)

    def _balls(self, loss: ExactLoss, x: FloatArray, y: float) -> list[Ball]:
        slope = loss.slopes(arb(float(y))).first(predictor_ball(self.theta, x))
        return [slope * arb(float(each)) / arb(self.sigma2) for each in x]

    def _shift(self, pair: NeighbouringPair) -> FloatArray:
        return sum_shift(pair, lambda x, y: _record_gradient(self.theta, self.loss, x, y))


def examples() -> dict[str, Example]:
    """Return the mechanism on a pair where its loss is of the order of 1."""
    theta = np.array([0.4, -0.3])
    return {"gradient": Example(GradientRelease(theta, LogisticLoss(), 1.0, 0.6), example_pair("labels"))}

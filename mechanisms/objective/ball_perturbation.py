"""Objective perturbation of least squares over a public ball (Kifer, Smith and Thakurta 2012; W18's ObjPert)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..base import check_draws, check_positive
from ..capabilities import Bound, Domain
from ..data.dataset import Dataset, FloatArray
from ..offers import LINEAR, Offer, Offered, Promise, with_least_noise
from .objective_calibration import variance_t5
from .objective_worst_case import objective_domination, objective_replaced

#: Radius of the parameter ball that is used unless another is given (W18: "a pre-defined bound", without its value).
RADIUS = 1.0


def ball_minimiser(dataset: Dataset, lam: float, linear: FloatArray, radius: float) -> FloatArray:
    """Return ``argmin |y - X theta|^2/2 + lam |theta|^2/2 + b^T theta`` over ``|theta| <= radius``, for each row ``b``.

    ``theta = (H + nu I)^{-1} (X^T y - b)`` with the multiplier ``nu >= 0`` found by bisection, all rows at once.
    """
    values, vectors = np.linalg.eigh(dataset.X.T @ dataset.X)
    values = np.maximum(values, 0.0) + lam
    moment = (dataset.X.T @ dataset.y - linear) @ vectors
    low, high = np.zeros(len(linear)), np.linalg.norm(moment, axis=1) / radius
    inside = np.linalg.norm(moment / values, axis=1) <= radius
    for _ in range(100):
        middle = 0.5 * (low + high)
        outside = np.linalg.norm(moment / (values + middle[:, None]), axis=1) > radius
        low, high = np.where(outside, middle, low), np.where(outside, high, middle)
    multiplier = np.where(inside, 0.0, high)
    return np.asarray((moment / (values + multiplier[:, None])) @ vectors.T)


@dataclass(frozen=True)
class BallObjectivePerturbation:
    """Release ``argmin |y - X theta|^2/2 + lam |theta|^2/2 + b^T theta`` over ``|theta| <= radius``, ``b`` normal.

    Over the ball the gradient of the squared loss is bounded, which it is not over all of ``R^dim``: without it
    nothing is promised. The output has a density inside the ball and a density on its surface.

    Parameters
    ----------
    sigma : float
        Standard deviation of each coordinate of ``b``, in the units of the gradient; positive.
    lam : float
        Positive.
    radius : float
        Of the public ball; positive.

    Examples
    --------
    >>> data = Dataset(np.array([[0.6], [-0.8]]), np.array([1.0, -1.0]), x_bound=1.0, y_bound=1.0)
    >>> bool(abs(BallObjectivePerturbation(2.0, 0.1).draw(data, 9, rng=np.random.default_rng(1))).max() <= 1)
    True
    """

    sigma: float
    lam: float
    radius: float = RADIUS

    def __post_init__(self) -> None:
        for name in ("sigma", "lam", "radius"):
            object.__setattr__(self, name, check_positive(name, getattr(self, name)))

    @classmethod
    def published(
        cls, epsilon: float, delta: float, *, x_bound: float, y_bound: float, radius: float = RADIUS
    ) -> BallObjectivePerturbation:
        """Return Kifer et al.'s constants as RW21's Theorem 5 has them: the root of its scale, ``lam = 2 B^2/epsilon``.

        ``B (Y + B radius)`` bounds the gradient of one record's loss over the ball.
        """
        xi = x_bound * (y_bound + x_bound * radius)
        return cls(math.sqrt(variance_t5(xi, epsilon, delta)), 2 * x_bound**2 / epsilon, radius)

    @property
    def name(self) -> str:
        return f"objective perturbation (squared, ball of radius {self.radius:g}, sigma={self.sigma:g})"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        noise = self.sigma * rng.standard_normal((check_draws(n_draws), dataset.dim))
        return ball_minimiser(dataset, self.lam, noise, self.radius)

    def gradient_bound(self, domain: Domain) -> float:
        """Return the largest norm of the gradient of one record's loss over the ball."""
        return domain.x_bound * (domain.y_bound + domain.x_bound * self.radius)

    def worst_case(self, domain: Domain) -> Bound:
        shift = math.log1p(domain.x_bound**2 / self.lam)
        mu = self.gradient_bound(domain) / self.sigma
        return Bound(
            "RW21-T5, corrected, over a ball (docs/derivations/compare.md)",
            "The privacy loss is at most log(1 + B^2/lam) plus the positive part of that of normal noise, or twice the "
            "tail of that noise where it is more; the multiplier of the ball is a further output, which costs nothing.",
            lambda epsilon, _: objective_domination(mu, shift, epsilon, two_sided=True),
            replaced=lambda epsilon, _: objective_replaced(mu, shift, epsilon),
        )

    def record_bound(self, domain: Domain, length: float) -> Bound:
        return self.worst_case(Domain(domain.dim, min(domain.x_bound, length), domain.y_bound, domain.n_public))


def _published(_: str, domain: Domain, promise: Promise) -> Offered:
    one = promise.for_one
    return Offered(
        BallObjectivePerturbation.published(one.epsilon, one.delta, x_bound=domain.x_bound, y_bound=domain.y_bound)
    )


def _exact(_: str, domain: Domain, promise: Promise) -> Offered:
    lam = 2 * domain.x_bound**2 / promise.for_one.epsilon
    start = domain.x_bound * domain.y_bound / promise.epsilon
    return with_least_noise(lambda sigma: BallObjectivePerturbation(sigma, lam), domain, promise, start)


def offers() -> Sequence[Offer]:
    """Return RW21's Theorem 5, corrected, over the ball, and the least noise proved with its ridge."""
    return (
        Offer("ObjPert", "published", _published, LINEAR, "RW21-T5, root of the printed scale; ball of radius 1"),
        Offer("ObjPert", "exact", _exact, LINEAR, "docs/derivations/compare.md, section 2; lam as published"),
    )

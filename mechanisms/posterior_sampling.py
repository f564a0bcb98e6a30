"""One-posterior sampling (OPS) for linear and ridge regression (W19-T4.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flint import arb

from .balls import Ball, enclose
from .base import Bracket, Direction, PrivacyProfile, check_draws, check_nonnegative, check_positive
from .coloured_noise import coloured
from .data import Dataset, FloatArray
from .mills import HALF_LOG_2PI
from .neighbours import NeighbouringPair, Relation
from .profile_tools import SwappedProfile, epsilon_bracket
from .quadratic_profile import QuadraticProfile, quadratic_balls
from .ridge import RidgeFit, ridge_fit, target_balls


@dataclass(frozen=True)
class PosteriorSampling:
    """Releases one draw from ``p(theta) ~ exp(-gamma/2 (||y - X theta||^2 + lam ||theta||^2))`` (W19-T4.1).

    That is ``N(theta_hat, H^{-1}/gamma)`` with ``H = X^T X + lam I``: output perturbation with the data's own Fisher
    information as precision (W19-S4.A3).

    Parameters
    ----------
    gamma : float
        Inverse temperature; finite and positive.
    lam : float
        Regularisation; finite, at least 0. With 0, ``X^T X`` must be positive definite on both data sets.
    """

    gamma: float
    lam: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", check_positive("gamma", self.gamma))
        object.__setattr__(self, "lam", check_nonnegative("lam", self.lam))

    @property
    def name(self) -> str:
        """Short name for reports."""
        return f"one-posterior sampling (gamma={self.gamma:g}, lam={self.lam:g})"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return independent draws, shape ``(n_draws, dim)``.

        Raises
        ------
        ValueError
            If ``X^T X + lam I`` is singular.
        """
        fit = ridge_fit(dataset, self.lam)
        return coloured(fit.theta, fit.factor, self.gamma, rng.standard_normal((check_draws(n_draws), dataset.dim)))

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        """Return the log Lebesgue density of each output, shape ``(n_draws,)``."""
        fit = ridge_fit(dataset, self.lam)
        quadratic = (((np.atleast_2d(outputs) - fit.theta) @ fit.factor) ** 2).sum(axis=1)
        constant = 0.5 * (fit.log_det + dataset.dim * math.log(self.gamma)) - dataset.dim * HALF_LOG_2PI
        return np.asarray(constant - 0.5 * self.gamma * quadratic)

    def target(self, pair: NeighbouringPair) -> tuple[float, float]:
        """Return out-of-sample leverage and scaled residual ``sqrt(gamma) (y - x^T theta_hat)`` of the target.

        Raises
        ------
        UnsupportedRelation
            For REPLACE.
        """
        return self._target(pair)[1:]

    def _target(self, pair: NeighbouringPair) -> tuple[RidgeFit, float, float]:
        pair.require(Relation.ADD, Relation.REMOVE)
        fit = ridge_fit(_without_target(pair), self.lam)
        return fit, fit.leverage(pair.x), math.sqrt(self.gamma) * fit.residual(pair.x, pair.y)

    def privacy_loss(self, outputs: FloatArray, pair: NeighbouringPair) -> FloatArray:
        """Return ``log p_D - log p_D'`` of each output, shape ``(n_draws,)``."""
        if pair.relation is Relation.REPLACE:
            return np.asarray(self.log_density(outputs, pair.first) - self.log_density(outputs, pair.second))
        fit, leverage, scaled = self._target(pair)
        # W19-T4.1, proof: -log(1 + mu)/2 + (W^2 - a^2/(1 + mu))/2 for the order without, with the target, where
        # W^2 - a^2 = moved (moved + 2 a) keeps the digits of a loss that is small beside a^2
        moved = -math.sqrt(self.gamma) * ((np.atleast_2d(outputs) - fit.theta) @ pair.x)
        constant = scaled**2 * leverage / (1 + leverage) - math.log1p(leverage)
        return np.asarray(pair.sign * 0.5 * (constant + moved * (moved + 2 * scaled)))

    def profile(self, pair: NeighbouringPair) -> PrivacyProfile:
        """Return the exact law of the loss for ADD and REMOVE.

        Raises
        ------
        UnsupportedRelation
            For REPLACE.
        """
        inner = QuadraticProfile(*self.target(pair))
        return inner if pair.relation is Relation.ADD else SwappedProfile(inner)

    def delta_bracket(self, pair: NeighbouringPair, epsilon: float, direction: Direction) -> Bracket:
        """Return an enclosure of ``delta(epsilon)`` that is proved from the data on.

        Unlike ``profile(pair).delta_bracket``, which starts from a leverage and a residual rounded to float64, the
        linear algebra is done in ball arithmetic too. ADD and REMOVE.
        """
        return self._proved(pair, epsilon, direction, 0)

    def tail_bracket(self, pair: NeighbouringPair, epsilon: float, direction: Direction) -> Bracket:
        """Return an enclosure of ``P(L > epsilon)`` that is proved from the data on; see :meth:`delta_bracket`."""
        return self._proved(pair, epsilon, direction, 1)

    def epsilon_bracket(self, pair: NeighbouringPair, delta: float, direction: Direction) -> Bracket:
        """Return an enclosure, proved from the data on, of the smallest ``epsilon >= 0`` at ``delta``."""
        epsilon = self.profile(pair).epsilon_at(delta, direction)
        return epsilon_bracket(lambda e: self.delta_bracket(pair, e, direction), delta, epsilon)

    def _proved(self, pair: NeighbouringPair, epsilon: float, direction: Direction, part: int) -> Bracket:
        pair.require(Relation.ADD, Relation.REMOVE)
        smaller = _without_target(pair)
        ridge_fit(smaller, self.lam)  # refuses a singular matrix in one line, before balls do at length
        towards = direction if pair.relation is Relation.ADD else direction.opposite

        def evaluate() -> Ball:
            leverage, residual = target_balls(smaller, pair.x, pair.y, self.lam)
            return quadratic_balls(arb(epsilon), leverage, arb(self.gamma).sqrt() * residual, towards)[part]

        return enclose(evaluate, low=0.0, high=1.0)


def _without_target(pair: NeighbouringPair) -> Dataset:
    return pair.first if pair.relation is Relation.ADD else pair.second

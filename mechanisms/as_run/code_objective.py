"""Objective perturbation as W18's experiments ran it: a second division by epsilon, and half of the solution."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..base import check_positive
from ..data.dataset import Dataset, FloatArray
from ..objective.ball_perturbation import BallObjectivePerturbation
from .code_statistics import AsRunPromise


@dataclass(frozen=True)
class AsRunObjPert(AsRunPromise):
    """Objective perturbation whose solver minimises ``|R theta - v/2|`` over the unit ball, ``H = R^T R``; unit bounds.

    That is half of the minimiser ``phi`` over the ball of radius 2, so that the gradient of a record's loss is bounded
    by ``|y| + |phi| <= 3`` there; the noise is made for a bound of 2.

    Parameters
    ----------
    epsilon : float
        Positive.
    delta : float
        In (0, 1); the code has 1e-6.
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

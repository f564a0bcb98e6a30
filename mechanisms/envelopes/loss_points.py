"""Points with a known density and the privacy loss at each of them: what importance sampling needs of a mechanism."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..base import Direction, WhiteBox
from ..capabilities import NoiseMap
from ..data.dataset import Dataset, FloatArray
from ..data.neighbours import NeighbouringPair
from ..numerics.mills import HALF_LOG_2PI
from ..reference import is_reference


@dataclass(frozen=True)
class LossPoints:
    """A random point in ``R^k`` and the privacy loss that it decides; all arrays of points have shape ``(n, k)``.

    Attributes
    ----------
    name : str
        Short name for reports.
    draw : callable
        ``draw(n, rng)`` returns independent points.
    log_density : callable
        Their normalised log density with respect to Lebesgue measure, shape ``(n,)``; ``-inf`` outside the support.
    losses : callable
        The loss at each point, natural log, shape ``(n,)``, signed for the direction that is drawn from.
    """

    name: str
    draw: Callable[[int, np.random.Generator], FloatArray]
    log_density: Callable[[FloatArray], FloatArray]
    losses: Callable[[FloatArray], FloatArray]


def noise_points(mechanism: NoiseMap, pair: NeighbouringPair, direction: Direction) -> LossPoints:
    """Return the standard normal noise of a mechanism, and the loss at the output that it leads to.

    For objective perturbation ``sigma z`` is the linear term and one loss is one solve; for the two others ``z`` is
    the noise before it is coloured.

    Parameters
    ----------
    mechanism : NoiseMap
    pair : NeighbouringPair
    direction : Direction
        The data set drawn from.

    Returns
    -------
    LossPoints

    Raises
    ------
    TypeError
        For any other mechanism; ``output_points`` takes whatever has a density.
    """
    if not (isinstance(mechanism, NoiseMap) and is_reference(mechanism)):
        raise TypeError(f"mechanism must be one of this package's with a known noise, got {type(mechanism).__name__}")
    dataset, sign = _drawn(pair, direction)
    outputs = mechanism.noise_map(dataset)

    def draw(n_draws: int, rng: np.random.Generator) -> FloatArray:
        return rng.standard_normal((n_draws, dataset.dim))

    def losses(points: FloatArray) -> FloatArray:
        return sign * mechanism.privacy_loss(outputs(points), pair)

    return LossPoints(f"noise of {mechanism.name}", draw, _log_normal, losses)


def output_points(mechanism: WhiteBox, pair: NeighbouringPair, direction: Direction) -> LossPoints:
    """Return the outputs of any mechanism that has a density with respect to Lebesgue measure on ``R^k``.

    Parameters
    ----------
    mechanism : WhiteBox
    pair : NeighbouringPair
    direction : Direction
        The data set drawn from.

    Returns
    -------
    LossPoints
    """
    dataset, sign = _drawn(pair, direction)

    def draw(n_draws: int, rng: np.random.Generator) -> FloatArray:
        return mechanism.draw(dataset, n_draws, rng=rng)

    def losses(points: FloatArray) -> FloatArray:
        return sign * mechanism.privacy_loss(points, pair)

    return LossPoints(mechanism.name, draw, lambda points: mechanism.log_density(points, dataset), losses)


def _drawn(pair: NeighbouringPair, direction: Direction) -> tuple[Dataset, float]:
    return (pair.first, 1.0) if direction is Direction.FORWARD else (pair.second, -1.0)


def _log_normal(points: FloatArray) -> FloatArray:
    return np.asarray(-0.5 * np.square(points).sum(axis=1) - points.shape[1] * HALF_LOG_2PI)

"""Adding independent normal noise to a statistic: draws, densities, losses and exact profiles, shared by the releases.

For outputs ``o = q(D) + scale * N(0, I)`` and ``shift = q(D') - q(D)``, the loss ``log p_D - log p_D'`` is linear in
``o`` and its law is Gaussian with ``mu = ||shift / scale||`` (RW21, Theorem 22; W19-L2.4).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from flint import arb

from ..base import check_draws
from ..data.dataset import FloatArray
from ..data.neighbours import NeighbouringPair, Relation
from ..laws.gaussian_profile import GaussianProfile
from ..numerics.balls import Ball, enclose, square_root
from ..numerics.transcripts import check_outputs, normal_log_density

#: A record's contribution to a sum, from its features and response.
Contribution = Callable[[FloatArray, float], FloatArray]
#: The same as balls, at the flint context's precision.
BallContribution = Callable[[FloatArray, float], Sequence[Ball]]


def draw_shifted(mean: FloatArray, scale: FloatArray, n_draws: int, rng: np.random.Generator) -> FloatArray:
    """Return ``mean + scale * N(0, I)``, shape ``(n_draws, k)``."""
    return np.asarray(mean + scale * rng.standard_normal((check_draws(n_draws), len(mean))))


def log_density_shifted(outputs: FloatArray, mean: FloatArray, scale: FloatArray) -> FloatArray:
    """Return the log density (natural log, Lebesgue measure) of each output, shape ``(n_draws,)``."""
    return normal_log_density(check_outputs(outputs, len(mean)), mean, scale)


def shift_loss(outputs: FloatArray, mean: FloatArray, shift: FloatArray, scale: FloatArray) -> FloatArray:
    """Return ``log p_D - log p_D'`` of each output, shape ``(n_draws,)``: ``||v||^2/2 - u^T v`` (RW21, Theorem 22).

    ``u = (o - q(D)) / scale`` and ``v = shift / scale``; nothing of the size of the statistic cancels.
    """
    v = shift / scale
    return np.asarray(0.5 * (v @ v) - ((check_outputs(outputs, len(mean)) - mean) / scale) @ v)


def shift_profile(shift: FloatArray, scale: FloatArray, distance: Callable[[], Ball] | None = None) -> GaussianProfile:
    """Return the exact law of that loss, the same in both directions.

    ``distance`` is ``||shift / scale||`` at the flint context's precision, which proves how far rounding may have moved
    it. Without it each entry of ``shift`` is taken as right to a few units in the last place.
    """
    mu = float(np.linalg.norm(shift / scale))
    if distance is None:
        return GaussianProfile(mu, mu * (len(shift) + 16) * 2.0**-53)
    return GaussianProfile.around(mu, enclose(distance, low=0.0))


def shift_balls(pair: NeighbouringPair, contribution: BallContribution) -> list[Ball]:
    """Return ``q(D') - q(D)``, up to its sign, for a statistic that sums over the records."""
    moved = list(contribution(pair.x, pair.y))
    if pair.relation is not Relation.REPLACE:
        return moved
    assert pair.index is not None
    old = contribution(pair.dataset.X[pair.index], float(pair.dataset.y[pair.index]))
    return [new - before for new, before in zip(moved, old, strict=True)]


def length_of(entries: Sequence[Ball]) -> Ball:
    """Return the Euclidean length of balls."""
    return square_root(sum((entry * entry for entry in entries), arb(0)))


def predictor_ball(theta: FloatArray, x: FloatArray) -> Ball:
    """Return ``x^T theta`` at the flint context's precision."""
    return sum((arb(float(t)) * arb(float(v)) for t, v in zip(theta, x, strict=True)), arb(0))


def sum_shift(pair: NeighbouringPair, contribution: Contribution) -> FloatArray:
    """Return ``q(D') - q(D)`` for a statistic that sums ``contribution(x, y)`` over the records."""
    if pair.relation is Relation.ADD:
        return contribution(pair.x, pair.y)
    if pair.relation is Relation.REMOVE:
        return -contribution(pair.x, pair.y)
    assert pair.index is not None
    old = contribution(pair.dataset.X[pair.index], float(pair.dataset.y[pair.index]))
    return np.asarray(contribution(pair.x, pair.y) - old)


def as_theta(theta: FloatArray) -> FloatArray:
    """Return a released parameter as a read-only finite vector, shape ``(dim,)``."""
    vector = np.array(theta, dtype=np.float64)
    if vector.ndim != 1 or vector.size == 0 or not np.isfinite(vector).all():
        raise ValueError(f"theta must be a finite vector of shape (dim,), got theta.shape={vector.shape}")
    vector.setflags(write=False)
    return vector


def check_same_dim(theta: FloatArray, dim: int) -> None:
    """Refuse a data set whose dimension is not the one of the released parameter."""
    if len(theta) != dim:
        raise ValueError(f"dataset must have dim={len(theta)} like theta, got dim={dim}")

"""Envelopes of rare tails for mechanisms whose loss depends on one normal variable: Gaussian output and OPS.

Both add a linear image of a standard normal vector, and the loss is a linear (Gaussian output) or quadratic (OPS)
function of its component ``t`` along one known direction. The event ``{L > epsilon}`` is then a union of at most two
intervals of ``t``. Derivations: docs/derivations/rare_events.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import logsumexp

from ..base import Direction
from ..data.dataset import FloatArray
from ..data.neighbours import NeighbouringPair, Relation
from ..linear.ridge import ridge_fit
from ..numerics.spectra import coloured
from .tail_envelopes import Envelope, log_normal_mass, truncated_normal

if TYPE_CHECKING:
    from ..linear.gaussian_output import GaussianOutput
    from ..linear.posterior_sampling import PosteriorSampling

#: Edges are moved outwards by this amount, relative to ``1 + |edge|``: far more than rounding can do.
SLACK = 1e-9

#: What rounding can do to ``c -+ 2 epsilon``, relative to its terms; it matters next to the largest loss.
ROUNDING = 1e-14


@dataclass(frozen=True)
class NormalIntervals:
    """A union of disjoint intervals of a standard normal variable, with its probability."""

    ends: tuple[tuple[float, float], ...]

    @property
    def log_masses(self) -> FloatArray:
        return log_normal_mass(*np.array(self.ends).T)

    @property
    def log_mass(self) -> float:
        return min(0.0, float(logsumexp(self.log_masses)))

    def draw(self, n_draws: int, rng: np.random.Generator) -> FloatArray:
        """Return independent standard normal values given the union, shape ``(n_draws,)``."""
        which = rng.choice(len(self.ends), size=n_draws, p=np.exp(self.log_masses - self.log_mass))
        low, high = np.array(self.ends)[which].T
        return truncated_normal(low, high, rng.random(n_draws))


def gaussian_envelope(
    mechanism: GaussianOutput, pair: NeighbouringPair, direction: Direction, epsilon: float
) -> Envelope:
    """Return an envelope of ``{L > epsilon}`` for Gaussian output perturbation; any relation.

    ``L = mu^2/2 + mu t`` with ``t`` standard normal (W19-L2.4), so the event is one half-line.

    Parameters
    ----------
    mechanism : GaussianOutput
    pair : NeighbouringPair
    direction : Direction
        The data set drawn from.
    epsilon : float
        The threshold (natural log).

    Returns
    -------
    Envelope

    Raises
    ------
    ValueError
        If the two outputs have the same law.
    """
    shift = mechanism.estimator.shift(pair) @ mechanism.factor * math.sqrt(mechanism.gamma)
    mu = float(np.linalg.norm(shift))
    if mu == 0:
        raise ValueError("x must move the estimate: the privacy loss is zero then")
    # the noise that raises the loss points away from the other estimate
    towards = (-shift if direction is Direction.FORWARD else shift) / mu
    drawn = pair.first if direction is Direction.FORWARD else pair.second
    centre = mechanism.estimator(drawn)

    def outputs(noise: FloatArray) -> FloatArray:
        return coloured(centre, mechanism.factor, mechanism.gamma, noise)

    return _envelope(mechanism, pair, direction, epsilon, [((epsilon - mu**2 / 2) / mu, math.inf)], towards, outputs)


def posterior_envelope(
    mechanism: PosteriorSampling, pair: NeighbouringPair, direction: Direction, epsilon: float
) -> Envelope:
    """Return an envelope of ``{L > epsilon}`` for one-posterior sampling; ADD and REMOVE.

    With the residual at the output ``W = sqrt(gamma) (y - x^T theta)`` and ``c = log(1 + mu) + a^2/(1 + mu)``, the loss
    is ``(W^2 - c)/2`` when drawn without the target and ``(c - W^2)/2`` when drawn with it (W19-T4.1, proof).

    Parameters
    ----------
    mechanism : PosteriorSampling
    pair, direction, epsilon
        As in ``gaussian_envelope``.

    Returns
    -------
    Envelope

    Raises
    ------
    UnsupportedRelation
        For REPLACE.
    ValueError
        If the loss cannot exceed ``epsilon``, or the target's features are zero.
    """
    leverage, scaled = mechanism.target(pair)
    if leverage == 0:
        raise ValueError("x must not be zero: the privacy loss is zero then")
    inside = (pair.relation is Relation.ADD) == (direction is Direction.BACKWARD)
    drawn = pair.first if direction is Direction.FORWARD else pair.second
    fit = ridge_fit(drawn, mechanism.lam)
    along = solve_triangular(fit.factor, pair.x, lower=True)  # x^T theta = x^T theta_hat + along^T noise / sqrt(gamma)
    slope = float(np.linalg.norm(along))
    residual = math.sqrt(mechanism.gamma) * fit.residual(pair.x, pair.y)  # W = residual - slope t
    c = math.log1p(leverage) + scaled**2 / (1 + leverage)
    room = ROUNDING * (c + 2 * abs(epsilon))
    square = c - 2 * epsilon + room if inside else c + 2 * epsilon - room
    if square < 0:
        if inside:
            raise ValueError(f"epsilon must be below the largest loss {c / 2:.6g}, got epsilon={epsilon}")
        ends = [(-math.inf, math.inf)]
    else:
        near, far = sorted(((residual - math.sqrt(square)) / slope, (residual + math.sqrt(square)) / slope))
        ends = [(near, far)] if inside else [(-math.inf, near), (far, math.inf)]

    def outputs(noise: FloatArray) -> FloatArray:
        return coloured(fit.theta, fit.factor, mechanism.gamma, noise)

    return _envelope(mechanism, pair, direction, epsilon, ends, along / slope, outputs)


def _envelope(
    mechanism: GaussianOutput | PosteriorSampling,
    pair: NeighbouringPair,
    direction: Direction,
    epsilon: float,
    ends: Sequence[tuple[float, float]],
    towards: FloatArray,
    outputs: Callable[[FloatArray], FloatArray],
) -> Envelope:
    """Return the envelope "the noise along the unit vector ``towards`` lies in one of the intervals"."""
    wider = [(low - SLACK * (1 + abs(low)), high + SLACK * (1 + abs(high))) for low, high in ends]
    if len(wider) == 2 and wider[0][1] >= wider[1][0]:
        wider = [(-math.inf, math.inf)]
    intervals = NormalIntervals(tuple(wider))

    def losses(n_draws: int, rng: np.random.Generator) -> FloatArray:
        noise = rng.standard_normal((n_draws, towards.size))
        noise += (intervals.draw(n_draws, rng) - noise @ towards)[:, None] * towards
        loss = mechanism.privacy_loss(outputs(noise), pair)
        return loss if direction is Direction.FORWARD else -loss

    return Envelope(epsilon, intervals.log_mass, losses)

"""Events that hold a rare tail of the privacy loss, with known probability: what rare-event sampling draws inside of.

Derivations: docs/derivations/rare_events.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, log_ndtr, logsumexp, ndtri_exp

from .base import Direction
from .data import Dataset, FloatArray
from .losses import LogisticLoss
from .neighbours import NeighbouringPair, Relation
from .objective_perturbation import ObjectivePerturbation

#: Shells of the norm of the remaining noise, by powers of ten of the chance to lie beyond them.
SHELLS = tuple(10.0 ** -(0.25 * k) for k in range(1, 61))

#: Radii (largest move of a linear predictor) for which the curvature is bounded.
RADII = tuple(np.geomspace(0.05, 8.0, 40).tolist())

#: Grid of the noise component that is scanned, in standard deviations.
T_STEP, T_STEPS = 0.02, 1000

#: Stands for a leverage without bound (lam = 0).
HUGE = 1e300

#: Slopes at which a supremum over the slope is evaluated; the gaps are covered by a Lipschitz constant.
SLOPES = 200

#: Edges are moved to the safe side by this relative amount, far more than rounding can do.
SLACK = 1e-9


@dataclass(frozen=True)
class Envelope:
    """An event E that contains ``{L > epsilon}``, with known probability.

    Attributes
    ----------
    epsilon : float
        The threshold (natural log).
    log_mass : float
        ``log P(E)``, exact up to rounding.
    losses : callable
        ``losses(n, rng)`` returns ``n`` independent privacy losses given E, shape ``(n,)``.
    """

    epsilon: float
    log_mass: float
    losses: Callable[[int, np.random.Generator], FloatArray]

    def __post_init__(self) -> None:
        if not self.log_mass <= 0:
            raise ValueError(f"log_mass must be at most 0, got log_mass={self.log_mass}")


@dataclass(frozen=True)
class _Bounds:
    """Proved bounds on the loss of logistic objective perturbation for one data set, target and direction.

    The noise is ``sigma (t x/||x|| + w)`` up to a sign, with ``w`` orthogonal to ``x`` and ``t`` standard normal,
    signed so that the loss grows with it; ``a = ||x|| / sigma``. The loss is at most ``F a t + F^2 a^2/2`` with the
    slope ``F = |f'|``, plus ``log(1 + F (1 - F) mu)`` when the target is ``inside`` the data drawn from.

    The arrays belong to a grid of radii ``r``: while no predictor moves by more than ``r`` from the noise-free
    minimiser, the mean Hessian on the way lies between ``low(r)`` and ``high(r)``, and the last one above ``end(r)``.
    """

    a: float
    sigma: float
    inside: bool
    margin: float  # y x^T theta_hat
    leverage_anywhere: float  # ||x||^2 / lam
    radii: FloatArray
    reach: FloatArray  # max_i sqrt(x_i^T low^-1 x_i)
    leverage: FloatArray  # x^T low^-1 x
    leverage_least: FloatArray  # x^T high^-1 x
    leverage_end: FloatArray  # x^T end^-1 x
    smallest: FloatArray  # smallest eigenvalue of low
    skew: FloatArray  # (k - 1)/(k + 1), k the ratio of the extreme eigenvalues (Wielandt)

    def largest_loss(self, t: FloatArray, slope: FloatArray, leverage: FloatArray) -> FloatArray:
        """Return the supremum of the loss over slopes in ``[0, slope]``, at ``t >= 0``; arguments broadcast."""
        t, slope, leverage = np.broadcast_arrays(t, slope, leverage)
        ends = slope * self.a * t + 0.5 * (slope * self.a) ** 2
        if not self.inside:
            return ends
        best = np.zeros(t.shape)
        for share in np.linspace(0.0, 1.0, SLOPES + 1):
            f = share * slope
            best = np.maximum(best, f * self.a * t + 0.5 * (f * self.a) ** 2 + np.log1p(f * (1 - f) * leverage))
        return best + 0.5 / SLOPES * (self.a * t + self.a**2 + leverage)  # a Lipschitz constant covers the gaps

    def edge_anywhere(self, epsilon: float) -> float:
        """Return the best ``t`` up to which the loss cannot exceed ``epsilon`` for any output (-inf if none)."""

        def exceeds(t: float) -> bool:
            return bool(self.largest_loss(np.array(t), np.array(1.0), np.array(self.leverage_anywhere)) > epsilon)

        if exceeds(0.0):
            return -math.inf
        low, high = 0.0, 1.0
        while not exceeds(high):
            low, high = high, 2 * high
        for _ in range(40):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if exceeds(middle) else (middle, high)
        return low

    def edge_near(self, epsilon: float, start: float, radius: float) -> float:
        """Return the best ``t >= start`` up to which ``||w|| <= radius`` keeps the loss at most ``epsilon``."""
        left: FloatArray = start + T_STEP * np.arange(T_STEPS, dtype=np.float64)[:, None]
        right: FloatArray = left + T_STEP
        across = self.sigma * radius / np.sqrt(self.smallest)
        whole = np.hypot(across, self.sigma * right / np.sqrt(self.smallest))
        stays = self.reach * whole < self.radii
        sideways = self.skew * np.sqrt(self.leverage) * across
        if self.inside:  # the noise that raises the loss moves the target's margin up
            moved = sideways - self.leverage_least * left / self.a
        else:
            moved = np.minimum(sideways + self.leverage * right / self.a, np.sqrt(self.leverage) * whole)
        slope: FloatArray = np.where(stays, expit(moved - self.margin), 1.0).min(axis=1)
        mu = self.leverage_end / np.maximum(1 - 0.25 * self.leverage_end, 1e-12)  # without the target, from with it
        leverage: FloatArray = np.minimum(np.where(stays, mu, np.inf).min(axis=1), self.leverage_anywhere)
        passed = self.largest_loss(right[:, 0], slope, leverage) > epsilon
        return float(left[np.argmax(passed), 0] if passed.any() else right[-1, 0])


def logistic_envelope(
    mechanism: ObjectivePerturbation, pair: NeighbouringPair, direction: Direction, epsilon: float
) -> Envelope:
    """Return an envelope of ``{L > epsilon}`` for logistic objective perturbation.

    The component of the noise along the target's features exceeds an edge that depends on the norm of the rest.

    Parameters
    ----------
    mechanism : ObjectivePerturbation
        With ``LogisticLoss`` and no further regulariser.
    pair : NeighbouringPair
        ADD or REMOVE; the target's features must not be zero.
    epsilon : float
        Where no useful half-line is proved the envelope is everything (``log_mass = 0``).
    """
    pair.require(Relation.ADD, Relation.REMOVE)
    if not isinstance(mechanism.loss, LogisticLoss) or mechanism.regulariser is not None:
        raise ValueError(f"mechanism must have the logistic loss and no regulariser, got {mechanism.name}")
    norm = float(np.linalg.norm(pair.x))
    if norm == 0:
        raise ValueError("x must not be zero: the privacy loss is zero then")
    drawn = pair.first if direction is Direction.FORWARD else pair.second
    inside = (pair.relation is Relation.ADD) == (direction is Direction.BACKWARD)
    shells = _shells(_bounds(mechanism, drawn, pair, inside), epsilon, drawn.dim)
    # f' has the sign of -y; the loss is -f' x^T b / sigma^2 + ... without the target, f' x^T b / sigma^2 + ... with it
    towards = (-pair.y if inside else pair.y) * pair.x / norm

    def losses(n_draws: int, rng: np.random.Generator) -> FloatArray:
        noise = mechanism.sigma * shells.draw(towards, n_draws, rng)
        loss = mechanism.privacy_loss(mechanism.solve(drawn, noise), pair)
        return loss if direction is Direction.FORWARD else -loss

    return Envelope(epsilon, shells.log_mass, losses)


@dataclass(frozen=True)
class _Shells:
    """The event that ``t > edge_k`` when the norm of the remaining noise lies in shell k, for standard normal noise."""

    beyond: FloatArray  # P(norm > inner radius) of each shell, from 1 downwards
    edges: FloatArray

    @property
    def log_masses(self) -> FloatArray:
        with np.errstate(divide="ignore"):  # a shell without mass (one dimension)
            return np.asarray(np.log(self.beyond - np.append(self.beyond[1:], 0.0)) + log_ndtr(-self.edges))

    @property
    def log_mass(self) -> float:
        return min(0.0, float(logsumexp(self.log_masses)))

    def draw(self, towards: FloatArray, n_draws: int, rng: np.random.Generator) -> FloatArray:
        """Return standard normal vectors given the event, shape ``(n_draws, dim)``; ``towards`` is a unit vector."""
        from scipy.stats import chi2

        shell = rng.choice(self.edges.size, size=n_draws, p=np.exp(self.log_masses - self.log_mass))
        noise = rng.standard_normal((n_draws, towards.size))
        noise -= (noise @ towards)[:, None] * towards
        if towards.size > 1:
            outer = np.append(self.beyond[1:], 0.0)[shell]
            tail = outer + (self.beyond[shell] - outer) * (1 - rng.random(n_draws))
            norm = np.sqrt(chi2.isf(tail, towards.size - 1))
            noise *= (norm / np.sqrt(np.square(noise).sum(axis=1)))[:, None]
        along = -ndtri_exp(log_ndtr(-self.edges[shell]) + np.log1p(-rng.random(n_draws)))
        return np.asarray(noise + along[:, None] * towards)


def _shells(bounds: _Bounds, epsilon: float, dim: int) -> _Shells:
    """Return the proved edge of each shell."""
    from scipy.stats import chi2

    anywhere = bounds.edge_anywhere(epsilon) - SLACK
    if anywhere < 0:
        return _Shells(np.ones(1), np.array([-np.inf]))
    if not bounds.radii.size:
        return _Shells(np.ones(1), np.array([anywhere]))
    outer = np.array(SHELLS) if dim > 1 else np.zeros(1)
    radii = np.sqrt(chi2.isf(outer, dim - 1)) * (1 + SLACK) if dim > 1 else np.zeros(1)
    near = [max(anywhere, bounds.edge_near(epsilon, anywhere, float(radius)) - SLACK) for radius in radii]
    return _Shells(np.append(1.0, outer), np.array([*near, anywhere]))


def _bounds(mechanism: ObjectivePerturbation, drawn: Dataset, pair: NeighbouringPair, inside: bool) -> _Bounds:
    theta = mechanism.solve(drawn, np.zeros((1, drawn.dim)))[0]
    predictors, norm = np.abs(drawn.X @ theta), float(np.linalg.norm(pair.x))
    ridge = mechanism.lam * np.eye(drawn.dim)
    rows = []
    for r in RADII:
        # f'' is even and falls with the size of the predictor; the first two are means over the way to a point, the
        # third is a value at its end
        low, high, end = (
            (drawn.X.T * weight) @ drawn.X + ridge
            for weight in (
                (expit(predictors + r) - expit(predictors)) / r,
                (expit(predictors) - expit(np.maximum(predictors - r, 0.0)) + 0.25 * np.maximum(r - predictors, 0.0))
                / r,
                expit(predictors + r) * expit(-predictors - r),
            )
        )
        bottom, top = float(np.linalg.eigvalsh(low)[0]), float(np.linalg.eigvalsh(high)[-1])
        if float(np.linalg.eigvalsh(end)[0]) <= SLACK * top:  # too near to singular to be trusted in floating point
            break
        squares = np.square(np.linalg.solve(np.linalg.cholesky(low), np.vstack([pair.x, drawn.X]).T)).sum(axis=0)
        least, final = (float(pair.x @ np.linalg.solve(matrix, pair.x)) for matrix in (high, end))
        rows.append((r, math.sqrt(squares.max()), squares[0], least, final, bottom, (top - bottom) / (top + bottom)))
    radii, reach, leverage, least_, final_, smallest, skew = np.array(rows, dtype=np.float64).reshape(-1, 7).T
    return _Bounds(
        a=norm / mechanism.sigma,
        sigma=mechanism.sigma,
        inside=inside,
        margin=float(pair.y * (theta @ pair.x)),
        leverage_anywhere=min(norm**2 / mechanism.lam, HUGE) if mechanism.lam else HUGE,
        radii=radii,
        reach=reach * (1 + SLACK),
        leverage=leverage * (1 + SLACK),
        leverage_least=least_ * (1 - SLACK),
        leverage_end=final_ * (1 + SLACK),
        smallest=smallest * (1 - SLACK),
        skew=skew * (1 + SLACK),
    )

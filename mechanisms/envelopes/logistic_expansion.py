"""Proved bounds on the privacy loss of logistic objective perturbation around the noise along the target's features.

Derivation: docs/derivations/rare_events.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import expit

from ..data.dataset import Dataset, FloatArray
from ..objective.perturbed_objective import HESSIAN_FLOATS, packed_outer, slices

if TYPE_CHECKING:
    from ..objective.objective_perturbation import ObjectivePerturbation

#: A bound on the loss is raised by this relative amount, far more than rounding can do.
SLACK = 1e-7

#: Where the smallest eigenvalue of a Hessian is below this share of the largest, floating point is not trusted.
CONDITION = 1e-6

#: Size of the predictor where ``|f'''|`` is largest; it grows up to there and falls beyond. ``|f''''|`` is at most 1/8.
STEEPEST = math.log(2 + math.sqrt(3))

#: Fourth moments of records are bounded sharply up to this dimension; their matrices have its fourth power of entries.
FOURTH_DIM = 20


@dataclass(frozen=True, repr=False)
class Target:
    """The target's record, seen from the data set that is drawn from.

    Attributes
    ----------
    signed : (dim,) array
        ``z = y x``: the margin is ``z^T theta``, and ``F = expit(-margin)`` the size of the slope of its loss.
    inside : bool
        Whether the data drawn from hold the record.
    sigma, lam : float
        Of the mechanism.
    """

    signed: FloatArray
    inside: bool
    sigma: float
    lam: float

    @property
    def a(self) -> float:
        """``||x|| / sigma``."""
        return float(np.linalg.norm(self.signed)) / self.sigma

    @property
    def towards(self) -> FloatArray:
        """The unit vector ``e`` along which noise raises the loss: along z without the target, against it with it."""
        return np.asarray((-self.signed if self.inside else self.signed) / np.linalg.norm(self.signed))

    def basis(self, hessian: FloatArray) -> FloatArray:
        """Return an orthonormal basis in columns: e, then v, along which other noise moves the margin most."""
        moved = np.linalg.solve(hessian, self.signed)
        basis, triangle = np.linalg.qr(np.column_stack([self.towards, moved, np.eye(moved.size)]))
        return np.asarray(basis * np.where(np.diagonal(triangle) < 0, -1.0, 1.0))

    def edge_anywhere(self, epsilon: float) -> float:
        """Return a ``t`` up to which the loss cannot exceed ``epsilon`` whatever the rest of the noise is."""
        a = self.a
        level = (epsilon - SLACK * (1 + abs(epsilon)) - 0.5 * a**2) / a
        leverage = 0.0
        if self.inside:
            leverage = float(self.signed @ self.signed) / self.lam if self.lam else math.inf
        if a * level >= leverage > 0:  # the largest slope has the largest loss, and no curvature
            return level
        curved = math.log1p(0.25 * leverage)
        return level - curved / a if epsilon > curved + SLACK * (1 + curved) else -math.inf


@dataclass(frozen=True)
class Expansion:
    """Bounds on the loss when the noise is ``sigma ((t + u) e + q v + w)``.

    ``e`` is the target's direction, ``v`` a unit vector orthogonal to it, ``w`` orthogonal to both; ``t`` is fixed.
    Norms are those of ``H``, the Hessian at the minimiser for the noise ``sigma t e``, or of its inverse.

    Attributes
    ----------
    t, margin : float
        The noise along ``e`` and the target's margin there.
    error : float
        Size of what the solver leaves of the gradient.
    along, across, rest : float
        Components of ``H^{-1} z`` along ``e`` and ``v``, and the norm of the rest.
    size_e, size_v, size_w, size_qw : float
        ``H^{-1}`` norms of ``e`` and ``v``; the largest of a unit vector orthogonal to both, and orthogonal to ``e``.
    second, third : float
        ``Delta`` lowers the margin by at most ``second ||Delta||^2 + third ||Delta||^3`` beyond the linear term.
    bend : float
        The mean Hessian on the way is at least ``(1 - bend ||Delta||) H``, the last one ``(1 - 2 bend ||Delta||) H``.
    leverage, wander : float
        The target's leverage at the start, and what ``||Delta||`` may be multiplied with to bound its fall.
    """

    target: Target
    t: float
    margin: float
    error: float
    along: float
    across: float
    rest: float
    size_e: float
    size_v: float
    size_w: float
    size_qw: float
    second: float
    third: float
    bend: float
    leverage: float
    wander: float

    def largest_move(self, size: FloatArray) -> FloatArray:
        """Return a bound on ``||Delta||`` for noise of this ``H^{-1}`` norm; inf where none is proved."""
        inner = 1 - 4 * self.bend * size * (1 + SLACK)
        return np.asarray(np.where(inner > 0, 2 * size / (1 + np.sqrt(np.maximum(inner, 0.0))), np.inf))

    def leverage_after(self, move: FloatArray) -> FloatArray:
        """Return the largest leverage after a move of this size with the target inside, the smallest one without."""
        if not self.target.inside:
            return np.maximum(self.leverage - self.wander * move, 0.0)
        left = 1 - 2 * self.bend * move
        with np.errstate(divide="ignore"):
            return np.asarray(np.where(left > 0, self.leverage / np.maximum(left, 0.0), np.inf))

    def largest_loss(
        self, q_low: FloatArray, q_high: FloatArray, radius: FloatArray, u_low: float, u_high: float
    ) -> FloatArray:
        """Return a bound on the loss for ``q`` and ``u >= 0`` between their ends and ``||w|| <= radius``.

        Arrays of one shape; infinite where nothing is proved.
        """
        target, a = self.target, self.target.a
        q = np.maximum(np.abs(q_low), np.abs(q_high))
        orthogonal = np.minimum(self.size_qw * np.hypot(q, radius), self.size_v * q + self.size_w * radius)
        move = self.largest_move(target.sigma * (orthogonal + self.size_e * u_high) + self.error)
        proved = np.isfinite(move)
        move = np.where(proved, move, 0.0)
        linear = np.maximum(q_low * self.across, q_high * self.across) + radius * self.rest
        linear += max(u_low * self.along, u_high * self.along)
        lowered = target.sigma * linear + self.error * math.sqrt(self.leverage)
        slope = expit(lowered + self.second * move**2 + self.third * move**3 - self.margin)
        t, leverage = self.t + u_high, self.leverage_after(move)
        main = np.maximum(slope * a * t + 0.5 * (slope * a) ** 2, 0.0) * (1 + SLACK)  # convex in the slope, 0 at 0
        if target.inside:
            largest = np.minimum(slope, 0.5)
            with np.errstate(divide="ignore"):
                loss = main - np.log1p(-np.minimum(largest * (1 - largest) * leverage, 1.0)) * (1 + SLACK)
        else:  # with a leverage of at most a t the bound grows with the slope
            loss = main - np.log1p(slope * (1 - slope) * np.clip(a * t, 0.0, leverage)) * (1 - SLACK)
        return np.asarray(np.where(proved, loss, np.inf))


def expansions(
    mechanism: ObjectivePerturbation, drawn: Dataset, target: Target, basis: FloatArray, ts: FloatArray
) -> Iterator[Expansion | None]:
    """Yield the bounds at each ``t``; None where the Hessian is too near to singular for floating point.

    Parameters
    ----------
    basis : (dim, dim) array
        Orthogonal; its first columns are e and v.
    """
    noise = mechanism.sigma * ts[:, None] * target.towards
    for t, theta in zip(ts, mechanism.solve(drawn, noise), strict=True):
        yield _expansion(mechanism, drawn, target, basis, float(t), theta)


def _expansion(
    mechanism: ObjectivePerturbation, drawn: Dataset, target: Target, basis: FloatArray, t: float, theta: FloatArray
) -> Expansion | None:
    (hessian,) = mechanism.hessian(theta[None], drawn)
    spectrum = np.linalg.eigvalsh(hessian)
    if spectrum[0] <= CONDITION * spectrum[-1]:
        return None
    # coordinates in which H is the identity
    factor = np.linalg.cholesky(hessian)
    axes = solve_triangular(factor, basis, lower=True)
    signed = solve_triangular(factor, target.signed, lower=True)
    records = solve_triangular(factor, drawn.X.T, lower=True).T
    moved, effect, predictors = axes.T @ signed, records @ signed, drawn.X @ theta
    outwards = 0.5 * np.abs(
        _third(np.maximum(np.abs(predictors), STEEPEST))
    )  # f'' falls by at most twice this times |s|
    inwards = 0.5 * np.abs(
        _third(np.minimum(np.abs(predictors), STEEPEST))
    )  # and rises by at most twice this times |s|
    pulled = inwards * effect**2
    return Expansion(
        target=target,
        t=t,
        margin=float(target.signed @ theta),
        error=mechanism.residual * math.sqrt(theta.size / spectrum[0]),
        along=float(moved[0]),
        across=float(moved[1]) if moved.size > 1 else 0.0,
        rest=float(np.linalg.norm(moved[2:])),
        size_e=float(np.linalg.norm(axes[:, 0])),
        size_v=float(np.linalg.norm(axes[:, 1:2])),
        size_w=float(np.linalg.norm(axes[:, 2:], 2)) if moved.size > 2 else 0.0,
        size_qw=float(np.linalg.norm(axes[:, 1:], 2)) if moved.size > 1 else 0.0,
        second=0.5 * largest_second(records, _third(predictors) * effect),
        third=largest_third(records, np.abs(effect)) / 48,
        bend=largest_third(records, outwards),
        leverage=float(signed @ signed),
        wander=2 * math.sqrt(largest_second(records, pulled) * float(pulled.sum())),
    )


def _third(predictors: FloatArray) -> FloatArray:
    """Return ``f'''`` of the logistic loss."""
    slope = expit(predictors)
    return np.asarray(slope * expit(-predictors) * (1 - 2 * slope))


def largest_second(rows: FloatArray, weights: FloatArray) -> float:
    """Return the largest ``sum_i weights_i (x_i^T y)^2`` over vectors y of norm at most 1."""
    return max(float(np.linalg.eigvalsh((rows.T * weights) @ rows)[-1]), 0.0)


def largest_third(rows: FloatArray, weights: FloatArray) -> float:
    """Return a bound on ``sum_i weights_i |x_i^T y|^3`` over unit vectors y, for ``weights >= 0`` (Cauchy-Schwarz)."""
    return math.sqrt(largest_second(rows, weights) * largest_fourth(rows, weights))


def largest_fourth(rows: FloatArray, weights: FloatArray) -> float:
    """Return a bound on ``sum_i weights_i (x_i^T y)^4`` over unit vectors y, for ``weights >= 0``.

    The sum is a quadratic form of the symmetric matrix ``y y^T``, of norm 1, whose component along the identity is
    known; only the other components are left to the form's largest eigenvalue.
    """
    dim: int = rows.shape[1]
    if dim > FOURTH_DIM:
        return float(np.square(rows).sum(axis=1).max(initial=0.0)) * largest_second(rows, weights)
    first, second = np.triu_indices(dim)
    scale = np.where(first == second, 1.0, math.sqrt(2.0))  # the packed triangle has the norm of the matrix
    form = np.zeros((scale.size, scale.size))
    for part in slices(len(rows), max(1, HESSIAN_FLOATS // scale.size)):
        squares = packed_outer(rows[part]) * scale
        form += (squares.T * weights[part]) @ squares
    identity = (first == second) / math.sqrt(dim)
    image = form @ identity
    common = float(identity @ image)
    image -= common * identity
    rest = form - np.outer(identity, image) - np.outer(image, identity) - common * np.outer(identity, identity)
    other = max(float(np.linalg.eigvalsh(rest)[-1]), 0.0)
    cross = float(np.linalg.norm(image))
    return (common + 2 * cross * math.sqrt(dim - 1) + other * (dim - 1)) / dim

"""Proved bounds on the privacy loss of logistic objective perturbation around the noise along the target's features.

Derivation: docs/derivations/rare_events.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import expit

from .data import Dataset, FloatArray
from .objective_perturbation import ObjectivePerturbation
from .perturbed_objective import HESSIAN_FLOATS, packed_outer, slices, unpacked

#: Radii (largest move of a linear predictor) for which the curvature is bounded.
RADII: FloatArray = np.geomspace(0.05, 8.0, 24)

#: A bound on the loss is raised by this relative amount, far more than rounding can do.
SLACK = 1e-7

#: Where the smallest eigenvalue of a Hessian is below this share of the largest, floating point is not trusted.
CONDITION = 1e-6

#: Largest ``|f''''|`` of the logistic loss where ``f'' <= 1/6``: there ``f'' (1 - 6 f'')`` lies in [0, 1/24].
FOURTH = 1 / 24


@dataclass(frozen=True)
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
    reach : float
        Largest ``H^{-1}`` norm of a record: a move of size D changes no predictor by more than ``reach D``.
    second : float
        ``Delta`` lowers the margin by at most ``second ||Delta||^2`` through the third derivative of the losses.
    low, third, leverage : arrays over RADII
        While no predictor moves by more than r: the mean Hessian is at least ``low H``; the fourth derivative lowers
        the margin by at most ``third reach ||Delta||^3``; the leverage of the target is at least (at most, inside)
        ``leverage``.
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
    reach: float
    second: float
    low: FloatArray
    third: FloatArray
    leverage: FloatArray

    def largest_move(self, size: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ``(||Delta||, index of a valid radius)`` for noise of this ``H^{-1}`` norm; inf where none is."""
        capacity = np.maximum.accumulate(RADII * self.low / self.reach)
        index = np.searchsorted(capacity, size * (1 + SLACK), side="right")
        known = np.append(self.low, 0.0)[index]
        with np.errstate(divide="ignore"):
            return np.asarray(np.where(known > 0, size / known, np.inf)), np.minimum(index, RADII.size - 1)

    def largest_loss(
        self, q_low: FloatArray, q_high: FloatArray, radius: FloatArray, u_low: float, u_high: float
    ) -> FloatArray:
        """Return a bound on the loss for ``q`` and ``u >= 0`` between their ends and ``||w|| <= radius``.

        Arrays of one shape; infinite where nothing is proved.
        """
        target, a = self.target, self.target.a
        q = np.maximum(np.abs(q_low), np.abs(q_high))
        orthogonal = np.minimum(self.size_qw * np.hypot(q, radius), self.size_v * q + self.size_w * radius)
        move, index = self.largest_move(target.sigma * (orthogonal + self.size_e * u_high) + self.error)
        proved = np.isfinite(move)
        move = np.where(proved, move, 0.0)
        linear = np.maximum(q_low * self.across, q_high * self.across) + radius * self.rest
        linear += max(u_low * self.along, u_high * self.along)
        linear = target.sigma * linear + self.error * self.size_z
        margin = self.margin - linear - self.second * move**2 - self.third[index] * self.reach * move**3
        slope = expit(-margin)
        t = self.t + u_high
        main = np.maximum(slope * a * t + 0.5 * (slope * a) ** 2, 0.0) * (1 + SLACK)  # convex in the slope, 0 at 0
        if target.inside:
            largest = np.minimum(slope, 0.5)
            curved = np.minimum(largest * (1 - largest) * self.leverage[index], 1.0)
            with np.errstate(divide="ignore"):
                loss = main - np.log1p(-curved) * (1 + SLACK)
        else:  # with a leverage of at most a t the bound grows with the slope
            loss = main - np.log1p(slope * (1 - slope) * np.clip(a * t, 0.0, self.leverage[index])) * (1 - SLACK)
        return np.asarray(np.where(proved, loss, np.inf))

    @property
    def size_z(self) -> float:
        """``H^{-1}`` norm of z: the target's own reach."""
        return self.size_e * self.target.a * self.target.sigma


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
    moved = axes.T @ signed
    second, low, third, end = _grams(records, drawn.X @ theta, records @ signed, inside=target.inside)
    ridge = target.lam * axes @ axes.T
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
        reach=math.sqrt(max(float(np.square(records).sum(axis=1).max()), np.finfo(float).tiny)),
        second=max(0.5 * float(np.linalg.eigvalsh(second[0])[-1]), 0.0),
        low=np.asarray(np.linalg.eigvalsh(low + ridge)[:, 0], dtype=np.float64),
        third=np.asarray(np.linalg.eigvalsh(third)[:, -1] / 6, dtype=np.float64),
        leverage=np.asarray(np.linalg.solve(end + ridge, signed) @ signed),
    )


def _grams(
    records: FloatArray, predictors: FloatArray, effect: FloatArray, *, inside: bool
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the sums over records ``x x^T`` with the weights of ``second``, and of the other three for every radius.

    ``f''`` is even and falls with the size of the predictor, hence its bounds while that moves by at most r.
    """
    size, r, count = np.abs(predictors), RADII[:, None], RADII.size
    dim = records.shape[1]
    total = np.zeros((1 + 3 * count, dim * (dim + 1) // 2))
    for part in slices(len(records), max(1, HESSIAN_FLOATS // max(total.shape))):
        v, slope, moved = size[part], expit(predictors[part]), effect[part]
        least = expit(v + r) * expit(-v - r)
        most = expit(np.maximum(v - r, 0.0)) * expit(-np.maximum(v - r, 0.0))
        weights = (
            (slope * (1 - slope) * (1 - 2 * slope) * moved)[None],  # f'''
            (expit(-v) - expit(-v - r)) / r,  # the mean of f'' over a move outwards by r
            np.maximum(most * (6 * most - 1), FOURTH) * np.abs(moved),  # |f''''| = |f'' (6 f'' - 1)|
            least if inside else most,
        )
        total += np.vstack(weights) @ packed_outer(records[part])
    full = unpacked(total, dim)
    return full[:1], full[1 : 1 + count], full[1 + count : 1 + 2 * count], full[1 + 2 * count :]

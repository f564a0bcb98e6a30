"""An event that holds a rare tail of the loss of logistic objective perturbation, with known probability.

First the proved bounds on the loss around the noise along the target's features, then the event made of them.
Derivation: docs/derivations/rare_events.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.special import chdtrc, chdtri, expit, ndtr

from ..base import Direction
from ..data.dataset import Dataset, FloatArray
from ..data.neighbours import NeighbouringPair, Relation
from ..objective.losses import LogisticLoss
from ..objective.perturbed_objective import HESSIAN_FLOATS, packed_outer, slices
from ..objective.perturbed_solver import SolverError
from .tail_envelopes import Envelope, NormalBoxes

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


#: Largest step of the noise along the target's features, width of the cells of q, shells of the norm of the rest.
STEP, Q_STEP, SHELLS = 0.1, 0.1, 100

#: Parts of a step that are looked at where the whole is too much.
PARTS = 16

#: Noise below this (probability 8e-24) belongs to the event where no edge holds whatever the rest of the noise is.
FLOOR = -10.0

#: How far the edge without other noise is looked for, and on how many points.
SEARCH, RAY = 12.0, 200

#: How far beyond that edge the grids go, as the leg of a right-angled triangle: exp(-16/2) = 3e-4.
BEYOND = 4.0

#: Where they end at the latest: noise has a probability of 1e-197 beyond, and soon one that float64 does not hold.
FURTHEST = 30.0


def has_logistic_envelope(mechanism: ObjectivePerturbation, pair: NeighbouringPair) -> bool:
    """Return whether ``logistic_envelope`` is for this mechanism and pair."""
    alone = isinstance(mechanism.loss, LogisticLoss) and mechanism.regulariser is None
    return alone and float(pair.x @ pair.x) > 0 and pair.relation is not Relation.REPLACE


def logistic_envelope(
    mechanism: ObjectivePerturbation, pair: NeighbouringPair, direction: Direction, epsilon: float
) -> Envelope:
    """Return an envelope of ``{L > epsilon}`` for logistic objective perturbation.

    The noise along the target's features exceeds an edge that depends on the rest of the noise.

    Parameters
    ----------
    mechanism : ObjectivePerturbation
        With ``LogisticLoss`` and no further regulariser.
    pair : NeighbouringPair
        ADD or REMOVE; the target's features must not be zero.
    direction : Direction
        The data set drawn from.
    epsilon : float
        Finite. Where no useful edge is proved the event is nearly everything.

    Returns
    -------
    Envelope

    Raises
    ------
    ValueError
        If one of these conditions does not hold.
    """
    pair.require(Relation.ADD, Relation.REMOVE)
    if not isinstance(mechanism.loss, LogisticLoss) or mechanism.regulariser is not None:
        raise ValueError(f"mechanism must have the logistic loss and no regulariser, got {mechanism.name}")
    if not math.isfinite(epsilon):
        raise ValueError(f"epsilon must be finite, got epsilon={epsilon}")
    if not pair.x @ pair.x > 0:
        raise ValueError("x must not be zero: the privacy loss is zero then")
    drawn = pair.first if direction is Direction.FORWARD else pair.second
    inside = (pair.relation is Relation.ADD) == (direction is Direction.BACKWARD)
    target = Target(pair.y * pair.x, inside, mechanism.sigma, mechanism.lam)

    def losses_at(noise: FloatArray) -> FloatArray:
        loss = mechanism.privacy_loss(mechanism.solve(drawn, mechanism.sigma * noise), pair)
        return loss if direction is Direction.FORWARD else -loss

    start = target.edge_anywhere(epsilon)
    try:
        # where noise along the target's features alone passes epsilon: a choice of grids, no part of the proof
        ray = np.linspace(max(start, FLOOR), max(start, 0.0) + SEARCH, RAY)
        loss = losses_at(ray[:, None] * target.towards)
        centre = float(ray[np.argmax(loss > epsilon) if loss.max() > epsilon else np.argmax(loss)])
        event, basis = proved_event(mechanism, drawn, target, epsilon, centre)
    except SolverError:  # without ridge some noise has no minimiser: what holds for any noise remains
        free = (np.full(1, value) for value in (start, np.inf, -np.inf, np.inf, 1.0, 0.0))
        event, basis = NormalBoxes(drawn.dim, *free), target.basis(np.eye(drawn.dim))
    return Envelope(epsilon, event.log_mass, lambda n, rng: losses_at(event.draw(n, rng) @ basis.T))


def proved_event(
    mechanism: ObjectivePerturbation, drawn: Dataset, target: Target, epsilon: float, centre: float
) -> tuple[NormalBoxes, FloatArray]:
    """Return an event that contains ``{L > epsilon}``, and the orthogonal basis of its coordinates, in columns.

    ``drawn`` is the data drawn from; ``centre`` is the noise along the target's features around which the grids are
    laid. Any value gives a valid event.
    """
    dim, anywhere, far = drawn.dim, target.edge_anywhere(epsilon), math.hypot(centre, BEYOND)
    theta = mechanism.solve(drawn, mechanism.sigma * centre * target.towards[None])
    basis = target.basis(mechanism.hessian(theta, drawn)[0])
    start, reach = max(anywhere, FLOOR), min(far, FURTHEST)
    ts = np.linspace(start, far, max(math.ceil((far - start) / STEP), 1) + 1)
    q_ends, radii = np.array([-np.inf, np.inf]), np.array([0.0, np.inf])
    if dim > 1:
        q_ends = np.insert(q_ends, 1, np.arange(-reach, reach, Q_STEP))
    if dim > 2:
        nearest, furthest = (math.sqrt(chdtri(dim - 2, tail)) for tail in (0.99, ndtr(-reach)))
        radii = np.insert(radii, 1, np.linspace(nearest, furthest, SHELLS))
    beyond = chdtrc(max(dim - 2, 1), radii**2)
    cell, shell = (index.ravel() for index in np.indices((q_ends.size - 1, radii.size - 1)))
    cells = _Cells(
        np.where(dim > 1, q_ends[cell], 0.0),  # one dimension has no q, and two have no w
        np.where(dim > 1, q_ends[cell + 1], 0.0),
        np.where(dim > 2, radii[shell + 1], 0.0),
    )
    edges = cells.edges(expansions(mechanism, drawn, target, basis, ts[:-1]), ts, epsilon)
    boxes = [edges, np.full(cell.size, np.inf), q_ends[cell], q_ends[cell + 1], beyond[shell], beyond[shell + 1]]
    if anywhere <= FLOOR:
        below = (-np.inf, FLOOR, -np.inf, np.inf, 1.0, 0.0)
        boxes = [np.append(*both) for both in zip(boxes, below, strict=True)]
    return NormalBoxes(dim, *boxes), basis


@dataclass(frozen=True, eq=False)
class _Cells:
    """Cells of the other noise: ``q`` between its ends and ``||w||`` at most a radius; arrays of one shape."""

    q_low: FloatArray
    q_high: FloatArray
    radius: FloatArray

    def __getitem__(self, chosen: NDArray[np.intp]) -> _Cells:
        return _Cells(self.q_low[chosen], self.q_high[chosen], self.radius[chosen])

    def within(self, point: Expansion, u_low: float, u_high: float, epsilon: float) -> NDArray[np.bool_]:
        """Return where the loss is proved to be at most ``epsilon`` between two steps beyond the point."""
        return np.asarray(point.largest_loss(self.q_low, self.q_high, self.radius, u_low, u_high) <= epsilon)

    def edges(self, points: Iterable[Expansion | None], ts: FloatArray, epsilon: float) -> FloatArray:
        """Return for each cell a ``t`` up to which the loss is at most ``epsilon``, given that ``ts[0]`` is one.

        ``points`` are the expansions at ``ts[:-1]``; cells without end keep ``ts[0]``.
        """
        edges = np.full(self.radius.size, ts[0])
        going = np.flatnonzero(np.isfinite(self.q_low) & np.isfinite(self.q_high) & np.isfinite(self.radius))
        for (left, right), point in zip(pairwise(ts), points, strict=True):
            if point is None or not going.size:
                break
            whole = self[going].within(point, 0.0, right - left, epsilon)
            edges[going[whole]] = right
            parts = going[~whole]
            for u_low, u_high in pairwise(np.linspace(0.0, right - left, PARTS + 1)):
                parts = parts[self[parts].within(point, u_low, u_high, epsilon)]
                edges[parts] = left + u_high
            going = np.union1d(going[whole], parts)
        return edges

"""An event that holds a rare tail of the loss of logistic objective perturbation, with known probability.

Derivation: docs/derivations/rare_events.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, chdtri, ndtr

from ..base import Direction
from ..data.dataset import Dataset, FloatArray
from ..data.neighbours import NeighbouringPair, Relation
from ..numerics.normal_boxes import NormalBoxes
from ..objective.losses import LogisticLoss
from ..objective.perturbed_solver import SolverError
from .logistic_expansion import Expansion, Target, expansions
from .tail_envelopes import Envelope

if TYPE_CHECKING:
    from ..objective.objective_perturbation import ObjectivePerturbation

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

    Parameters
    ----------
    drawn : Dataset
        The data drawn from.
    centre : float
        Noise along the target's features around which the grids are laid. Any value gives a valid event.
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

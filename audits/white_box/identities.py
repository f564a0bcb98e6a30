"""Identities that must hold exactly: two ways to the same number, and densities that fit their samplers.

A density is held against draws by moves. For a smooth bijection f with Jacobian J put r(o) = p(f(o)) J(o) / p(o) and
w = 1/(1 + r). If the draws have density p,

    E[w(f^{-1}(o))] = integral of p(f(o)) J(o) w(o) do = E[r(o) w(o)],

and both terms lie in [0, 1], so the difference of the two at one draw lies in [-1, 1] and has mean 0. As f tends to
the identity this is the score test for the parameter that f moves. Here f scales or shifts one coordinate, or shears
it along the next one, which sees dependence that the density leaves out. Draws on an atom, and infinite ones, stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from mechanisms.base import BOTH, Direction, WhiteBox, check_nonnegative
from mechanisms.data.dataset import Dataset, FloatArray
from mechanisms.data.neighbours import NeighbouringPair

from ..estimate import Budget, Estimate
from ..stats.intervals import betting, empirical_bernstein, even_share
from .tails import chunk_sizes, loss_sample, outputs_in_chunks, split_draws

#: Where the overlap of two laws is compared, on the scale of the privacy loss.
SHIFTS = (-0.5, 0.0, 0.5)


def relative_error(computed: ArrayLike, reference: ArrayLike, *, rounding: float) -> Estimate:
    """Return the largest relative difference of two arrays that should be equal.

    ``computed``, ``reference``: same shape, finite; where ``reference`` is 0 the difference is taken as it is.
    ``rounding``: what rounding may have contributed to a relative difference; half width of the returned interval.
    """
    c, r = _same_shape(computed, reference)
    scale = np.where(r == 0, 1.0, np.abs(r))
    return _largest(np.abs(c - r) / scale, rounding, "relative")


def absolute_error(computed: ArrayLike, reference: ArrayLike, *, rounding: float) -> Estimate:
    """Return the largest absolute difference of two arrays that should be equal; see ``relative_error``."""
    c, r = _same_shape(computed, reference)
    return _largest(np.abs(c - r), rounding, "absolute")


def _same_shape(computed: ArrayLike, reference: ArrayLike) -> tuple[FloatArray, FloatArray]:
    c, r = np.asarray(computed, dtype=np.float64), np.asarray(reference, dtype=np.float64)
    if c.shape != r.shape or c.size == 0:
        raise ValueError(f"computed must have the shape of reference and an entry, got {c.shape} and {r.shape}")
    if not (np.isfinite(c).all() and np.isfinite(r).all()):
        raise ValueError("computed and reference must be finite, got a non-finite value")
    return c, r


def _largest(errors: FloatArray, rounding: float, kind: str) -> Estimate:
    check_nonnegative("rounding", rounding)
    worst = float(errors.max())
    method = f"largest {kind} difference of {errors.size}, rounding at most {rounding:g}"
    return Estimate(worst, max(0.0, worst - rounding), worst + rounding, 0.0, 0, method)


def overlap_gap(
    log_ratio_first: ArrayLike, log_ratio_second: ArrayLike, failure_prob: float, *, shift: float = 0.0
) -> Estimate:
    """Return ``E_p[min(1, e^t q/p)] - E_q[min(e^t, p/q)]``, which is 0 when the log ratio belongs to the two samplers.

    Both means are ``∫ min(p, e^t q)`` and both payoffs are bounded, so nothing has to be assumed about tails.

    ``log_ratio_first``, ``log_ratio_second``, (n,) array_like: ``log p - log q`` at draws from ``p`` and at draws from
    ``q``. ``shift``: ``t``. At 0 the gap of two mirror images is blind to a flipped sign; elsewhere it is not.
    """
    top = float(np.exp(shift))
    first = np.exp(np.minimum(shift - np.asarray(log_ratio_first, dtype=np.float64), 0.0))
    second = np.minimum(top * np.exp(np.minimum(np.asarray(log_ratio_second, dtype=np.float64) - shift, 0.0)), top)
    p, q = betting(first, failure_prob / 2), betting(second, failure_prob / 2, high=top)
    low, high = p.low - q.high, p.high - q.low
    value = min(max(float(first.mean() - second.mean()), low), high)
    n_draws = first.size + second.size
    return Estimate(value, low, high, failure_prob, n_draws, "betting (hedged capital), both samples")


def loss_overlap(
    mechanism: WhiteBox, pair: NeighbouringPair, budget: Budget, *, shifts: Sequence[float] = SHIFTS
) -> tuple[Estimate, ...]:
    """Return the overlap gaps between a mechanism's draws and its own privacy loss: all 0 when they belong together."""
    n_each = split_draws(budget, BOTH)
    key = budget.key.child("overlap")
    forward, backward = (loss_sample(mechanism, pair, d, n_each, rng=key.child(d.name).rng()) for d in BOTH)
    share = even_share(budget.spend("overlap"), len(shifts))
    return tuple(overlap_gap(forward, -backward, share, shift=shift) for shift in shifts)


def normalisation_gap(
    mechanism: WhiteBox, dataset: Dataset, budget: Budget, *, mean: ArrayLike, covariance: ArrayLike
) -> Estimate:
    """Return the overlap gap between a mechanism's log density and a normal law: 0 when it is normalised and fits.

    ``mean``, ``covariance``: of the normal law, shapes ``(k,)`` and ``(k, k)``; fixed before drawing, the closer to the
    outputs the better.
    """
    from scipy.stats import multivariate_normal

    centre = np.atleast_1d(np.asarray(mean, dtype=np.float64))
    root = np.linalg.cholesky(np.atleast_2d(np.asarray(covariance, dtype=np.float64)))
    reference = multivariate_normal(centre, root @ root.T)
    n_each = split_draws(budget, BOTH)
    key = budget.key.child("normalisation")

    def log_ratio(outputs: FloatArray) -> FloatArray:
        return np.asarray(mechanism.log_density(outputs, dataset) - reference.logpdf(outputs), dtype=np.float64).ravel()

    rng = key.child("mechanism").rng()
    own = np.concatenate([log_ratio(o) for o in outputs_in_chunks(mechanism, dataset, n_each, rng=rng)])
    rng = key.child("reference").rng()
    normals = (rng.standard_normal((size, centre.size)) for size in chunk_sizes(n_each))
    other = np.concatenate([log_ratio(centre + normal @ root.T) for normal in normals])
    return overlap_gap(own, other, budget.spend("normalisation"))


@dataclass(frozen=True)
class Mass:
    """A density's integral, and how much it changed when the panels were halved (an indication, not a bound)."""

    mass: float
    change: float


def density_mass(log_density: Callable[[FloatArray], FloatArray], low: float, high: float, *, panels: int = 64) -> Mass:
    """Return the integral of a one-dimensional density over ``[low, high]`` by composite Gauss-Legendre quadrature.

    ``log_density`` takes points of shape ``(n,)`` and returns natural logs of the same shape.
    """
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise ValueError(f"range must be finite with low < high, got low={low}, high={high}")
    nodes, weights = np.polynomial.legendre.leggauss(16)

    def integral(n: int) -> float:
        edges = np.linspace(low, high, n + 1)
        half = 0.5 * np.diff(edges)
        points = (0.5 * (edges[1:] + edges[:-1]))[:, None] + half[:, None] * nodes
        return float((np.exp(log_density(points.ravel())).reshape(points.shape) @ weights) @ half)

    fine = integral(2 * panels)
    return Mass(fine, abs(fine - integral(panels)))


def forward_backward(profile_delta: Callable[[float, Direction], float], epsilons: ArrayLike) -> Estimate:
    """Return the largest violation of ``delta_D(e) = 1 - exp(e) + exp(e) delta_D'(-e)``, true for any two laws."""
    grid = np.atleast_1d(np.asarray(epsilons, dtype=np.float64))
    left = [profile_delta(e, Direction.FORWARD) for e in grid.tolist()]
    right = [-np.expm1(e) + np.exp(e) * profile_delta(-e, Direction.BACKWARD) for e in grid.tolist()]
    return absolute_error(left, right, rounding=1e-14 * float(np.exp(np.abs(grid)).max()))


#: Largest factor of a scale and largest shift in standard deviations (best near there for normal and Laplace noise).
SCALE, SHIFT = 1.8, 1.2


@dataclass(frozen=True)
class Transport:
    """Moves one coordinate: ``centre + scale (o - centre) + shift + slope (other - other_centre)``."""

    column: int
    centre: float
    scale: float = 1.0
    shift: float = 0.0
    atom: float | None = None
    other: int = 0
    slope: float = 0.0
    other_centre: float = 0.0

    def __call__(self, outputs: FloatArray, *, back: bool = False) -> FloatArray:
        """Return the outputs moved (or moved back), same shape."""
        column: FloatArray = outputs[:, self.column]
        shift: FloatArray | float = self.shift
        if self.slope:
            lever = outputs[:, self.other]
            shift = shift + self.slope * np.where(np.isfinite(lever), lever - self.other_centre, 0.0)
        if back:
            moved = self.centre + (column - shift - self.centre) / self.scale
        else:
            moved = self.centre + self.scale * (column - self.centre) + shift
        result = outputs.copy()
        result[:, self.column] = np.where(self.movable(column), moved, column)
        return result

    def movable(self, column: FloatArray) -> NDArray[np.bool_]:
        """Return which entries move: not those on the atom, nor infinite ones."""
        return np.asarray(np.isfinite(column) & (column != self.atom))

    def log_jacobian(self, outputs: FloatArray) -> FloatArray:
        """Return the log of the Jacobian at each output, shape ``(n,)``."""
        return np.asarray(np.where(self.movable(outputs[:, self.column]), np.log(self.scale), 0.0))


@dataclass(frozen=True)
class Gap:
    """Mean of the statistic and the interval that contains 0 for honest draws."""

    transport: Transport
    value: float
    low: float
    high: float

    @property
    def honest(self) -> bool:
        """Whether the interval contains 0."""
        return self.low <= 0 <= self.high


def transports(
    mechanism: WhiteBox, dataset: Dataset, pilot: FloatArray, atoms: Mapping[int, float]
) -> Iterator[Transport]:
    """Yield three moves of each coordinate, no larger than keeps half of the mass in common (on a pilot sample)."""
    log_pilot = mechanism.log_density(pilot, dataset)
    for column in range(pilot.shape[1]):
        atom = atoms.get(column)
        values = pilot[:, column]
        values = values[np.isfinite(values) & (values != atom)]
        if values.size < 0.05 * len(pilot):
            continue  # an atom, as good as all of it: nothing to move
        size = 1.0
        while size > 1e-6:
            centre, spread = float(np.median(values)), float(values.std())
            if atom is None:
                moves = [
                    Transport(column, centre, scale=SCALE**size),
                    Transport(column, centre, shift=SHIFT * size * spread),
                ]
                other = (column + 1) % pilot.shape[1]
                lever = pilot[:, other][np.isfinite(pilot[:, other])]
                if other != column and lever.size and lever.std() > 0:
                    slope, mid = 0.8 * size * spread / float(lever.std()), float(np.median(lever))
                    moves.append(Transport(column, centre, other=other, slope=slope, other_centre=mid))
            else:  # scale about the atom only: the rest would cross it
                moves = [Transport(column, atom, scale=SCALE**size, atom=atom)]
            moved = [mechanism.log_density(m(pilot), dataset) + m.log_jacobian(pilot) for m in moves]
            overlaps = [np.exp(np.minimum(log_moved - log_pilot, 0.0)).mean() for log_moved in moved]
            if min(overlaps) >= 0.45:
                break
            size *= 0.6
        yield from moves


def gaps(
    mechanism: WhiteBox, dataset: Dataset, outputs: FloatArray, moves: Sequence[Transport], failure_prob: float
) -> list[Gap]:
    """Return one gap for each move; all are honest except with ``failure_prob`` if the draws follow the density."""
    log_outputs = mechanism.log_density(outputs, dataset)
    results = []
    for move in moves:
        out = mechanism.log_density(move(outputs), dataset) + move.log_jacobian(outputs) - log_outputs
        back = move(outputs, back=True)
        into = log_outputs + move.log_jacobian(outputs) - mechanism.log_density(back, dataset)
        values = expit(-into) - expit(out)
        interval = empirical_bernstein(
            values.mean(), values.var(ddof=1), values.size, even_share(failure_prob, len(moves)), low=-1.0, high=1.0
        )
        results.append(Gap(move, float(values.mean()), interval.low, interval.high))
    return results

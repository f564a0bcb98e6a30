"""Identities that must hold exactly: two ways to the same number, and densities that fit their samplers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mechanisms.base import BOTH, Direction, WhiteBox, check_nonnegative
from mechanisms.data.dataset import Dataset, FloatArray
from mechanisms.data.neighbours import NeighbouringPair

from ..estimate import Budget, Estimate
from ..stats.intervals import betting
from ..stats.multiplicity import even_share
from .draws import chunk_sizes, loss_sample, outputs_in_chunks
from .tails import split_draws

#: Where the overlap of two laws is compared, on the scale of the privacy loss.
SHIFTS = (-0.5, 0.0, 0.5)


def relative_error(computed: ArrayLike, reference: ArrayLike, *, rounding: float) -> Estimate:
    """Return the largest relative difference of two arrays that should be equal.

    Parameters
    ----------
    computed, reference : array_like
        Same shape, finite; where ``reference`` is 0 the difference is taken as it is.
    rounding : float
        What rounding may have contributed to a relative difference; half width of the returned interval.
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

    Parameters
    ----------
    log_ratio_first, log_ratio_second : (n,) array_like
        ``log p - log q`` at draws from ``p`` and at draws from ``q``.
    shift : float
        ``t``. At 0 the gap of two mirror images is blind to a flipped sign; elsewhere it is not.
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

    Parameters
    ----------
    mean, covariance : array_like
        Of the normal law, shapes ``(k,)`` and ``(k, k)``; fixed before drawing, the closer to the outputs the better.
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

"""Epsilons of very many records: exact where they are largest, interpolated between exact values below.

What is claimed about all records rests on the largest epsilon, which is held against every record: at it, no record's
divergence, in float64, exceeds delta. The others fill a histogram; they are interpolated, as long as the interpolation
is right to ``CLOSE`` of the largest wherever it is tried, and solved one by one otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
import scipy
from numpy.typing import NDArray

from ..base import BOTH, Direction
from ..data.dataset import FloatArray
from ..laws.quadratic_profile import quadratic_log_delta
from ..numerics.batched_epsilon import gaussian_epsilon, ops_epsilon
from ..numerics.ticks import tick
from ..objective.perturbed_objective import slices

#: Records at which an interpolation is tried, and how far it may be off, in units of the largest epsilon: a fiftieth of
#: a bar in a histogram.
TRIED, CLOSE = 2_048, 5e-4
#: Exact values on an axis: for one number a record, and for two.
LINE, GRID = 4_096, 192
#: Records whose interpolated epsilon is so close to the largest are solved for.
NEAR: Final = 1e-3

Near = Callable[[FloatArray, FloatArray], FloatArray]


def gaussian_epsilons(mu: FloatArray, delta: float, block: int) -> FloatArray:
    """Return the epsilon of every record between normal laws at distance ``mu`` (finite), which grows with ``mu``."""
    low, high = float(mu.min()), float(mu.max())
    if not low < high:
        return np.full(mu.size, gaussian_epsilon(mu[:1], delta)[0])
    nodes = np.linspace(low, high, LINE)
    values = gaussian_epsilon(nodes, delta)
    spline, top = scipy.interpolate.CubicSpline(nodes, values), float(values[-1])
    some = mu[_spread(mu.size)]
    if np.abs(spline(some) - gaussian_epsilon(some, delta)).max() > CLOSE * top:
        return np.concatenate([gaussian_epsilon(mu[part], delta) for part in _told(mu.size, block)])
    epsilons = np.empty(mu.size)
    for part in _told(mu.size, block):
        epsilons[part] = spline(mu[part])
    largest = mu == high
    epsilons[largest] = top
    return _below(epsilons, largest, top)


def ops_epsilons(leverage: FloatArray, scaled_residual: FloatArray, delta: float, block: int) -> FloatArray:
    """Return the larger epsilon of both directions of one-posterior sampling for every record."""
    lost = np.flatnonzero(np.isinf(leverage))
    if lost.size:
        mu, a = _replaced(leverage, lost, 0.0), _replaced(scaled_residual, lost, 0.0)
        return _replaced(ops_epsilons(mu, a, delta, block), lost, math.inf)
    mu, a = leverage, np.abs(scaled_residual)
    near = _surface(mu, a, delta)
    if near is None:
        return np.concatenate([_both(mu[part], a[part], delta) for part in _told(mu.size, block)])
    epsilons = np.empty(mu.size)
    for part in _told(mu.size, block):
        epsilons[part] = near(mu[part], a[part])
    solved = epsilons >= (1 - NEAR) * epsilons.max()
    epsilons[solved] = _both(mu[solved], a[solved], delta)
    top = float(epsilons[solved].max())
    for part in slices(mu.size, block):  # a record that is told apart further than that is solved for as well
        beyond = np.flatnonzero(_exceeds(mu[part], a[part], top, delta) & ~solved[part]) + part.start
        epsilons[beyond], solved[beyond] = _both(mu[beyond], a[beyond], delta), True
    return _below(epsilons, solved, float(epsilons[solved].max()))


def _replaced(values: FloatArray, where: NDArray[np.intp], by: float) -> FloatArray:
    """Return a copy with some values replaced."""
    copy = values.copy()
    copy[where] = by
    return copy


def _told(size: int, block: int) -> Iterator[slice]:
    """Yield blocks, and tell whoever listens of each that is done."""
    for part in slices(size, block):
        yield part
        tick(part.stop - part.start)


def _spread(size: int) -> slice:
    return slice(None, None, max(1, size // TRIED))


def _below(epsilons: FloatArray, exact: NDArray[np.bool_], top: float) -> FloatArray:
    """Bring the epsilons that are interpolated between 0 and what lies just below the largest, in place."""
    return np.clip(epsilons, 0.0, math.nextafter(top, 0.0), out=epsilons, where=~exact)


def _both(mu: FloatArray, a: FloatArray, delta: float) -> FloatArray:
    """Return the larger epsilon of both directions; mostly it is the forward one, which is tried in the other."""
    epsilon = ops_epsilon(mu, a, delta, Direction.FORWARD)
    rest = np.flatnonzero(quadratic_log_delta(epsilon, mu, a, Direction.BACKWARD) > math.log(delta))
    epsilon[rest] = np.maximum(epsilon[rest], ops_epsilon(mu[rest], a[rest], delta, Direction.BACKWARD))
    return epsilon


def _exceeds(mu: FloatArray, a: FloatArray, epsilon: float, delta: float) -> NDArray[np.bool_]:
    """Return whose divergence at ``epsilon`` is above ``delta``, in either direction."""
    return np.logical_or(*(quadratic_log_delta(epsilon, mu, a, each) > math.log(delta) for each in BOTH))


def _surface(mu: FloatArray, a: FloatArray, delta: float) -> Near | None:
    """Return a spline of epsilon through exact values on a grid over the records; None where it is not close enough."""
    positive = mu > 0
    if not positive.any():
        return None
    low, high, top = float(mu.min(where=positive, initial=math.inf)), float(mu.max()), float(a.max())
    if not (low < high and top > 0):
        return None
    # finer where the residual is small: there epsilon bends
    logs, roots = np.linspace(math.log(low), math.log(high), GRID), np.linspace(0.0, math.sqrt(top), GRID)
    grid = [part.ravel() for part in np.meshgrid(np.exp(logs), roots**2, indexing="ij")]
    spline = scipy.interpolate.RectBivariateSpline(logs, roots, _both(grid[0], grid[1], delta).reshape(GRID, GRID))

    def near(mu: FloatArray, a: FloatArray) -> FloatArray:
        inside = np.asarray(spline.ev(np.log(np.maximum(mu, low)), np.sqrt(a)), dtype=np.float64)
        return np.where(mu > 0, inside, 0.0)

    some = _spread(mu.size)
    exact = _both(mu[some], a[some], delta)
    return near if np.abs(near(mu[some], a[some]) - exact).max() <= CLOSE * exact.max() else None

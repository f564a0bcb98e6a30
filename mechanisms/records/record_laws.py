"""The exact laws of all records of a data set, and their epsilons at one delta, in whole arrays.

Of very many records the largest epsilon is held against every record: at it, no record's divergence, in float64,
exceeds delta. The others are interpolated, as long as the interpolation is right to ``INTERPOLATED`` of the largest
wherever it is tried, and solved one by one otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_ndtr, ndtri

from ..base import BOTH, Direction, ExactLaw, PrivacyProfile, WhiteBox, check_delta
from ..capabilities import BatchedLosses, BatchedRecords, DominatingRecords, EnclosedRecords
from ..data.dataset import Dataset, FloatArray
from ..data.neighbours import NeighbouringPair
from ..laws.gaussian_profile import gaussian_log_delta
from ..laws.quadratic_profile import CLOSE, quadratic_log_delta, quadratic_log_tail
from ..numerics.mills import HALF_LOG_2PI
from ..numerics.ticks import tick
from ..objective.perturbed_objective import slices
from ..reference import is_reference

#: Profiles solved together; bounds memory and keeps the arrays in cache.
_CHUNK: Final = 8192
_STEPS: Final = 200

#: log delta and log tail at an array of epsilon, for the profiles at the given positions.
Law = Callable[[FloatArray, NDArray[np.intp]], tuple[FloatArray, FloatArray]]


def gaussian_epsilon(mu: ArrayLike, delta: float) -> FloatArray:
    """Return the smallest ``epsilon >= 0`` at ``delta`` between ``N(0, 1)`` and ``N(mu, 1)``, elementwise.

    ``mu`` is finite, at least 0, of one axis. On the safe side: the divergence there is at most ``delta``, to float64.
    """
    mu = np.asarray(mu, dtype=np.float64)
    if mu.ndim != 1 or not (np.isfinite(mu) & (mu >= 0)).all():
        raise ValueError("mu must be finite and at least 0, one axis")
    delta = check_delta(delta)
    if delta in (0.0, 1.0):
        return np.where(mu > 0, math.inf if delta == 0.0 else 0.0, 0.0)

    def law(epsilon: FloatArray, at: NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
        m = mu[at]
        return gaussian_log_delta(epsilon, m), log_ndtr(0.5 * m - epsilon / m)

    upper = mu * (0.5 * mu + max(-float(ndtri(delta)), 0.0))
    return _solve(law, delta, upper, mu * (0.5 * mu + _edge(mu, delta)), np.full(mu.shape, math.inf), mu > 0)


def _edge(slope: FloatArray, delta: float) -> FloatArray:
    """Return about the ``z`` with ``phi(z) slope / (z (z + slope)) = delta``: where a gap of that slope is delta."""
    z = np.ones(slope.shape)
    with np.errstate(divide="ignore"):
        for _ in range(3):
            z = np.sqrt(np.maximum(2 * (np.log(slope / (z * (z + slope))) - HALF_LOG_2PI - math.log(delta)), 0.01))
    return z


def ops_epsilon(
    leverage: ArrayLike,
    scaled_residual: ArrayLike,
    delta: float,
    direction: Direction,
) -> FloatArray:
    """Return the smallest ``epsilon >= 0`` at ``delta`` of one-posterior sampling, elementwise over arrays of one axis.

    Leverage and scaled residual are those out of sample, as in ``QuadraticProfile``; a leverage may be infinite
    (without the record the matrix is singular), and so is epsilon there. FORWARD: drawn without the record. On the safe
    side: the divergence there is at most ``delta``, to float64 (relatively 1e-11; ``epsilon_at`` of the profile is
    proved).
    """
    mu, a = np.broadcast_arrays(np.asarray(leverage, dtype=np.float64), np.asarray(scaled_residual, dtype=np.float64))
    if mu.ndim != 1 or not (mu >= 0).all() or not np.isfinite(a[np.isfinite(mu)]).all():
        raise ValueError("leverage must be at least 0 and scaled_residual finite, one axis each")
    delta = check_delta(delta)
    if delta == 1.0:
        return np.zeros(mu.shape)
    lost = np.isinf(mu)
    mu, a = np.where(lost, 0.0, mu), np.where(lost, 0.0, np.abs(a))
    largest = np.where(mu > 0, 0.5 * (np.log1p(mu) + a**2 / (1 + mu)), 0.0)
    if delta == 0.0:
        epsilons = _past(largest, largest) if direction is Direction.BACKWARD else np.where(mu > 0, math.inf, 0.0)
        return np.where(lost, math.inf, epsilons)
    root = np.sqrt(mu)
    if direction is Direction.FORWARD:  # |Z| <= z except with probability delta
        z = -float(ndtri(0.5 * delta))
        upper = 0.5 * (a**2 * mu / (1 + mu) + mu * z**2) + a * root * z
        edge = _edge(root * (a + root), delta)
        guess = 0.5 * (a**2 * mu / (1 + mu) - np.log1p(mu) + mu * edge**2) + a * root * edge
    else:
        # L > epsilon is |W| < w with w^2 = 2 (largest - epsilon); two bounds of delta show that w is at least ...
        z = max(-float(ndtri(delta)), 0.0)
        mean, spread = a / (1 + mu), root / np.sqrt(1 + mu)
        upper = 0.5 * (np.log1p(mu) + mean**2 * mu - (spread * z) ** 2) + mean * spread * z
        upper = np.where(mean > spread * z, upper, largest)  # ... mean - spread z, from delta <= P(W < w)
        # ... and the root of delta <= (largest density) * integral of (w^2 - W^2)/2 = (2/3) w^3/(spread sqrt(2 pi))
        cube = 1.5 * delta * math.sqrt(2 * math.pi) * spread
        upper = np.maximum(np.minimum(upper, largest - 0.5 * np.cbrt(cube) ** 2), 0.0)
        w = mean - spread * _edge(mean * spread, delta)
        guess = np.where(w > np.cbrt(cube), largest - 0.5 * w**2, upper)

    def law(epsilon: FloatArray, at: NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
        return (
            quadratic_log_delta(epsilon, mu[at], a[at], direction),
            quadratic_log_tail(epsilon, mu[at], a[at], direction),
        )

    bound = largest if direction is Direction.BACKWARD else np.full(mu.shape, math.inf)
    return np.where(lost, math.inf, _past(_solve(law, delta, upper, guess, bound, mu > 0), bound))


def _past(epsilon: FloatArray, largest: FloatArray) -> FloatArray:
    """Step over the rounding of the distance to the largest loss, where that is more than an ulp moves delta by."""
    close = np.isfinite(largest) & (largest > 0) & (epsilon >= (1 - CLOSE) * largest)
    return np.where(close, epsilon + 4 * np.spacing(np.where(close, largest, 1.0)), epsilon)


def _solve(
    law: Law, delta: float, upper: FloatArray, guess: FloatArray, largest: FloatArray, moving: NDArray[np.bool_]
) -> FloatArray:
    out = np.zeros(upper.shape)
    positions = np.flatnonzero(moving)
    for start in range(0, positions.size, _CHUNK):
        at = positions[start : start + _CHUNK]
        out[at] = _newton(law, math.log(delta), upper[at], guess[at], largest[at], at)
    return out


def _newton(
    law: Law, target: float, upper: FloatArray, guess: FloatArray, largest: FloatArray, at: NDArray[np.intp]
) -> FloatArray:
    """Solve ``log delta = target`` on ``[0, upper]``; ``log delta`` is at most the target at ``upper``, up to rounding.

    The answer is 0 where that is so at 0. The slope is ``d log delta / d epsilon = 1 - P(L > epsilon)/delta``. Where
    log delta is concave the steps come from the right and stay there; one that leaves its bracket is halved instead.
    """
    low, high = np.full(at.size, -1.0), upper * (1 + 1e-12)  # low < 0: not yet known to be too small
    best, point, active = high.copy(), np.clip(guess, 0.0, high), np.arange(at.size)
    for _ in range(_STEPS):
        if active.size == 0:
            return best
        tried = point[active]
        log_delta, log_tail = law(tried, at[active])
        safe = log_delta <= target
        best[active] = np.where(safe, tried, best[active])
        high[active] = np.where(safe, tried, high[active])
        low[active] = np.where(safe, low[active], tried)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            slope = -np.expm1(log_tail - log_delta)
            step = (target - log_delta) / slope
            room = largest[active] - tried  # delta falls like a small power of it: there, a step in its logarithm
            step = np.where(-slope * room < 4, -room * np.expm1(-step / room), step)
        # close to the largest loss a minute step still changes delta: then both must have settled
        settled = (np.abs(log_delta - target) <= 1e-6) | (np.abs(step) <= 4 * np.spacing(tried))
        near = settled & (np.abs(step) <= 1e-13 * tried)
        new = tried + step
        left, right = low[active], high[active]
        new = np.where((new > left) & (new <= right), new, 0.5 * (np.maximum(left, 0.0) + right))
        new = np.where((left < 0) & (tried + step <= 0), 0.0, new)
        # a converged point on the unsafe side steps just over the root
        new = np.where(near & ~safe, np.minimum(tried * (1 + 4e-14) + step, right), new)
        point[active] = new
        active = active[~((near & safe) | (right - np.maximum(left, 0.0) <= 1e-14 * right))]
    raise ArithmeticError(f"the batched root search must settle in {_STEPS} steps, {active.size} profiles did not")


#: Records at which an interpolation is tried, and how far it may be off, in units of the largest epsilon: a fiftieth of
#: a bar in a histogram.
TRIED, INTERPOLATED = 2_048, 5e-4
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
    if np.abs(spline(some) - gaussian_epsilon(some, delta)).max() > INTERPOLATED * top:
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
    return near if np.abs(near(mu[some], a[some]) - exact).max() <= INTERPOLATED * exact.max() else None


#: Records handled together where all of them are asked for.
BLOCK = 1 << 16


class RecordLaws(Protocol):
    """The exact law of every record's loss."""

    def delta_at(self, epsilon: float, direction: Direction) -> FloatArray:
        """Return every record's divergence at ``epsilon`` (natural log, any real number), shape ``(n_records,)``."""

    def epsilon_at(self, delta: float, direction: Direction) -> FloatArray:
        """Return every record's smallest ``epsilon >= 0`` at ``delta``, shape ``(n_records,)``."""


class BatchedLaws(RecordLaws, Protocol):
    """The same in one vectorised pass."""

    def worse_epsilon_at(self, delta: float) -> FloatArray:
        """Return every record's smallest ``epsilon >= 0`` at ``delta`` that serves both directions.

        Of more than ``BLOCK`` records the largest is exact, and those below are interpolated between exact values.
        """


@dataclass(frozen=True, eq=False, repr=False)
class GaussianRecordLaws:
    """Two normal laws of one covariance for every record, ``mu`` standard deviations apart (infinite: told apart)."""

    mu: FloatArray

    def delta_at(self, epsilon: float, direction: Direction) -> FloatArray:
        lost = np.isinf(self.mu)
        return np.where(lost, 1.0, np.exp(gaussian_log_delta(epsilon, np.where(lost, 0.0, self.mu))))

    def epsilon_at(self, delta: float, direction: Direction) -> FloatArray:
        lost = np.isinf(self.mu) & (delta < 1)
        return np.where(lost, math.inf, gaussian_epsilon(np.where(np.isinf(self.mu), 0.0, self.mu), delta))

    def worse_epsilon_at(self, delta: float) -> FloatArray:
        lost = np.isinf(self.mu)
        if self.mu.size <= BLOCK or not 0 < delta < 1 or lost.all():
            return self.epsilon_at(delta, Direction.FORWARD)
        epsilons = gaussian_epsilons(np.where(lost, 0.0, self.mu), delta, BLOCK)
        return np.where(lost, math.inf, epsilons) if lost.any() else epsilons


@dataclass(frozen=True, eq=False, repr=False)
class QuadraticRecordLaws:
    """One-posterior sampling: out-of-sample leverage (infinite: told apart) and scaled residual of every record."""

    leverage: FloatArray
    scaled_residual: FloatArray

    def delta_at(self, epsilon: float, direction: Direction) -> FloatArray:
        lost = np.isinf(self.leverage)
        mu, a = np.where(lost, 0.0, self.leverage), np.where(lost, 0.0, self.scaled_residual)
        # the profile's FORWARD is drawn without the record
        return np.where(lost, 1.0, np.exp(quadratic_log_delta(epsilon, mu, a, direction.opposite)))

    def epsilon_at(self, delta: float, direction: Direction) -> FloatArray:
        return ops_epsilon(self.leverage, self.scaled_residual, delta, direction.opposite)

    def worse_epsilon_at(self, delta: float) -> FloatArray:
        if self.leverage.size > BLOCK and 0 < delta < 1:
            return ops_epsilons(self.leverage, self.scaled_residual, delta, BLOCK)
        return np.maximum(self.epsilon_at(delta, Direction.FORWARD), self.epsilon_at(delta, Direction.BACKWARD))


@dataclass(frozen=True, eq=False, repr=False)
class OneByOneLaws:
    """The exact profile of every record, asked one at a time."""

    profiles: tuple[PrivacyProfile, ...]

    def delta_at(self, epsilon: float, direction: Direction) -> FloatArray:
        return np.array([profile.delta_at(epsilon, direction) for profile in self.profiles])

    def epsilon_at(self, delta: float, direction: Direction) -> FloatArray:
        return np.array([profile.epsilon_at(delta, direction) for profile in self.profiles])

    @property
    def ends(self) -> tuple[OneByOneLaws, OneByOneLaws]:
        """The laws below and above those of the records, where their profiles know how far theirs may be off."""
        both = [getattr(profile, "ends", (profile, profile)) for profile in self.profiles]
        return OneByOneLaws(tuple(low for low, _ in both)), OneByOneLaws(tuple(high for _, high in both))


def batched_laws(mechanism: object, dataset: Dataset) -> BatchedLaws | None:
    """Return the exact laws of all records from one pass over the data, or None for a mechanism without such a pass."""
    if not (isinstance(mechanism, BatchedRecords) and is_reference(mechanism)):
        return None
    return mechanism.record_laws(dataset)


def dominating_laws(mechanism: object, dataset: Dataset) -> BatchedLaws | None:
    """Return laws that no record's loss exceeds, where the exact ones are not known, or None."""
    if not (isinstance(mechanism, DominatingRecords) and is_reference(mechanism)):
        return None
    return mechanism.dominating_laws(dataset)


def record_laws(mechanism: object, dataset: Dataset) -> RecordLaws | None:
    """Return the exact laws of all records, one by one where there is no batched form; None where no law is known."""
    batched = batched_laws(mechanism, dataset)
    if batched is not None or not isinstance(mechanism, ExactLaw):
        return batched
    pairs = (NeighbouringPair.remove(dataset, i) for i in range(dataset.n_records))
    return OneByOneLaws(tuple(mechanism.profile(pair) for pair in pairs))


def enclosing_laws(mechanism: object, dataset: Dataset, laws: RecordLaws) -> tuple[RecordLaws, RecordLaws]:
    """Return laws whose divergences lie below and above those of every record; ``laws`` twice where none are bounded.

    Raises
    ------
    ValueError
        If the data are so ill-conditioned that nothing can be said.
    """
    if isinstance(laws, OneByOneLaws):
        return laws.ends
    if not (isinstance(mechanism, EnclosedRecords) and is_reference(mechanism)):
        return laws, laws
    return mechanism.record_law_ends(dataset) or (laws, laws)


def record_losses(mechanism: WhiteBox, outputs: FloatArray, dataset: Dataset, records: range) -> FloatArray:
    """Return ``log p_D(o) - log p_{D-z}(o)`` of some records at the same outputs, shape ``(n_draws, len(records))``.

    Equal to ``privacy_loss(outputs, NeighbouringPair.remove(dataset, i))`` for each ``i``, in memory of that size.
    """
    if isinstance(mechanism, BatchedLosses) and is_reference(mechanism):
        return mechanism.record_losses(outputs, dataset, records)
    pairs = (NeighbouringPair.remove(dataset, i) for i in records)
    return np.stack([np.asarray(mechanism.privacy_loss(outputs, pair), dtype=np.float64) for pair in pairs], axis=1)

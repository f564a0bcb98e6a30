"""Who is most exposed? The likelihood-ratio attack on every record of a data set, with a ranking that can be trusted.

Record ``i`` is attacked as a member: does the data set hold it or not, ``NeighbouringPair.remove(dataset, i)``. A
target outside the data is another pair, ``NeighbouringPair.add(dataset, x, y)``: ask ``likelihood_ratio_attack`` or
the mechanism's ``profile`` about it. Either pair has two directions, drawn with and without the target; they differ.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from mechanisms.base import Direction, Mechanism, WhiteBox, check_delta
from mechanisms.data.dataset import DataError, Dataset, FloatArray
from mechanisms.records.record_laws import RecordLaws, enclosing_laws, record_laws, record_losses

from ..estimate import Budget, Result
from ..stats.intervals import dkw_radius, even_share
from .attack import rank_grid
from .tails import outputs_in_chunks

#: Rounding error granted to an epsilon or advantage of a law whose parameters are given, relative to it; and in
#: absolute terms to an advantage (a sum of positive terms) and to an epsilon (the root of an equation). The rounding
#: of the parameters is bounded apart, from the condition of the data.
ROUNDING, LEAST_ADVANTAGE, LEAST_EPSILON = 1e-9, 1e-280, 1e-12
#: Floats in one block of losses (draws times records).
BLOCK_FLOATS = 1_000_000
#: Losses are cut here before they are exponentiated, to the side that keeps a bound a bound.
LARGEST_LOSS = 300.0


@dataclass(frozen=True, eq=False, repr=False)
class RecordBounds(Result):
    """One number for every record with an interval; all intervals hold at once. Arrays of shape ``(n_records,)``."""

    value: FloatArray
    low: FloatArray
    high: FloatArray

    @property
    def ranking(self) -> NDArray[np.intp]:
        """Positions of the records, the largest value first (ties in the order of the data)."""
        return np.argsort(-self.value, kind="stable")

    @property
    def candidates(self) -> NDArray[np.intp]:
        """Positions that are sure to hold a record with the largest number, in the order of ``ranking``.

        Those whose interval reaches the highest lower end: one record where the intervals tell it from all others,
        every record where the upper ends are unknown.
        """
        order = self.ranking
        return np.asarray(order[self.high[order] >= self.low.max()])

    def entries(self) -> dict[str, Any]:
        """Return the largest of the numbers; how many records there are is not told."""
        return {"largest": float(self.value.max()), "candidates": self.candidates.size}


@dataclass(frozen=True, eq=False, repr=False)
class Exposure(Result):
    """How exposed every record is. All intervals of all records hold at once, except with ``failure_prob``.

    Attributes
    ----------
    mechanism : str
    delta : float, where the epsilons are taken
    advantage : RecordBounds
        Largest true- minus false-positive rate of any membership test: the total variation of the two output laws.
    drawn_with, drawn_without : RecordBounds
        Smallest epsilon at ``delta``, natural log, when the output is drawn with the record and without it.
    failure_prob : float
        0 where the laws are known exactly. For one-posterior sampling and noise around a ridge estimate the intervals
        hold whatever the condition of the data: what rounding can do to leverages and residuals is bounded (from the
        condition number, or in ball arithmetic), and 1e-9 is granted to the root search, which is tested, not proved.
        Profiles asked one record at a time bring their own ends where they know how far their distance may be off.
    n_draws : int, mechanism evaluations spent; the same draws serve all records
    method : str, how the numbers were made, in words
    """

    mechanism: str
    delta: float
    advantage: RecordBounds
    drawn_with: RecordBounds
    drawn_without: RecordBounds
    failure_prob: float
    n_draws: int
    method: str

    @property
    def epsilon(self) -> RecordBounds:
        """The worse of the two directions: the per-instance epsilon of each record (W19, definition 2.2)."""
        first, second = self.drawn_with, self.drawn_without
        parts = ((first.value, second.value), (first.low, second.low), (first.high, second.high))
        return RecordBounds(*(np.maximum(a, b) for a, b in parts))

    def entries(self) -> dict[str, Any]:
        """Return what is shown, by name."""
        epsilon = self.epsilon
        return {
            "mechanism": self.mechanism,
            "delta": self.delta,
            "largest epsilon": float(epsilon.value.max()),
            "median epsilon": float(np.median(epsilon.value)),
            "candidates for the most exposed": epsilon.candidates.size,
            "failure_prob": self.failure_prob,
            "n_draws": self.n_draws,
            "method": self.method,
        }


def exposure(mechanism: Mechanism, dataset: Dataset, budget: Budget, *, delta: float) -> Exposure:
    """Return how exposed every record of a data set is: exactly where the laws are known, otherwise from draws.

    Exact laws come from one pass over the data for one-posterior sampling, sufficient statistics and normal noise
    around a ridge estimate, and from one profile a record for other mechanisms with a ``profile``; nothing is drawn
    then. Other mechanisms are drawn from as in ``sampled_exposure``.

    Parameters
    ----------
    mechanism : Mechanism, with an exact law, or white-box
    dataset : Dataset, at least one record
    budget : Budget
        Draws from ``dataset`` (shared by all records) and the failure probability of everything returned.
    delta : float, in [0, 1]

    Returns
    -------
    Exposure
        An interval of epsilon and of advantage for every record; all hold at once.

    Raises
    ------
    DataError
        If there is no record.
    ValueError
        If ``X^T X + lam I`` is singular, or has a condition number from which nothing useful follows in float64, with
        too many records for ball arithmetic: raise ``lam``.
    TypeError
        If the mechanism has neither an exact law nor a ``privacy_loss``.

    Examples
    --------
    >>> from audits import Budget, StreamKey, exposure
    >>> from mechanisms import PosteriorSampling, load
    >>> seen = exposure(PosteriorSampling(1.0, 1.0), load("fair"), Budget(1, 1e-6, StreamKey(1)), delta=1e-6)
    >>> seen.epsilon.candidates.size, round(float(seen.epsilon.value.max() / np.median(seen.epsilon.value)), 1)
    (1, 5.5)
    """
    delta = _checked(dataset, delta)
    laws = record_laws(mechanism, dataset)
    if laws is not None:
        return _exact(mechanism.name, (laws, *enclosing_laws(mechanism, dataset, laws)), delta)
    if not isinstance(mechanism, WhiteBox):
        raise TypeError(f"mechanism must have an exact law or a privacy_loss, got {type(mechanism).__name__}")
    return sampled_exposure(mechanism, dataset, budget, delta=delta)


def _checked(dataset: Dataset, delta: float) -> float:
    if dataset.n_records == 0:
        raise DataError("n_records must be at least 1 to rank records, got n_records=0")
    return check_delta(delta)


def _exact(name: str, laws: tuple[RecordLaws, RecordLaws, RecordLaws], delta: float) -> Exposure:
    """Return the numbers of the first laws between those of the others, with room for the rounding of a root."""

    def bounds(number: Callable[[RecordLaws], FloatArray], least: float, largest: float) -> RecordBounds:
        value, below, above = (number(each) for each in laws)
        low = np.maximum(below - _room(below, least), 0.0)
        high = np.minimum(above + _room(above, least), largest)
        return RecordBounds(np.clip(value, low, high), low, high)

    return Exposure(
        name,
        delta,
        bounds(lambda each: each.delta_at(0.0, Direction.FORWARD), LEAST_ADVANTAGE, 1.0),
        bounds(lambda each: each.epsilon_at(delta, Direction.FORWARD), LEAST_EPSILON, math.inf),
        bounds(lambda each: each.epsilon_at(delta, Direction.BACKWARD), LEAST_EPSILON, math.inf),
        0.0,
        0,
        f"exact law; room for the condition of the data and {ROUNDING:g} for rounding",
    )


def _room(values: FloatArray, least: float) -> FloatArray:
    return np.where(np.isinf(values), 0.0, ROUNDING * values + least)


def sampled_exposure(mechanism: WhiteBox, dataset: Dataset, budget: Budget, *, delta: float) -> Exposure:
    """Return how exposed every record is, from one set of draws from ``dataset`` and each record's losses at them.

    Each record owns an even share of the failure probability; with it the law of its loss is enclosed between two
    discrete laws (DKW on the whole line, order statistics in the tail), and every number between its values at those.
    Draws with the record cannot bound epsilon without it from above: that end is infinite. Memory is bounded whatever
    the number of records; the time is that of ``n_draws`` times ``n_records`` losses.
    """
    delta, n = _checked(dataset, delta), budget.n_draws
    rng = budget.key.child("exposure").rng()
    outputs = np.concatenate(list(outputs_in_chunks(mechanism, dataset, n, rng=rng)))
    steps = _steps(n, even_share(budget.spend("all records at once"), dataset.n_records))
    table = np.empty((9, dataset.n_records))
    for records in _blocks(dataset.n_records, n):
        losses = np.asarray(record_losses(mechanism, outputs, dataset, records), dtype=np.float64)
        if np.isnan(losses).any():
            raise ValueError(f"privacy_loss of {mechanism.name} must be a number at every output, got nan")
        table[:, records.start : records.stop] = _numbers(-np.sort(-losses, axis=0), steps, delta)
    advantage, drawn_with, drawn_without = (RecordBounds(*table[start : start + 3]) for start in (0, 3, 6))
    return Exposure(
        mechanism.name,
        delta,
        advantage,
        drawn_with,
        drawn_without,
        budget.failure_prob,
        n,
        "DKW and order statistics, Bonferroni over records",
    )


def _blocks(n_records: int, n_draws: int) -> Iterator[range]:
    size = max(1, BLOCK_FLOATS // n_draws)
    for start in range(0, n_records, size):
        yield range(start, min(start + size, n_records))


@dataclass(frozen=True, eq=False)
class _Steps:
    """Masses on the order statistics of a loss, the largest first; they depend on the number of draws alone.

    A law with tail at most that of ``low``, and one with tail at least that of ``high``, whose mass ``beyond`` is
    infinitely far up.
    """

    low: FloatArray
    plain: FloatArray
    high: FloatArray
    beyond: float


def _steps(n: int, share: float) -> _Steps:
    """Return the masses at ``share``: half for DKW, half for order statistics, whatever the law (atoms included).

    ``P(L >= X)`` and ``P(L > X)`` at the k-th largest draw ``X`` are at least, and at most, a Beta(k, n+1-k) variable.
    """
    radius, grid = dkw_radius(n, share / 2), rank_grid(n)
    share_each = share / 2 / (3 * grid.size)  # above and below for the loss, below for its negative
    ranks = np.arange(1, n + 1)
    at_least = special.betaincinv(grid, n + 1 - grid, share_each)[np.searchsorted(grid, ranks, side="right") - 1]
    at_most = np.append(special.betainccinv(grid, n + 1 - grid, share_each), 1.0)[np.searchsorted(grid, ranks)]
    below = np.maximum.accumulate(np.maximum(ranks / n - radius, at_least))
    above = np.minimum(np.minimum((ranks - 1) / n + radius, at_most), 1.0)
    return _Steps(np.diff(below, prepend=0.0), np.full(n, 1 / n), np.diff(above, append=1.0), float(above[0]))


def _numbers(losses: FloatArray, steps: _Steps, delta: float) -> FloatArray:
    """Return value, low, high of advantage, epsilon with, epsilon without; losses sorted downwards in each column."""
    up = np.clip(losses, 0.0, LARGEST_LOSS)
    far = np.where(losses > LARGEST_LOSS, math.inf, up)
    down = np.clip(-losses[::-1], 0.0, LARGEST_LOSS)
    laws = [(far, steps.plain, 0.0), (up, steps.low, 0.0), (far, steps.high, steps.beyond)]
    rows: list[FloatArray] = []
    epsilons: list[FloatArray] = []
    for levels, mass, extra in laws:
        curve = _Curve(levels, mass[:, None], mass[:, None] * np.exp(-levels), extra)
        rows.append(curve.delta_at_zero)
        epsilons.append(curve.epsilon_at(delta))
    for mass in (steps.plain, steps.low):  # E_D'[(1 - e^(epsilon + L))_+] = E_D[(e^-L - e^epsilon)_+]
        epsilons.append(_Curve(down, mass[:, None] * np.exp(down), mass[:, None], 0.0).epsilon_at(delta))
    return np.stack([*rows, *epsilons, np.full(losses.shape[1], math.inf)])


class _Curve:
    """``delta(e) = extra + sum over levels above e of (gain - e^e cost)``, one a column, levels sorted downwards."""

    def __init__(self, levels: FloatArray, gain: FloatArray, cost: FloatArray, extra: float) -> None:
        none = np.zeros((1, levels.shape[1]))
        self.levels = levels
        self.gains = extra + np.concatenate([none, np.cumsum(np.broadcast_to(gain, levels.shape), axis=0)])
        self.costs = np.concatenate([none, np.cumsum(np.broadcast_to(cost, levels.shape), axis=0)])

    @property
    def delta_at_zero(self) -> FloatArray:
        return np.asarray(np.clip(self.gains[-1] - self.costs[-1], 0.0, 1.0))

    def epsilon_at(self, delta: float) -> FloatArray:
        """Return the smallest ``e >= 0`` with ``delta(e) <= delta`` in each column; infinite if there is none."""
        infinite = np.isinf(self.levels)
        with np.errstate(invalid="ignore"):
            at_levels = self.gains[1:] - np.where(infinite, 0.0, np.exp(self.levels) * self.costs[1:])
        # the root lies between the first level whose delta is too large and the one above it
        too_large = at_levels > delta
        above = np.where(too_large.any(axis=0), too_large.argmax(axis=0), len(self.levels))
        columns = np.arange(self.levels.shape[1])
        with np.errstate(divide="ignore", invalid="ignore"):
            root = np.log((self.gains[above, columns] - delta) / self.costs[above, columns])
        lost = self.gains[0] > delta
        lost |= (above < len(self.levels)) & infinite[np.minimum(above, len(self.levels) - 1), columns]
        enough = self.gains[-1] - self.costs[-1] <= delta
        return np.where(lost, math.inf, np.where(enough, 0.0, np.maximum(root, 0.0)))

"""How often a bound holds, from all draws at once or from as few as decide; every look spends its own share.

Looks happen after 1, 2, 4, … times ``first`` draws in total, the last one at the budget. Look k spends
``failure_prob / (k (k + 1))``, whatever the number of looks, so the interval returned holds although the time to stop
was chosen by looking.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechanisms.base import BOTH, Direction, WhiteBox, check_delta
from mechanisms.data.dataset import FloatArray
from mechanisms.data.neighbours import NeighbouringPair

from ..estimate import Budget, Estimate, Result
from ..white_box.tails import chunk_sizes, delta_estimate, loss_sample, split_draws, worse
from .intervals import betting, check_failure_prob, check_size, clopper_pearson_band, even_share, look_share

#: ``sampler(n, rng)`` returns ``n`` independent rows of events, shape ``(n, n_parts)`` (or ``(n,)`` for one part).
EventSampler = Callable[[int, np.random.Generator], ArrayLike]

METHOD = "Clopper-Pearson"


@dataclass(frozen=True, repr=False)
class CoverageAudit(Result):
    """Probability of each part of a "with probability" claim, and of all parts together.

    All intervals hold at once except with probability ``failure_prob``; a claim about several parts is decided on
    ``joint``.

    Attributes
    ----------
    parts : tuple of Estimate, in the order of the events
    joint : Estimate, that all parts hold
    failure_prob : float, with which the intervals may miss the truth, all together
    n_draws : int, rows of events
    """

    parts: tuple[Estimate, ...]
    joint: Estimate
    failure_prob: float
    n_draws: int


def coverage(events: ArrayLike, failure_prob: float) -> CoverageAudit:
    """Return the coverage of events that were drawn already.

    ``events``, (n_draws, n_parts) or (n_draws,) array_like of bool: true where the bound holds; rows are independent.
    ``failure_prob``: of all intervals together.
    """
    held = _rows(events)
    return _audit(held.sum(axis=0), int(held.all(axis=1).sum()), held.shape[0], failure_prob)


def audit_coverage(sampler: EventSampler, budget: Budget) -> CoverageAudit:
    """Return the coverage of ``budget.n_draws`` events; chunks are counted and forgotten.

    Parameters
    ----------
    sampler : callable
        ``sampler(n, rng)`` returns ``n`` independent rows of events, shape ``(n, n_parts)`` or ``(n,)``, True where the
        bound holds.
    budget : Budget

    Returns
    -------
    CoverageAudit
        The probability of each part, and of all parts together.

    Raises
    ------
    ValueError
        If the sampler returns another number of rows, or no booleans.

    Examples
    --------
    >>> from audits import Budget, StreamKey
    >>> from audits.stats import audit_coverage
    >>> seen = audit_coverage(lambda n, rng: rng.random(n) < 0.9, Budget(2000, 0.01, StreamKey(1)))
    >>> seen.joint.low <= 0.9 <= seen.joint.high
    True
    """
    rng = budget.key.child("coverage").rng()
    counts, joint = np.zeros(0, dtype=np.int64), 0
    for size in chunk_sizes(budget.n_draws):
        held = _rows(sampler(size, rng))
        if held.shape[0] != size:
            raise ValueError(f"sampler must return {size} rows of events, got {held.shape[0]}")
        counts = held.sum(axis=0) + (counts if counts.size else 0)
        joint += int(held.all(axis=1).sum())
    return _audit(counts, joint, budget.n_draws, budget.spend("coverage"))


def proportion(count: int, n: int, failure_prob: float) -> Estimate:
    """Return the estimate of one proportion from ``count`` successes in ``n`` draws."""
    band = clopper_pearson_band(count, n, failure_prob)
    return Estimate(count / n, float(band.low), float(band.high), failure_prob, n, METHOD)


def _rows(events: ArrayLike) -> NDArray[np.bool_]:
    held = np.asarray(events)
    if held.dtype != np.bool_ or held.ndim not in (1, 2) or held.size == 0:
        raise ValueError(f"events must be booleans of shape (n_draws, n_parts), got {held.dtype} of shape {held.shape}")
    return held[:, None] if held.ndim == 1 else held


def _audit(counts: NDArray[np.int64], joint: int, n: int, failure_prob: float) -> CoverageAudit:
    check_failure_prob(failure_prob)
    if counts.size == 1:
        only = proportion(joint, n, failure_prob)
        return CoverageAudit((only,), only, failure_prob, n)
    share = even_share(failure_prob, counts.size + 1)
    parts = tuple(proportion(int(count), n, share) for count in counts)
    return CoverageAudit(parts, proportion(joint, n, share), failure_prob, n)


#: ``sampler(n, rng)`` returns ``n`` independent values or events, shape ``(n,)``.
ValueSampler = Callable[[int, np.random.Generator], ArrayLike]

#: Draws before the first look.
FIRST_LOOK = 1000


@dataclass(frozen=True, repr=False)
class SequentialAudit(Result):
    """Where a sequential audit stopped.

    Attributes
    ----------
    estimate : Estimate
        Of the last look; its ``failure_prob`` is that of the whole audit, since any look might have been the last.
    looks : tuple of Estimate, all looks, each with the share that it spent
    decided : bool
        Whether the last interval lies wholly inside, or wholly outside, what is allowed.
    n_draws : int, mechanism evaluations spent (of a sampler: values drawn)
    """

    estimate: Estimate
    looks: tuple[Estimate, ...]
    decided: bool
    n_draws: int


def look_sizes(n_draws: int, first: int = FIRST_LOOK) -> Iterator[int]:
    """Yield the total numbers of draws at which to look: ``first``, twice that, …, and ``n_draws`` at last."""
    size = check_size(first)
    while 2 * size <= n_draws:
        yield size
        size *= 2
    yield n_draws


def sequential_proportion(
    sampler: ValueSampler, allowed: tuple[float, float], budget: Budget, *, first: int = FIRST_LOOK
) -> SequentialAudit:
    """Return whether a probability lies in ``allowed``, from as few of ``budget.n_draws`` events as that takes.

    Parameters
    ----------
    sampler : callable
        ``sampler(n, rng)`` returns ``n`` independent events, shape ``(n,)``.
    allowed : (float, float), what is claimed: the least and the largest probability
    budget : Budget
    first : int, draws before the first look

    Returns
    -------
    SequentialAudit
        Where it stopped, and what each look saw.

    Raises
    ------
    ValueError
        If the sampler returns another shape or no events.

    Examples
    --------
    >>> from audits import Budget, StreamKey
    >>> from audits.stats import sequential_proportion
    >>> budget = Budget(100_000, 1e-6, StreamKey(1))
    >>> seen = sequential_proportion(lambda n, rng: rng.random(n) < 0.5, (0.0, 0.1), budget)
    >>> seen.decided, seen.n_draws
    (True, 1000)
    """

    def interval(values: FloatArray, share: float) -> Estimate:
        if not np.isin(values, (0.0, 1.0)).all():
            raise ValueError("sampler must return events (booleans), got other values")
        return proportion(int(values.sum()), values.size, share)

    return _run(sampler, interval, allowed, budget, first)


def sequential_mean(
    sampler: ValueSampler,
    allowed: tuple[float, float],
    budget: Budget,
    *,
    low: float,
    high: float,
    first: int = FIRST_LOOK,
) -> SequentialAudit:
    """Return whether the mean of values in ``[low, high]`` lies in ``allowed``, by betting intervals.

    Parameters
    ----------
    sampler : callable
        ``sampler(n, rng)`` returns ``n`` independent values, shape ``(n,)``.
    allowed : (float, float), what is claimed: the least and the largest mean
    budget : Budget
    low, high : float, every value lies between them
    first : int, draws before the first look

    Returns
    -------
    SequentialAudit
        Where it stopped, and what each look saw.

    Raises
    ------
    ValueError
        If the sampler returns another shape or a value outside.

    References
    ----------
    Waudby-Smith and Ramdas 2024.
    """

    def interval(values: FloatArray, share: float) -> Estimate:
        ends = betting(values, share, low=low, high=high)
        middle = min(max(float(values.mean()), ends.low), ends.high)
        return Estimate(middle, ends.low, ends.high, share, values.size, "betting (hedged capital)")

    return _run(sampler, interval, allowed, budget, first)


def sequential_delta(
    mechanism: WhiteBox,
    pair: NeighbouringPair,
    budget: Budget,
    *,
    epsilon: float,
    delta: float,
    directions: Sequence[Direction] = BOTH,
    first: int = FIRST_LOOK,
) -> SequentialAudit:
    """Return whether a mechanism's delta(``epsilon``) is at most ``delta``, from as few evaluations as that takes.

    The worse of ``directions`` decides; each has an even share of a look's draws and of its failure probability.

    Parameters
    ----------
    mechanism : WhiteBox, with ``draw`` and ``privacy_loss``
    pair : NeighbouringPair
    budget : Budget
    epsilon : float, where delta is taken; finite
    delta : float, what is claimed, in [0, 1]
    directions : sequence of Direction, distinct; the worst of them counts
    first : int, evaluations before the first look

    Returns
    -------
    SequentialAudit
        Where it stopped, and what each look saw.

    Examples
    --------
    >>> from audits import Budget, StreamKey
    >>> from audits.stats import sequential_delta
    >>> from mechanisms import NeighbouringPair, PosteriorSampling, load
    >>> mechanism, pair = PosteriorSampling(1.0, 1.0), NeighbouringPair.remove(load("fair"), 0)
    >>> seen = sequential_delta(mechanism, pair, Budget(4000, 1e-6, StreamKey(1)), epsilon=0.1, delta=0.5)
    >>> seen.decided, seen.estimate.high < 0.5
    (True, True)
    """
    n_each = split_draws(budget, directions)
    check_delta(delta)
    rngs = {d: budget.key.child("sequential delta", d.name).rng() for d in directions}
    losses = {d: np.empty(n_each) for d in directions}

    def seen(done: int, total: int, look: Budget) -> Estimate:
        parts = look.split({d.name: Fraction(1, len(directions)) for d in directions})
        for d in directions:
            losses[d][done:total] = loss_sample(mechanism, pair, d, total - done, rng=rngs[d])
        return worse([delta_estimate(losses[d][:total], epsilon, parts[d.name].spend("delta")) for d in directions])

    return _looked(seen, (0.0, delta), budget, look_sizes(n_each, max(1, first // len(directions))))


def _run(
    sampler: ValueSampler,
    interval: Callable[[FloatArray, float], Estimate],
    allowed: tuple[float, float],
    budget: Budget,
    first: int,
) -> SequentialAudit:
    if not allowed[0] <= allowed[1]:
        raise ValueError(f"allowed must satisfy low <= high, got allowed={allowed}")
    rng, values = budget.key.child("sequential").rng(), np.empty(budget.n_draws)

    def seen(done: int, total: int, look: Budget) -> Estimate:
        for size in chunk_sizes(total - done):
            batch = np.asarray(sampler(size, rng), dtype=np.float64)
            if batch.shape != (size,):  # one value would be spread over all places
                raise ValueError(f"sampler must return shape ({size},), got shape={batch.shape}")
            values[done : done + size] = batch
            done += size
        return interval(values[:done], look.spend("one interval"))

    return _looked(seen, allowed, budget, look_sizes(budget.n_draws, first))


def _looked(
    seen: Callable[[int, int, Budget], Estimate], allowed: tuple[float, float], budget: Budget, sizes: Iterable[int]
) -> SequentialAudit:
    """Look at growing samples until one is decided; ``seen(done, total, look)`` adds draws and returns the interval."""
    (low, high), looks, done = allowed, list[Estimate](), 0
    for total in sizes:
        number = len(looks) + 1
        last = seen(done, total, budget.part(f"look {number}", share=look_share(number)))
        looks, done = [*looks, last], total
        decided = (low <= last.low and last.high <= high) or last.high < low or last.low > high
        if decided:
            break
    method = f"{last.method}, look {len(looks)} of a sequential audit"
    whole = Estimate(last.value, last.low, last.high, budget.failure_prob, last.n_draws, method)
    return SequentialAudit(whole, tuple(looks), decided, last.n_draws)

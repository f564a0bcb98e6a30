"""Audits that look early and stop when they are decided; every look spends its own share.

Looks happen after 1, 2, 4, … times ``first`` draws in total, the last one at the budget. Look k spends
``failure_prob / (k (k + 1))``, whatever the number of looks, so the interval returned holds although the time to stop
was chosen by looking.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from mechanisms.base import BOTH, Direction, WhiteBox, check_delta
from mechanisms.data.dataset import FloatArray
from mechanisms.data.neighbours import NeighbouringPair

from ..estimate import Budget, Estimate
from ..results import Result
from ..white_box.draws import chunk_sizes, loss_sample
from ..white_box.tails import delta_estimate, split_draws, worse
from .coverage import proportion
from .intervals import betting, check_size
from .multiplicity import look_share

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
    looks : tuple of Estimate
        All looks, each with the share that it spent.
    decided : bool
        Whether the last interval lies wholly inside, or wholly outside, what is allowed.
    n_draws : int
        Mechanism evaluations spent (of a sampler: values drawn).
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
    allowed : (float, float)
        What is claimed: the least and the largest probability.
    budget : Budget
        Draws, failure probability and random stream; the result is a function of it.
    first : int
        Draws before the first look.

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
    >>> from audits import Budget, StreamKey, sequential_proportion
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
    allowed : (float, float)
        What is claimed: the least and the largest mean.
    budget : Budget
        Draws, failure probability and random stream; the result is a function of it.
    low, high : float
        Every value lies between them.
    first : int
        Draws before the first look.

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
    mechanism : WhiteBox
        With ``draw`` and ``privacy_loss``.
    pair : NeighbouringPair
        The two data sets.
    budget : Budget
        Draws, failure probability and random stream; the result is a function of it.
    epsilon : float
        Where delta is taken; finite.
    delta : float
        What is claimed, in [0, 1].
    directions : sequence of Direction
        Distinct; the worst of them counts.
    first : int
        Evaluations before the first look.

    Returns
    -------
    SequentialAudit
        Where it stopped, and what each look saw.

    Examples
    --------
    >>> from audits import Budget, StreamKey, sequential_delta
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
    looks: list[Estimate] = []
    done, decided = 0, False
    for total in look_sizes(n_each, max(1, first // len(directions))):
        look = budget.part(f"look {len(looks) + 1}", share=look_share(len(looks) + 1))
        parts = look.split({d.name: Fraction(1, len(directions)) for d in directions})
        for d in directions:
            losses[d][done:total] = loss_sample(mechanism, pair, d, total - done, rng=rngs[d])
        done = total
        looks.append(
            worse([delta_estimate(losses[d][:done], epsilon, parts[d.name].spend("delta")) for d in directions])
        )
        decided = _decided(looks[-1], (0.0, delta))
        if decided:
            break
    return _stopped(looks, decided, budget.failure_prob)


def _run(
    sampler: ValueSampler,
    interval: Callable[[FloatArray, float], Estimate],
    allowed: tuple[float, float],
    budget: Budget,
    first: int,
) -> SequentialAudit:
    if not allowed[0] <= allowed[1]:
        raise ValueError(f"allowed must satisfy low <= high, got allowed={allowed}")
    rng = budget.key.child("sequential").rng()
    values = np.empty(budget.n_draws)
    looks: list[Estimate] = []
    done, decided = 0, False
    for total in look_sizes(budget.n_draws, first):
        for size in chunk_sizes(total - done):
            batch = np.asarray(sampler(size, rng), dtype=np.float64)
            if batch.shape != (size,):  # one value would be spread over all places
                raise ValueError(f"sampler must return shape ({size},), got shape={batch.shape}")
            values[done : done + size] = batch
            done += size
        look = budget.part(f"look {len(looks) + 1}", share=look_share(len(looks) + 1))
        looks.append(interval(values[:done], look.spend("one interval")))
        decided = _decided(looks[-1], allowed)
        if decided:
            break
    return _stopped(looks, decided, budget.failure_prob)


def _stopped(looks: list[Estimate], decided: bool, failure_prob: float) -> SequentialAudit:
    last = looks[-1]
    method = f"{last.method}, look {len(looks)} of a sequential audit"
    whole = Estimate(last.value, last.low, last.high, failure_prob, last.n_draws, method)
    return SequentialAudit(whole, tuple(looks), decided, last.n_draws)


def _decided(estimate: Estimate, allowed: tuple[float, float]) -> bool:
    low, high = allowed
    return (low <= estimate.low and estimate.high <= high) or estimate.high < low or estimate.low > high

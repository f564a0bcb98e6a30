"""How often a private bound holds, over the randomness of the mechanism that releases it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..estimate import Budget, Estimate
from ..results import Result
from ..white_box.draws import chunk_sizes
from .intervals import check_failure_prob, clopper_pearson_band
from .multiplicity import even_share

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
    parts : tuple of Estimate
        In the order of the events.
    joint : Estimate
        That all parts hold.
    failure_prob : float
        With which the intervals may miss the truth, all together.
    n_draws : int
        Rows of events.
    """

    parts: tuple[Estimate, ...]
    joint: Estimate
    failure_prob: float
    n_draws: int


def coverage(events: ArrayLike, failure_prob: float) -> CoverageAudit:
    """Return the coverage of events that were drawn already.

    Parameters
    ----------
    events : (n_draws, n_parts) or (n_draws,) array_like of bool
        True where the bound holds; rows are independent.
    failure_prob : float
        Of all intervals together.
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
        Draws, failure probability and random stream; the result is a function of it.

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
    >>> from audits import Budget, StreamKey, audit_coverage
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

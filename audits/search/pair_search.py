"""The worst pair of data sets for a mechanism: found on one random stream, confirmed on another.

The best of many estimates flatters itself, so what a search saw is an indication only. The pair that it found is drawn
from anew; the interval of this confirmation takes no account of the search because it need not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mechanisms.base import BOTH, Direction, ExactLaw, WhiteBox
from mechanisms.data.dataset import FloatArray
from mechanisms.data.neighbours import NeighbouringPair

from ..estimate import Budget, Estimate
from ..results import Result
from ..white_box.draws import loss_sample
from ..white_box.tails import audit_tails, payoff
from .worst_case import NamedPair, search_maximum


@dataclass(frozen=True, repr=False)
class ConfirmedPair(Result):
    """The worst pair that a search found, and delta(epsilon) of the worse direction on fresh draws.

    Attributes
    ----------
    name : str
        How the pair was built, in words.
    found : float
        What the search saw: exact delta of a mechanism whose profile is known, otherwise the largest of many estimates.
    confirmed : Estimate
        Of the pair found, from draws that took no part in finding it; holds except with its ``failure_prob``. It speaks
        about this pair: a search proves nothing about the pairs that it did not try.
    n_searched : int
        Pairs that were looked at.
    n_draws : int
        Mechanism evaluations of search and confirmation together.
    """

    name: str
    pair: NeighbouringPair
    found: float
    confirmed: Estimate
    n_searched: int
    n_draws: int


def worst_pair(mechanism: WhiteBox, pairs: Sequence[NamedPair], budget: Budget, *, epsilon: float) -> ConfirmedPair:
    """Return the worst of several pairs (of ``adversarial_pairs``, for example) at ``epsilon``.

    Half of ``budget.n_draws`` search, an even share for each pair, unless the mechanism's profile is known; the rest
    confirms, with all of ``budget.failure_prob``.

    Parameters
    ----------
    mechanism : WhiteBox
        With ``draw`` and ``privacy_loss``.
    pairs : sequence of NamedPair
        At least one.
    budget : Budget
        Draws, failure probability and random stream; the result is a function of it.
    epsilon : float
        Natural log, finite.

    Returns
    -------
    ConfirmedPair
        The pair, and delta of it on fresh draws.

    Raises
    ------
    ValueError
        If there is no pair, or too few draws for each.

    Examples
    --------
    >>> from audits import Budget, StreamKey, adversarial_pairs, worst_pair
    >>> from mechanisms import PosteriorSampling
    >>> pairs = adversarial_pairs(3, 2, x_bound=1.0, y_bound=1.0)
    >>> worst_pair(PosteriorSampling(1.0, 1.0), pairs, Budget(2000, 0.01, StreamKey(1)), epsilon=0.5).name
    'rows over the axes; responses alike; least excited direction, response -; add'
    """
    if not pairs:
        raise ValueError("pairs must be at least one, got none")
    look = _Objective(mechanism, epsilon, budget, len(pairs))
    values = [look(named.pair) for named in pairs]
    best = pairs[int(np.argmax(values))]
    return look.confirm(best.name, best.pair, max(values))


def search_pair(
    mechanism: WhiteBox,
    build: Callable[[FloatArray], NeighbouringPair],
    box: Sequence[tuple[float, float]],
    budget: Budget,
    *,
    epsilon: float,
    n_starts: int = 32,
    n_polish: int = 3,
    evaluations_each: int = 60,
) -> ConfirmedPair:
    """Return the worst pair of a family with real parameters that a multi-start search finds at ``epsilon``.

    Parameters
    ----------
    mechanism : WhiteBox
        With ``draw`` and ``privacy_loss``.
    build : callable
        From a point of ``box``, shape ``(k,)``, to a pair.
    box : sequence of (low, high)
        One finite interval a parameter.
    budget : Budget
        Draws, failure probability and random stream; the result is a function of it.
    epsilon : float
        Natural log, finite.
    n_starts, n_polish, evaluations_each : int
        See ``search_maximum``. All evaluations share one stream (common random numbers), so the estimated objective is
        a function of the point.

    Returns
    -------
    ConfirmedPair
        The pair, and delta of it on fresh draws.

    Raises
    ------
    ValueError
        If there are too few draws for the evaluations.
    """
    corners = 2 ** len(box)
    evaluations = n_starts + (corners if corners <= n_starts else 0) + n_polish * evaluations_each + 1
    look = _Objective(mechanism, epsilon, budget, evaluations)
    rng = budget.key.child("search", "points").rng()
    best = search_maximum(
        lambda point: look(build(point)),
        box,
        rng=rng,
        n_starts=n_starts,
        n_polish=n_polish,
        evaluations_each=evaluations_each,
    )
    return look.confirm(f"point {np.round(best.point, 6).tolist()}", build(best.point), best.value)


class _Objective:
    """Delta at epsilon, worse direction: exact, or estimated from an even share of half of the draws."""

    def __init__(self, mechanism: WhiteBox, epsilon: float, budget: Budget, evaluations: int) -> None:
        self.mechanism, self.epsilon, self.budget = mechanism, epsilon, budget
        self.exact = isinstance(mechanism, ExactLaw)
        self.n_each = 0 if self.exact else budget.n_draws // 2 // (len(BOTH) * evaluations)
        self.n_searched = 0
        if not self.exact and not self.n_each:
            raise ValueError(f"n_draws must be at least {4 * evaluations} here, got n_draws={budget.n_draws}")

    def __call__(self, pair: NeighbouringPair) -> float:
        """Return log delta where it is known, otherwise an estimate of delta, negative where no loss was that large."""
        self.n_searched += 1
        return max(self._one(pair, direction) for direction in BOTH)

    def _one(self, pair: NeighbouringPair, direction: Direction) -> float:
        if isinstance(self.mechanism, ExactLaw):
            return self.mechanism.profile(pair).log_delta_at(self.epsilon, direction)
        rng = self.budget.key.child("search", direction.name).rng()  # the same stream for every pair
        losses = loss_sample(self.mechanism, pair, direction, self.n_each, rng=rng)
        delta = float(payoff(losses, self.epsilon).mean())
        return delta if delta > 0 else min(float(losses.max()) - self.epsilon, 0.0)

    def confirm(self, name: str, pair: NeighbouringPair, value: float) -> ConfirmedPair:
        """Return what was found with an estimate from fresh draws."""
        searched = self.n_searched * self.n_each * len(BOTH)
        fresh = self.budget.part("confirm", n_draws=self.budget.n_draws - searched)
        audit = audit_tails(self.mechanism, pair, [self.epsilon], fresh)
        seen = math.exp(value) if self.exact else max(value, 0.0)
        return ConfirmedPair(name, pair, seen, audit.delta(self.epsilon), self.n_searched, searched + audit.n_draws)

"""Monte Carlo witnesses that statement files share: sampled quantities of a mechanism on a pair of data sets."""

from __future__ import annotations

import numpy as np

from audits import Budget, Estimate
from audits.stats.intervals import betting
from audits.white_box.tails import audit_tails
from mechanisms import Direction, NeighbouringPair, WhiteBox


def sampled_delta(
    mechanism: WhiteBox, pair: NeighbouringPair, epsilon: float, direction: Direction, budget: Budget
) -> Estimate:
    """Return a Monte Carlo interval of the hockey-stick delta at ``epsilon`` in one direction."""
    return audit_tails(mechanism, pair, [epsilon], budget, directions=[direction]).points[0].delta


def tail_identity_gap(mechanism: WhiteBox, pair: NeighbouringPair, level: float, budget: Budget) -> Estimate:
    """Return a Monte Carlo interval of the gap in two change-of-measure identities, halved and summed.

    ``E_D[exp(-L) 1{L > t}] = P_D'(L > t)`` and ``E_D'[exp(L) 1{L < -t}] = P_D(L < -t)`` hold for every ``t`` exactly
    when ``L`` is the log ratio of the two laws that are drawn from. With ``t = level >= 0`` every term lies in [0, 1].
    """
    if level < 0:
        raise ValueError(f"level must be at least 0, got level={level}")
    n_each = max(1, budget.n_draws // 2)
    first = mechanism.privacy_loss(mechanism.draw(pair.first, n_each, rng=budget.key.child("first").rng()), pair)
    second = mechanism.privacy_loss(mechanism.draw(pair.second, n_each, rng=budget.key.child("second").rng()), pair)
    # Pairing the i-th draws of the two samples gives independent, bounded differences with the right mean.
    left = np.exp(-first) * (first > level) - (second > level)
    right = np.exp(second) * (second < -level) - (first < -level)
    gaps = 0.5 * (left + right)
    interval = betting(gaps, budget.spend("gap"), low=-1.0, high=1.0)
    middle = min(max(float(gaps.mean()), interval.low), interval.high)
    return Estimate(middle, interval.low, interval.high, budget.failure_prob, 2 * n_each, "betting (hedged capital)")

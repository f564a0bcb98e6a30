"""The smallest leak that a black-box audit would have seen: computed from the draws made and the level really spent."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import special, stats

from .black_box_audit import claim_level
from .black_box_bet import Point
from .black_box_blind import FIRST_VALUE, LEAST_REPEATS, LONGEST, REPEATED, log_evidence, n_labels
from .black_box_lines import BLIND_SHARE, LINES, bet_points
from .black_box_results import BlackBoxClaim


def visible_leak(
    claim: BlackBoxClaim, n_each: int, failure_prob: float, power: float = 0.95, *, lines: Sequence[str] = LINES
) -> float:
    """Return the smallest probability of a leak that ``black_box_audit`` finds with probability ``power`` at least.

    The leak is a value, not known beforehand, that one data set gives with that probability and the other never, among
    outputs that otherwise do not repeat. It is what the label-blind line alone finds, on its share of the level; the
    other lines can only add to its power.

    Parameters
    ----------
    claim : BlackBoxClaim
        What is audited.
    n_each : int
        Draws per data set (half of ``Budget.n_draws``).
    failure_prob : float
        Of the audit.
    power : float
        In (0, 1).
    lines : sequence of str
        As given to ``black_box_audit``.

    Returns
    -------
    float
        In (0, 1]; 1 when no leak is found with that power.

    Raises
    ------
    ValueError
        If ``power`` or ``failure_prob`` is not in (0, 1), or a line is unknown.

    Examples
    --------
    >>> from audits import point_claim, visible_leak
    >>> round(visible_leak(point_claim(1.0, 0.0).black_box(), 10_000, 1e-6), 4)
    0.0073
    """
    for name, value in (("power", power), ("failure_prob", failure_prob)):
        if not 0 < value < 1:
            raise ValueError(f"{name} must be in (0, 1), got {name}={value}")
    level, total = BLIND_SHARE * claim_level(failure_prob, lines), n_labels(n_each)
    points = bet_points(claim, claim.points())
    share = REPEATED * FIRST_VALUE / (2 * len(points))  # the most repeated value, one direction, one point
    hits = max(min(_hits_needed(point, forward, total, level, share) for point in points) for forward in (True, False))
    enough = _prob_enough_draws(total, n_each)
    if hits > total or power >= enough:
        return 1.0
    # each coin shows the leaking data set and its draw the leak with probability p / 2; without enough draws, nothing
    return min(1.0, 2 * float(special.betaincinv(hits, total - hits + 1, power + 1 - enough)))


def _hits_needed(point: Point, forward: bool, total: int, level: float, share: float) -> int:
    """Return how many draws of one value, all from one data set, refute a claimed point; ``total + 1`` if none do."""
    delta = point.delta(forward)

    def refutes(hits: int) -> bool:
        log_p = log_evidence(np.ones(hits, dtype=np.bool_), True, point.epsilon, delta, total)
        return hits >= LEAST_REPEATS and log_p - math.log(share) <= math.log(level)

    low, high = 0, min(total, LONGEST)
    if not refutes(high):
        return total + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if refutes(middle) else (middle, high)
    return high


def _prob_enough_draws(total: int, n_each: int) -> float:
    """Return the probability that fair coins ask for at most ``n_each`` draws of each data set."""
    law = stats.binom(total, 0.5)
    return float(law.cdf(n_each) - law.cdf(total - n_each - 1))

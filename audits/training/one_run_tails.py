"""How often so many guesses are right in one run of a private mechanism: two theorems, rounded to the safe side.

Statements and proofs: docs/one_run.md.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from flint import arb, ctx
from scipy.special import ndtr, ndtri

from mechanisms import Direction, PrivacyProfile
from mechanisms.numerics.balls import START_BITS, Ball, above

from .one_run_guesses import GuessCounts

#: What a computed step of the recursion is lowered by, relatively, at each of its two ends: far more than its rounding.
LOWERED = 1e-11
#: Points of a claimed curve, evenly spaced in epsilon, and where the curve is left at last.
CURVE_STEP, CURVE_END = 0.02, 60.0
#: The curve is left where its delta is below this share of ``1 / n_canaries``.
NEGLIGIBLE = 1e-9

#: ``least(a)``: the smallest probability that an event can have without the record if it has probability ``a`` with it.
LeastShare = Callable[[float], float]


def point_p_value(counts: GuessCounts, epsilon: float, delta: float) -> float:
    """Return the largest probability of so many right guesses or more under ``(epsilon, delta)``-DP, rounded up.

    With ``F = P(B >= v)`` and ``b = P(B = v)`` for a binomial ``B`` of ``r`` throws with odds ``e^epsilon``, it is
    ``F + (1 - F) min(1, m delta F / (v b))``, and some private mechanism attains it.

    Parameters
    ----------
    counts : GuessCounts
        ``m`` canaries, ``r`` guesses, ``v`` right.
    epsilon, delta : float
        At least 0 (natural log); in [0, 1].
    """
    m, r, v = counts.n_canaries, counts.n_guesses, counts.n_correct
    if v == 0:
        return 1.0
    bits, ctx.prec = ctx.prec, START_BITS
    try:
        odds = arb(epsilon).exp()
        over = _beyond(r, v, odds)
        log_atom = (arb(r + 1).lgamma() - arb(v + 1).lgamma() - arb(r - v + 1).lgamma()) + arb(epsilon) * v
        tail = over * (log_atom - r * (1 + odds).log()).exp()
        leak = above(arb(m) * arb(delta) * over / v)
        found = tail + (1 - tail) * min(leak, 1.0)
        return min(above(found), 1.0)
    finally:
        ctx.prec = bits


def _beyond(r: int, v: int, odds: Ball) -> Ball:
    """Return ``P(B >= v) / P(B = v)``: a sum of ratios, ended where a geometric series bounds the rest."""
    term, total = arb(1), arb(1)
    for k in range(v, r):
        ratio = odds * (r - k) / (k + 1)
        term *= ratio
        total += term
        if ratio < 0.999 and term * 1e30 < total * (1 - ratio):
            rest = (term * ratio / (1 - ratio)).upper()
            return total + rest.union(arb(0)) if k + 1 < r else total
    return total


def least_total(counts: GuessCounts, tau: float, least: LeastShare) -> float:
    """Return what the probabilities of all counts add up to at least if so many right guesses have ``tau``.

    More than 1 is a contradiction: then ``P(W >= v) < tau`` under the curve (Mahloujifar, Melis and Chaudhuri 2024,
    algorithm 3; docs/one_run.md has a short proof). The walk stops as soon as that is clear.

    Parameters
    ----------
    counts : GuessCounts
        ``m`` canaries, ``r`` guesses, ``v`` right.
    tau : float
        In (0, 1).
    least : callable
        Rises, is convex, never above its argument, and rounded down.
    """
    m, r, v = counts.n_canaries, counts.n_guesses, counts.n_correct
    right, wrong, enough = tau * v / m, tau * (r - v) / m, r / m
    for j in range(v - 1, -1, -1):
        needed = least(right)
        if needed <= wrong:  # nothing changes from here on
            break
        right += (needed - wrong) * (j / (r - j))
        wrong = needed
        if right + wrong > enough * (1 + LOWERED):
            break
    return (right + wrong) * m / r * (1 - LOWERED)


def gaussian_least(mu: float) -> LeastShare:
    """Return ``a -> Phi(Phi^-1(a) - mu)``, rounded down: two normal laws whose means are ``mu`` apart."""

    def least(share: float) -> float:
        return float(ndtr(ndtri(min(share * (1 - LOWERED), 1.0)) - mu)) * (1 - LOWERED)

    return least


def profile_least(profile: PrivacyProfile, n_canaries: int) -> LeastShare:
    """Return ``a -> max (a - delta(epsilon)) e^-epsilon`` over a grid of points of a claimed curve, rounded down.

    Fewer points claim less, so the grid keeps the test valid.

    Parameters
    ----------
    profile : PrivacyProfile
        What is claimed; the larger delta of the two directions counts.
    n_canaries : int
        Decides where the curve is left.
    """
    epsilons: list[float] = []
    deltas: list[float] = []
    for epsilon in np.arange(0.0, CURVE_END, CURVE_STEP).tolist():
        delta = max(profile.delta_at(epsilon, direction) for direction in Direction)
        epsilons.append(epsilon)
        deltas.append(delta)
        if delta * n_canaries < NEGLIGIBLE:
            break
    # below 0 the curve is its own mirror: delta(-epsilon) = 1 - e^-epsilon (1 - delta(epsilon))
    factors = np.exp(-np.array([*epsilons, *(-e for e in epsilons)]))
    given = np.array(deltas)
    away = np.concatenate((given, 1 - np.exp(-np.array(epsilons)) * (1 - given))) * (1 + LOWERED)

    def least(share: float) -> float:
        return max(0.0, float(((share - away) * factors).max()) * (1 - LOWERED))

    return least

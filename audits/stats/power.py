"""Is the budget enough? Exact probabilities of each outcome, computed before anything is drawn."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass

from scipy import special

from ..estimate import Result
from .intervals import check_failure_prob, check_size, clopper_pearson


@dataclass(frozen=True, repr=False)
class OutcomeProbabilities(Result):
    """How a Clopper-Pearson interval will compare with an allowed interval."""

    holds: float
    fails: float
    undecided: float


def outcome_probabilities(
    p_true: float, allowed: tuple[float, float], n: int, failure_prob: float
) -> OutcomeProbabilities:
    """Return the exact chances that ``n`` draws decide a claim about a probability, when it is ``p_true`` in truth.

    ``p_true``: in [0, 1]. ``allowed``: what the claim allows; ``(0, a)`` for an upper, ``(a, 1)`` for a lower bound.
    ``n``: draws. ``failure_prob``: of the two-sided interval.
    """
    _check_probability("p_true", p_true)
    low, high = allowed
    if not low <= high:
        raise ValueError(f"allowed must satisfy low <= high, got allowed={allowed}")
    check_failure_prob(failure_prob)
    n = check_size(n)

    def first(reached: str, edge: float, strict: bool) -> int:
        """Smallest count whose interval end passes ``edge`` (n + 1 if none does); ends increase with the count."""

        def passed(count: int) -> bool:
            end = getattr(clopper_pearson(count, n, failure_prob), reached)
            return bool(end > edge) if strict else bool(end >= edge)

        return bisect_left(range(n + 1), True, key=passed)

    below = _cdf(first("high", low, False) - 1, n, p_true)  # interval wholly below what is allowed
    above = _sf(first("low", high, True) - 1, n, p_true)  # wholly above
    start, stop = first("low", low, False), first("high", high, True)  # wholly inside: start <= count < stop
    inside = max(0.0, _cdf(stop - 1, n, p_true) - _cdf(start - 1, n, p_true)) if start < stop else 0.0
    return OutcomeProbabilities(inside, below + above, max(0.0, 1.0 - inside - below - above))


def refutation_probability(p_true: float, p_allowed: float, n: int, failure_prob: float) -> float:
    """Return the exact chance that a violated bound on a probability is refuted.

    The bound is an upper one when ``p_true > p_allowed`` and a lower one when ``p_true < p_allowed``.

    Parameters
    ----------
    p_true, failure_prob
        As of ``draws_needed``.
    p_allowed : float, the bound that is claimed
    n : int, draws, at least 1

    Returns
    -------
    float
        In [0, 1], exact up to rounding.

    Examples
    --------
    >>> from audits.stats import refutation_probability
    >>> round(refutation_probability(0.12, 0.10, 8000, 1e-6), 3)
    0.81
    """
    allowed = (0.0, p_allowed) if p_true > p_allowed else (p_allowed, 1.0)
    return outcome_probabilities(p_true, allowed, n, failure_prob).fails


def draws_needed(
    p_true: float, p_allowed: float, failure_prob: float, *, power: float = 0.99, limit: int = 10**9
) -> int:
    """Return a number of draws whose chance to refute is at least ``power``.

    The smallest up to the saw-tooth of discrete counts: half as many, or 2 % fewer along the search, were not enough.

    Parameters
    ----------
    p_true : float, the true probability, in [0, 1]
    p_allowed : float, the bound that is claimed, another number
    failure_prob : float, in (0, 1)
    power : float, in [0, 1]
    limit : int, most draws that are tried

    Returns
    -------
    int
        Draws.

    Raises
    ------
    ValueError
        If the bound is not violated, or more than ``limit`` draws would be needed.

    Examples
    --------
    >>> from audits.stats import draws_needed
    >>> draws_needed(0.12, 0.10, 1e-6)
    12800
    """
    if p_true == p_allowed:
        raise ValueError(f"p_true must differ from p_allowed, got p_true={p_true}")
    _check_probability("power", power)
    high = 1
    while refutation_probability(p_true, p_allowed, high, failure_prob) < power:
        high *= 2
        if high > limit:
            raise ValueError(f"limit must be large enough to reach the power, got limit={limit}")
    low = high // 2
    while high - low > max(1, high // 50):
        middle = (low + high) // 2
        if refutation_probability(p_true, p_allowed, middle, failure_prob) >= power:
            high = middle
        else:
            low = middle
    return high


def mean_draws_sufficient(
    gap: float, variance: float, failure_prob: float, *, power: float = 0.99, value_range: float = 1.0
) -> int:
    """Return a number of draws that surely lets an empirical-Bernstein interval refute a bounded mean off by ``gap``.

    Sufficient, not necessary: with probability ``power`` the sample mean is off by at most Bernstein's bound and the
    sample deviation exceeds the true one by at most ``sqrt(2 ln(2/(1-power)) / (n-1))`` (Maurer-Pontil 2009, thm 10).

    ``gap``: distance of the true mean from the edge of what is allowed; positive. ``variance``: of one value; together
    with ``value_range`` it is scaled to [0, 1] here.
    """
    if not gap > 0 or not value_range > 0 or not variance >= 0:
        raise ValueError(f"gap and value_range must be positive and variance at least 0, got {gap=}, {variance=}")
    check_failure_prob(failure_prob)
    unit_gap, deviation = gap / value_range, math.sqrt(variance) / value_range
    spread, chance = math.log(4 / failure_prob), math.log(2 / (1 - power))

    def enough(n: int) -> bool:
        seen = deviation + math.sqrt(2 * chance / (n - 1))
        radius = seen * math.sqrt(2 * spread / n) + 7 * spread / (3 * (n - 1))
        drift = deviation * math.sqrt(2 * chance / n) + chance / (3 * n)
        return radius + drift < unit_gap

    high = 2
    while not enough(high):
        high *= 2
    return bisect_left(range(high + 1), True, lo=2, key=enough)


def _check_probability(name: str, value: float) -> None:
    if isinstance(value, bool) or not 0 <= value <= 1:
        raise ValueError(f"{name} must be in [0, 1], got {name}={value}")


def _cdf(count: int, n: int, p: float) -> float:
    if count < 0:
        return 0.0
    return 1.0 if count >= n else float(special.betaincc(count + 1, n - count, p))


def _sf(count: int, n: int, p: float) -> float:
    if count < 0:
        return 1.0
    return 0.0 if count >= n else float(special.betainc(count + 1, n - count, p))

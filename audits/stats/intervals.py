"""Confidence intervals that hold at every sample size; no normal approximation anywhere.

Every function takes ``failure_prob``, the probability with which the *whole* returned interval (or band) may miss the
truth. The derivations are collected in ``docs/derivations/intervals.md``.

Several questions share one failure probability: shares are added up, never repeated.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from mechanisms.data.dataset import FloatArray

IntArray = NDArray[np.int64]

#: Values handled at once by the betting interval: small enough to stay in cache.
BLOCK = 1 << 15

#: Bets never risk more than this share of the capital on one value (WSR23, section 4.3).
MAX_STAKE = 0.75

#: How far inside an end of a binomial interval its tail equation has been passed, relatively.
CLOSE = 5e-7
#: Steps in which an end is found where the root search failed.
HALVINGS = 64
#: Whole numbers that float64 holds.
LARGEST_COUNT = 2.0**53


@dataclass(frozen=True)
class Interval:
    """A confidence interval for one number."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise ValueError(f"interval must satisfy low <= high, got low={self.low}, high={self.high}")

    @property
    def width(self) -> float:
        """Length of the interval."""
        return self.high - self.low

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


@dataclass(frozen=True)
class Band:
    """One interval per entry of an array; ``low`` and ``high`` have the same shape."""

    low: FloatArray
    high: FloatArray


def check_failure_prob(failure_prob: float) -> float:
    """Return ``failure_prob`` if it lies strictly between 0 and 1."""
    if isinstance(failure_prob, bool) or not 0 < failure_prob < 1:
        raise ValueError(f"failure_prob must be in (0, 1), got failure_prob={failure_prob}")
    return float(failure_prob)


def check_size(n: int, minimum: int = 1) -> int:
    """Return ``n`` as an int if it is a whole number of at least ``minimum``."""
    if isinstance(n, bool) or not math.isfinite(n) or int(n) != n or n < minimum:
        raise ValueError(f"n must be a whole number of at least {minimum}, got n={n}")
    return int(n)


def clopper_pearson_band(counts: ArrayLike, n: ArrayLike, failure_prob: float) -> Band:
    """Return exact intervals for binomial proportions, each on its own missing with ``failure_prob`` at most.

    Each end solves its tail equation (Clopper and Pearson 1934): the tail there is at most half of ``failure_prob``, up
    to 1e-7 of it, and is more than that half at a point nearer to ``counts/n`` by 5e-7 of the end, or of what it
    leaves to 1 if that is smaller, or by three units in the last place.

    ``counts``: successes, each between 0 and ``n``. ``n``: trials, at most 2^53, broadcast against ``counts``.
    ``failure_prob``: per entry, half of it at each end. Raises ``ValueError`` for numbers that are not whole, or out of
    range.
    """
    from statsmodels.stats.proportion import proportion_confint

    check_failure_prob(failure_prob)
    count, trials = np.broadcast_arrays(_whole("counts", counts), _whole("n", n))
    if trials.size and trials.min() < 1:
        raise ValueError(f"n must be a whole number of at least 1, got n={trials.min()}")
    if not ((count >= 0) & (count <= trials)).all():
        raise ValueError(f"count must be between 0 and n, got counts from {count.min()} to {count.max()}")
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)  # the root search may fail: its ends are checked below
        flat: Any = proportion_confint(count.ravel(), trials.ravel(), alpha=failure_prob, method="beta")
    low, high = (np.asarray(end, dtype=np.float64).reshape(count.shape) for end in flat)
    half = 0.5 * failure_prob
    return Band(_proved_low(low, count, trials, half), _proved_high(high, count, trials, half))


def _whole(name: str, values: ArrayLike) -> IntArray:
    given = np.asarray(values)
    whole = np.asarray(given, dtype=np.float64)  # refuses what is no number
    wrong = whole[~((np.abs(whole) <= LARGEST_COUNT) & (np.floor(whole) == whole))]  # nan is wrong too
    if wrong.size:
        raise ValueError(f"{name} must be whole numbers of at most 2^53, got {name}={wrong.flat[0]:.17g}")
    return np.asarray(given, dtype=np.int64)


def _proved_low(low: FloatArray, count: IntArray, n: IntArray, half: float) -> FloatArray:
    """Return lower ends ``p`` with ``P(Bin(n, p) >= count) = half``, whatever the root search returned.

    It fails far below 1e-50 and, at random, elsewhere (at counts of 999 and 1,000: several times too low). Tried next
    are its end moved by 1e-9 and the union bound's, ``(half / C(n, count))^(1/count)``; then the interval is halved.
    """
    k = np.maximum(count, 1)
    union = np.exp((math.log(half) - _log_choose(n, k)) / k) * (1 - 1e-9)
    ends = _first_solved([low, low * (1 - 1e-9), union], k, n, half)
    return np.asarray(np.where(count == 0, 0.0, ends), dtype=np.float64)


def _proved_high(high: FloatArray, count: IntArray, n: IntArray, half: float) -> FloatArray:
    """Return upper ends ``p`` with ``P(Bin(n, p) <= count) = half``; see ``_proved_low``."""
    k = np.maximum(n - count, 1)
    union = np.exp((math.log(half) - _log_choose(n, k)) / k) * (1 - 1e-9)
    above = [high, high + 1e-9 * np.minimum(high, 1.0 - high), np.minimum(np.nextafter(1.0 - union, 2.0), 1.0)]
    ends = _first_solved(above, k, n, half, upper=True)
    return np.asarray(np.where(count == n, 1.0, ends), dtype=np.float64)


def _first_solved(ends: list[FloatArray], k: IntArray, n: IntArray, half: float, *, upper: bool = False) -> FloatArray:
    """Return the first of several ends that is safe and close, or one found by halving."""
    result, *others = ends
    for other in [*others, None]:
        rest = ~_solved(result, k, n, half, upper=upper)
        if not rest.any():
            break
        found = _halved(k[rest], n[rest], half, upper=upper) if other is None else other[rest]
        result = np.array(result)
        result[rest] = found
    return result


def _solved(ends: FloatArray, k: IntArray, n: IntArray, half: float, *, upper: bool) -> NDArray[np.bool_]:
    """Return whether the tail is ``half`` at most (up to rounding) at an end, and more a little further inside."""
    with np.errstate(invalid="ignore"):
        room = np.maximum(CLOSE * np.minimum(ends, 1.0 - ends), 2 * np.spacing(ends))
        inside = np.clip(ends - room if upper else ends + room, 0.0, 1.0)
        safe = _tail(ends, k, n, upper=upper) <= half * (1 + 1e-7)  # nan fails
        return np.asarray(safe & (_tail(inside, k, n, upper=upper) >= half))


def _tail(p: FloatArray, k: IntArray, n: IntArray, *, upper: bool) -> FloatArray:
    """Return ``P(Bin(n, p) >= k)``, or ``P(Bin(n, p) <= n - k)`` for upper ends.

    From ``1 - p``, which is exact, above 1/2: there powers of ``p`` lose digits.
    """
    if upper:
        tail = np.where(p > 0.5, special.betainc(k, n - k + 1, 1 - p), special.betaincc(n - k + 1, k, p))
    else:
        tail = np.where(p > 0.5, special.betaincc(n - k + 1, k, 1 - p), special.betainc(k, n - k + 1, p))
    return np.asarray(tail, dtype=np.float64)


def _halved(k: IntArray, n: IntArray, half: float, *, upper: bool) -> FloatArray:
    """Solve by halving, on the logarithm of ``p`` for lower ends and of ``1 - p`` for upper ones, between bounds.

    ``C(n, k) <= (n/k)^k (n/(n-k))^(n-k)`` makes the union bound a safe start; at ``k/n`` the tail is at least 1/2.
    """
    share = k / n
    entropy = -np.log(share) - special.xlogy((1 - share) / share, 1 - share)
    safe, unsafe = math.log(half) / k - entropy, np.log(share)
    for _ in range(HALVINGS):
        middle = 0.5 * (safe + unsafe)
        p = -np.expm1(middle) if upper else np.exp(middle)
        proved = _tail(p, k, n, upper=upper) <= half
        safe, unsafe = np.where(proved, middle, safe), np.where(proved, unsafe, middle)
    return np.nextafter(-np.expm1(safe), 2.0).clip(max=1.0) if upper else np.nextafter(np.exp(safe), 0.0)


def _log_choose(n: IntArray, k: IntArray) -> FloatArray:
    parts = special.gammaln(n + 1.0) - special.gammaln(k + 1.0) - special.gammaln(n - k + 1.0)
    return np.asarray(parts, dtype=np.float64)


def clopper_pearson(count: int, n: int, failure_prob: float) -> Interval:
    """Return the exact two-sided interval for a proportion from ``count`` successes in ``n`` trials.

    Examples
    --------
    >>> round(clopper_pearson(0, 100, 0.05).high, 6)  # 1 - 0.025**(1/100)
    0.036217
    """
    band = clopper_pearson_band(count, n, failure_prob)
    return Interval(float(band.low), float(band.high))


def clopper_pearson_lower(count: int, n: int, failure_prob: float) -> float:
    """Return a lower confidence bound for a proportion; all of ``failure_prob`` (below 1/2) is spent on this side."""
    return clopper_pearson(count, n, _doubled(failure_prob)).low


def clopper_pearson_upper(count: int, n: int, failure_prob: float) -> float:
    """Return an upper confidence bound for a proportion; all of ``failure_prob`` (below 1/2) is spent on this side."""
    return clopper_pearson(count, n, _doubled(failure_prob)).high


def _doubled(failure_prob: float) -> float:
    if not 0 < failure_prob < 0.5:
        raise ValueError(f"failure_prob must be in (0, 0.5) for a one-sided bound, got failure_prob={failure_prob}")
    return 2 * failure_prob


def hoeffding(mean: float, n: int, failure_prob: float, *, low: float = 0.0, high: float = 1.0) -> Interval:
    """Return Hoeffding's interval for the mean of ``n`` independent values in ``[low, high]``."""
    _check_range(low, high)
    radius = (high - low) * math.sqrt(math.log(2 / check_failure_prob(failure_prob)) / (2 * check_size(n)))
    return _clipped(mean - radius, mean + radius, low, high)


def empirical_bernstein(
    mean: float, variance: float, n: int, failure_prob: float, *, low: float = 0.0, high: float = 1.0
) -> Interval:
    """Return the empirical-Bernstein interval for the mean of ``n`` independent values in ``[low, high]``.

    ``variance`` is the unbiased sample variance (divisor ``n - 1``), so sums are all that has to be kept.

    References
    ----------
    Maurer and Pontil, Empirical Bernstein bounds and sample variance penalization, COLT 2009, Theorem 4.
    """
    _check_range(low, high)
    n = check_size(n, 2)
    if not variance >= 0:
        raise ValueError(f"variance must be at least 0, got variance={variance}")
    log_term = math.log(4 / check_failure_prob(failure_prob))  # ln(2/delta) a side, delta = failure_prob / 2
    radius = math.sqrt(2 * variance * log_term / n) + 7 * (high - low) * log_term / (3 * (n - 1))
    return _clipped(mean - radius, mean + radius, low, high)


def betting(values: ArrayLike, failure_prob: float, *, low: float = 0.0, high: float = 1.0) -> Interval:
    """Return the hedged-capital betting interval for the mean of independent values in ``[low, high]``.

    Adapts to the variance like empirical Bernstein, with better constants. The bet at value ``t`` uses earlier values
    only, so the capital of a gambler who bets on the true mean is a martingale and Markov's inequality bounds the
    probability that it ends above ``2 / failure_prob``, each side having half of ``failure_prob``.

    ``values``, (n,) array_like: in the order in which they were drawn.

    References
    ----------
    Waudby-Smith and Ramdas, Estimating means of bounded random variables by betting, JRSS B 86 (2024), Theorem 3 and
    equation (26) for the predictable bets (WSR23).
    """
    _check_range(low, high)
    sample = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1 or sample.size == 0:
        raise ValueError(f"values must be a non-empty vector, got shape={sample.shape}")
    if not (sample.min() >= low and sample.max() <= high):  # NaN fails too
        raise ValueError(f"values must lie in [{low}, {high}], got values from {sample.min()} to {sample.max()}")
    unit = np.clip((sample - low) / (high - low), 0.0, 1.0)
    log_needed = math.log(2 / check_failure_prob(failure_prob))
    bets = _predictable_bets(unit, log_needed)
    lower = _betting_lower(unit, bets, log_needed)
    upper = 1.0 - _betting_lower(1.0 - unit, bets, log_needed)
    lower, upper = min(lower, upper), max(lower, upper)  # both sides reject with probability <= failure_prob only
    return _clipped(low + (high - low) * lower, low + (high - low) * upper, low, high)


def _predictable_bets(unit: FloatArray, log_needed: float) -> FloatArray:
    """Return ``sqrt(2 log(2/alpha) / (n variance_{t-1}))``, the variance started from one prior value (WSR23, (26))."""
    n = unit.size
    t = np.arange(1, n + 1, dtype=np.float64)
    mean = (0.5 + np.cumsum(unit)) / (t + 1)
    variance = np.empty(n)
    variance[0] = 0.25
    variance[1:] = ((0.25 + np.cumsum((unit - mean) ** 2)) / (t + 1))[:-1]
    return np.sqrt(2 * log_needed / (n * variance))


def _betting_lower(unit: FloatArray, bets: FloatArray, log_needed: float) -> float:
    """Return the largest mean that a gambler against small means rejects; every smaller one is rejected as well."""
    from scipy.optimize import brentq

    def excess(mean: float) -> float:
        """Log capital above what rejection needs; decreasing in ``mean``."""
        largest = MAX_STAKE / mean
        total = 0.0
        for start in range(0, unit.size, BLOCK):
            part = slice(start, start + BLOCK)
            total += float(np.log1p(np.minimum(bets[part], largest) * (unit[part] - mean)).sum())
        return total - log_needed

    smallest = np.finfo(np.float64).tiny
    if excess(smallest) <= 0:
        return 0.0
    root = float(brentq(excess, smallest, 1.0, xtol=1e-15, rtol=1e-10))  # excess(1) < 0: no value lies above 1
    return max(0.0, root * (1 - 2e-10) - 2e-15)  # rounded towards the safe side


def even_capital(paths: Sequence[FloatArray]) -> float:
    """Return the log of the most that bets with even shares of a capital of 1 ever have together, at least 0.

    ``paths``: the log of what each makes of 1 after each draw. The inverse of that capital is a p-value (Ville).
    """
    together = np.logaddexp.reduce(paths, axis=0) - math.log(len(paths))
    return max(0.0, float(together.max(initial=0.0)))


def dkw_radius(n: int, failure_prob: float) -> float:
    """Return the half width of a band that holds a whole distribution function around its empirical one.

    References
    ----------
    Massart, The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality, Ann. Probab. 18 (1990): two-sided,
    ``sqrt(log(2 / failure_prob) / (2 n))``, for every ``n`` and every distribution.
    """
    return min(1.0, math.sqrt(math.log(2 / check_failure_prob(failure_prob)) / (2 * check_size(n))))


def _check_range(low: float, high: float) -> None:
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(f"range must be finite with low < high, got low={low}, high={high}")


def _clipped(lower: float, upper: float, low: float, high: float) -> Interval:
    return Interval(min(max(lower, low), high), max(min(upper, high), low))


def even_share(failure_prob: float, n: int) -> float:
    """Return what each of ``n`` questions may spend (Bonferroni)."""
    return check_failure_prob(failure_prob) / check_size(n)


def look_share(look: int) -> Fraction:
    """Return the share of look 1, 2, …: ``1 / (look (look + 1))``; all shares add up to 1."""
    k = check_size(look)
    return Fraction(1, k * (k + 1))


def holm_rejections(p_values: ArrayLike, failure_prob: float) -> NDArray[np.bool_]:
    """Return which hypotheses Holm's step-down method rejects, whatever the dependence between them.

    The probability of rejecting any true hypothesis is at most ``failure_prob`` (Holm 1979).

    Parameters
    ----------
    p_values : (n,) array_like, each in [0, 1]
    failure_prob : float, in (0, 1)

    Returns
    -------
    (n,) array of bool
        True where the hypothesis is rejected.

    Raises
    ------
    ValueError
        If ``p_values`` is empty or leaves [0, 1].

    References
    ----------
    Holm, A simple sequentially rejective multiple test procedure, Scand. J. Statist. 6 (1979).

    Examples
    --------
    >>> from audits.stats import holm_rejections
    >>> holm_rejections([0.01, 0.04, 0.03], 0.05).tolist()
    [True, False, False]
    """
    from statsmodels.stats.multitest import multipletests

    values = np.asarray(p_values, dtype=np.float64)
    if values.ndim != 1 or values.size == 0 or not ((values >= 0) & (values <= 1)).all():
        raise ValueError(f"p_values must be a non-empty vector in [0, 1], got shape={values.shape}")
    reject = multipletests(values, alpha=check_failure_prob(failure_prob), method="holm")[0]
    return np.asarray(reject, dtype=np.bool_)

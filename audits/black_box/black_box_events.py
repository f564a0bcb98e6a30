"""Exact finite-sample tests of one event against a trade-off: what a black-box audit certifies with.

Two data sets give outputs with unknown laws ``P`` and ``Q``. A claim says that every event ``S`` has
``Q(S) >= h(P(S))`` for a known non-decreasing ``h``; for (epsilon, delta), ``h(u) = exp(-epsilon) (u - delta)_+``. Both
tests below are valid at every sample size, for every pair of laws (derivations: ``docs/derivations/black_box.md``).

- ``RankEvent``: ``S = {score >= k-th largest score of the draws from P}``. ``P(S)`` is then Beta(k, n - k + 1),
  whatever ``P`` is, so no unknown is left at the edge of the claim and one p-value covers the noise of both samples.
- ``FixedEvent``: an event fixed beforehand, with a one-sided Clopper-Pearson bound on each side. An audit does not
  use it (a rank event whose ties are broken at random is sharper, on discrete outputs too): it is for stated events.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from mechanisms.data.dataset import FloatArray

from ..stats.intervals import clopper_pearson_lower, clopper_pearson_upper

#: Cells of the step function that bounds the p-value of a rank event from above; more cells, less slack.
CELLS = 1024
#: Half width, in standard deviations of P(S), of the interval that the cells cover finely.
REACH = 7.0
#: No p-value below this is reported.
LEAST_P = 1e-300
#: Largest sample for Barnard's test (its table grows with the square).
BARNARD_MAX = 400


class TradeOff(Protocol):
    """The least mass that a claim allows under ``Q`` for an event of mass ``mass`` under ``P``; non-decreasing."""

    def least_mass(self, mass: FloatArray) -> FloatArray:
        """Return the bound for each mass."""
        ...


@dataclass(frozen=True)
class PointTradeOff:
    """``P(S) <= exp(epsilon) Q(S) + delta``, solved for ``Q(S)``."""

    epsilon: float
    delta: float

    def least_mass(self, mass: FloatArray) -> FloatArray:
        """Return ``exp(-epsilon) (mass - delta)_+``."""
        return np.asarray(np.exp(-self.epsilon) * np.maximum(mass - self.delta, 0.0), dtype=np.float64)


@dataclass(frozen=True)
class GaussianTradeOff:
    """mu-Gaussian-DP: ``Q(S) >= Phi(Phi^{-1}(P(S)) - mu)`` (Dong, Roth, Su, JRSS B 84 (2022), equation (6))."""

    mu: float

    def least_mass(self, mass: FloatArray) -> FloatArray:
        """Return ``Phi(Phi^{-1}(mass) - mu)``."""
        return np.asarray(special.ndtr(special.ndtri(mass) - self.mu), dtype=np.float64)


@dataclass(frozen=True)
class RankEvent:
    """``count`` of ``m`` draws from ``Q`` scored at least as high as the ``k``-th largest of ``n`` scores from ``P``.

    ``k``, ``n`` and ``m`` are fixed before the draws. Ties are broken by independent uniform numbers where they are
    counted (exact); without that they only make the test conservative.
    """

    k: int
    n: int
    count: int
    m: int

    def __post_init__(self) -> None:
        if not 1 <= self.k <= self.n:
            raise ValueError(f"k must be between 1 and n={self.n}, got k={self.k}")
        if not 0 <= self.count <= self.m:
            raise ValueError(f"count must be between 0 and m={self.m}, got count={self.count}")

    @property
    def masses(self) -> tuple[float, float]:
        """Point estimates of ``P(S)`` and ``Q(S)``."""
        return self.k / self.n, self.count / self.m

    def p_value(self, claim: TradeOff) -> float:
        """Return an upper bound on ``E[Binomial(m, h(U)) <= count]`` with ``U`` ~ Beta(k, n - k + 1).

        ``h`` is non-decreasing, so in each cell of ``U`` the binomial probability is largest at the left end.
        """
        edges, below, weights = _cells(self.k, self.n)
        least = np.clip(claim.least_mass(edges), 0.0, 1.0)
        at_left = np.asarray(special.bdtr(self.count, self.m, least), dtype=np.float64)
        return min(1.0, max(float(below + weights @ at_left), LEAST_P))

    def evidence(self, claim: TradeOff, failure_prob: float) -> float:
        """Return a number that is positive exactly when the claim is rejected at level ``failure_prob``."""
        return math.log(failure_prob) - math.log(self.p_value(claim))


@lru_cache(maxsize=32)
def _cells(k: int, n: int) -> tuple[FloatArray, float, FloatArray]:
    """Return cells of a Beta(k, n - k + 1) variable: left ends, the mass below the first, the mass of each."""
    a, b = float(k), float(n - k + 1)
    mean = a / (a + b)
    spread = REACH * math.sqrt(mean * (1 - mean) / (a + b + 1))
    low, high = max(mean - spread, 0.0), min(mean + spread, 1.0)
    edges = np.r_[np.linspace(0.0, low, CELLS // 8, endpoint=False), np.linspace(low, high, CELLS + 1)]
    below = np.asarray(special.betainc(a, b, edges), dtype=np.float64)
    return edges, float(below[0]), np.diff(below, append=1.0)  # the last edge carries everything above it


@dataclass(frozen=True)
class FixedEvent:
    """An event fixed before the draws: seen ``x`` times in ``n`` draws from ``P``, ``count`` times in ``m`` from ``Q``.

    ``share`` of the failure probability, also fixed beforehand, is spent on the side of ``P``.
    """

    x: int
    n: int
    count: int
    m: int
    share: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.x <= self.n:
            raise ValueError(f"x must be between 0 and n={self.n}, got x={self.x}")
        if not 0 <= self.count <= self.m:
            raise ValueError(f"count must be between 0 and m={self.m}, got count={self.count}")
        if not 0 < self.share < 1:
            raise ValueError(f"share must be in (0, 1), got share={self.share}")

    @property
    def masses(self) -> tuple[float, float]:
        """Point estimates of ``P(S)`` and ``Q(S)``."""
        return self.x / self.n, self.count / self.m

    @property
    def small(self) -> bool:
        """Whether both samples are small enough for Barnard's test."""
        return max(self.n, self.m) <= BARNARD_MAX

    def p_value(self, claim: TradeOff) -> float:
        """Return the p-value: Barnard's for a point claim at small samples, otherwise that of the two bounds.

        The latter is the smallest level, to a relative 1e-6, at which the claim is rejected (at least ``LEAST_P``).
        """
        if isinstance(claim, PointTradeOff) and self.small:
            return barnard_p_value(self.x, self.n, self.count, self.m, claim.epsilon, claim.delta)
        low, high = math.log(LEAST_P), math.log(0.49)
        if self.evidence(claim, math.exp(high)) <= 0:
            return 1.0
        while high - low > 1e-6:
            middle = 0.5 * (low + high)
            low, high = (low, middle) if self.evidence(claim, math.exp(middle)) > 0 else (middle, high)
        return math.exp(high)

    def evidence(self, claim: TradeOff, failure_prob: float) -> float:
        """Return ``h(lower bound of P(S))`` less the upper bound of ``Q(S)``; positive when the claim is rejected."""
        lower = clopper_pearson_lower(self.x, self.n, self.share * failure_prob)
        upper = clopper_pearson_upper(self.count, self.m, (1 - self.share) * failure_prob)
        return float(claim.least_mass(np.array([lower]))[0]) - upper


TestedEvent = RankEvent | FixedEvent


def largest_rejected(
    event: TestedEvent, family: Callable[[float], TradeOff], failure_prob: float, low: float, high: float
) -> float:
    """Return a one-sided confidence bound: (almost) the largest rejected parameter in ``[low, high]``, or ``low``.

    ``family`` must be ordered: a larger parameter is a weaker claim. Whatever is returned above ``low`` was itself
    rejected at level ``failure_prob``, so it lies below the truth except with that probability. When ``low`` itself is
    rejected the bound lies above it, by one rounding at least: ``low`` is then not the truth.
    """

    def evidence(parameter: float) -> float:
        return event.evidence(family(parameter), failure_prob)

    if not evidence(low) > 0:
        return low
    if evidence(high) > 0:
        return high
    least = math.nextafter(low, math.inf)
    step = 1e-7 * max(1.0, abs(low))
    root = float(optimize.brentq(evidence, low, high, xtol=step))
    while root > least:  # a root found exactly, or one just beyond it, is no rejected parameter
        if evidence(root) > 0:
            return root
        root, step = root - step, 2 * step
    return least


def epsilon_lower(event: TestedEvent, delta: float, failure_prob: float) -> float:
    """Return a lower confidence bound (at least 0, natural log) on the epsilon that goes with ``delta``."""
    return largest_rejected(event, lambda epsilon: PointTradeOff(epsilon, delta), failure_prob, 0.0, 60.0)


def delta_lower(event: TestedEvent, epsilon: float, failure_prob: float, claimed: float = 0.0) -> float:
    """Return a lower confidence bound (at least 0) on the delta that goes with ``epsilon``.

    It lies above ``claimed`` exactly when that delta is rejected.
    """

    def family(delta: float) -> PointTradeOff:
        return PointTradeOff(epsilon, delta)

    if event.evidence(family(claimed), failure_prob) > 0:
        return largest_rejected(event, family, failure_prob, claimed, 1.0)
    return min(largest_rejected(event, family, failure_prob, 0.0, claimed), claimed)


def mu_lower(event: TestedEvent, failure_prob: float) -> float:
    """Return a lower confidence bound (at least 0) on the mu of every Gaussian trade-off that is satisfied."""
    return largest_rejected(event, GaussianTradeOff, failure_prob, 0.0, 40.0)


#: Cells of the nuisance parameter; more cells, less slack, the bound holds with any number.
NUISANCE_CELLS = 2000
#: Outcomes are ordered as at this epsilon where it is larger: any order gives a valid test.
LARGEST_EPSILON = 300.0


def barnard_p_value(x: int, n: int, count: int, m: int, epsilon: float, delta: float) -> float:
    """Return an exact p-value of ``P(S) <= exp(epsilon) Q(S) + delta``: ``x`` hits of ``n`` against ``count`` of ``m``.

    Outcomes are ordered by the score statistic. Their region is made monotone (more hits under ``P`` or fewer under
    ``Q`` stay inside), so its probability grows with ``P(S)`` and falls with ``Q(S)``: over the whole null hypothesis
    it is largest on the edge ``p = exp(epsilon) q + delta``, and over a cell ``[q0, q1]`` of the edge it is at most its
    value at ``(p(q1), q0)``. The supremum over the nuisance parameter is therefore bounded, not searched.
    """
    lowest = _largest_count(x, n, count, m, epsilon, delta)
    share = np.sin(np.linspace(0.0, math.pi / 2, NUISANCE_CELLS + 1)) ** 2  # finer at both ends
    p, q = np.minimum(delta + (1.0 - delta) * share, 1.0), (1.0 - delta) * math.exp(-epsilon) * share
    hits = np.arange(n + 1)
    mass_p = _binomial_pmf(hits, n, p[1:])
    mass_q = np.where(lowest >= 0, special.bdtr(np.maximum(lowest, 0), m, q[:-1, None]), 0.0)
    inside = float((mass_p * mass_q).sum(axis=1).max())
    # beyond the last cell p = 1 and q is at least q[-1]
    beyond = float(special.bdtr(lowest[n], m, q[-1])) if lowest[n] >= 0 else 0.0
    return min(1.0, max(inside, beyond))


def _binomial_pmf(hits: NDArray[np.int64], n: int, p: FloatArray) -> FloatArray:
    log_choose = special.gammaln(n + 1) - special.gammaln(hits + 1) - special.gammaln(n - hits + 1)
    return np.asarray(
        np.exp(log_choose + special.xlogy(hits, p[:, None]) + special.xlog1py(n - hits, -p[:, None])), dtype=np.float64
    )


def _largest_count(x: int, n: int, count: int, m: int, epsilon: float, delta: float) -> NDArray[np.int64]:
    """Return, for each number of hits, the largest count under ``Q`` that is at least as extreme (-1: none)."""
    factor = math.exp(min(epsilon, LARGEST_EPSILON))

    def statistic(hits: FloatArray, counts: FloatArray) -> FloatArray:
        a, b = hits / n, counts / m
        q = np.clip((n * np.maximum(a - delta, 0.0) + m * b) / (n * factor + m), 0.0, 1.0)
        p = np.clip(factor * q + delta, 0.0, 1.0)
        noise = p * (1 - p) / n + factor * factor * q * (1 - q) / m
        return np.asarray((a - factor * b - delta) / np.sqrt(noise + 1e-12), dtype=np.float64)

    observed = float(statistic(np.float64(x) * np.ones(1), np.float64(count) * np.ones(1))[0])
    table = statistic(np.arange(n + 1.0)[:, None], np.arange(m + 1.0)[None, :]) >= observed - 1e-9
    largest = np.where(table.any(axis=1), m - np.argmax(table[:, ::-1], axis=1), -1)
    return np.maximum.accumulate(largest)

"""The unconditional exact test of one fixed event at small samples, for (epsilon, delta) claims.

The idea is Barnard's (Significance tests for 2x2 tables, Biometrika 34, 1947).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import special

FloatArray = NDArray[np.float64]

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
    """Return the binomial probabilities, shape ``(p, hits)``."""
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

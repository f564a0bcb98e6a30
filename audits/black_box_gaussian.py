"""The curve of mu-Gaussian-DP and its inverse."""

from __future__ import annotations

import math

from scipy import optimize, special


def gaussian_dp_delta(epsilon: float, mu: float) -> float:
    """Return the delta of mu-Gaussian-DP at ``epsilon`` (Dong, Roth, Su, JRSS B 84 (2022), Corollary 2.13).

    Examples
    --------
    >>> round(gaussian_dp_delta(1.0, 1 / 3.730632), 8)  # the analytic Gaussian mechanism's sigma at (1, 1e-5)
    1e-05
    """
    if mu == 0:
        return max(0.0, -math.expm1(epsilon))
    log_first = float(special.log_ndtr(mu / 2 - epsilon / mu))
    gap = epsilon + float(special.log_ndtr(-mu / 2 - epsilon / mu)) - log_first
    return math.exp(log_first) * max(0.0, -math.expm1(gap))


def gaussian_dp_epsilon(mu: float, delta: float) -> float:
    """Return the smallest ``epsilon >= 0`` at which mu-Gaussian-DP has at most ``delta``; infinite if there is none."""
    if gaussian_dp_delta(0.0, mu) <= delta:
        return 0.0
    if delta == 0:
        return math.inf
    top = 1.0
    while gaussian_dp_delta(top, mu) > delta:
        top *= 2
    return float(optimize.brentq(lambda e: gaussian_dp_delta(e, mu) - delta, 0.0, top, xtol=1e-12))

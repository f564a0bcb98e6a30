"""Slow literal twins of RW21's Algorithms 2 and 4: one draw, one record, explicit inverses; printed and corrected."""

import math
from functools import cache

import numpy as np
from scipy.stats import norm


@cache
def _z(rho):
    return norm.ppf(1 - rho / 2)


def algorithm_2(
    x, first, second, *, sigma, lam, rho, sigma2=None, sigma3=None, g_hat=None, H_hat=None, corrected=False
):
    """(g_bar, mu_bar, epsilon1_bar); ``first`` and ``second`` are f' and f'' at the released parameter."""
    grad_norm = abs(first) * math.sqrt(sum(v * v for v in x))
    cap = sigma * grad_norm * _z(rho)
    g_bar, mu_bar = cap, float(x @ x) / lam
    if g_hat is not None:
        inner = first * float(g_hat @ x)
        g_bar = min((abs(inner) if corrected else inner) + sigma2 * grad_norm * _z(rho), cap)
        quadratic = 1.5 * float(x @ np.linalg.inv(H_hat) @ x)
        mu_bar = min(quadratic, mu_bar) if corrected else quadratic
    return g_bar, mu_bar, _epsilon1(second * mu_bar, grad_norm, g_bar, sigma)


def algorithm_4(x, first, second, *, sigma, lam, rho, tau, sigma2, sigma3, sigma4, g_hat, H_hat, eigenvalue, corrected):
    grad_norm = abs(first) * math.sqrt(sum(v * v for v in x))
    inner = first * float(g_hat @ x)
    g_bar = (abs(inner) if corrected else inner) + sigma2 * grad_norm * _z(rho)
    floor = max(lam, eigenvalue - sigma4 * _z(rho))
    if floor >= 2 * tau * sigma3:
        quadratic = (floor + tau * sigma3) / floor * float(x @ np.linalg.inv(H_hat) @ x)
    else:
        regularised = H_hat + tau * sigma3 * np.eye(len(x))
        quadratic = (floor + 2 * tau * sigma3) / floor * float(x @ np.linalg.inv(regularised) @ x)
    mu_bar = min(quadratic, float(x @ x) / floor)
    return g_bar, mu_bar, _epsilon1(second * mu_bar, grad_norm, g_bar, sigma)


def _epsilon1(weight, grad_norm, g_bar, sigma):
    return abs(-math.log(1 - weight)) + grad_norm**2 / (2 * sigma**2) + abs(g_bar) / sigma**2

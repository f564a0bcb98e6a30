"""What a claim implies, literally: a linear program for a table, a scan of orders for zCDP, sums for finite laws."""

import math

import numpy as np
from scipy.optimize import linprog


def table_delta(points, epsilon):
    """Return the largest P(S) - e^epsilon Q(S) that the points allow, in both directions, for S and its complement."""
    rows, limits = [], []
    for e, d in points:
        ratio = math.exp(e)
        for sign in (1.0, -1.0):  # the event and its complement: 1 - p <= ratio (1 - q) + d
            offset = 0.0 if sign > 0 else ratio - 1
            rows += [[sign, -sign * ratio], [-sign * ratio, sign]]
            limits += [d + offset, d + offset]
    found = linprog([-1.0, math.exp(epsilon)], A_ub=rows, b_ub=limits, bounds=[(0, 1), (0, 1)], method="highs")
    return -found.fun


def zcdp_delta(rho, epsilon, orders):
    """Return the least delta of Canonne, Kamath and Steinke 2020, proposition 12, over given orders."""
    a = np.asarray(orders, dtype=float)
    logs = (a - 1) * (a * rho - epsilon) - np.log(a - 1) + a * np.log(1 - 1 / a)
    return float(np.exp(np.minimum(logs, 0.0)).min())


def finite_delta(p, q, epsilon):
    """Return the hockey-stick divergence of two finite laws."""
    return float(sum(max(0.0, a - math.exp(epsilon) * b) for a, b in zip(p, q, strict=True)))


def finite_renyi(p, q, order):
    """Return the Renyi divergence of two finite laws of positive probabilities."""
    return math.log(math.fsum(a**order * b ** (1 - order) for a, b in zip(p, q, strict=True))) / (order - 1)

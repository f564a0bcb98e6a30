"""Literal twins of the smaller pieces: dp-accounting, brute-force sums, refits by scipy, finite laws."""

import itertools
import math

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.stats import norm


def gaussian_delta(mu, epsilon):
    """Balle and Wang 2018, theorem 8, as it stands."""
    return norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)


def gaussian_epsilon(mu):
    """Exact epsilon at 1e-6 of normal laws ``mu`` standard deviations apart."""
    return brentq(lambda epsilon: gaussian_delta(mu, epsilon) - 1e-6, 1e-9, 8 * mu + mu * mu, xtol=1e-13)


def refit(dataset, loss, lam):
    """The minimiser by BFGS on the summed objective, one record at a time."""

    def objective(theta):
        pieces = (
            float(loss.value(np.array([x @ theta]), np.array([y]))[0])
            for x, y in zip(dataset.X, dataset.y, strict=True)
        )
        return math.fsum(pieces) + 0.5 * lam * theta @ theta

    return minimize(objective, np.zeros(dataset.dim), method="BFGS", options={"gtol": 1e-9}).x


def randomised_response_delta(epsilon, k, total):
    """Hockey stick of k-fold randomised response by listing all outcomes."""
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))
    delta = 0.0
    for outcome in itertools.product((0, 1), repeat=k):
        ones = sum(outcome)
        p, q = keep ** (k - ones) * (1 - keep) ** ones, keep**ones * (1 - keep) ** (k - ones)
        delta += max(0.0, p - math.exp(total) * q)
    return delta

"""Slow literal twins of RW21's Algorithms 3, 5 and 6: loops over records and draws, densities of full vectors."""

import math

import numpy as np
from scipy.stats import norm


def hessian(theta, loss, lam, dataset):
    H = lam * np.eye(len(theta))
    for x, y in zip(dataset.X, dataset.y, strict=True):
        H = H + float(loss.second(np.array(x @ theta), np.array(y))) * np.outer(x, x)
    return H


def gradient(theta, loss, lam, dataset):
    total = lam * np.asarray(theta)
    for x, y in zip(dataset.X, dataset.y, strict=True):
        total = total + float(loss.first(np.array(x @ theta), np.array(y))) * x
    return total


def algorithm_6(H, sigma3, n_draws, rng):
    """Full matrices drawn one by one as printed: H + (Z + Z^T)/sqrt 2."""
    out = []
    for _ in range(n_draws):
        Z = sigma3 * rng.standard_normal(H.shape)
        out.append(H + (Z + Z.T) / math.sqrt(2))
    return np.array(out)


def hessian_log_density(matrix, H, sigma3):
    """Entry by entry: N(H_ii, 2 sigma3^2) on the diagonal, N(H_ij, sigma3^2) above it."""
    total = 0.0
    for i in range(len(H)):
        for j in range(i, len(H)):
            scale = math.sqrt(2) * sigma3 if i == j else sigma3
            total += norm.logpdf(matrix[i, j], H[i, j], scale)
    return total

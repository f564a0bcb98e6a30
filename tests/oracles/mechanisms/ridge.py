"""Slow, literal twins of the ridge algebra: one plain solve a quantity, one left-out fit a record."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import multivariate_normal

from mechanisms.data.dataset import Dataset


def hessian(dataset: Dataset, lam: float) -> np.ndarray:
    return sum((np.outer(x, x) for x in dataset.X), lam * np.eye(dataset.dim))


def estimate(dataset: Dataset, lam: float) -> np.ndarray:
    moment = sum((x * y for x, y in zip(dataset.X, dataset.y, strict=True)), np.zeros(dataset.dim))
    return np.linalg.solve(hessian(dataset, lam), moment)


def log_normal_density(outputs: np.ndarray, mean: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    return np.atleast_1d(multivariate_normal(mean, covariance).logpdf(outputs))


def ops_log_density(outputs: np.ndarray, dataset: Dataset, gamma: float, lam: float) -> np.ndarray:
    """W19-T4.1: the normalised exp(-gamma/2 (||y - X theta||^2 + lam ||theta||^2))."""
    return log_normal_density(outputs, estimate(dataset, lam), np.linalg.inv(hessian(dataset, lam)) / gamma)


def democratic_log_density(outputs: np.ndarray, dataset: Dataset, gamma: float, lam: float) -> np.ndarray:
    inverse = np.linalg.inv(hessian(dataset, lam))
    return log_normal_density(outputs, estimate(dataset, lam), inverse @ inverse / gamma)


def left_out(dataset: Dataset, index: int, lam: float) -> tuple[float, float]:
    """Out-of-sample leverage and residual of one record, by fitting the others."""
    rest = dataset.without_record(index)
    x, y = dataset.X[index], dataset.y[index]
    return float(x @ np.linalg.solve(hessian(rest, lam), x)), float(y - x @ estimate(rest, lam))


def isotropic_mu(first: Dataset, second: Dataset, sigma: float, lam: float) -> float:
    """Distance of two ridge estimates in standard deviations of N(0, sigma^2 I)."""
    return math.dist(estimate(first, lam), estimate(second, lam)) / sigma

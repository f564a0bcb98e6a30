"""Slow, literal twin of realised Renyi sums: step by step, record by record, the divergence as its printed sum."""

from __future__ import annotations

import math

import numpy as np

from mechanisms import Dataset


def renyi(rate: float, mu: float, order: int) -> float:
    """Return Mironov, Talwar and Zhang's sum (2019, section 3.3), term by term."""
    terms = (
        math.comb(order, k) * (1 - rate) ** (order - k) * rate**k * math.exp(0.5 * k * (k - 1) * mu**2)
        for k in range(order + 1)
    )
    return math.log(math.fsum(terms)) / (order - 1)


def logistic_gradient(x: np.ndarray, y: float, theta: np.ndarray, clip: float) -> np.ndarray:
    gradient = -y * x / (1 + math.exp(y * float(x @ theta)))
    norm = float(np.linalg.norm(gradient))
    return gradient if norm <= clip else gradient * clip / norm


def realised_epsilons(
    dataset: Dataset,
    sums: np.ndarray,
    delta: float,
    orders: tuple[int, ...],
    *,
    rate: float,
    sigma: float,
    clip: float,
    step: float,
) -> list[float]:
    """Return the least epsilon over the orders for every record; ``step``: step size over normaliser, no ball."""
    found = []
    for x, y in zip(dataset.X, dataset.y, strict=True):
        theta, totals = np.zeros(dataset.dim), dict.fromkeys(orders, 0.0)
        for noisy in sums:
            mu = float(np.linalg.norm(logistic_gradient(x, float(y), theta, clip))) / sigma
            for order in orders:
                totals[order] += renyi(rate, mu, order)
            theta = theta - step * noisy
        found.append(
            min(cost + math.log((a - 1) / a) - (math.log(delta) + math.log(a)) / (a - 1) for a, cost in totals.items())
        )
    return found

"""Slow twins of ``audits.training``: a transcript's score record by record, and divergences by a sum."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import binom, norm

from mechanisms import DPSGD, Dataset, Direction, NeighbouringPair, Relation


def gradient(training: DPSGD, theta: np.ndarray, x: np.ndarray, y: float) -> np.ndarray:
    """Return the clipped gradient of one record at one iterate."""
    margin = float(x @ theta)
    slope = margin - y if training.loss == "squared" else -y / (1 + math.exp(y * margin))
    full = slope * x
    length = math.hypot(*full)
    return full if length <= training.clip else full * (training.clip / length)


def step_ratio(training: DPSGD, seen: np.ndarray, own: np.ndarray, others: list[np.ndarray]) -> float:
    """Return the log ratio of two normal laws along a gradient; what others add has its mean and variance."""
    length = math.hypot(*own)
    if length == 0:
        return 0.0
    unit = own / length
    parts = [float(g @ unit) for g in others]
    mean = training.rate * math.fsum(parts)
    spread = math.sqrt(training.sigma**2 + training.rate * (1 - training.rate) * math.fsum(p * p for p in parts))
    at = float(seen @ unit)
    without, with_it = norm.logpdf(at, mean, spread), norm.logpdf(at, mean + length, spread)
    return math.log1p(-training.rate + training.rate * math.exp(with_it - without))


def transcript_score(training: DPSGD, pair: NeighbouringPair, output: np.ndarray, *, expected: bool) -> float:
    """Return the score of one transcript of noisy sums, larger where it is more like the first data set."""
    first, second = records(pair.first), records(pair.second)
    shared = [record for record in first if record in second]
    total, seen = 0.0, list(output)
    if training.count_sigma is not None:
        released = seen.pop(0)
        total += norm.logpdf(released, len(first), training.count_sigma)
        total -= norm.logpdf(released, len(second), training.count_sigma)
        normaliser = training.rate * max(released, 1.0)
    else:
        normaliser = training.normaliser
    dim = pair.first.dim
    theta = np.zeros(dim)
    for t in range(training.n_steps):
        noisy = np.array(seen[t * dim : (t + 1) * dim])
        others = [gradient(training, theta, np.array(x), y) for x, y in shared] if expected else []
        for sign, members, against in ((1, first, second), (-1, second, first)):
            for x, y in members:
                if (x, y) not in against:
                    total += sign * step_ratio(training, noisy, gradient(training, theta, np.array(x), y), others)
        theta = theta - training.step_size / normaliser * noisy
    return total


def records(dataset: Dataset) -> list[tuple[tuple[float, ...], float]]:
    """Return the records one by one; here no two are equal."""
    return [(tuple(x), float(y)) for x, y in zip(dataset.X.tolist(), dataset.y, strict=True)]


def final_model_delta(rate: float, mu: float, n_steps: int, epsilon: float, direction: Direction) -> float:
    """Sum ``(p - e^epsilon q)_+`` over a fine grid of coordinates of the final model."""
    shifts = mu / math.sqrt(n_steps) * np.arange(n_steps + 1)
    grid = np.linspace(-9, 9 + shifts[-1], 40_001)
    weights = binom.pmf(np.arange(n_steps + 1), n_steps, rate)
    with_it = sum(w * norm.pdf(grid - s) for w, s in zip(weights, shifts, strict=True))
    without = norm.pdf(grid)
    p, q = (without, with_it) if direction is Direction.FORWARD else (with_it, without)
    return float(np.trapezoid(np.maximum(p - math.exp(epsilon) * q, 0.0), grid))


def relation_pairs(data: Dataset, x: np.ndarray, y: float) -> list[NeighbouringPair]:
    """Return a pair of every relation around a data set."""
    pairs = [
        NeighbouringPair.add(data, x, y),
        NeighbouringPair.remove(data, 1),
        NeighbouringPair.replace(data, 0, x, y),
    ]
    assert {pair.relation for pair in pairs} == set(Relation)
    return pairs

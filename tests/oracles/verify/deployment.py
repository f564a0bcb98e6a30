"""Slow, literal twins of what a certificate computes: divergences by quadrature, losses pair by pair, a csv reader."""

from __future__ import annotations

import csv
import itertools
import math
from pathlib import Path

import numpy as np
from scipy.integrate import quad

from mechanisms import BOTH, Dataset, Direction, ExactLaw, NeighbouringPair, WhiteBox
from mechanisms.objective.losses import GlmLoss


def normal_density(z: float) -> float:
    return math.exp(-z * z / 2) / math.sqrt(2 * math.pi)


def one_record_delta(
    loss: GlmLoss, sigma: float, lam: float, x_norm: float, y: float, epsilon: float, direction: Direction
) -> float:
    """Integrate (p - e^epsilon q)_+ over the output in one dimension, no record against one."""

    def densities(t: float) -> tuple[float, float]:
        first = float(loss.first(np.asarray(x_norm * t), np.asarray(y)))
        second = float(loss.second(np.asarray(x_norm * t), np.asarray(y)))
        without = normal_density(lam * t / sigma) * lam / sigma
        with_record = normal_density((lam * t + x_norm * first) / sigma) * (lam + x_norm**2 * second) / sigma
        return (without, with_record) if direction is Direction.FORWARD else (with_record, without)

    def gain(t: float) -> float:
        p, q = densities(t)
        return max(p - math.exp(epsilon) * q, 0.0)

    reach = 12 * sigma / lam
    edges = np.linspace(-reach, reach, 101)
    return sum(quad(gain, a, b, epsabs=1e-14, epsrel=1e-8)[0] for a, b in itertools.pairwise(edges))


def ex_post_losses(mechanism: WhiteBox, output: np.ndarray, dataset: Dataset) -> np.ndarray:
    """One privacy loss at a time."""
    pairs = [NeighbouringPair.remove(dataset, i) for i in range(dataset.n_records)]
    return np.array([float(mechanism.privacy_loss(output[None], pair)[0]) for pair in pairs])


def record_epsilons(mechanism: ExactLaw, dataset: Dataset, delta: float) -> np.ndarray:
    """One profile at a time."""
    pairs = [NeighbouringPair.remove(dataset, i) for i in range(dataset.n_records)]
    return np.array([max(mechanism.profile(pair).epsilon_at(delta, d) for d in BOTH) for pair in pairs])


def read_csv(
    path: Path, features: list[str], target: str, *, delimiter: str = ",", ranges: dict[str, tuple[float, float]]
) -> tuple[np.ndarray, np.ndarray]:
    """Read a plain numeric table with the csv module and map ranges to [-1, 1]/sqrt(k), no intercept."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter=delimiter))
    X = np.array([[float(row[name]) for name in features] for row in rows])
    for i, name in enumerate(features):
        low, high = ranges[name]
        X[:, i] = (X[:, i] - (low + high) / 2) / ((high - low) / 2) / math.sqrt(len(features))
    return X, np.array([float(row[target]) for row in rows])

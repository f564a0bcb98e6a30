"""DP-SGD with individual filters by loops over trainings, steps and records, from the definition."""

from __future__ import annotations

import math

import numpy as np

from mechanisms import Dataset
from mechanisms.accounting.subsampled_gaussian import renyi_divergence
from mechanisms.filters.filtered_training import FilteredDPSGD
from mechanisms.filters.privacy_filters import RenyiFilter
from mechanisms.training.batched_steps import bernoulli


def gradient(loss: str, theta: np.ndarray, x: np.ndarray, y: float, clip: float) -> np.ndarray:
    """Return one record's clipped gradient."""
    at = float(theta @ x)
    slope = at - y if loss == "squared" else -y / (1 + math.exp(y * at))
    norm = abs(slope) * float(np.linalg.norm(x))
    return slope * x * min(1.0, clip / norm) if norm > 0 else 0.0 * x


def cost(mechanism: FilteredDPSGD, norm: float) -> float:
    """Return what a step costs a record whose clipped gradient is so long, without any rounding up."""
    mu = norm / mechanism.training.sigma
    if isinstance(mechanism.filter, RenyiFilter):
        return float(renyi_divergence(mechanism.training.rate, mu, mechanism.filter.order))
    return mu * mu


def limit(mechanism: FilteredDPSGD) -> float:
    """Return what a record may spend."""
    return mechanism.filter.budget if isinstance(mechanism.filter, RenyiFilter) else mechanism.filter.mu**2


def filtered_draws(mechanism: FilteredDPSGD, dataset: Dataset, n_draws: int, rng: np.random.Generator):
    """Return transcripts and what every record spent, for a public normaliser; random numbers as the fast code's."""
    training = mechanism.training
    theta = np.zeros((n_draws, dataset.dim))
    spent = np.zeros((n_draws, dataset.n_records))
    seen = []
    for _ in range(training.n_steps):
        sums = training.sigma * rng.standard_normal(theta.shape)
        sampled = np.ones(spent.shape, dtype=bool)
        if training.rate < 1:
            sampled = bernoulli(spent.size, training.rate, rng=rng).reshape(spent.shape)
        for run in range(n_draws):
            for i in range(dataset.n_records):
                g = gradient(training.loss, theta[run], dataset.X[i], float(dataset.y[i]), training.clip)
                one = cost(mechanism, float(np.linalg.norm(g)))
                if spent[run, i] + one > limit(mechanism):
                    continue
                spent[run, i] += one
                if sampled[run, i]:
                    sums[run] += g
        seen.append(sums)
        theta = theta - training.step_size / training.normaliser * sums
        norms = np.linalg.norm(theta, axis=1, keepdims=True)
        theta = theta * np.minimum(1.0, training.radius / np.maximum(norms, 1e-300))
    return np.concatenate(seen, axis=1), spent
